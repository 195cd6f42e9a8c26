"""A policy: for each position a probability for each cell. Whatever plays without asking a person is one.

A policy is a pure function of rules and position: batch, order, earlier questions and caches never change a
bit of its answer. ``Policy`` is what everything asks; ``PolicyTable``, arrays over a whole state space, is
one way to answer among others.
"""

from abc import ABC, abstractmethod

import numpy as np

from ttt_cli.engine.arrays import Bools, Floats, Int8s, Int64s
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.side import Side
from ttt_cli.engine.state_space import StateSpace, enumerated


class Policy(ABC):
    """A player that answers for positions, many at a time.

    :ivar rules: the game it plays.
    :ivar external: whether it is asked only about positions that can be reached, since each question takes
        time and a player may have no answer in others.
    """

    rules: Rules
    external: bool = False

    @abstractmethod
    def probabilities(self, positions: Positions) -> Floats:
        """float64[k, cells]: how likely each cell is played. An open position's row sums to 1, or is all
        zeros where the player resigns; a terminal position's row is all zeros."""

    def values(self, positions: Positions) -> Floats | None:
        """float64[k, cells], what the player thinks each move is worth, from the mover's side in the player's
        own unit; NaN where it has no opinion. None for players that have none at all."""
        return None

    def known(self, positions: Positions) -> Bools | None:
        """bool[k]: the positions the player has learned something about; None for players that need no
        experience."""
        return None

    def looking_ahead(self, depth: int) -> "Policy | None":
        """The same player searching so many plies ahead, the move itself included; None: it does not by
        itself."""
        return None

    def table(self, space: StateSpace) -> "PolicyTable":
        """The same policy as a table over a state space."""
        positions = space
        answers = self.probabilities(positions), self.values(positions), self.known(positions)
        return PolicyTable(space, *answers)

    def tabulated(self) -> "Policy":
        """The same policy, asked once for all positions where the board has a state space: for those who
        will ask again and again."""
        space = None if self.external else enumerated(self.rules)
        return self if space is None else self.table(space)

    def choose(self, positions: Positions, rows: Int64s, uniforms: Floats) -> Int64s:
        """int64[k]: the cell that it plays in each of some games; -1: it resigns.

        :param rows: int64[k], which of the positions each game is in.
        :param uniforms: float64[k], a uniform number from [0, 1) for each game.
        """
        return drawn(thresholds(self.probabilities(positions))[rows], uniforms)

    def forfeiting(self) -> "Policy":
        """The same player, whose failures to answer lose the game instead of ending the call."""
        return self

    def memoised(self) -> "Policy":
        """The same player, who answers once for each position and is kept to it."""
        return self

    @property
    def remarks(self) -> list[str]:
        """Notes on how it has played."""
        return []


