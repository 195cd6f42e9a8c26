"""Blunders: the moves by which a policy can give up game value, whatever the opponent then makes of it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ttt_cli.engine.arrays import Bools, Floats, Int8s
from ttt_cli.engine.perfect import UNPROVEN, values_of
from ttt_cli.engine.policy import Policy, PolicyTable
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.retrograde import solve
from ttt_cli.engine.side import Side
from ttt_cli.engine.state_space import enumerated
from ttt_cli.evaluation.matchup import play_on
from ttt_cli.evaluation.walk import BUDGET, Walk

MOST_PROVED = 20_000
"""Positions that are looked at, on a board without a state space, for each role."""

NODES = 2_000
"""Nodes that each proof may take there."""

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


def can_blunder(policy: PolicyTable) -> Bools:
    """bool[n]: the open positions of a state space in which the policy can give up game value."""
    space = policy.space
    values = solve(space).values
    found = np.zeros(len(space), np.bool_)
    for rows in space.forwards():
        now = rows.start + np.flatnonzero(~space.terminal[rows] & (values[rows] > -1))
        played = policy.played.take(now, axis=0).T > 0
        worse = -values[space.successors.take(now, axis=0).T] < values[now]
        found[now] = (played & worse).any(axis=0) | ~played.any(axis=0)
    return found


def proved_blunders(policy: Policy, layers: Sequence[Positions]) -> int | None:
    """In how many of these open positions the policy can give up game value; None where there are too many of
    them, or the value of one could not be proved."""
    if enumerated(policy.rules) is None and sum(map(len, layers)) > MOST_PROVED:
        return None
    found = 0
    for positions in layers:
        played = policy.probabilities(positions) > 0
        rows, cells = np.nonzero(played)
        values = values_of(positions, nodes=NODES)
        after = values_of(positions.play(rows, cells), nodes=NODES)
        if (values == UNPROVEN).any() or (after == UNPROVEN).any():
            return None
        wrong = ~played.any(axis=1) & (values > -1)  # resigning gives up a draw or a win
        wrong[rows[-after < values[rows]]] = True
        found += int(wrong.sum())
    return found


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
        positions = space.positions[still_open]
        everywhere = np.zeros((len(space), reach.shape[1]))
        everywhere[own] = reach
        reachable = np.isin(still_open, own)
        reach = everywhere[still_open]
    values = values_of(positions)
    known = np.flatnonzero(values != UNPROVEN)
    positions, reach, reachable, values = positions[known], reach[known], reachable[known], values[known]
    played = policy.probabilities(positions)
    at, cells = np.nonzero(played)
    after = values_of(positions.play(at, cells))
    after = np.where(after == UNPROVEN, UNPROVEN, -after)
    worse = after < values[at]
    at, cells, after = at[worse], cells[worse], after[worse]
    resigning = np.flatnonzero(~played.any(axis=1) & (values > -1))
    rows = np.concatenate([at, resigning])
    cells = np.concatenate([cells, np.full(len(resigning), RESIGNS)])
    probabilities = np.concatenate([played[at, cells[: len(at)]], np.ones(len(resigning))])
    left = np.concatenate([after, np.full(len(resigning), -1, np.int8)])
    cost = (values[rows] - left) * probabilities
    order = np.lexsort((cells, rows, -cost, ~reachable[rows], -cost * reach[rows].sum(axis=1)))
    rows = rows[order]
    return Blunders(
        positions[rows],
        cells[order].astype(np.int8),
        probabilities[order],
        values[rows],
        left[order],
        reach[rows],
        reachable[rows],
    )


def _own(policy: Policy, opponents: Sequence[Policy], budget: int) -> tuple[Positions, Floats]:
    """The open positions in which the policy can be to move, whatever the other side plays, both roles
    together; and float64[k, opponents], how likely they are reached against each opponent."""
    parts: list[tuple[int, Positions, Floats]] = []
    for side in Side:
        walk = Walk.alone(policy, side, budget=budget)
        reaches = [play_on(walk, opponent).reach for opponent in opponents]
        for ply, positions in walk.own:
            still_open = ~walk.layers[ply].positions.terminal
            reach = [
                layers[ply][still_open] if ply < len(layers) else np.zeros(len(positions))
                for layers in reaches
            ]
            parts.append((ply, positions, np.column_stack(reach) if reach else np.zeros((len(positions), 0))))
    parts.sort(key=lambda part: part[0])
    return Positions.concatenate([part[1] for part in parts]), np.concatenate([part[2] for part in parts])
