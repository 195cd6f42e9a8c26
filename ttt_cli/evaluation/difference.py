"""Where two players choose differently, and what each choice is worth."""

from dataclasses import dataclass

import numpy as np

from ttt_cli.engine.policy import PolicyTable
from ttt_cli.engine.retrograde import solve
from ttt_cli.engine.state_space import Bools, Floats, Int64s

EQUAL = 1e-12
"""Probabilities and values closer than this differ by rounding only."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two policies side by side, over all ``n`` positions.

    :ivar differs: bool[n], open positions in which they do not play the same cells equally often.
    :ivar worth_a: float64[n], the expected game value, from the mover's side, once the first policy has moved
        and both sides go on perfectly; resigning is worth -1.
    :ivar worth_b: the same for the second policy.
    :ivar known_a: bool[n], what the first has learnt about; everything for players that need not learn.
    :ivar known_b: the same for the second.
    """

    a: PolicyTable
    b: PolicyTable
    differs: Bools
    worth_a: Floats
    worth_b: Floats
    known_a: Bools
    known_b: Bools

    @property
    def better_a(self) -> Bools:
        """bool[n]: where the first policy's choice is worth more."""
        return self.differs & (self.worth_a > self.worth_b + EQUAL)

    @property
    def better_b(self) -> Bools:
        """bool[n]: where the second policy's choice is worth more."""
        return self.differs & (self.worth_b > self.worth_a + EQUAL)

    @property
    def only_a(self) -> Bools:
        """bool[n]: open positions that only the first knows."""
        return np.logical_and(self.known_a, ~self.known_b)

    @property
    def only_b(self) -> Bools:
        """bool[n]: open positions that only the second knows."""
        return np.logical_and(self.known_b, ~self.known_a)

    @property
    def rows(self) -> Int64s:
        """int64[k]: the positions in which they differ or which one of them alone knows, those that matter
        most coming first."""
        found = np.flatnonzero(self.differs | self.only_a | self.only_b)
        stake = np.round(np.abs(self.worth_a - self.worth_b)[found], 12)
        return found[np.lexsort((found, ~self.differs[found], -stake))]


def compare(a: PolicyTable, b: PolicyTable) -> Comparison:
    """Compare two policies on one space."""
    space = a.space
    differs = np.zeros(len(space), np.bool_)
    for rows in space.forwards():
        differs[rows] = (np.abs(a.probabilities[rows] - b.probabilities[rows]) > EQUAL).any(axis=1)
    known = [~space.terminal if policy.known is None else policy.known & ~space.terminal for policy in (a, b)]
    return Comparison(a, b, differs, _worth(a), _worth(b), *known)


def _worth(policy: PolicyTable) -> Floats:
    space = policy.space
    values = solve(space).values
    worth = np.zeros(len(space))
    for rows in space.forwards():
        now = rows.start + np.flatnonzero(~space.terminal[rows])
        played = policy.probabilities[now]
        after = (played * -values[space.successors[now]].astype(np.float64)).sum(axis=1)
        worth[now] = np.where(played.any(axis=1), after, -1.0)
    return worth