class PolicyTable(Policy):
    """A policy that is looked up in arrays over a whole state space (``n`` positions).

    :ivar played: float64[n, cells], as ``Policy.probabilities`` of all positions.
    :ivar worth: float64[n, cells], as ``Policy.values``, or None.
    :ivar learned: bool[n], as ``Policy.known``, or None.
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

    @property
    def support(self) -> Bools:
        """bool[n, cells]: the moves that are played at all."""
        return np.greater(self.played, 0)

    def probabilities(self, positions: Positions) -> Floats:
        return self.played[self.space.rows(positions)]

    def values(self, positions: Positions) -> Floats | None:
        return None if self.worth is None else self.worth[self.space.rows(positions)]

    def known(self, positions: Positions) -> Bools | None:
        return None if self.learned is None else self.learned[self.space.rows(positions)]

    def table(self, space: StateSpace) -> "PolicyTable":
        return self if space is self.space else super().table(space)

    def tabulated(self) -> Policy:
        return self


class Modified(Policy):
    """A policy that plays by another one, and knows and values what that one does.

    :ivar player: the other one.
    """

    def __init__(self, player: Policy) -> None:
        self.rules, self.external = player.rules, player.external
        self.player = player

    def values(self, positions: Positions) -> Floats | None:
        return self.player.values(positions)

    def known(self, positions: Positions) -> Bools | None:
        return self.player.known(positions)


class Exploring(Modified):
    """A policy that with probability ``epsilon`` plays any legal cell instead, uniformly."""

    def __init__(self, player: Policy, epsilon: float) -> None:
        super().__init__(player)
        self._epsilon = epsilon

    def probabilities(self, positions: Positions) -> Floats:
        chance = self._epsilon * uniform(positions.legal)
        mixed: Floats = (1 - self._epsilon) * self.player.probabilities(positions) + chance
        return mixed


class OneSided(Modified):
    """A policy as one side; as the other it plays anywhere, as if it had learned nothing."""

    def __init__(self, player: Policy, side: Side) -> None:
        super().__init__(player)
        self._side = side

    def _own(self, positions: Positions) -> Bools:
        own: Bools = (positions.plies % 2 == self._side) & ~positions.terminal
        return own

    def probabilities(self, positions: Positions) -> Floats:
        found, own = uniform(positions.legal), np.flatnonzero(self._own(positions))
        if len(own):
            found[own] = self.player.probabilities(positions[own])
        return found

    def values(self, positions: Positions) -> Floats | None:
        values = self.player.values(positions)
        return None if values is None else np.where(self._own(positions)[:, None], values, np.nan)

    def known(self, positions: Positions) -> Bools | None:
        known = self.player.known(positions)
        return None if known is None else known & self._own(positions)


def thresholds(probabilities: Floats) -> Floats:
    """Probabilities as they are drawn from: the cell to play is the first whose threshold exceeds a uniform
    number.

    :param probabilities: float64[k, cells].
    :returns: float64[k, cells], cumulative probabilities, 2 from the last possible cell on, so that rounding
        never picks an impossible one; a row of zeros where the player resigns.
    """
    cumulative = np.cumsum(probabilities, axis=1)
    possible = probabilities > 0
    still = np.cumsum(possible[:, ::-1], axis=1)[:, ::-1]  # possible cells from this one on
    after = np.concatenate([still[:, 1:], np.zeros_like(still[:, :1])], axis=1)
    cumulative[(after == 0) & (still[:, :1] > 0)] = 2.0
    return cumulative


def drawn(thresholds_of: Floats, uniforms: Floats) -> Int64s:
    """int64[k]: the cell that each row plays; -1: it resigns.

    :param thresholds_of: float64[k, cells], as ``thresholds`` gives them.
    :param uniforms: float64[k], a uniform number from [0, 1) for each row.
    """
    chosen = thresholds_of > uniforms[:, None]
    return np.where(chosen.any(axis=1), chosen.argmax(axis=1), -1)


def are_sound(rows: Floats, legal: Bools, tolerance: float) -> Bools:
    """bool[k]: which rows are probabilities of legal moves, or all zeros; a sum may miss 1 by so much."""
    with np.errstate(all="ignore"):  # they may be any numbers
        sums = rows.sum(axis=1)
        numbers = (np.isfinite(rows) & (rows >= 0) & ((rows == 0) | legal)).all(axis=1)
        return np.logical_and(numbers, (sums == 0) | (np.abs(sums - 1) <= tolerance))


def uniform(chosen: Bools) -> Floats:
    """float64[n, cells]: each row's chosen cells with equal probability, rows without any all zeros."""
    return chosen * (1 / np.maximum(counted(chosen)[:, None], 1))


def counted(chosen: Bools) -> Int8s:
    """int8[n]: how many cells are chosen in each row; several times as fast as ``sum`` over short rows."""
    return np.einsum("ij->i", chosen.view(np.int8))


def best(values: Floats | Int8s, legal: Bools) -> Bools:
    """bool[n, cells]: the legal cells of the largest value in each row, exactly equal ones together."""
    masked = np.where(legal, values, -np.inf)
    return np.logical_and(legal, masked == masked.max(axis=1, keepdims=True, initial=-np.inf))


def first(chosen: Bools) -> Bools:
    """bool[n, cells]: only the first of the chosen cells in each row."""
    return chosen & (np.cumsum(chosen, axis=1) == 1)


def last(chosen: Bools) -> Bools:
    """bool[n, cells]: only the last of the chosen cells in each row."""
    return first(chosen[:, ::-1])[:, ::-1]
