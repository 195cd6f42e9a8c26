"""A policy: for each position a probability for each cell. Whatever plays without asking a person is one.

A policy is a pure function of rules and position: batch, order, earlier questions and caches never change a
bit of its answer. ``Policy`` is what everything asks; ``PolicyTable``, arrays over a whole state space, is
one way to answer among others.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ttt_cli.engine.arrays import Bools, Floats, Int64s
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.side import Side
from ttt_cli.engine.state_space import StateSpace, enumerated


class Formula(NamedTuple):
    """A policy so simple that compiled code works it out by itself: any of the cells that come first.

    :ivar lines: whether cells come first that complete a line of its own, then those that complete one of the
        other side's.
    :ivar centre: whether the middle cell comes next.
    :ivar first: whether of several cells that complete a line only the first is played.
    """

    lines: bool = False
    centre: bool = False
    first: bool = False


class Policy(ABC):
    """A player that answers for positions, many at a time.

    :ivar rules: the game it plays.
    :ivar formula: the same in short, where there is such a formula.
    :ivar costly: whether it is asked only about positions that can be reached, since each question takes its
        time and a player may have no answer in others.
    """

    rules: Rules
    formula: Formula | None = None
    costly: bool = False

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
        """What it does in every position of a state space."""
        positions = space.positions
        answers = self.probabilities(positions), self.values(positions), self.known(positions)
        return PolicyTable(space, *answers)

    def tabulated(self) -> "Policy":
        """The same policy, asked once for all positions where the board has a state space: for those who
        will ask again and again."""
        space = None if self.costly else enumerated(self.rules)
        return self if space is None else TabularPolicy(self.table(space))

    def choose(self, positions: Positions, rows: Int64s, uniforms: Floats) -> Int64s:
        """int64[k]: the cell that it plays in each of some games; -1: it resigns.

        :param rows: int64[k], which of the positions each game is in.
        :param uniforms: float64[k], a uniform number from [0, 1) for each game.
        """
        return drawn(thresholds(self.probabilities(positions))[rows], uniforms)

    def competing(self) -> "Policy":
        """The same player, whose failures to answer lose the game instead of ending the call."""
        return self

    def frozen(self) -> "Policy":
        """The same player, who answers once for each position and is kept to it."""
        return self

    @property
    def remarks(self) -> list[str]:
        """What there is to say of how it has played."""
        return []


class TabularPolicy(Policy):
    """A policy that is looked up in a table."""

    def __init__(self, table: "PolicyTable") -> None:
        self.rules = table.space.rules
        self._table = table

    def probabilities(self, positions: Positions) -> Floats:
        return self._table.probabilities[self._table.space.rows(positions)]

    def values(self, positions: Positions) -> Floats | None:
        values = self._table.values
        return None if values is None else values[self._table.space.rows(positions)]

    def known(self, positions: Positions) -> Bools | None:
        known = self._table.known
        return None if known is None else known[self._table.space.rows(positions)]

    def table(self, space: StateSpace) -> "PolicyTable":
        return self._table if space is self._table.space else super().table(space)

    def tabulated(self) -> Policy:
        return self


def as_policy(found: "Policy | PolicyTable") -> Policy:
    """A policy, whichever way it answers."""
    return TabularPolicy(found) if isinstance(found, PolicyTable) else found


class Exploring(Policy):
    """A policy that with probability ``epsilon`` plays any legal cell instead, uniformly."""

    def __init__(self, policy: Policy, epsilon: float) -> None:
        self.rules = policy.rules
        self._policy, self._epsilon = policy, epsilon
        self.costly = policy.costly

    def probabilities(self, positions: Positions) -> Floats:
        chance = self._epsilon * uniform(positions.legal)
        mixed: Floats = (1 - self._epsilon) * self._policy.probabilities(positions) + chance
        return mixed

    def values(self, positions: Positions) -> Floats | None:
        return self._policy.values(positions)

    def known(self, positions: Positions) -> Bools | None:
        return self._policy.known(positions)


class OneSided(Policy):
    """What a policy knows as one side; as the other it plays anywhere, as if it had learned nothing."""

    def __init__(self, policy: Policy, side: Side) -> None:
        self.rules = policy.rules
        self._policy, self._side = policy, side
        self.costly = policy.costly

    def _own(self, positions: Positions) -> Bools:
        own: Bools = (positions.plies % 2 == self._side) & ~positions.terminal
        return own

    def probabilities(self, positions: Positions) -> Floats:
        found, own = uniform(positions.legal), np.flatnonzero(self._own(positions))
        if len(own):
            found[own] = self._policy.probabilities(positions[own])
        return found

    def values(self, positions: Positions) -> Floats | None:
        values = self._policy.values(positions)
        return None if values is None else np.where(self._own(positions)[:, None], values, np.nan)

    def known(self, positions: Positions) -> Bools | None:
        known = self._policy.known(positions)
        return None if known is None else known & self._own(positions)


@dataclass(frozen=True, eq=False)
class PolicyTable:
    """What a player does in every position of ``space`` (``n`` positions).

    :ivar probabilities: float64[n, cells]; an open position's row sums to 1, or is all zeros where the player
        resigns; a terminal position's row is all zeros.
    :ivar values: float64[n, cells], what the player thinks each move is worth, from the mover's side in the
        player's own unit; NaN where it has no opinion. None for players that have none at all.
    :ivar known: bool[n], the open positions the player has learned something about; None where the question
        makes no sense (players that need no experience).
    """

    space: StateSpace
    probabilities: Floats
    values: Floats | None = None
    known: Bools | None = None

    @property
    def rules(self) -> Rules:
        """The game."""
        return self.space.rules

    @property
    def support(self) -> Bools:
        """bool[n, cells]: the moves that are played at all."""
        return np.greater(self.probabilities, 0)


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
    return chosen / np.maximum(chosen.sum(axis=1, keepdims=True), 1)


def best(values: Floats, legal: Bools) -> Bools:
    """bool[n, cells]: the legal cells of the largest value in each row, exactly equal ones together."""
    masked = np.where(legal, values, -np.inf)
    return np.logical_and(legal, masked == masked.max(axis=1, keepdims=True, initial=-np.inf))


def first(chosen: Bools) -> Bools:
    """bool[n, cells]: only the first of the chosen cells in each row."""
    return chosen & (np.cumsum(chosen, axis=1) == 1)


def last(chosen: Bools) -> Bools:
    """bool[n, cells]: only the last of the chosen cells in each row."""
    return first(chosen[:, ::-1])[:, ::-1]
