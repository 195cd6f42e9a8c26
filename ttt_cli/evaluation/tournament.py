"""Tournaments: everyone against everyone, both sides, exact, and a rating.

The rating is the Bradley-Terry model (1952) fitted to the expected scores: players of strengths p and q share
a game's point as p : q. One virtual draw a pairing keeps every strength finite, whatever was won or drawn; it
is also what limits the rating of a player who wins everything.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np

from ttt_cli.agents.asked import UnsteadyError
from ttt_cli.engine.arrays import Floats
from ttt_cli.engine.policy import Policy
from ttt_cli.evaluation.match import play_match
from ttt_cli.evaluation.matchup import Rates, play_exact
from ttt_cli.evaluation.walk import BUDGET, OutgrownError

GAMES = 10_000
"""Games of a match between two players whose games are too many to enumerate."""

ELO = 400.0
"""Rating points for a strength ten times as large."""


@dataclass(frozen=True, eq=False)
class Tournament:
    """The results; players are numbered in the order given.

    :ivar rates: ``rates[x][o]``, how the games of ``x`` as X against ``o`` end for ``x``; None where x is o.
    :ivar scores: float64[players, players], the expected points of the one against the other in two games,
        one as X and one as O; 0 on the diagonal.
    :ivar ratings: float64[players], on the Elo scale, their mean being 0.
    :ivar sampled: pairings that were played as matches of ``GAMES`` games, since they cannot be computed.
    """

    rates: tuple[tuple[Rates | None, ...], ...]
    scores: Floats
    ratings: Floats
    sampled: int = 0

    @property
    def points(self) -> Floats:
        """float64[players], expected points over all games, two for each opponent."""
        return self.scores.sum(axis=1)

    @property
    def ranking(self) -> list[int]:
        """The players by points, equal ones in the order given."""
        return np.argsort(-np.round(self.points, 12), kind="stable").tolist()


def play_tournament(agents: Sequence[Policy], *, budget: int = BUDGET) -> Tournament:
    """Let all players meet as both sides, exactly where no more than ``budget`` positions can be reached
    and nobody's choices vary from one question to the next."""
    players = [agent.tabulated().forfeiting() for agent in agents]
    rates: list[list[Rates | None]] = [[None] * len(players) for _ in players]
    sampled = 0
    for a, b in combinations(range(len(players)), 2):
        try:
            rates[a][b], rates[b][a] = (
                play_exact(x, o, budget=budget).rates for x, o in permutations((players[a], players[b]))
            )
        except (OutgrownError, UnsteadyError):
            sampled += 1
            as_x, as_o = map(_rates, play_match(players[a], players[b], GAMES, seed=0).counts)
            rates[a][b], rates[b][a] = as_x, as_o.turned()
    scores = np.zeros((len(players), len(players)))
    for x, row in enumerate(rates):
        for o, found in enumerate(row):
            if found is not None:
                scores[x, o] += found.points
                scores[o, x] += 1 - found.points
    return Tournament(tuple(map(tuple, rates)), scores, bradley_terry(scores), sampled)


def _rates(counts: tuple[int, int, int]) -> Rates:
    win, draw, loss = (count / sum(counts) for count in counts)
    return Rates.summing_to_one(win, draw, loss)


def bradley_terry(scores: Floats) -> Floats:
    """float64[players], ratings with mean 0 that make these scores of two games a pairing likeliest.

    Fitted by minorisation and maximisation (Hunter, 2004).
    """
    players = len(scores)
    others = ~np.eye(players, dtype=bool)
    games = 3.0 * others  # two games and the virtual draw
    won = (scores + 0.5 * others).sum(axis=1)
    strengths = np.ones(players)
    for _ in range(10_000):
        expected = (games / (strengths[:, None] + strengths)).sum(axis=1)
        updated = won / expected if players > 1 else strengths
        updated /= np.exp(np.log(updated).mean())
        settled = np.abs(np.log(updated / strengths)).max() < 1e-13
        strengths = updated
        if settled:
            break
    ratings = ELO * np.log10(strengths)
    return ratings + 0.0  # no -0.0
