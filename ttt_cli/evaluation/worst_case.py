"""The worst that can happen to a policy: what a best response can force.

The policy's moves are chance, the opponent's are free: going backwards, take the mean over the former and the
opponent's best over the latter. The opponent that forces most losses and the one whose wins exceed its losses
by most are two different best responses; both are computed.

NashConv is the sum of what the latter gains from either side, exploitability its mean over the two players
(Lanctot et al., 2017, and OpenSpiel).
"""

from dataclasses import dataclass

import numpy as np

from ttt_cli.engine.arrays import Floats, Int8s, Int32s
from ttt_cli.engine.side import Side
from ttt_cli.evaluation.walk import Layer, Walk

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


def worst_case(walk: Walk) -> WorstCase:
    """The worst case of the player of a walk whose opponent may play anything."""
    side = walk.side
    losses: list[Floats] = []  # the last layer first
    gain, guaranteed = np.zeros(0), np.zeros(0, np.int8)
    for layer in reversed(walk.layers):
        result = _results(layer, side)
        losses.append(backward(layer, (result < 0).astype(np.float64), losses[-1] if losses else np.zeros(0)))
        gains = -result.astype(np.float64)
        if layer.probabilities is None:
            gains[~layer.positions.terminal] = -2.0  # below anything that a move may be worth
        gain, guaranteed = backward(layer, gains, gain), _guaranteed(layer, result.copy(), guaranteed)
    # Rounding must not carry a certainty beyond 1; adding 0.0 makes -0.0 a plain zero.
    return WorstCase(
        min(float(losses[-1][0]), 1.0),
        _likeliest_loss(walk, losses) if guaranteed[0] < 0 else None,
        min(float(gain[0]), 1.0) + 0.0,
        int(guaranteed[0]),
    )


def backward(layer: Layer, values: Floats, following: Floats) -> Floats:
    """What the opponent of a walk's player can make of each position of a layer.

    :param values: float64[k], what it has where the game is over, and at least has where it is open; changed.
    :param following: the same of the next layer.
    """
    if layer.probabilities is None:
        np.maximum.at(values, layer.rows, following[layer.targets])
        return values
    parts = layer.probabilities * following[layer.targets]
    if layer.positions.plies[0]:
        np.add.at(values, layer.rows, parts)
    else:  # the empty board alone: pairwise, which is more precise
        row = np.zeros(layer.positions.rules.cells)
        row[layer.cells] = parts
        values += row.sum()
    values[layer.resigning] = 1.0
    return values


def guaranteed_result(walk: Walk) -> int:
    """``WorstCase.guaranteed`` alone."""
    guaranteed = np.zeros(0, np.int8)
    for layer in reversed(walk.layers):
        guaranteed = _guaranteed(layer, _results(layer, walk.side), guaranteed)
    return int(guaranteed[0])


def _results(layer: Layer, side: Side) -> Int8s:
    """int8[k]: how the game ended for ``side``, 0 where it is open."""
    return layer.positions.results * np.int8(side.sign)


def _guaranteed(layer: Layer, results: Int8s, following: Int8s) -> Int8s:
    """int8[k]: the results below which nobody can bring the player, given those of the next layer."""
    results[~layer.positions.terminal] = 1
    np.minimum.at(results, layer.rows, following[layer.targets])
    if layer.probabilities is not None:
        results[layer.resigning] = -1
    return results


def _likeliest_loss(walk: Walk, losses: list[Floats]) -> tuple[int, ...]:
    """The cells of the likeliest lost game against an opponent who makes losing as likely as ``losses``, the
    last layer first, say; of equally likely ones the shortest."""
    chance, length = np.zeros(0), np.zeros(0, np.int8)
    steps: list[Int32s] = []  # for each position the move that the line goes on with; -1: here it ends
    for layer, loss, next_loss in zip(reversed(walk.layers), losses, [np.zeros(0), *losses], strict=False):
        rows, targets = layer.rows, layer.targets
        chances = chance[targets]
        if layer.probabilities is not None:
            chances *= layer.probabilities
        else:
            chances[next_loss[targets] < loss[rows] * (1 - EQUAL)] = 0.0
        most = np.zeros(len(layer))
        np.maximum.at(most, rows, chances)
        likeliest = np.flatnonzero((chances > 0) & (chances >= most[rows] * (1 - EQUAL)))
        lengths = length[targets[likeliest]]
        shortest = np.full(len(layer), 127, np.int8)
        np.minimum.at(shortest, rows[likeliest], lengths)
        best = likeliest[lengths == shortest[rows[likeliest]]][::-1]
        step = np.full(len(layer), -1, np.int32)
        step[rows[best]] = best  # backwards: the first of them is written last
        over = _results(layer, walk.side) < 0
        ends = over | layer.resigning if layer.probabilities is not None else over
        chance = np.where(ends, 1.0, most)
        length = np.where(step >= 0, shortest + np.int8(1), np.int8(0)).astype(np.int8)
        steps.append(step)
    line, row = [], 0
    for layer, step in zip(walk.layers, reversed(steps), strict=True):
        move = int(step[row])
        if move < 0:
            break
        line.append(int(layer.cells[move]))
        row = int(layer.targets[move])
    return tuple(line)
