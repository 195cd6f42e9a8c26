"""Best responses: the worst that can happen to a policy, and how to beat it from any position.

Going backwards, take the mean over the policy's moves and the maximum over the opponent's. There are two best
responses: one maximises the opponent's wins, the other its wins minus losses.

NashConv is the sum of the latter gains over both sides, exploitability their mean (Lanctot et al., 2017, and
OpenSpiel).
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ttt_cli.documents import Cell, CellFromOne, Share
from ttt_cli.engine.arrays import Floats, Int8s, Int32s
from ttt_cli.engine.policy import Policy
from ttt_cli.engine.position import Position
from ttt_cli.engine.side import Side
from ttt_cli.evaluation.walk import BUDGET, Layer, Walk, line_to

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


def worst_case(walk: Walk) -> WorstCase:
    """Return the worst case of a policy, given its walk against anything."""
    losses = [np.zeros(0)]  # the last layer first
    gain, guaranteed = np.zeros(0), np.zeros(0, np.int8)
    for layer in reversed(walk.layers):
        result = _results(layer, walk.side)
        losses.append(backward(layer, (result < 0).astype(np.float64), losses[-1]))
        gains = -result.astype(np.float64)
        if layer.probabilities is None:
            gains[~layer.positions.terminal] = -2.0  # below anything that a move may be worth
        gain, guaranteed = backward(layer, gains, gain), _guaranteed(layer, result, guaranteed)
    # Rounding must not carry a certainty beyond 1; adding 0.0 makes -0.0 a plain zero.
    return WorstCase(
        min(float(losses[-1][0]), 1.0),
        _likeliest_loss(walk, losses[::-1]) if guaranteed[0] < 0 else None,
        min(float(gain[0]), 1.0) + 0.0,
        int(guaranteed[0]),
    )


def backward(layer: Layer, values: Floats, following: Floats) -> Floats:
    """Return the value of a layer's positions for the opponent's best response.

    :param values: float64[k], its value where the game is over, and a lower bound where it is open; changed.
    :param following: the values of the next layer.
    """
    for some in layer.pieces:
        rows, after = layer.rows[some], following[layer.targets[some]]
        if layer.probabilities is None:
            np.maximum.at(values, rows, after)
        elif layer.positions.plies[0]:
            np.add.at(values, rows, layer.probabilities[some] * after)
        else:  # the empty board alone: pairwise, which is more precise
            row = np.zeros(layer.positions.rules.cells)
            row[layer.cells] = layer.probabilities * after
            values += row.sum()
    if layer.probabilities is not None:
        values[layer.resigning] = 1.0
    return values


def guaranteed_result(walk: Walk) -> int:
    """Return ``WorstCase.guaranteed`` alone."""
    guaranteed = np.zeros(0, np.int8)
    for layer in reversed(walk.layers):
        guaranteed = _guaranteed(layer, _results(layer, walk.side), guaranteed)
    return int(guaranteed[0])


def _guaranteed(layer: Layer, results: Int8s, following: Int8s) -> Int8s:
    """int8[k]: the worst results that can be forced, given those of the next layer; changes ``results``."""
    results[~layer.positions.terminal] = 1
    for some in layer.pieces:
        np.minimum.at(results, layer.rows[some], following[layer.targets[some]])
    if layer.probabilities is not None:
        results[layer.resigning] = -1
    return results


def _results(layer: Layer, side: Side) -> Int8s:
    """int8[k]: the results for ``side``, 0 where the game is open."""
    return layer.positions.results * np.int8(side.sign)


def _likeliest_loss(walk: Walk, losses: list[Floats]) -> tuple[int, ...]:
    """The cells (from 1) of the likeliest lost game against an opponent whose best response gives ``losses``;
    of equally likely ones the shortest, of these the first."""
    here, chance = np.zeros(1, np.int32), np.ones(1)  # the positions reached, in the order of their lines
    steps: list[tuple[Int32s, Int8s]] = []
    likeliest = 0.0
    line: tuple[int, ...] = ()
    for layer, loss, following in zip(walk.layers, losses, losses[1:], strict=False):
        lost = _results(layer, walk.side)[here] < 0
        if layer.probabilities is not None:
            lost |= layer.resigning[here]
        if (top := chance[lost].max(initial=0.0)) > likeliest * (1 + ROUNDING):
            likeliest = top
            line = line_to(steps, int(np.flatnonzero(lost & (chance >= top * (1 - ROUNDING)))[0]))
        reached, place = np.zeros(len(layer), np.bool_), np.empty(len(layer), np.int32)
        reached[here], place[here] = True, np.arange(len(here))
        moves = np.flatnonzero(reached[layer.rows])
        left = following[layer.targets[moves]]
        least = loss[layer.rows[moves]] * (1 - ROUNDING) if layer.probabilities is None else 0.0
        moves = moves[(left > 0) & (left >= least)]
        chances = chance[place[layer.rows[moves]]]
        if layer.probabilities is not None:
            chances = chances * layer.probabilities[moves]
        likelier = chances > likeliest * (1 + ROUNDING)  # a longer game only becomes less likely
        if not likelier.any():
            break
        moves, chances = moves[likelier], chances[likelier]
        order = np.lexsort((layer.cells[moves], place[layer.rows[moves]]))
        moves, chances = moves[order], chances[order]
        most = np.zeros(len(following))
        np.maximum.at(most, layer.targets[moves], chances)
        moves = moves[chances >= most[layer.targets[moves]] * (1 - ROUNDING)]
        _, firsts = np.unique(layer.targets[moves], return_index=True)
        moves = moves[np.sort(firsts)]
        steps.append((place[layer.rows[moves]], layer.cells[moves]))
        here = layer.targets[moves]
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
    walk = Walk.of(policy, side, start=position, budget=budget)
    win = save = np.zeros(0)
    for layer in reversed(walk.layers[1:]):
        results = -_results(layer, side)
        win = backward(layer, (results > 0).astype(np.float64), win)
        save = backward(layer, ((results >= 0) & layer.positions.terminal).astype(np.float64), save)
    first, found = walk.layers[0], np.full((2, policy.rules.cells), np.nan)
    found[:, first.cells] = win[first.targets], save[first.targets]
    found[found > 1 - ROUNDING] = 1.0  # certain but for rounding
    return Response(*found)
