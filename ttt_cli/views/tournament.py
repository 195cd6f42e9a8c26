"""``ttt tournament``: everyone against everyone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rich.text import Text

from ttt_cli.documents import AgentFields, Count, Document, Share, aside
from ttt_cli.environment import Environment
from ttt_cli.evaluation.tournament import Tournament
from ttt_cli.views.tables import draw_table, table


@dataclass(frozen=True)
class Standing(AgentFields):
    """A player's points of those there are, and its rating."""

    points: float
    of: Count
    rating: float


@dataclass(frozen=True)
class Pairing:
    """How the games of two players end, as X sees it."""

    x: str
    o: str
    win: Share
    draw: Share
    loss: Share


@dataclass(frozen=True)
class Standings(Document, name="tournament"):
    """What came of ``ttt tournament``: players by points, then every pairing."""

    method: Literal["exact", "sampled"]
    players: list[Standing]
    pairings: list[Pairing]
    found: Tournament = aside()

    @classmethod
    def of(cls, agents: Sequence[AgentFields], found: Tournament) -> "Standings":
        """A tournament of these players."""
        points, ratings = found.points.tolist(), found.ratings.tolist()
        of = 2 * (len(agents) - 1)
        return cls(
            "sampled" if found.sampled else "exact",
            [
                Standing(**vars(agents[at]), points=points[at], of=of, rating=ratings[at])
                for at in found.ranking
            ],
            [
                Pairing(agents[x].name, agents[o].name, rates.win, rates.draw, rates.loss)
                for x, row in enumerate(found.rates)
                for o, rates in enumerate(row)
                if rates is not None
            ],
            found,
        )

    def show(self, env: Environment) -> None:
        """Print the cross-table: expected points in two games against each other player, as X and as O."""
        ranking = self.found.ranking
        places = [f">{place}" for place in range(1, len(ranking) + 1)]
        cross = table(">", "player", *places, ">points", ">rating")
        for place, (at, player) in enumerate(zip(ranking, self.players, strict=True), 1):
            cells = [
                Text("-", "dim") if other == at else Text(f"{self.found.scores[at, other]:.2f}")
                for other in ranking
            ]
            rating = round(player.rating)
            totals = (f"{player.points:.3f}", f"{rating:+d}" if rating else "0")
            cross.add_row(str(place), Text(player.name), *cells, *(Text(total, "bold") for total in totals))
        draw_table(env, cross, lead=2)
        games = 2 * (len(ranking) - 1)
        env.out("", f"expected points in {games} games each, a draw being 1/2; rating: Bradley-Terry")
