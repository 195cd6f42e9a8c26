"""External players, a program or a function in a file, which are asked for a cell, one position at a time.

They may choose at random. So another instance is asked about every position again: a player that gives the
same answers is assumed to be deterministic and judged exactly; any other can only be judged by games.
"""

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np

from ttt_cli.engine.arrays import Floats, Int64s
from ttt_cli.engine.policy import Policy
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.errors import TttError
from ttt_cli.user_code import guarded

RESIGNS = -1
"""The cell of a player that resigns."""

MAX_CACHED = 1 << 20
"""Answers that are cached."""

MOST_RESTARTS = 10
"""Restarts after failures, beyond which a program is not asked again."""

Ask = Callable[[Sequence[str]], Iterable[Any]]
"""Yields the answer to each of some positions. If it raises an error, a program is restarted with the next
question."""


class NoAnswerError(TttError):
    """A player has failed to answer; the message is followed by "to" and the position."""


class UnsteadyError(TttError):
    """A player has answered the same question in two ways."""

    def __init__(self, name: str, text: str, answers: Sequence[int]) -> None:
        first, second = ("resign" if answer == RESIGNS else answer + 1 for answer in answers)
        super().__init__(
            f"answered {text!r} with {first}, then with {second}: its choices vary",
            where=name,
            hint="play_match plays games",
            flags="--games N plays games; for export and diff, samples=100 before the colon estimates them",
        )


@dataclass
class _Log:
    """What there is to remark, also by copies of a player.

    :ivar steady: whether it has given the same answers twice; None: not asked twice.
    """

    steady: bool | None = None
    failures: list[str] = field(default_factory=list)
    restarts: int = 0


class Asked(Policy):
    """An external player as a policy.

    ``probabilities`` asks twice about each position, ``choose`` once for each game.

    :param name: as the user wrote it.
    :param asks: two instances of the player.
    :param samples: estimate its probabilities by so many questions about each position.
    """

    external = True

    def __init__(self, rules: Rules, name: str, asks: tuple[Ask, Ask], samples: int | None = None) -> None:
        self.rules = rules
        self._name, self._asks, self._samples = name, asks, samples
        self._lenient, self._log = False, _Log()
        self._known: dict[str, Any] = {}  # float64[cells] by position
        self._one_at_a_time = Lock()  # the shards of a training share it
        self._cells = {str(cell + 1): cell for cell in range(rules.cells)} | {"resign": RESIGNS}

    def probabilities(self, positions: Positions) -> Floats:
        """As ``Policy.probabilities``: 1 for the cell that it answers, or estimates.

        :raises UnsteadyError: if it gives two answers.
        :raises TttError: if it gives no valid answer.
        """
        found, rows = np.zeros((len(positions), self.rules.cells)), np.flatnonzero(~positions.terminal)
        texts = positions[rows].texts()
        with self._one_at_a_time:
            if len(self._known) > MAX_CACHED and self._samples is None:
                self._known.clear()
            if new := [text for text in dict.fromkeys(texts) if text not in self._known]:
                self._known.update(zip(new, self._answers(new), strict=True))
            for row, text in zip(rows.tolist(), texts, strict=True):
                found[row] = self._known[text]
        return found

    def choose(self, positions: Positions, rows: Int64s, uniforms: Floats) -> Int64s:
        """As ``Policy.choose``, but the player itself draws: it is asked once for each row."""
        return self._ask(self._asks[0], positions[rows].texts())

    def forfeiting(self) -> Policy:
        other = copy(self)
        other._lenient, other._known = True, {}
        return other

    def memoised(self) -> Policy:
        other = copy(self)
        other._samples, other._known = 1, {}
        return other

    @property
    def remarks(self) -> list[str]:
        said = ["assumed deterministic: asked twice"] if self._log.steady else []
        if failures := self._log.failures:
            games = "a game" if len(failures) == 1 else f"games through {len(failures):,} failures"
            said.append(f"lost {games}: {failures[0]}")
            if self._log.restarts >= MOST_RESTARTS:
                said[-1] += f"; was restarted {MOST_RESTARTS} times, then not asked again"
        return [f"{self._name}: {text}" for text in said]

    def _answers(self, texts: list[str]) -> Floats:
        """float64[k, cells]: the cell that both instances choose in each position, or the share of each cell
        among the answers, resignations left out."""
        rounds = [self._ask(self._asks[0], texts) for _ in range(self._samples or 1)]
        if self._samples is None:
            again = self._ask(self._asks[1], texts)
            differing = np.flatnonzero(rounds[0] != again)
            self._log.steady = self._log.steady is not False and not len(differing)
            if len(differing):
                at = int(differing[0])
                raise UnsteadyError(self._name, texts[at], (int(rounds[0][at]), int(again[at])))
        chosen = np.array(rounds)[:, :, None] == np.arange(self.rules.cells)
        return chosen.sum(axis=0) / np.maximum(chosen.any(axis=2).sum(axis=0), 1)[:, None]

    def _ask(self, ask: Ask, texts: list[str]) -> Int64s:
        """int64[k]: the answer of one instance to each position.

        :raises TttError: if there is no valid answer, and failures do not count as lost games.
        """
        cells: list[int] = []
        while len(cells) < len(texts) and self._log.restarts < MOST_RESTARTS:
            try:
                with guarded("", "raised ", NoAnswerError):
                    for answer in ask(texts[len(cells) :]):
                        cells.append(self._cell(texts[len(cells)], str(answer)))
            except NoAnswerError as error:
                self._fail(texts[min(len(cells), len(texts) - 1)], error)
                if len(cells) < len(texts):
                    cells.append(RESIGNS)
                self._log.restarts += 1
        return np.array(cells + [RESIGNS] * (len(texts) - len(cells)), np.int64)

    def _cell(self, text: str, answer: str) -> int:
        """The cell that an answer names; a wrong answer resigns."""
        cell = self._cells.get(answer.strip())
        if cell is not None and (cell == RESIGNS or text[cell] == "."):
            return cell
        taken = "" if cell is None else ", which is taken,"
        hint = f"a free cell from 1 to {self.rules.cells}, or resign"
        self._fail(text, TttError(f"answered {answer.strip()[:40]!r}{taken}", hint=hint))
        return RESIGNS

    def _fail(self, text: str, error: TttError) -> None:
        """End the call, or lose a game."""
        raised = " in answer" if error.__cause__ else ""
        failed = f"{error.message}{raised} to {text!r}"
        if not self._lenient:
            raise TttError(failed, where=self._name, hint=error.hint) from error.__cause__
        self._log.failures.append(failed)
