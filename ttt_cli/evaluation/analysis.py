"""What perfect play says of positions, and what players make of them, many positions at a time."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ttt_cli.engine.policy import PolicyTable
from ttt_cli.engine.retrograde import plies_left, solve
from ttt_cli.engine.state_space import Bools, Floats, Int8s, StateSpace


@dataclass(frozen=True, eq=False)
class Analysis:
    """The truth about ``k`` positions, from the side of the mover of each.

    :ivar values: int8[k], +1 the mover wins, 0 a draw, -1 it loses.
    :ivar legal: bool[k, cells].
    :ivar move_values: int8[k, cells], what each move is worth; meaningless where there is none.
    :ivar move_plies: int8[k, cells], plies to the end after perfect play on both sides, this move included.
    """

    values: Int8s
    legal: Bools
    move_values: Int8s
    move_plies: Int8s


def analyse(space: StateSpace, indexes: Sequence[int]) -> Analysis:
    """Analyse the positions with these indexes."""
    rows = np.asarray(indexes, np.intp)
    solution = solve(space)
    scores = solution.move_scores(rows)
    plies = plies_left(space, scores, space.plies[rows][:, None])
    return Analysis(solution.values[rows], space.successors[rows] >= 0, np.sign(scores), plies)


@dataclass(frozen=True, eq=False)
class Opinion:
    """What a player makes of ``k`` positions.

    :ivar probabilities: float64[k, cells]; a row of zeros at an open position: it resigns.
    :ivar values: float64[k, cells], in its own unit, NaN where it has no opinion; None if it never has one.
    :ivar known: bool[k], whether it has learnt anything there; None for players that need no experience.
    """

    name: str
    probabilities: Floats
    values: Floats | None
    known: Bools | None


def consult(name: str, policy: PolicyTable, indexes: Sequence[int]) -> Opinion:
    """Ask a player."""
    rows = np.asarray(indexes, np.intp)
    return Opinion(
        name,
        policy.probabilities[rows],
        None if policy.values is None else policy.values[rows],
        None if policy.known is None else policy.known[rows],
    )
