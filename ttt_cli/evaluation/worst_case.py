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
from ttt_cli.engine.arrays import Floats
from ttt_cli.engine.policy import Policy
from ttt_cli.engine.position import Position
from ttt_cli.engine.side import Side
from ttt_cli.evaluation.walk import BUDGET, Layer, layers_of

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
        found = []
        for _, part in layer.parts():
            results = part.results * np.int8(-side.sign)
            loss = backward(part, (results > 0).astype(np.float64), losses[-1])
            expected = backward(part, results.astype(np.float64), gain)
            found.append((loss, expected, backward(part, results, worst)))
        loss, gain, worst = map(np.concatenate, zip(*found, strict=True))
        losses.append(loss)
    most = float(losses[-1][0])
    certain = most > 1 - ROUNDING and _is_forced(layers, side)
    return WorstCase(
        1.0 if certain else min(most, 1.0),
        _likeliest_loss(layers, side, losses[::-1]) if worst[0] > 0 else None,
        1.0 if certain else min(float(gain[0]), 1.0) + 0.0,  # no -0.0
        -int(worst[0]),
    )


def backward(layer: Layer, ends: NDArray[Any], after: NDArray[Any]) -> NDArray[Any]:
    """[k]: values of a layer's positions for the opponent: floats are those of its best response,
    integers the best that can come about at all. It is worth 1 to the opponent if the policy resigns.

    :param ends: [k], the values of the positions in which the game is over.
    :param after: the values of the next layer.
    """
    ends[layer.resigning] = 1
    reached = after[layer.targets]
    if layer.probabilities is None or ends.dtype == np.int8:
        return layer.most(reached, ends)
    ends[layer.counts > 0] = 0.0
    return ends + np.bincount(layer.rows, layer.probabilities * reached, len(layer))


def _is_forced(layers: Sequence[Layer], side: Side) -> bool:
    """Whether an opponent can force a loss whatever moves the policy draws, which sums miss by rounding."""
    forced = np.zeros(0, np.int8)
    for layer in reversed(layers):
        ends = layer.results * np.int8(-side.sign)
        ends[layer.resigning] = 1
        reached = forced[layer.targets]
        # Where the policy is to move, its best move counts, not the opponent's hope.
        own = layer.probabilities is not None
        forced = -layer.most(-reached, -ends) if own else layer.most(reached, ends)
    return bool(forced[0] > 0)


def _likeliest_loss(layers: Sequence[Layer], side: Side, losses: Sequence[Floats]) -> tuple[int, ...]:
    """The cells (from 1) of the likeliest lost game against an opponent whose best response gives ``losses``;
    of equally likely ones the shortest, of these the first."""
    here, chance = np.zeros(1, np.int32), np.ones(1)  # the positions reached, in the order of their lines
    lines: list[tuple[int, ...]] = [()]
    likeliest, line = 0.0, lines[0]
    for layer, loss, after in zip(layers, losses, losses[1:], strict=False):
        lost = ((layer.results * side.sign < 0) | layer.resigning)[here]
        if (top := chance[lost].max(initial=0.0)) > likeliest * (1 + ROUNDING):
            likeliest = top
            line = lines[int(np.flatnonzero(lost & (chance >= top * (1 - ROUNDING)))[0])]
        counts, ends = layer.counts[here], np.cumsum(layer.counts, dtype=np.int64)[here]
        parents = np.repeat(np.arange(len(here)), counts)
        moves = np.arange(len(parents)) + np.repeat(ends - np.cumsum(counts), counts)
        targets, chances = layer.targets[moves], chance[parents]
        hopeful = after[targets] > 0
        if layer.probabilities is None:
            hopeful &= after[targets] >= loss[here[parents]] * (1 - ROUNDING)
        else:
            chances = chances * layer.probabilities[moves]
        hopeful &= chances > likeliest * (1 + ROUNDING)  # a longer game only becomes less likely
        most = np.zeros(len(after))
        np.maximum.at(most, targets[hopeful], chances[hopeful])
        chosen = np.flatnonzero(hopeful & (chances >= most[targets] * (1 - ROUNDING)))
        chosen = chosen[np.sort(np.unique(targets[chosen], return_index=True)[1])]
        if not len(chosen):
            break
        steps = zip(parents[chosen].tolist(), layer.cells[moves[chosen]].tolist(), strict=True)
        lines = [(*lines[parent], cell + 1) for parent, cell in steps]
        here, chance = targets[chosen], most[targets[chosen]]
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
    first, *layers = layers_of(policy, side, start=position, budget=budget)
    win, save = np.zeros(0), np.zeros(0)
    for layer in reversed(layers):
        results = layer.results * side.other.sign
        win = backward(layer, (results > 0).astype(np.float64), win)
        save = backward(layer, (results >= 0).astype(np.float64), save)
    found = np.full((2, policy.rules.cells), np.nan)
    found[:, first.cells] = win[first.targets], save[first.targets]
    found[found > 1 - ROUNDING] = 1.0  # certain but for rounding
    return Response(*found)
