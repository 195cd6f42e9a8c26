"""Exact results of one policy against another: no games are played, the probability of every position that
can happen is computed, ply by ply.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ttt_cli.documents import Share
from ttt_cli.engine.arrays import Bools, Floats
from ttt_cli.engine.policy import Policy
from ttt_cli.evaluation.walk import BUDGET, Layer, Walk, by_cell, chosen_of, open_batches


@dataclass(frozen=True)
class Rates:
    """How likely a player's games end in each way."""

    win: Share
    draw: Share
    loss: Share

    @classmethod
    def summing_to_one(cls, win: float, draw: float, loss: float) -> "Rates":
        """The rates with rounding errors put into the largest: what is certain is exactly 1."""
        if win >= max(draw, loss):
            return cls(1 - (draw + loss), draw, loss)
        if draw >= loss:
            return cls(win, 1 - (win + loss), loss)
        return cls(win, draw, 1 - (win + draw))

    @property
    def points(self) -> float:
        """Expected points: a win is worth 1, a draw one half."""
        return self.win + self.draw / 2

    def turned(self) -> "Rates":
        """The same games from the opponent's side."""
        return Rates(self.loss, self.draw, self.win)


@dataclass(frozen=True, eq=False)
class Matchup:
    """Everything that can happen between two policies.

    :ivar walk: through the positions that can be reached, and perhaps others.
    :ivar reach: for each layer of it float64[k], the probability that a game goes through each position.
    :ivar rates: how the games end for X.
    """

    walk: Walk
    reach: list[Floats]
    rates: Rates


def play_exact(x: Policy, o: Policy, *, budget: int = BUDGET) -> Matchup:
    """Let ``x`` play X against ``o``. Resigning (a row without moves at an open position) is a loss.

    :raises OutgrownError: if more positions can be reached than ``budget`` allows.
    """
    return play_on(Walk.of(x, o, budget=budget))[0]


def play_on(walk: Walk, opponents: Sequence[Policy] = ()) -> list[Matchup]:
    """Let the players of a walk play.

    :param opponents: who plays the side of which the walk knows nothing: one after the other.
    """
    several = range(max(1, len(opponents)))
    reach = [[np.ones(1)] for _ in several]
    ends = np.zeros((len(several), 3))  # probabilities that O wins, a draw, that X wins: on ended boards
    resigned = np.zeros((len(several), 2))
    for ply, layer in enumerate(walk.layers):
        here = [one[-1] for one in reach]
        after = [np.zeros(sum(map(len, walk.layers[ply + 1 : ply + 2]))) for _ in several]
        if layer.probabilities is None:
            gone = _answer(layer, opponents, here, after)
        else:
            gone = [layer.resigning for _ in several]
            for some in layer.pieces:
                rows, targets, chances = layer.rows[some], layer.targets[some], layer.probabilities[some]
                for now, then in zip(here, after, strict=True):
                    np.add.at(then, targets, now[rows] * chances)
        over = layer.positions.terminal
        for at in several:
            np.add.at(ends[at], layer.positions.results[over] + 1, here[at][over])
            resigned[at, ply % 2] += here[at][gone[at] & (here[at] > 0)].sum()
            reach[at].append(after[at])
    wins = ends + resigned[:, [0, 0, 1]] * (1, 0, 1)
    return [
        Matchup(walk, one[:-1], Rates.summing_to_one(x_won, drawn, o_won))
        for one, (o_won, drawn, x_won) in zip(reach, wins.tolist(), strict=True)
    ]


def _answer(
    layer: Layer, opponents: Sequence[Policy], here: Sequence[Floats], after: Sequence[Floats]
) -> list[Bools]:
    """Let each opponent move in a layer in which anything can be played, from where its games are to where
    they go on. It is only asked about positions that are reached.

    :returns: bool[k] for each: where it resigns.
    """
    gone, start = [np.zeros(len(layer), np.bool_) for _ in opponents], 0
    anything = np.ones(layer.positions.cells)
    for numbers, batch in open_batches(layer.positions):
        rows, cells = by_cell(batch.legal)
        targets = layer.targets[start : start + len(rows)]
        start += len(rows)
        for opponent, resigns, now, then in zip(opponents, gone, here, after, strict=True):
            reached = now[numbers]
            if not (live := reached > 0).any():
                continue
            if live.all():
                played = opponent.probabilities(batch)
            else:
                played = np.zeros(batch.legal.shape)
                played[live] = opponent.probabilities(batch[live])
            resigns[numbers] = live & (played @ anything == 0)
            np.add.at(then, targets, reached[rows] * chosen_of(played, rows, cells))
    return gone


def both_sides(policy: Policy, opponent: Policy) -> tuple[Rates, Rates]:
    """How ``policy`` fares as X and as O against ``opponent``."""
    return play_exact(policy, opponent).rates, play_exact(opponent, policy).rates.turned()
