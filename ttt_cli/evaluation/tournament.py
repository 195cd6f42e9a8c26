"""Round-robin tournaments with exact results, and ratings.

Ratings are the strengths of the Bradley-Terry model (1952), fitted to the expected scores: players of
strengths p and q share the point of a game as p : q. A virtual draw in each pairing keeps strengths finite.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Literal

import numpy as np

from ttt_cli.agents.asked import UnsteadyError
from ttt_cli.documents import AgentFields, Count, optional
from ttt_cli.engine.arrays import Floats
from ttt_cli.engine.policy import Policy
from ttt_cli.evaluation.match import GAMES, SampledRates, play_match
from ttt_cli.evaluation.matchup import Rates, play_exact
from ttt_cli.evaluation.walk import BUDGET, OutgrownError


@dataclass(frozen=True)
class Standing:
    """A player's expected points (a draw is worth one half), the points at stake (``of``), and its rating on
    the Elo scale with mean 0."""

    DOCUMENT = ("*agent", "points", "of", "rating")

    agent: AgentFields
    points: float
    of: Count
    rating: float


@dataclass(frozen=True)
class Pairing:
    """The rates of X in the games of two players; ``games`` counts them if they were sampled."""

    DOCUMENT = ("x", "o", "*rates", "games")

    x: str
    o: str
    rates: Rates
    games: Count | None = optional()


@dataclass(frozen=True, eq=False)
class Tournament:
    """The players by points, and all pairings.

    :ivar scores: float64[players, players], in the order of ``players``: the expected points of the row's
        player against the column's in two games, one as X and one as O; 0 on the diagonal.
    """

    DOCUMENT = ("method", "players", "pairings")

    players: list[Standing]
    pairings: list[Pairing]
    scores: Floats

    @property
    def sampled(self) -> list[Pairing]:
        """The pairings that were played as matches."""
        return [pairing for pairing in self.pairings if pairing.games is not None]

    @property
    def method(self) -> Literal["exact", "sampled"]:
        """``exact`` if all pairings were computed."""
        return "sampled" if self.sampled else "exact"


def play_tournament(
    agents: Sequence[tuple[AgentFields, Policy]],
    *,
    budget: int = BUDGET,
    tick: Callable[[int], None] = lambda pairings: None,
) -> Tournament:
    """Let all players meet as both sides. Pairings that can reach more than ``budget`` positions, or in which
    an external player varies its choices, are sampled.

    :param tick: called after each pairing with the number of pairings so far.
    """
    players = [policy.tabulated().forfeiting() for _, policy in agents]
    scores = np.zeros((len(players), len(players)))
    pairings: dict[tuple[int, int], Pairing] = {}
    for pair in combinations(range(len(players)), 2):
        a, b = (players[at] for at in pair)
        try:
            rates_of_x = [play_exact(a, b, budget=budget), play_exact(b, a, budget=budget)]
            games = None
        except (OutgrownError, UnsteadyError):
            match = play_match(a, b, GAMES, seed=0)
            rates_of_x = [_rates(match.as_x), _rates(match.as_o).turned()]
            games = GAMES // 2
        for (x, o), rates in zip((pair, pair[::-1]), rates_of_x, strict=True):
            pairings[x, o] = Pairing(agents[x][0].name, agents[o][0].name, rates, games)
            scores[x, o] += rates.points
            scores[o, x] += 1 - rates.points
        tick(len(pairings) // 2)
    points = scores.sum(axis=1)
    ratings = np.round(bradley_terry(scores), 6)  # processors differ in the last digits of logarithms
    ranking = np.argsort(-np.round(points, 12), kind="stable").tolist()
    games_each = 2 * (len(players) - 1)
    standings = [Standing(agents[at][0], float(points[at]), games_each, float(ratings[at])) for at in ranking]
    ordered = [pairings[pair] for pair in permutations(range(len(players)), 2)]
    return Tournament(standings, ordered, scores[np.ix_(ranking, ranking)])


def _rates(sampled: SampledRates) -> Rates:
    return Rates.summing_to_one(sampled.win or 0.0, sampled.draw or 0.0, sampled.loss or 0.0)


def bradley_terry(scores: Floats) -> Floats:
    """float64[players]: the maximum-likelihood ratings, with mean 0, for ``Tournament.scores`` by
    minorisation-maximisation (Hunter, 2004)."""
    players = len(scores)
    others = ~np.eye(players, dtype=bool)
    games = 3.0 * others  # two games and the virtual draw
    won = (scores + 0.5 * others).sum(axis=1)
    strengths = np.ones(players)
    for _ in range(10_000):
        expected = (games / (strengths[:, None] + strengths)).sum(axis=1)
        updated = won / expected
        updated /= np.exp(np.log(updated).mean())
        settled = np.abs(np.log(updated / strengths)).max() < 1e-13
        strengths = updated
        if settled:
            break
    return 400 * np.log10(strengths) + 0.0  # on the Elo scale; no -0.0
