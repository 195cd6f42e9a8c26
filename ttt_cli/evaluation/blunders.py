"""Mistakes: the moves by which a policy can give up game value, whatever the opponent then makes of it."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ttt_cli.engine.policy import PolicyTable
from ttt_cli.engine.retrograde import solve
from ttt_cli.engine.state_space import Bools, Floats, Int8s, Int64s
from ttt_cli.evaluation.matchup import can_reach, play_exact

RESIGNS = -1
"""The cell of a mistake that consists in resigning."""


@dataclass(frozen=True, eq=False)
class Mistakes:
    """``k`` moves that a policy may play and that give up game value, the one to mend first coming first.

    :ivar positions: int64[k], indexes.
    :ivar cells: int8[k], from 0; ``RESIGNS`` where the policy resigns.
    :ivar probabilities: float64[k], of the move in that position.
    :ivar before: int8[k], the position's value for the mover: +1, 0 or -1.
    :ivar after: int8[k], its value for the mover once the move is played.
    :ivar reach: float64[k, opponents], how likely the position comes about when the policy plays the mover's
        side against each of the opponents.
    :ivar reachable: bool[k], whether it can come about at all in the policy's own play.
    """

    positions: Int64s
    cells: Int8s
    probabilities: Floats
    before: Int8s
    after: Int8s
    reach: Floats
    reachable: Bools

    def __len__(self) -> int:
        return len(self.positions)


def own_positions(policy: PolicyTable) -> Bools:
    """bool[n]: the positions in which the policy can be to move when it plays one side and the other side
    plays anything (both roles together)."""
    space = policy.space
    return (can_reach(policy, 0) & space.x_moves) | (can_reach(policy, 1) & space.o_moves)


def mistaken(policy: PolicyTable) -> Bools:
    """bool[n]: the open positions in which the policy can give up game value."""
    space = policy.space
    values = solve(space).values
    found = np.zeros(len(space), np.bool_)
    for rows in space.forwards():
        now = rows.start + np.flatnonzero(~space.terminal[rows] & (values[rows] > -1))
        played = policy.probabilities.take(now, axis=0).T > 0
        worse = -values[space.successors.take(now, axis=0).T] < values[now]
        found[now] = (played & worse).any(axis=0) | ~played.any(axis=0)
    return found


def find_mistakes(policy: PolicyTable, opponents: Iterable[PolicyTable] = ()) -> Mistakes:
    """All mistakes of the policy.

    Their order: by what the mistake costs, times how often it happens against these opponents; then those
    that its own play can reach, by cost and probability; then the positions' own order.
    """
    space = policy.space
    values = solve(space).values
    found = np.flatnonzero(mistaken(policy))
    played = policy.probabilities[found]
    values_after = np.where(space.legal[found], -values[space.successors[found]], values[found, None])
    at, bad = np.nonzero((played > 0) & (values_after < values[found, None]))
    resigning = np.flatnonzero(~played.any(axis=1))
    positions = np.concatenate([found[at], found[resigning]])
    cells = np.concatenate([bad, np.full(len(resigning), RESIGNS)]).astype(np.int8)
    probabilities = np.concatenate([played[at, bad], np.ones(len(resigning))])
    after = np.concatenate([values_after[at, bad], np.full(len(resigning), -1, np.int8)])
    before = values[positions]
    x_to_move = space.plies[positions] % 2 == 0
    reached = [np.zeros((len(positions), 0))]
    for opponent in opponents:
        as_x, as_o = play_exact(policy, opponent).reach, play_exact(opponent, policy).reach
        reached.append(np.where(x_to_move, as_x[positions], as_o[positions])[:, None])
    reach = np.concatenate(reached, axis=1)
    reachable = own_positions(policy)[positions]
    cost = (before - after) * probabilities
    order = np.lexsort((cells, positions, -cost, ~reachable, -cost * reach.sum(axis=1)))
    return Mistakes(
        positions[order],
        cells[order],
        probabilities[order],
        before[order],
        after[order],
        reach[order],
        reachable[order],
    )
