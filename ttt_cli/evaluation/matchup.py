"""Exact results of one policy against another: no games are played, the probability of every position that
can happen is computed, ply by ply.
"""

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
    return play_on(Walk.of(x, o, budget=budget))


def play_on(walk: Walk, opponent: Policy | None = None) -> Matchup:
    """Let the players of a walk play.

    :param opponent: who plays the side of which the walk knows nothing.
    """
    reach = [np.ones(1)]
    ends = np.zeros(3)  # probabilities that O wins, a draw, that X wins: at a board that is over
    resigned = [0.0, 0.0]
    for ply, layer in enumerate(walk.layers):
        here = reach[-1]
        over = layer.positions.terminal
        np.add.at(ends, layer.positions.results[over] + 1, here[over])
        if layer.probabilities is None:
            assert opponent is not None
            chances, gone = _answers(layer, opponent, here)
        else:
            chances, gone = layer.probabilities, layer.resigning
        resigned[ply % 2] += float(here[gone & (here > 0)].sum())
        if ply + 1 < len(walk.layers):
            after = np.zeros(len(walk.layers[ply + 1]))
            np.add.at(after, layer.targets, here[layer.rows] * chances)
            reach.append(after)
    o_won, drawn, x_won = ends.tolist()
    return Matchup(walk, reach, Rates.summing_to_one(x_won + resigned[1], drawn, o_won + resigned[0]))


def _answers(layer: Layer, opponent: Policy, reach: Floats) -> tuple[Floats, Bools]:
    """float64[m] and bool[k]: how likely the opponent makes each move of a layer in which anything can be
    played, and where it resigns. It is only asked about positions that are reached."""
    chances, resigns = [np.zeros(0)], np.zeros(len(layer), np.bool_)
    anything = np.ones(opponent.rules.cells)
    for rows, batch in open_batches(layer.positions):
        live = reach[rows] > 0
        played = np.zeros(batch.legal.shape)
        if live.any():
            played[live] = opponent.probabilities(batch if live.all() else batch[live])
        resigns[rows] = live & (played @ anything == 0)
        chances.append(chosen_of(played, *by_cell(batch.legal)))
    return np.concatenate(chances), resigns


def both_sides(policy: Policy, opponent: Policy) -> tuple[Rates, Rates]:
    """How ``policy`` fares as X and as O against ``opponent``."""
    return play_exact(policy, opponent).rates, play_exact(opponent, policy).rates.turned()
