"""Best responses: the worst that can happen to a policy, and how to beat it from any position.

The policy's moves are chance, the opponent's are free: going backwards, take the mean over the former and the
opponent's best over the latter. The opponent that forces most losses and the one whose wins exceed its losses
by most are two different best responses; both are computed.

NashConv is the sum of what the latter gains from either side, exploitability its mean over the two players
(Lanctot et al., 2017, and OpenSpiel).
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ttt_cli.documents import Cell, CellFromOne, Share
from ttt_cli.engine.arrays import Floats, Int8s, Int64s
from ttt_cli.engine.policy import Policy
from ttt_cli.engine.position import Position
from ttt_cli.engine.side import Side
from ttt_cli.evaluation.walk import BUDGET, Layer, Walk

EQUAL = 1e-12
"""Relative difference below which two probabilities differ by rounding only."""


@dataclass(frozen=True)
class WorstCase:
    """The highest probability of losing that any opponent can force, and a line that shows it.

    :ivar line: the cells (from 1) of the likeliest game that shows it, the shortest of equally likely ones;
        None if the policy cannot lose. Where the policy resigns the line ends on an open board.
    :ivar gain: the largest expected wins minus losses that any opponent can have.
    :ivar guaranteed: +1, 0 or -1: the result below which no opponent can bring the policy. Decided by which
        moves have positive probability, so that no rounding enters.
    """

    DOCUMENT: ClassVar = ("loss", "line")

    loss: Share
    line: tuple[CellFromOne, ...] | None
    gain: float
    guaranteed: int


def worst_case(walk: Walk) -> WorstCase:
    """The worst case of the player of a walk whose opponent may play anything."""
    losses: list[Floats] = []  # the last layer first
    gain, guaranteed = np.zeros(0), np.zeros(0, np.int8)
    for layer in reversed(walk.layers):
        result = _results(layer, walk.side)
        losses.append(backward(layer, (result < 0).astype(np.float64), losses[-1] if losses else np.zeros(0)))
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
    """The best that the opponent of a walk's player can get out of each position of a layer.

    :param values: float64[k], what it has where the game is over, and at least has where it is open; changed.
    :param following: the same of the next layer.
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
    for some in layer.pieces:
        np.minimum.at(results, layer.rows[some], following[layer.targets[some]])
    if layer.probabilities is not None:
        results[layer.resigning] = -1
    return results


def _likeliest_loss(walk: Walk, losses: list[Floats]) -> tuple[int, ...]:
    """The cells (from 1) of the likeliest lost game against an opponent who makes losing as likely as
    ``losses`` say, layer by layer; of equally likely ones the shortest."""
    kept: list[Int64s] = []  # the moves of each layer that such games go through
    reached = np.ones(1, np.bool_)
    for layer, loss, following in zip(walk.layers, losses, [*losses[1:], np.zeros(0)], strict=True):
        moves = np.flatnonzero(reached[layer.rows])
        left = following[layer.targets[moves]]
        possible = left > 0
        if layer.probabilities is None:
            possible &= left >= loss[layer.rows[moves]] * (1 - EQUAL)
        kept.append(moves[possible])
        reached = np.zeros(len(following), np.bool_)
        reached[layer.targets[kept[-1]]] = True
    chance, length = np.zeros(0), np.zeros(0, np.int16)  # of the likeliest loss from each position on
    ahead = []
    for layer, moves in zip(reversed(walk.layers), reversed(kept), strict=True):
        ahead.append((chance, length))
        rows, chances = layer.rows[moves], _onwards(layer, moves, chance)
        lost = _results(layer, walk.side) < 0
        if layer.probabilities is not None:
            lost |= layer.resigning
        chance, lengths = lost.astype(np.float64), length[layer.targets[moves]] + np.int16(1)
        np.maximum.at(chance, rows, chances)
        likeliest = chances >= chance[rows] * (1 - EQUAL)
        length = np.where(lost, np.int16(0), np.int16(walk.rules.cells + 1))
        np.minimum.at(length, rows[likeliest], lengths[likeliest])
    line, row = [], 0
    for layer, moves, (chance, length) in zip(walk.layers, kept, reversed(ahead), strict=True):
        here = moves[layer.rows[moves] == row]
        if not len(here):  # the game is over, or the player resigns
            break
        chances = _onwards(layer, here, chance)
        likeliest = here[chances >= chances.max() * (1 - EQUAL)]
        move = likeliest[length[layer.targets[likeliest]].argmin()]
        line.append(int(layer.cells[move]) + 1)
        row = int(layer.targets[move])
    return tuple(line)


def _onwards(layer: Layer, moves: Int64s, chance: Floats) -> Floats:
    """float64: how likely some moves are made, and then end as the chances of the next layer say."""
    chances: Floats = chance[layer.targets[moves]]
    return chances if layer.probabilities is None else chances * layer.probabilities[moves]


@dataclass(frozen=True, eq=False)
class Response:
    """The most that a side can get out of a position against a known policy.

    :ivar win: float64[cells], the highest probability of winning after each move; NaN where none can be made.
    :ivar save: float64[cells], likewise of not losing.
    """

    win: Floats
    save: Floats

    @property
    def best(self) -> tuple[Cell, ...]:
        """The moves to play: those most likely to win; where no win can be had, those most likely to save a
        draw. Whoever always plays one of them attains the figure that stands there."""
        wanted = self.win if np.nanmax(self.win) > 0 else self.save
        return tuple(np.flatnonzero(wanted >= np.nanmax(wanted) * (1 - EQUAL)).tolist())


def best_response(policy: Policy, position: Position, *, budget: int = BUDGET) -> Response:
    """The best that the side to move can get against ``policy``, which plays the other side.

    :raises OutgrownError: if more than ``budget`` positions can still be reached.
    """
    side = Side.to_move(position.plies).other
    walk = Walk.alone(policy, side, start=position, budget=budget)
    win = save = np.zeros(0)
    for layer in reversed(walk.layers[1:]):
        results = -_results(layer, side)
        win = backward(layer, (results > 0).astype(np.float64), win)
        save = backward(layer, ((results >= 0) & layer.positions.terminal).astype(np.float64), save)
    first, found = walk.layers[0], np.full((2, policy.rules.cells), np.nan)
    found[:, first.cells] = win[first.targets], save[first.targets]
    found[found > 1 - EQUAL] = 1.0  # a certainty, but for rounding
    return Response(*found)
