"""Best responses: the worst that can happen to a policy, and how to beat it from any position.

Going backwards, take the mean over the policy's moves and the maximum over the opponent's. There are two best
responses: one maximises the opponent's wins, the other its wins minus losses.

NashConv is the sum of the latter gains over both sides, exploitability their mean (Lanctot et al., 2017, and
OpenSpiel).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ttt_cli.documents import Cell, CellFromOne, Share
from ttt_cli.engine.arrays import Floats, Int8s, Int32s
from ttt_cli.engine.policy import Policy
from ttt_cli.engine.position import Position
from ttt_cli.engine.side import Side
from ttt_cli.evaluation.walk import BUDGET, Layer, layers_of, line_to

ROUNDING = 1e-12
"""Relative difference up to which probabilities are equal but for rounding."""


@dataclass(frozen=True)
class WorstCase:
    """The highest probability of losing that any opponent can force, and a line that shows it.

    :ivar line: the cells (from 1) of the likeliest game that shows it, the shortest of equally likely ones;
        None if the policy cannot lose. If the policy resigns, the line ends on an open board.
    :ivar gain: the largest expected wins minus losses of any opponent.
    :ivar guaranteed: +1, 0 or -1: the worst result that any opponent can force with positive probability;
        free of rounding.
    """

    DOCUMENT: ClassVar = ("loss", "line")

    loss: Share
    line: tuple[CellFromOne, ...] | None
    gain: float
    guaranteed: int


def worst_case(layers: Sequence[Layer], side: Side) -> WorstCase:
    """Return the worst case of a policy as ``side``, given its walk against anything."""
    losses = [np.zeros(0)]  # the last layer first
    gain, worst = np.zeros(0), np.zeros(0, np.int8)
    for layer in reversed(layers):
        results = _results(layer, side.other)
        here = (results > 0).astype(np.float64), results.astype(np.float64), results
        backward(layer, here, (losses[-1], gain, worst))
        loss, gain, worst = here
        losses.append(loss)
    # Rounding must not carry a certainty beyond 1; adding 0.0 makes -0.0 a plain zero.
    return WorstCase(
        min(float(losses[-1][0]), 1.0),
        _likeliest_loss(layers, side, losses[::-1]) if worst[0] > 0 else None,
        min(float(gain[0]), 1.0) + 0.0,
        -int(worst[0]),
    )


def backward(layer: Layer, values: Sequence[NDArray[Any]], following: Sequence[NDArray[Any]]) -> None:
    """Find values of a layer's positions for the opponent: floats are those of its best response, and
    integers the best that can come about at all.

    :param values: [k] for each kind of value, 0 in open positions, to be filled there.
    :param following: likewise of the next layer.
    """
    for here in values:
        if layer.probabilities is None or here.dtype == np.int8:
            here[layer.open] = -2  # below anything that a move may be worth
    for moves in layer.moves:
        targets, rows = layer.targets[moves.some], moves.rows
        for here, after in zip(values, following, strict=True):
            reached = after[targets]
            if layer.probabilities is None or here.dtype == np.int8:
                np.maximum.at(here, rows, reached)
            elif layer.ply:
                np.add.at(here, rows, layer.probabilities[moves.some] * reached)
            else:  # the empty board alone: pairwise, which is more precise
                row = np.zeros(layer.cells)
                row[moves.cells] = layer.probabilities * reached
                here[0] = row.sum()
    for here in values:
        here[layer.resigning] = 1


def _results(layer: Layer, side: Side) -> Int8s:
    """int8[k]: the results for ``side``, 0 where the game is open."""
    return layer.results * np.int8(side.sign)


def _likeliest_loss(layers: Sequence[Layer], side: Side, losses: list[Floats]) -> tuple[int, ...]:
    """The cells (from 1) of the likeliest lost game against an opponent whose best response gives ``losses``;
    of equally likely ones the shortest, of these the first."""
    here, chance = np.zeros(1, np.int32), np.ones(1)  # the positions reached, in the order of their lines
    steps: list[tuple[Int32s, Int8s]] = []
    likeliest = 0.0
    line: tuple[int, ...] = ()
    for layer, loss, following in zip(layers, losses, losses[1:], strict=False):
        lost = _results(layer, side) < 0
        lost[layer.resigning] = True
        lost = lost[here]
        if (top := chance[lost].max(initial=0.0)) > likeliest * (1 + ROUNDING):
            likeliest = top
            line = line_to(steps, int(np.flatnonzero(lost & (chance >= top * (1 - ROUNDING)))[0]))
        place = np.full(len(layer), -1, np.int32)
        place[here] = np.arange(len(here))
        found = [(np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0))]
        for moves in layer.moves:
            near = np.flatnonzero(place[moves.rows] >= 0)
            rows, targets = moves.rows[near], layer.targets[moves.some][near]
            chances, least = chance[place[rows]], loss[rows] * (1 - ROUNDING)
            if layer.probabilities is not None:
                chances, least = chances * layer.probabilities[moves.some][near], np.zeros(len(near))
            likelier = chances > likeliest * (1 + ROUNDING)  # a longer game only becomes less likely
            chosen = np.flatnonzero(likelier & (following[targets] > 0) & (following[targets] >= least))
            found.append((place[rows[chosen]], moves.cells[near[chosen]], targets[chosen], chances[chosen]))
        parents, cells, targets, chances = map(np.concatenate, zip(*found, strict=True))
        order = np.lexsort((cells, parents))
        most = np.zeros(len(following))
        np.maximum.at(most, targets, chances)
        order = order[chances[order] >= most[targets[order]] * (1 - ROUNDING)]
        order = order[np.sort(np.unique(targets[order], return_index=True)[1])]
        if not len(order):
            break
        steps.append((parents[order], cells[order].astype(np.int8)))
        here = targets[order]
        chance = most[here]
    return line


@dataclass(frozen=True, eq=False)
class Response:
    """The most that the side to move can get against a known policy.

    :ivar win: float64[cells], the highest probability of winning after each move; NaN where it is illegal.
    :ivar save: float64[cells], likewise of not losing.
    """

    win: Floats
    save: Floats

    @property
    def best(self) -> tuple[Cell, ...]:
        """The moves most likely to win or, if none can win, most likely not to lose. Always playing one of
        them attains its figure."""
        wanted = self.win if np.nanmax(self.win) > 0 else self.save
        return tuple(np.flatnonzero(wanted >= np.nanmax(wanted) * (1 - ROUNDING)).tolist())


def best_response(policy: Policy, position: Position, *, budget: int = BUDGET) -> Response:
    """Return the best response of the side to move to ``policy``, which plays the other side.

    :raises OutgrownError: if more than ``budget`` positions can be reached.
    """
    side = Side.to_move(position.plies).other
    layers = layers_of(policy, side, start=position, budget=budget)
    after = [np.zeros(0), np.zeros(0)]
    for layer in reversed(layers[1:]):
        results = _results(layer, side.other)
        here = [(results > 0).astype(np.float64), ((results >= 0) & ~layer.open).astype(np.float64)]
        backward(layer, here, after)
        after = here
    first, found = layers[0], np.full((2, policy.rules.cells), np.nan)
    for moves in first.moves:
        found[:, moves.cells] = [each[first.targets] for each in after]
    found[found > 1 - ROUNDING] = 1.0  # certain but for rounding
    return Response(*found)
