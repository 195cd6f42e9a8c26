"""Best responses: the worst that can happen to a policy, and how to beat it from any position.

Backwards through a walk, the value of a position is the mean over the policy's moves, or the maximum over the
opponent's. There are two best responses: one maximises the probability that the opponent wins, the other its
expected gain, which is the probability of winning minus that of losing.

NashConv is the sum of these gains over both sides, exploitability their mean (Lanctot et al., 2017, and
OpenSpiel).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ttt_cli.documents import Cell, CellFromOne, Share
from ttt_cli.engine.arrays import Floats, Int32s, Int64s
from ttt_cli.engine.policy import ROUNDING, Policy
from ttt_cli.engine.position import Position
from ttt_cli.engine.side import Side
from ttt_cli.evaluation.walk import BUDGET, Layer, layers_of

LEAST = float(np.finfo(np.float64).tiny)
"""The least probability that a possible event counts with, so that underflow never makes it impossible."""


@dataclass(frozen=True)
class WorstCase:
    """The highest probability with which an opponent can make a policy lose, and a line that shows it.

    :ivar line: the cells (from 1) of the likeliest lost game against that opponent, the shortest of equally
        likely ones; None if the policy cannot lose. If the policy resigns, the line ends on an open board.
    :ivar gain: the highest expected gain of any opponent.
    :ivar guaranteed: +1, 0 or -1: the worst result that can come about; free of rounding.
    """

    DOCUMENT = ("loss", "line")

    loss: Share
    line: tuple[CellFromOne, ...] | None
    gain: float
    guaranteed: int


def worst_case(layers: Sequence[Layer], side: Side) -> WorstCase:
    """The worst case of a policy as ``side``, given its walk against every opponent."""
    losses = [np.zeros(0)]  # the probability of losing in each position, the last layer first
    gain = np.zeros(0)  # the opponent's highest expected result
    possible = np.zeros(0, np.int8)  # its best result, with luck
    for layer in reversed(layers):
        loss = np.empty(len(layer))
        expected = np.empty(len(layer))
        best = np.empty(len(layer), np.int8)
        for rows, part in layer.parts():
            results = part.results_for(side.other)
            best[rows] = part.max_over_moves(possible.take(part.targets), results)
            loss[rows] = backward(part, (results > 0).astype(np.float64), losses[-1])
            loss[rows] = np.maximum(loss[rows], LEAST * (best[rows] > 0))
            expected[rows] = backward(part, results.astype(np.float64), gain)
        losses.append(loss)
        gain = expected
        possible = best
    line = _likeliest_loss(layers, side, losses[::-1]) if possible[0] > 0 else None
    most_loss = min(float(losses[-1][0]), 1.0)
    most_gain = min(float(gain[0]), 1.0) + 0.0  # no -0.0
    if most_loss > 0.99 and _can_force_a_loss(layers, side):  # sums of probabilities may miss it by rounding
        most_loss = most_gain = 1.0
    return WorstCase(most_loss, line, most_gain, -int(possible[0]))


def backward(layer: Layer, ends: Floats, after: Floats) -> Floats:
    """float64[k]: the values of a layer's positions for the opponent, by its best response.

    :param ends: float64[k], the values of the positions without moves.
    :param after: the values of the next layer.
    """
    reached = after.take(layer.targets)  # in half the time of an index
    if layer.probabilities is None:
        return layer.max_over_moves(reached, ends)
    ends = np.where(layer.counts > 0, 0.0, ends)
    return ends + np.bincount(layer.rows, layer.probabilities * reached, len(layer))


def _can_force_a_loss(layers: Sequence[Layer], side: Side) -> bool:
    """Whether the opponent can win whatever moves the policy draws."""
    forced = np.zeros(0, np.int8)  # the best results that it can force
    for layer in reversed(layers):
        sign = 1 if layer.probabilities is None else -1  # the best of its moves, or the worst of the policy's
        results = layer.results_for(side.other)
        forced = sign * layer.max_over_moves(sign * forced[layer.targets], sign * results)
    return bool(forced[0] > 0)


def _likeliest_loss(layers: Sequence[Layer], side: Side, losses: Sequence[Floats]) -> tuple[int, ...]:
    """The cells (from 1) of the likeliest lost game against an opponent whose best response gives ``losses``;
    of equally likely ones the shortest, of these the first."""
    # The positions reached, with the probability of the likeliest line to each; in the order of the lines.
    here = np.zeros(1, np.int32)
    chance = np.ones(1)
    lines = np.zeros((1, 0), np.int8)
    likeliest = 0.0
    line = lines[0]
    for layer, loss, after in zip(layers, losses, losses[1:], strict=False):
        lost = layer.results[here] == -side.sign
        top = chance[lost].max(initial=0.0)
        if top > likeliest * (1 + ROUNDING):
            likeliest = top
            line = lines[int(np.flatnonzero(lost & (chance >= top * (1 - ROUNDING)))[0])]
        parents, moves = _moves_from(layer, here)
        targets = layer.targets[moves]
        chances = chance[parents]
        hopeful = after[targets] > 0
        if layer.probabilities is None:  # the opponent makes the moves of its best response
            hopeful &= after[targets] >= loss[here[parents]] * (1 - ROUNDING)
        else:
            chances = np.maximum(chances * layer.probabilities[moves], LEAST)
        hopeful &= chances > likeliest * (1 + ROUNDING)  # a longer game only becomes less likely
        most = np.zeros(len(after))
        np.maximum.at(most, targets[hopeful], chances[hopeful])
        best = np.flatnonzero(hopeful & (chances >= most[targets] * (1 - ROUNDING)))
        _, firsts = np.unique(targets[best], return_index=True)
        kept = best[np.sort(firsts)]  # the first of the likeliest lines to each position
        if not len(kept):
            break
        lines = np.column_stack([lines[parents[kept]], layer.cells[moves[kept]] + 1])
        here, chance = targets[kept], most[targets[kept]]
    return tuple(line.tolist())


def _moves_from(layer: Layer, positions: Int32s) -> tuple[Int64s, Int64s]:
    """The moves of some positions of a layer, in any order: for each move the index of its position among
    these, and its own index in the layer."""
    counts = layer.counts[positions]
    ends = np.cumsum(layer.counts, dtype=np.int64)[positions]
    parents = np.repeat(np.arange(len(positions)), counts)
    return parents, np.arange(len(parents)) + np.repeat(ends - np.cumsum(counts), counts)


@dataclass(frozen=True, eq=False)
class Response:
    """What the side to move can get at most against a known policy.

    :ivar win: float64[cells], the highest probability of winning after each move; NaN where it is illegal.
    :ivar save: float64[cells], likewise of not losing.
    """

    win: Floats
    save: Floats

    @property
    def best(self) -> tuple[Cell, ...]:
        """The moves most likely to win or, if none can win, most likely not to lose. A player that always
        makes one of these moves attains that probability."""
        chances = self.win if np.nanmax(self.win) > 0 else self.save
        return tuple(np.flatnonzero(chances >= np.nanmax(chances) * (1 - ROUNDING)).tolist())


def best_response(policy: Policy, position: Position, *, budget: int = BUDGET) -> Response:
    """The best response of the side to move to ``policy``, which plays the other side.

    :raises OutgrownError: if more than ``budget`` positions can be reached.
    """
    side = Side.to_move(position.plies).other
    first, *layers = layers_of(policy, side, start=position, budget=budget)
    win, save = np.zeros(0), np.zeros(0)
    for layer in reversed(layers):
        results = layer.results_for(side.other)
        win = backward(layer, (results > 0).astype(np.float64), win)
        save = backward(layer, (results >= 0).astype(np.float64), save)
    chances = np.full((2, policy.rules.cells), np.nan)
    chances[:, first.cells] = win[first.targets], save[first.targets]
    chances[chances > 1 - ROUNDING] = 1.0  # certain but for rounding
    return Response(*chances)
