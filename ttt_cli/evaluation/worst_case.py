"""The worst that can happen to a policy: what an opponent who knows it by heart can force.

The policy's moves are chance, the opponent's are free: going backwards, take the mean over the former and the
opponent's best over the latter. The opponent that forces most losses and the one whose wins exceed its losses
by most are two different best responses; both are computed.

NashConv is the sum of what the latter gains from either side, exploitability its mean over the two players
(Lanctot et al., 2017, and OpenSpiel).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ttt_cli.engine.policy import PolicyTable
from ttt_cli.engine.state_space import Floats, StateSpace

Indexes = NDArray[np.intp]

EQUAL = 1e-12
"""Relative difference below which two probabilities differ by rounding only."""


@dataclass(frozen=True)
class WorstCase:
    """The worst case of a policy in one role.

    :ivar loss: the highest probability of losing that any opponent can force.
    :ivar line: the cells (from 0) of the likeliest game that shows it, the shortest of equally likely ones;
        None if the policy cannot lose. Where the policy resigns the line ends on an open board.
    :ivar gain: the largest expected wins minus losses that any opponent can have.
    :ivar guaranteed: +1, 0 or -1: the result below which no opponent can bring the policy. Decided by which
        moves have positive probability, so that no rounding enters.
    """

    loss: float
    line: tuple[int, ...] | None
    gain: float
    guaranteed: int


def worst_case(policy: PolicyTable, side: int) -> WorstCase:
    """The worst case of ``policy`` playing ``side`` (0: X, 1: O)."""
    space = policy.space
    result = space.results if side == 0 else -space.results
    loss, gain, guaranteed = (result < 0).astype(np.float64), -result.astype(np.float64), result.copy()
    for own, now, after in _backwards(space, side):
        losses, gains, results = loss[after], gain[after], guaranteed[after]
        if own:
            played = _played(policy, now)
            resigns = ~played.any(axis=0)
            loss[now] = np.where(resigns, 1.0, (played * losses).sum(axis=0))
            gain[now] = np.where(resigns, 1.0, (played * gains).sum(axis=0))
            guaranteed[now] = np.where(resigns, -1, np.where(played > 0, results, 1).min(axis=0))
        else:
            legal = after >= 0
            loss[now] = np.where(legal, losses, -2.0).max(axis=0)
            gain[now] = np.where(legal, gains, -2.0).max(axis=0)
            guaranteed[now] = np.where(legal, results, 1).min(axis=0)
    # Rounding must not carry a certainty beyond 1; adding 0.0 makes -0.0 a plain zero.
    return WorstCase(
        min(float(loss[0]), 1.0),
        _likeliest_loss(policy, side, loss) if guaranteed[0] < 0 else None,
        min(float(gain[0]), 1.0) + 0.0,
        int(guaranteed[0]),
    )


def guaranteed_result(policy: PolicyTable, side: int) -> int:
    """``WorstCase.guaranteed`` alone."""
    space = policy.space
    guaranteed = space.results.copy() if side == 0 else -space.results
    for own, now, after in _backwards(space, side):
        allowed = _played(policy, now) > 0 if own else after >= 0
        worst = np.where(allowed, guaranteed[after], 1).min(axis=0)
        guaranteed[now] = np.where(allowed.any(axis=0), worst, -1)  # a row without moves resigns
    return int(guaranteed[0])


def _likeliest_loss(policy: PolicyTable, side: int, loss: Floats) -> tuple[int, ...]:
    """The cells of the likeliest lost game against an opponent who makes losing as likely as ``loss`` says;
    of equally likely ones the shortest."""
    space = policy.space
    result = space.results if side == 0 else -space.results
    chance = (result < 0).astype(np.float64)
    length, step = np.zeros(len(space), np.int8), np.full(len(space), -1, np.int8)
    for own, now, after in _backwards(space, side):
        chances = chance[after]
        if own:
            chances *= _played(policy, now)
        else:
            chances[(after < 0) | (loss[after] < loss[now] * (1 - EQUAL))] = 0.0
        most = chances.max(axis=0)
        likeliest = (chances > 0) & (chances >= most * (1 - EQUAL))
        lengths = np.where(likeliest, length[after], np.int8(127))
        shortest = lengths.min(axis=0)
        goes_on = most > 0
        chance[now] = np.where(policy.probabilities[now].any(axis=1), most, 1.0) if own else most
        step[now] = np.where(goes_on, (lengths == shortest).argmax(axis=0), -1)
        length[now] = np.where(goes_on, shortest + 1, 0)
    line, index = [], 0
    while step[index] >= 0:
        line.append(int(step[index]))
        index = int(space.successors[index, line[-1]])
    return tuple(line)


def _backwards(space: StateSpace, side: int) -> Iterator[tuple[bool, Indexes, Indexes]]:
    """The open positions from the last to the first: whether they are the policy's to move in, their indexes
    (k), and their successors (cells, k), -1 where there is none.

    Cells come first because NumPy reduces over a leading axis many times faster than over a short last one.
    """
    for rows in space.backwards():
        now = rows.start + np.flatnonzero(~space.terminal[rows])
        after = space.successors.take(now, axis=0).T.astype(np.intp)
        yield bool(space.plies[rows.start] % 2 == side), now, after


def _played(policy: PolicyTable, now: Indexes) -> Floats:
    """float64[cells, k]: the policy's probabilities in the positions ``now``."""
    return policy.probabilities.take(now, axis=0).T.copy()
