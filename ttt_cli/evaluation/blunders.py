"""Blunders: the moves by which a policy can give up game value, whatever the opponent then makes of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttt_cli.engine.arrays import Bools, Floats
from ttt_cli.engine.perfect import NODES, UNPROVEN, values_of
from ttt_cli.engine.policy import Policy, PolicyTable
from ttt_cli.engine.positions import Positions
from ttt_cli.evaluation.matchup import own_play
from ttt_cli.evaluation.walk import BUDGET

RESIGNS = -1
"""The cell of a blunder that consists in resigning."""

MOVE = np.dtype([("row", "i8"), ("cell", "i1"), ("probability", "f8"), ("before", "i1"), ("after", "i1")])
"""A move that gives up game value: in which of some positions; its cell, from 0, or ``RESIGNS``; how likely
it is there; and for the mover the value, +1, 0 or -1, of the position and of it once the move is played."""


@dataclass(frozen=True, eq=False)
class Blunders:
    """``k`` moves that a policy may play and that give up game value, the worst first.

    :ivar positions: where, ``k`` of them.
    :ivar moves: ``MOVE``[k].
    :ivar reach: float64[k, opponents], how likely the position is reached when the policy plays the mover's
        side against each of the opponents.
    :ivar reachable: bool[k], whether the policy's own play can reach it at all.
    """

    positions: Positions
    moves: NDArray[Any]
    reach: Floats
    reachable: Bools

    def __len__(self) -> int:
        return len(self.positions)


def wrong_moves(policy: Policy, positions: Positions, *, nodes: int = NODES) -> tuple[NDArray[Any], bool]:
    """The moves by which a policy can give up game value in some open positions; resigning is one where the
    position is not lost. What is not known to be wrong is left out.

    :param nodes: that the proof of each value may take, on a board without a state space.
    :returns: ``MOVE``[k]; and whether the values of all the positions, and of all moves played there, are
        known.
    """
    played, values = policy.probabilities(positions), values_of(positions, nodes=nodes)
    rows, cells = np.nonzero(played)
    left = values_of(positions.play(rows, cells), nodes=nodes)
    resigning = np.flatnonzero(~played.any(axis=1))
    found = np.zeros(len(rows) + len(resigning), MOVE)
    found["row"] = np.concatenate([rows, resigning])
    found["cell"][: len(rows)], found["cell"][len(rows) :] = cells, RESIGNS
    found["probability"] = np.concatenate([played[rows, cells], np.ones(len(resigning))])
    found["before"] = values[found["row"]]
    found["after"][: len(rows)], found["after"][len(rows) :] = np.where(left == UNPROVEN, left, -left), -1
    wrong = (found["before"] != UNPROVEN) & (found["after"] < found["before"])
    return found[wrong], not ((values == UNPROVEN).any() or (left == UNPROVEN).any())


def find_blunders(policy: Policy, opponents: Sequence[Policy] = (), *, budget: int = BUDGET) -> Blunders:
    """All mistakes of the policy: in all open positions where the board has a state space and the player is
    asked about all of it, else in those that its own play can reach and whose value is known.

    Their order: by what the mistake costs, times how often it happens against these opponents; then those
    that its own play can reach, by cost and probability; then the positions' own order.

    :raises OutgrownError: if its own play can reach more positions than ``budget`` allows.
    """
    policy = policy.tabulated()
    positions, reach = own_play(policy, [opponent.tabulated() for opponent in opponents], budget=budget)
    reachable = np.ones(len(positions), np.bool_)
    if isinstance(policy, PolicyTable):
        space, own = policy.space, policy.space.rows(positions)
        everywhere, in_reach = np.zeros((len(space), reach.shape[1])), np.zeros(len(space), np.bool_)
        everywhere[own], in_reach[own] = reach, True
        still_open = ~space.terminal
        positions, reach, reachable = space[still_open], everywhere[still_open], in_reach[still_open]
    wrong, _ = wrong_moves(policy, positions)
    rows, cost = wrong["row"], (wrong["before"] - wrong["after"]) * wrong["probability"]
    order = np.lexsort((wrong["cell"], rows, -cost, ~reachable[rows], -cost * reach[rows].sum(axis=1)))
    rows = rows[order]
    return Blunders(positions[rows], wrong[order], reach[rows], reachable[rows])
