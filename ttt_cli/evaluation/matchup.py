"""Exact results of one policy against another: no games are played, the probability of every position is
computed, ply by ply.
"""

from dataclasses import dataclass

import numpy as np

from ttt_cli.engine.policy import PolicyTable
from ttt_cli.engine.state_space import Bools, Floats


@dataclass(frozen=True)
class Rates:
    """How likely a player's games end in each way."""

    win: float
    draw: float
    loss: float

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

    :ivar reach: float64[n], the probability that a game goes through each position.
    :ivar rates: how the games end for X.
    """

    reach: Floats
    rates: Rates


def play_exact(x: PolicyTable, o: PolicyTable) -> Matchup:
    """Let ``x`` play X against ``o``. Resigning (a row without moves at an open position) is a loss."""
    space = x.space
    reach = np.zeros(len(space))
    reach[0] = 1.0
    resigned = [0.0, 0.0]
    for rows in space.forwards():
        side = int(space.plies[rows.start]) % 2
        live = rows.start + np.flatnonzero((reach[rows] > 0) & ~space.terminal[rows])
        if len(live):
            played = (x, o)[side].probabilities.take(live, axis=0)
            flows = played > 0
            resigned[side] += float(reach[live[~flows.any(axis=1)]].sum())
            after = space.successors.take(live, axis=0)[flows]
            if len(after):  # successors lie close together: count within their span only
                lowest = int(after.min())
                flow = np.bincount(after - lowest, (reach[live, None] * played)[flows])
                reach[lowest : lowest + len(flow)] += flow
    ends = np.flatnonzero(space.terminal)
    o_won, drawn, x_won = np.bincount(space.results[ends] + 1, reach[ends], 3).tolist()
    return Matchup(reach, Rates.summing_to_one(x_won + resigned[1], drawn, o_won + resigned[0]))


def both_sides(policy: PolicyTable, opponent: PolicyTable) -> tuple[Rates, Rates]:
    """How ``policy`` fares as X and as O against ``opponent``."""
    return play_exact(policy, opponent).rates, play_exact(opponent, policy).rates.turned()


def can_reach(policy: PolicyTable, side: int) -> Bools:
    """bool[n]: the positions that can come about when ``policy`` plays ``side`` (0: X, 1: O) and the
    other side plays anything at all."""
    space = policy.space
    reached = np.zeros(len(space), np.bool_)
    reached[0] = True
    for rows in space.forwards():
        mine = int(space.plies[rows.start]) % 2 == side
        live = rows.start + np.flatnonzero(reached[rows])
        after = space.successors.take(live, axis=0)
        reached[after[policy.probabilities.take(live, axis=0) > 0 if mine else after >= 0]] = True
    return reached
