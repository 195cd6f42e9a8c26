"""``ttt tournament``: everyone against everyone."""

from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text

from ttt_cli.documents import Document
from ttt_cli.environment import Environment
from ttt_cli.evaluation.tournament import Tournament
from ttt_cli.views.tables import draw_table


@dataclass(frozen=True)
class Standings(Document, name="tournament"):
    """What came of ``ttt tournament``: players by points, then every pairing."""

    DOCUMENT: ClassVar = ("*found",)

    found: Tournament

    def show(self, env: Environment) -> None:
        """Print the cross-table: expected points in two games against each other player, as X and as O."""
        players, scores, rows = self.found.players, self.found.scores, []
        for at, player in enumerate(players):
            cells = [
                Text("-", "dim") if other == at else Text(f"{score:.2f}")
                for other, score in enumerate(scores[at])
            ]
            rating = round(player.rating)
            totals = (f"{player.points:.3f}", f"{rating:+d}" if rating else "0")
            rows.append([str(at + 1), player.agent.name, *cells, *(Text(total, "bold") for total in totals)])
        places = [f">{place}" for place in range(1, len(players) + 1)]
        draw_table(env, [">", "player", *places, ">points", ">rating"], rows, lead=2)
        games = players[0].of
        env.out("", f"expected points in {games} games each, a draw being 1/2; rating: Bradley-Terry")
