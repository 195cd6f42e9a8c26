"""Policies: for each position a probability for each cell. Every player but a person is a policy.

A policy is a pure function of rules and position: batch, order, earlier questions and caches never change a
bit of its answer. ``PolicyTable`` is a policy as arrays over a whole state space.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any

import numpy as np

from ttt_cli.engine.arrays import Bools, Floats, Int8s, Int64s
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.side import Side
from ttt_cli.engine.state_space import StateSpace, enumerated
from ttt_cli.errors import UsageError

ROUNDING = 1e-12
"""Probabilities, and sums of them, that differ by less are equal but for rounding."""

SUM_TOLERANCE = 4e-3
"""The largest error in sums of probabilities from outside: of 64, each to four decimals."""


class Policy(ABC):
    """A player that answers for batches of positions.

    :ivar rules: the game it plays.
    :ivar external: whether it is asked only about positions that occur in its games, as each question takes
        time, or it may have no answer in others.
    """

    rules: Rules
    external: bool = False

    def __init_subclass__(cls) -> None:
        for name in ("probabilities", "values", "known"):
            if name in vars(cls):
                setattr(cls, name, _of_its_game(vars(cls)[name]))

    @abstractmethod
    def probabilities(self, positions: Positions) -> Floats:
        """float64[k, cells]: the probability of each cell. The row of an open position sums to 1, or is all
        zeros if the player resigns; the row of a terminal position is all zeros."""

    def values(self, positions: Positions) -> Floats | None:
        """float64[k, cells]: the player's values of the moves for the mover, in its own unit, NaN if unknown;
        None for players without values."""
        return None

    def known(self, positions: Positions) -> Bools | None:
        """bool[k]: the positions that the player has learned something about; None for players that do not
        learn."""
        return None

    def table(self, space: StateSpace) -> "PolicyTable":
        return PolicyTable(space, self.probabilities(space), self.values(space), self.known(space))

    def tabulated(self) -> "Policy":
        """The same policy as a table, if it is not external and the board is small."""
        space = None if self.external else enumerated(self.rules)
        return self if space is None else self.table(space)

    def choose(self, positions: Positions, rows: Int64s, uniforms: Floats) -> Int64s:
        """int64[k]: the cell played in each of ``k`` games, -1 to resign.

        :param rows: int64[k], the index of each game's position.
        :param uniforms: float64[k], a uniform number in [0, 1) for each game.
        """
        return draw_cells(thresholds(self.probabilities(positions))[rows], uniforms)

    def forfeiting(self) -> "Policy":
        """The same player, but one that loses the game by failing to answer, instead of ending the call."""
        return self

    def memoised(self) -> "Policy":
        """The same player; a program or function is then asked only once about each position."""
        return self

    @property
    def remarks(self) -> list[str]:
        """Notes on how it has played."""
        return []


def _of_its_game(method: Callable[..., Any]) -> Callable[..., Any]:
    """Refuse positions of another game, on which a kernel would read beyond its arrays."""

    @wraps(method)
    def answer(self: Policy, positions: Positions) -> Any:
        if not isinstance(positions, Positions):
            raise UsageError(f"expected Positions, found {type(positions).__name__}")
        if positions.rules != getattr(self, "rules", positions.rules):  # a plug-in may have no rules
            raise UsageError(f"plays {self.rules.describe()}, not {positions.rules.describe()}")
        return method(self, positions)

    return answer


class PolicyTable(Policy):
    """A policy as arrays over a state space of ``n`` positions.

    :ivar played: float64[n, cells], the ``Policy.probabilities`` of all positions.
    :ivar worth: float64[n, cells], their ``Policy.values``, or None.
    :ivar learned: bool[n], whether they are ``Policy.known``, or None.
    """

    def __init__(
        self,
        space: StateSpace,
        probabilities: Floats,
        values: Floats | None = None,
        known: Bools | None = None,
    ) -> None:
        self.rules, self.space = space.rules, space
        self.played, self.worth, self.learned = probabilities, values, known

    def probabilities(self, positions: Positions) -> Floats:
        return self.played[self.space.rows(positions)]

    def values(self, positions: Positions) -> Floats | None:
        return None if self.worth is None else self.worth[self.space.rows(positions)]

    def known(self, positions: Positions) -> Bools | None:
        return None if self.learned is None else self.learned[self.space.rows(positions)]

    def table(self, space: StateSpace) -> "PolicyTable":
        return self if space is self.space else super().table(space)


Answer = tuple[Floats, Floats, Bools]
"""The probabilities, values and knowledge of a policy that has them all."""


class Answering(Policy):
    """A policy that finds its whole answer at once, and remembers it for the latest batch."""

    def __init__(self, rules: Rules, answer: Callable[[Positions], Answer]) -> None:
        @lru_cache(maxsize=1)
        def answer_for(positions: Positions) -> Answer:
            arrays = answer(positions)
            for array in arrays:
                array.flags.writeable = False  # so that no caller changes the next answer
            return arrays

        self.rules = rules
        self._answer_for = answer_for

    def probabilities(self, positions: Positions) -> Floats:
        return self._answer_for(positions)[0]

    def values(self, positions: Positions) -> Floats:
        return self._answer_for(positions)[1]

    def known(self, positions: Positions) -> Bools:
        # In parts: whole answers would hold much more than the booleans that are kept.
        return np.concatenate([self._answer_for(part)[2] for part in positions.parts()])


class Modified(Policy):
    """A policy derived from another, with the same values and knowledge."""

    def __init__(self, player: Policy) -> None:
        self.rules, self.external = player.rules, player.external
        self.player = player

    def values(self, positions: Positions) -> Floats | None:
        return self.player.values(positions)

    def known(self, positions: Positions) -> Bools | None:
        return self.player.known(positions)


class Exploring(Modified):
    """A policy made epsilon-greedy: with probability ``epsilon`` it plays a uniformly random legal cell."""

    def __init__(self, player: Policy, epsilon: float) -> None:
        super().__init__(player)
        self._epsilon = epsilon

    def probabilities(self, positions: Positions) -> Floats:
        played = self.player.probabilities(positions)
        moves = positions.legal & np.any(played, axis=1, keepdims=True)  # where it resigns, it still resigns
        return (1 - self._epsilon) * played + self._epsilon * uniform(moves)


class OneSided(Modified):
    """A policy that plays one side; for the other it plays uniformly random cells and knows nothing."""

    def __init__(self, player: Policy, side: Side) -> None:
        super().__init__(player)
        self._side = side

    def _own(self, positions: Positions) -> Bools:
        return (positions.movers == self._side.sign) & ~positions.terminal

    def probabilities(self, positions: Positions) -> Floats:
        played = uniform(positions.legal)
        own = np.flatnonzero(self._own(positions))
        if len(own):
            played[own] = self.player.probabilities(positions[own])
        return played

    def values(self, positions: Positions) -> Floats | None:
        values = self.player.values(positions)
        return None if values is None else np.where(self._own(positions)[:, None], values, np.nan)

    def known(self, positions: Positions) -> Bools | None:
        known = self.player.known(positions)
        return None if known is None else known & self._own(positions)


def thresholds(probabilities: Floats) -> Floats:
    """float64[k, cells]: thresholds for sampling: the first cell above a uniform number is drawn.

    They are cumulative probabilities, but 2 from the last possible cell on, so that rounding never draws an
    impossible one. A row of zeros stays zeros: the player resigns.
    """
    cumulative = np.cumsum(probabilities, axis=1)
    possible = np.cumsum(probabilities > 0, axis=1)  # the number of possible cells up to each
    cumulative[(possible == possible[:, -1:]) & (possible > 0)] = 2.0
    return cumulative


def draw_cells(limits: Floats, uniforms: Floats) -> Int64s:
    """int64[k]: the cell drawn by a uniform number in each row of ``thresholds``, -1 to resign."""
    chosen = limits > uniforms[:, None]
    return np.where(chosen.any(axis=1), chosen.argmax(axis=1), -1)


def are_sound(rows: Floats, legal: Bools, tolerance: float) -> Bools:
    """bool[k]: whether each row is all zeros, or probabilities of legal moves that sum to 1 within a
    tolerance."""
    with np.errstate(all="ignore"):  # rows may hold any numbers
        sums = rows.sum(axis=1)
        valid = (np.isfinite(rows) & (rows >= 0) & ((rows == 0) | legal)).all(axis=1)
        return valid & ((sums == 0) | (np.abs(sums - 1) <= tolerance))


def rescale(rows: Floats, tolerance: float) -> None:
    """Scale, in place, the rows of probabilities whose sum is further from 1 than a tolerance, but not 0."""
    sums = rows.sum(axis=1)
    inexact = (np.abs(sums - 1) > tolerance) & (sums > 0)
    rows[inexact] /= sums[inexact, None]


def uniform(chosen: Bools) -> Floats:
    """float64[n, cells]: equal probabilities for the chosen cells of each row; zeros if there are none."""
    return chosen * (1 / np.maximum(count_chosen(chosen)[:, None], 1))


def count_chosen(chosen: Bools) -> Int8s:
    """int8[n]: the number of chosen cells in each row. Takes a third of the time of ``np.count_nonzero``."""
    return np.einsum("ij->i", chosen.view(np.int8))


def best_moves(values: Floats | Int8s, legal: Bools) -> Bools:
    """bool[n, cells]: the legal cells with each row's largest value."""
    masked = np.where(legal, values, -np.inf)
    return legal & (masked == masked.max(axis=1, keepdims=True, initial=-np.inf))


def first_chosen(chosen: Bools) -> Bools:
    """bool[n, cells]: the first of the chosen cells in each row."""
    return chosen & (np.cumsum(chosen, axis=1) == 1)


def last_chosen(chosen: Bools) -> Bools:
    """bool[n, cells]: the last of the chosen cells in each row."""
    return first_chosen(chosen[:, ::-1])[:, ::-1]
