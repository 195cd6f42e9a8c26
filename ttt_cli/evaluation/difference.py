"""Where two players choose differently, and what each choice is worth."""

from dataclasses import dataclass

import numpy as np

from ttt_cli.engine.arrays import Bools, Floats, Int8s, Int64s
from ttt_cli.engine.perfect import UNPROVEN, move_values_of
from ttt_cli.engine.policy import Policy
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.state_space import StateSpace

EQUAL = 1e-12
"""Probabilities and values closer than this differ by rounding only."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two policies side by side, in ``n`` open positions.

    :ivar a: the first; b: the second.
    :ivar differs: bool[n], where they do not play the same cells equally often.
    :ivar worth_a: float64[n], the expected game value, from the mover's side, once the first policy has moved
        and both sides go on perfectly; resigning is worth -1; NaN where it is not known.
    :ivar worth_b: the same for the second policy.
    :ivar known_a: bool[n], what the first has learned about; everything for players that need not learn.
    :ivar known_b: the same for the second.
    """

    positions: Positions
    a: Policy
    b: Policy
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
    def unproven(self) -> Bools:
        """bool[n]: where they differ and it is not known what the choices are worth."""
        return self.differs & np.isnan(self.worth_a - self.worth_b)

    @property
    def only_a(self) -> Bools:
        """bool[n]: positions that only the first knows."""
        return np.logical_and(self.known_a, ~self.known_b)

    @property
    def only_b(self) -> Bools:
        """bool[n]: positions that only the second knows."""
        return np.logical_and(self.known_b, ~self.known_a)

    @property
    def rows(self) -> Int64s:
        """int64[k]: the positions in which they differ or which one of them alone knows, those that matter
        most first."""
        found = np.flatnonzero(self.differs | self.only_a | self.only_b)
        stake = np.nan_to_num(np.round(np.abs(self.worth_a - self.worth_b)[found], 12))
        return found[np.lexsort((found, ~self.differs[found], -stake))]


def compare(a: Policy, b: Policy, positions: Positions | None = None) -> Comparison:
    """Compare two policies of one game.

    :param positions: where, in the order of positions; None: everywhere, on a board with a state space.
    """
    if positions is None:
        positions = StateSpace.of(a.rules)
    positions = positions[~positions.terminal]
    parts = [_compared(a, b, part) for part in positions.parts()]
    return Comparison(positions, a, b, *map(np.concatenate, zip(*parts, strict=True)))


def _compared(a: Policy, b: Policy, positions: Positions) -> tuple[Bools, Floats, Floats, Bools, Bools]:
    """Of some positions what a ``Comparison`` has of all."""
    played_a, played_b = a.probabilities(positions), b.probabilities(positions)
    values = move_values_of(positions)
    differs: Bools = np.any(np.abs(played_a - played_b) > EQUAL, axis=1)
    worth = _worth(played_a, values), _worth(played_b, values)
    return differs, *worth, _known(a, positions), _known(b, positions)


def _known(policy: Policy, positions: Positions) -> Bools:
    known = policy.known(positions)
    return np.ones(len(positions), np.bool_) if known is None else known


def _worth(probabilities: Floats, values: Int8s) -> Floats:
    """float64[n]: the expected value after a policy has moved, given what each move is worth."""
    played = probabilities > 0
    after = (probabilities * np.where(played, values, 0)).sum(axis=1)
    after[(played & (values == UNPROVEN)).any(axis=1)] = np.nan
    return np.where(played.any(axis=1), after, -1.0)
