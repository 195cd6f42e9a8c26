"""A policy: for each position a probability for each cell. Whatever plays without asking a person is one."""

from dataclasses import dataclass

import numpy as np

from ttt_cli.engine.state_space import Bools, Floats, StateSpace


@dataclass(frozen=True, eq=False)
class Policy:
    """What a player does in every position of ``space`` (``n`` positions).

    :ivar probabilities: float64[n, cells]; an open position's row sums to 1, or is all zeros where the player
        resigns; an ended position's row is all zeros.
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
    def support(self) -> Bools:
        """bool[n, cells]: the moves that are played at all."""
        return np.greater(self.probabilities, 0)

    def explore(self, epsilon: float) -> "Policy":
        """The same player, but with probability ``epsilon`` it plays any legal cell, uniformly."""
        mixed = (1 - epsilon) * self.probabilities + epsilon * uniform(self.space.legal)
        return Policy(self.space, mixed, self.values, self.known)


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
