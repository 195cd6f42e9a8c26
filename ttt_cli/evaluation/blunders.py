"""Blunders: the moves by which a policy can give up game value, whatever the opponent then makes of it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ttt_cli.engine.arrays import Bools, Floats, Int8s, Int64s
from ttt_cli.engine.perfect import NODES, UNPROVEN, values_of
from ttt_cli.engine.policy import Policy
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.side import Side
from ttt_cli.engine.state_space import enumerated
from ttt_cli.evaluation.matchup import play_on
from ttt_cli.evaluation.walk import BUDGET, Walk

RESIGNS = -1
"""The cell of a blunder that consists in resigning."""


@dataclass(frozen=True, eq=False)
class Blunders:
    """``k`` moves that a policy may play and that give up game value, the worst first.

    :ivar positions: where, ``k`` of them.
    :ivar cells: int8[k], from 0; ``RESIGNS`` where the policy resigns.
    :ivar probabilities: float64[k], of the move in that position.
    :ivar before: int8[k], the position's value for the mover: +1, 0 or -1.
    :ivar after: int8[k], its value for the mover once the move is played.
    :ivar reach: float64[k, opponents], how likely the position is reached when the policy plays the mover's
        side against each of the opponents.
    :ivar reachable: bool[k], whether the policy's own play can reach it at all.
    """

    positions: Positions
    cells: Int8s
    probabilities: Floats
    before: Int8s
    after: Int8s
    reach: Floats
    reachable: Bools

    def __len__(self) -> int:
        return len(self.positions)


@dataclass(frozen=True, eq=False)
class Wrong:
    """``k`` moves by which a policy gives up game value, among some positions.

    :ivar rows: int64[k], of the positions; cells, before and after as in ``Blunders``.
    :ivar proved: whether the values of all the positions, and of all moves played there, are known.
    """

    rows: Int64s
    cells: Int64s
    probabilities: Floats
    before: Int8s
    after: Int8s
    proved: bool


def wrong_moves(policy: Policy, positions: Positions, *, nodes: int = NODES) -> Wrong:
    """The moves by which a policy can give up game value in some open positions; resigning is one where the
    position is not lost. What is not known to be wrong is left out.

    :param nodes: that the proof of each value may take, on a board without a state space.
    """
    played, values = policy.probabilities(positions), values_of(positions, nodes=nodes)
    rows, cells = np.nonzero(played)
    left = values_of(positions.play(rows, cells), nodes=nodes)
    proved = not ((values == UNPROVEN).any() or (left == UNPROVEN).any())
    resigning = np.flatnonzero(~played.any(axis=1))
    chances = np.concatenate([played[rows, cells], np.ones(len(resigning))])
    rows = np.concatenate([rows, resigning])
    cells = np.concatenate([cells, np.full(len(resigning), RESIGNS)])
    left = np.where(left == UNPROVEN, UNPROVEN, -left)
    before, after = values[rows], np.concatenate([left, np.full(len(resigning), -1, np.int8)])
    at = np.flatnonzero((before != UNPROVEN) & (after < before))
    return Wrong(rows[at], cells[at], chances[at], before[at], after[at], proved)


def find_blunders(policy: Policy, opponents: Sequence[Policy] = (), *, budget: int = BUDGET) -> Blunders:
    """All mistakes of the policy: in all open positions where the board has a state space and the player is
    asked about all of it, else in those that its own play can reach and whose value is known.

    Their order: by what the mistake costs, times how often it happens against these opponents; then those
    that its own play can reach, by cost and probability; then the positions' own order.

    :raises OutgrownError: if its own play can reach more positions than ``budget`` allows.
    """
    policy = policy.tabulated()
    positions, reach = _own(policy, [opponent.tabulated() for opponent in opponents], budget)
    reachable = np.ones(len(positions), np.bool_)
    if not policy.external and (space := enumerated(policy.rules)) is not None:
        own, still_open = space.rows(positions), np.flatnonzero(~space.terminal)
        positions = space[still_open]
        everywhere = np.zeros((len(space), reach.shape[1]))
        everywhere[own] = reach
        reachable = np.isin(still_open, own)
        reach = everywhere[still_open]
    wrong = wrong_moves(policy, positions)
    cost = (wrong.before - wrong.after) * wrong.probabilities
    keys = (wrong.cells, wrong.rows, -cost, ~reachable[wrong.rows], -cost * reach[wrong.rows].sum(axis=1))
    order = np.lexsort(keys)
    rows = wrong.rows[order]
    return Blunders(
        positions[rows],
        wrong.cells[order].astype(np.int8),
        wrong.probabilities[order],
        wrong.before[order],
        wrong.after[order],
        reach[rows],
        reachable[rows],
    )


def _own(policy: Policy, opponents: Sequence[Policy], budget: int) -> tuple[Positions, Floats]:
    """The open positions in which the policy can be to move, whatever the other side plays, both roles
    together; and float64[k, opponents], how likely they are reached against each opponent."""
    parts: list[tuple[int, Positions, Floats]] = []
    for side in Side:
        walk = Walk.alone(policy, side, budget=budget)
        reaches = [matchup.reach for matchup in play_on(walk, opponents)] if opponents else []
        for ply, positions in walk.own:
            reach = np.zeros((len(positions), len(opponents)))
            for number, layers in enumerate(reaches):
                reach[:, number] = layers[ply][~walk.layers[ply].positions.terminal]
            parts.append((ply, positions, reach))
    parts.sort(key=lambda part: part[0])
    return Positions.concatenate([part[1] for part in parts]), np.concatenate([part[2] for part in parts])
