"""Positions analysed, many at a time: by perfect play, and by the players who are asked."""

from dataclasses import dataclass

import numpy as np

from ttt_cli.engine.arrays import Bools, Floats, Int8s
from ttt_cli.engine.perfect import NODES, move_values_of, values_of
from ttt_cli.engine.policy import Policy
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.retrograde import plies_left, solve
from ttt_cli.engine.state_space import enumerated


@dataclass(frozen=True, eq=False)
class Analysis:
    """The truth about ``k`` positions, from the side of the mover of each.

    :ivar values: int8[k], +1 the mover wins, 0 a draw, -1 it loses; ``UNPROVEN`` where that is not known.
    :ivar legal: bool[k, cells].
    :ivar move_values: int8[k, cells], what each move is worth; meaningless where there is none.
    :ivar move_plies: int8[k, cells], plies to the end after perfect play on both sides, this move included;
        None on boards without a state space, where distances are not known.
    """

    values: Int8s
    legal: Bools
    move_values: Int8s
    move_plies: Int8s | None


def analyse(positions: Positions, *, nodes: int = NODES) -> Analysis:
    """Analyse positions: by the state space where the board has one, else what can be proved, each value
    with at most ``nodes``."""
    legal = positions.legal
    space = enumerated(positions.rules)
    if space is None:
        return Analysis(
            values_of(positions, nodes=nodes), legal, move_values_of(positions, nodes=nodes), None
        )
    rows = space.rows(positions)
    solution = solve(space)
    scores = solution.move_scores(rows)
    plies = plies_left(space, scores, positions.plies[:, None])
    return Analysis(solution.values[rows], legal, np.sign(scores), plies)


@dataclass(frozen=True, eq=False)
class Opinion:
    """A player's view of ``k`` positions.

    :ivar probabilities: float64[k, cells]; a row of zeros at an open position: it resigns.
    :ivar values: float64[k, cells], in its own unit, NaN where it has no opinion; None if it never has one.
    :ivar known: bool[k], whether it has learned anything there; None for players that need no experience.
    """

    name: str
    probabilities: Floats
    values: Floats | None
    known: Bools | None


def consult(name: str, policy: Policy, positions: Positions) -> Opinion:
    """Ask a player."""
    return Opinion(name, policy.probabilities(positions), policy.values(positions), policy.known(positions))
