"""Players from outside, who are asked for a cell, a position at a time: a program, a function in a file.

Nobody knows how such a player chooses. So it is asked about a position a second time, elsewhere: one that
answers alike is taken at its word, and judged exactly; of one that does not, games alone can tell.
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from ttt_cli.engine.arrays import Floats, Int64s
from ttt_cli.engine.policy import Policy
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.errors import TttError

RESIGNS = -1
"""Stands for a cell where the player resigns."""

KEPT = 1 << 20
"""Answers that are kept in case they are needed again; to forget one costs a question."""

MOST_RESTARTS = 10
"""Restarts after failures, beyond which a program is not asked again."""


@dataclass(frozen=True)
class Failure:
    """Why there is no answer.

    :ivar what: what happened, to be followed by "to" and the position.
    """

    what: str
    hint: str = ""
    cause: BaseException | None = None


class Respondent(Protocol):
    """Whoever answers."""

    def ask(self, texts: Sequence[str]) -> tuple[list[str], Failure | None]:
        """The answer to each position, as it was given; fewer, and why, if one was not answered."""
        ...

    def restart(self) -> None:
        """Begin anew after a failure."""
        ...

    @property
    def chatter(self) -> list[str]:
        """Its output besides the answers."""
        ...


class UnsteadyError(TttError):
    """A player has answered the same question in two ways."""

    def __init__(self, name: str, text: str, answers: tuple[int, int]) -> None:
        first, second = map(_word, answers)
        super().__init__(
            f"answered {text!r} with {first}, then with {second}: its choices vary",
            where=name,
            hint="--games N plays games; for export and diff, samples=100 before the colon estimates them",
        )


@dataclass
class _Log:
    """A record of how it has answered, for the remarks."""

    judged: bool = False
    failures: list[str] = field(default_factory=list)
    restarts: int = 0


class Asked(Policy):
    """A player from outside as a policy.

    ``probabilities`` asks two respondents about each position, ``choose`` asks one, as often as it is called.

    :param name: as the user wrote it.
    :param respondents: two that were made in the same way.
    :param samples: ask so often about each position, and take how often each cell is answered.
    """

    external = True

    def __init__(
        self,
        rules: Rules,
        name: str,
        respondents: tuple[Respondent, Respondent],
        samples: int | None = None,
    ) -> None:
        self.rules = rules
        self._name, self._respondents, self._samples = name, respondents, samples
        self._lenient, self._memoised = False, False
        self._log = _Log()
        self._known: dict[str, int] = {}
        self._estimates: dict[str, Floats] = {}
        self._cells = {str(cell + 1): cell for cell in range(rules.cells)} | {"resign": RESIGNS}

    def probabilities(self, positions: Positions) -> Floats:
        """As ``Policy.probabilities``: 1 for the cell that is answered, or estimates.

        :raises UnsteadyError: if it answers in two ways.
        :raises TttError: if it does not answer, or wrongly.
        """
        found = np.zeros((len(positions), self.rules.cells))
        rows = np.flatnonzero(~positions.terminal)
        texts = positions[rows].texts()
        if self._samples is not None:
            if texts:
                found[rows] = self._estimate(texts, self._samples)
            return found
        cells = self._answers(texts)
        plays = cells != RESIGNS
        found[rows[plays], cells[plays]] = 1.0
        return found

    def choose(self, positions: Positions, rows: Int64s, uniforms: Floats) -> Int64s:
        """As ``Policy.choose``, but what is drawn is up to the player: it is asked for each row anew."""
        return self._ask(self._respondents[0], positions[rows].texts())

    def forfeiting(self) -> Policy:
        return self._but(lenient=True)

    def memoised(self) -> Policy:
        return self._but(memoised=True)

    def _but(self, *, lenient: bool = False, memoised: bool = False) -> "Asked":
        """The same player, asked in another way."""
        other = copy(self)
        other._lenient, other._memoised, other._known = lenient, memoised, {}
        return other

    @property
    def remarks(self) -> list[str]:
        said = [text for respondent in self._respondents for text in respondent.chatter][:1]
        if self._log.judged:
            said.append("assumed deterministic: asked twice")
        if failures := self._log.failures:
            games = "a game" if len(failures) == 1 else f"games by {len(failures):,} failures"
            said.append(f"lost {games}: {failures[0]}")
        return [f"{self._name}: {text}" for text in said]

    def _answers(self, texts: list[str]) -> Int64s:
        """int64[k]: the cell for each position, asked about once or twice."""
        known = self._known
        if len(known) > KEPT and not self._memoised:
            known.clear()
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            found = self._ask(self._respondents[0], new)
            if not self._memoised:
                self._log.judged = True
                again = self._ask(self._respondents[1], new)
                for at in np.flatnonzero(found != again)[:1].tolist():
                    raise UnsteadyError(self._name, new[at], (int(found[at]), int(again[at])))
            known.update(zip(new, found.tolist(), strict=True))
        return np.array([known[text] for text in texts], np.int64)

    def _estimate(self, texts: list[str], samples: int) -> Floats:
        """float64[k, cells]: how often each cell is answered when it does not resign."""
        new = [text for text in texts if text not in self._estimates]
        counts = np.zeros((len(new), self.rules.cells))
        for _ in range(samples):
            cells = self._ask(self._respondents[0], new)
            plays = np.flatnonzero(cells != RESIGNS)
            counts[plays, cells[plays]] += 1
        counts /= np.maximum(counts.sum(axis=1, keepdims=True), 1)
        self._estimates.update(zip(new, counts, strict=True))
        return np.array([self._estimates[text] for text in texts])

    def _ask(self, respondent: Respondent, texts: list[str]) -> Int64s:
        """int64[k]: the cell that is answered to each position, whatever was answered before.

        :raises TttError: if there is no answer, or a wrong one, and that is not a lost game.
        """
        cells: list[int] = []
        while len(cells) < len(texts):
            if self._log.restarts >= MOST_RESTARTS:
                cells += [RESIGNS] * (len(texts) - len(cells))
                break
            asked = texts[len(cells) :]
            answers, failure = respondent.ask(asked)
            for text, answer in zip(asked, answers, strict=False):
                cell = self._cells.get(answer.strip())
                if cell is None or (cell != RESIGNS and text[cell] != "."):
                    self._fail(text, self._wrong(text, answer, cell))
                    cell = RESIGNS
                cells.append(cell)
            if failure is not None:
                text = texts[min(len(cells), len(texts) - 1)]
                self._fail(text, failure)
                cells += [RESIGNS] * (len(cells) < len(texts))
                self._log.restarts += 1
                respondent.restart()
        return np.array(cells, np.int64)

    def _wrong(self, text: str, answer: str, cell: int | None) -> Failure:
        shown = f"{answer.strip()[:40]!r}"
        if cell is not None:
            return Failure(f"answered {shown}, which is taken,", "a free cell, or resign")
        expected = f"a cell from 1 to {self.rules.cells}, or resign"
        return Failure(f"answered {shown}", f"for each position one line: {expected}, and nothing else")

    def _fail(self, text: str, failure: Failure) -> None:
        """A failure ends the call, or loses a game."""
        failed = f"{failure.what} to {text!r}"
        if not self._lenient:
            raise TttError(failed, where=self._name, hint=failure.hint) from failure.cause
        self._log.failures.append(failed)


def _word(cell: int) -> str:
    return "resign" if cell == RESIGNS else str(cell + 1)
