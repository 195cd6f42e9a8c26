"""External players: programs, and functions in a file, that are asked for a cell, one position at a time.

Such a player may choose at random. Therefore a second instance is asked about every position too: a player
that gives the same answer twice is assumed to be deterministic and judged exactly, any other only by games.
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
from ttt_cli.errors import TttError, notices
from ttt_cli.user_code import guarded, place_at_fault

RESIGNS = -1
"""The cell of a player that resigns."""

MAX_CACHED = 1 << 20
"""The most answers that are cached."""

MAX_RESTARTS = 10
"""After this many failures a program is not asked again."""

Ask = Callable[[Sequence[str]], Iterable[Any]]
"""Yields the answers to positions, in order. If it raises an error, it is called again for the positions that
follow; a program is then restarted."""


class NoAnswerError(TttError):
    """A player has failed to answer. The message is completed by "to" and the position."""


class UnsteadyError(TttError):
    """A player has answered the same question in two ways."""

    def __init__(self, name: str, text: str, answers: Sequence[int]) -> None:
        first, second = ("resign" if answer == RESIGNS else answer + 1 for answer in answers)
        super().__init__(
            f"answered {text!r} with {first}, then with {second}: its choices vary",
            where=name,
            hint="play_match plays games",
            cli_hint="evaluate --games N plays games; export and diff take samples=100 before the colon, "
            "and what export writes is a player everywhere",
        )


@dataclass
class _Log:
    """How a player has behaved; it shares this with its copies.

    :ivar steady: whether it has been asked twice, and has always given the same answer.
    :ivar varied: the error, once it has given two answers; it is not asked twice again.
    """

    steady: bool = False
    varied: UnsteadyError | None = None
    failures: list[str] = field(default_factory=list)
    restarts: int = 0


class Asked(Policy):
    """An external player as a policy.

    ``probabilities`` asks twice about each position, ``choose`` once in each game.

    :param asks: two instances of the player.
    :param samples: estimate its probabilities from this many answers for each position.
    """

    external = True

    def __init__(self, rules: Rules, name: str, asks: tuple[Ask, Ask], samples: int | None = None) -> None:
        self.rules = rules
        self._name = name
        self._asks = asks
        self._samples = samples
        self._forfeits = False
        self._log = _Log()
        self._cache: dict[str, Any] = {}  # float64[cells] by position
        self._lock = Lock()  # the shards of a training share the player
        self._cells = {str(cell + 1): cell for cell in range(rules.cells)} | {"resign": RESIGNS}

    def probabilities(self, positions: Positions) -> Floats:
        """As ``Policy.probabilities``: 1 for the cell that it answers, or estimates.

        :raises UnsteadyError: if it gives two answers.
        :raises TttError: if it gives no valid answer.
        """
        probabilities = np.zeros((len(positions), self.rules.cells))
        rows = np.flatnonzero(~positions.terminal)
        texts = positions[rows].texts()
        if self._log.varied and self._samples is None:
            raise self._log.varied
        with self._lock:
            if len(self._cache) > MAX_CACHED and self._samples is None:
                self._cache.clear()
            if new := [text for text in dict.fromkeys(texts) if text not in self._cache]:
                self._cache.update(zip(new, self._answers(new), strict=True))
            for row, text in zip(rows.tolist(), texts, strict=True):
                probabilities[row] = self._cache[text]
        return probabilities

    def choose(self, positions: Positions, rows: Int64s, uniforms: Floats) -> Int64s:
        """As ``Policy.choose``, but the player itself draws: it is asked once in each game."""
        return self._ask(self._asks[0], positions[rows].texts())

    def forfeiting(self) -> Policy:
        other = copy(self)
        other._forfeits = True
        other._cache = {}
        return other

    def memoised(self) -> Policy:
        other = copy(self)
        other._samples = 1
        other._cache = {}
        return other

    @property
    def remarks(self) -> list[str]:
        remarks = ["assumed deterministic: asked twice, it answered the same"] if self._log.steady else []
        failures = self._log.failures
        if failures:
            if len(failures) == 1:
                remark = f"lost a game: {failures[0]}"
            else:
                remark = f"lost games through {len(failures):,} failures: the first time, it {failures[0]}"
            if self._log.restarts >= MAX_RESTARTS:
                remark += f"; was restarted {MAX_RESTARTS} times, then not asked again"
            remarks.append(remark)
        return [f"{self._name}: {remark}" for remark in remarks]

    def _answers(self, texts: list[str]) -> Floats:
        """float64[k, cells]: 1 for the cell that both instances choose in each position; or the share of each
        cell among the samples, leaving out resignations."""
        rounds = [self._ask(self._asks[0], texts) for _ in range(self._samples or 1)]
        if self._samples is None:
            # In another order, as the random numbers of both may begin with the same seed.
            again = self._ask(self._asks[1], texts[::-1])[::-1]
            differing = np.flatnonzero(rounds[0] != again)
            self._log.steady = not len(differing)
            if len(differing):
                at = int(differing[0])
                self._log.varied = UnsteadyError(self._name, texts[at], (int(rounds[0][at]), int(again[at])))
                raise self._log.varied
        chosen = np.array(rounds)[:, :, None] == np.arange(self.rules.cells)  # bool[rounds, k, cells]
        moves = chosen.any(axis=2).sum(axis=0)  # the answers that are not resignations
        return chosen.sum(axis=0) / np.maximum(moves, 1)[:, None]

    def _ask(self, ask: Ask, texts: list[str]) -> Int64s:
        """int64[k]: the cell that an instance chooses in each position, or ``RESIGNS``.

        :raises TttError: if it fails to answer, unless it then forfeits the game.
        """
        cells: list[int] = []
        while len(cells) < len(texts) and not (self._forfeits and self._log.restarts >= MAX_RESTARTS):
            try:
                with guarded("", "raised ", NoAnswerError):
                    for answer in ask(texts[len(cells) :]):
                        cells.append(self._cell(texts[len(cells)], str(answer)))
            except NoAnswerError as error:
                cause = error.__cause__
                if cause and not isinstance(cause, Exception) and place_at_fault(cause) is None:
                    raise cause from None  # raised by the caller's own code, such as a signal handler
                del cells[len(texts) - 1 :]  # an answer with more than its line is none
                self._fail(texts[len(cells)], error)
                cells.append(RESIGNS)
                self._log.restarts += 1
        return np.array(cells + [RESIGNS] * (len(texts) - len(cells)), np.int64)

    def _cell(self, text: str, answer: str) -> int:
        """The cell that an answer names, or ``RESIGNS``, also for an invalid answer if it forfeits."""
        cell = self._cells.get(answer.strip())
        if cell is not None and (cell == RESIGNS or text[cell] == "."):
            return cell
        if_taken = "" if cell is None else ", which is taken,"
        hint = f"expected a free cell from 1 to {self.rules.cells}, or resign"
        self._fail(text, TttError(f"answered {answer.strip()[:40]!r}{if_taken}", hint=hint))
        return RESIGNS

    def _fail(self, text: str, error: TttError) -> None:
        """Record a failure as a lost game if the player forfeits, else raise it as an error."""
        raised = " in answer" if error.__cause__ else ""
        failure = f"{error.message}{raised} to {text!r}"
        if not self._forfeits:
            raise TttError(failure, where=self._name, hint=error.hint) from error.__cause__
        if not self._log.failures:
            notices.info("%s: %s: it loses the game", self._name, failure)
        self._log.failures.append(failure)
