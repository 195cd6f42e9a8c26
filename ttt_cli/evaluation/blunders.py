"""Blunders: the moves of a policy that give up game value, even if the opponent does not take advantage."""

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
"""The cell of a resignation."""

MOVE = np.dtype([("row", "i8"), ("cell", "i1"), ("probability", "f8"), ("before", "i1"), ("after", "i1")])
"""A blunder: the number of its position; its cell, from 0, or ``RESIGNS``; its probability; the mover's game
value, +1, 0 or -1, before and after the move."""


@dataclass(frozen=True, eq=False)
class Blunders:
    """``k`` blunders of a policy, the worst first.

    :ivar positions: the position of each.
    :ivar moves: ``MOVE``[k].
    :ivar reach: float64[k, opponents], how likely the position is reached against each opponent.
    :ivar reachable: bool[k], whether the policy's own play can reach the position.
    """

    positions: Positions
    moves: NDArray[Any]
    reach: Floats
    reachable: Bools

    def __len__(self) -> int:
        return len(self.positions)


def wrong_moves(policy: Policy, positions: Positions, *, nodes: int = NODES) -> tuple[NDArray[Any], bool]:
    """Find the blunders of a policy in some open positions, resigning included.

    :param nodes: the limit of each proof, on a board without a state space.
    :returns: the known blunders, ``MOVE``[k]; and whether the values of all positions and moves are known.
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
    """Return all blunders of a policy: of a table in all open positions, of any other player in those that
    its own play can reach and whose value is known.

    They are ordered by expected cost against these opponents, then by whether its own play can reach them,
    then by cost times probability, then by position.

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
