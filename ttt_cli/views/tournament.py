"""What ``ttt tournament`` shows."""

from collections.abc import Sequence
from typing import Any, Literal, TypedDict

from rich.table import Table
from rich.text import Text

from ttt_cli.documents import AgentFields, Count, RatesFields
from ttt_cli.environment import Environment, printable
from ttt_cli.evaluation.tournament import Tournament
from ttt_cli.views.evaluation import rates_fields
from ttt_cli.views.tables import draw_table


class PlayerFields(AgentFields):
    """A player's points of those there are, and its rating."""

    points: float
    of: Count
    rating: float


class PairingFields(RatesFields):
    """How the games of two players end, as X sees it."""

    x: str
    o: str


class TournamentFields(TypedDict):
    """What came of ``ttt tournament``."""

    method: Literal["exact", "sampled"]
    players: list[PlayerFields]
    pairings: list[PairingFields]


def show_tournament(env: Environment, names: Sequence[str], found: Tournament) -> None:
    """Print the cross-table: expected points in two games against each other player, as X and as O."""
    ranking = found.ranking
    table = Table(box=None, padding=(0, 1), header_style="bold")
    table.add_column("", justify="right")
    table.add_column("player", overflow="fold", min_width=10)
    for place in range(1, len(names) + 1):
        table.add_column(str(place), justify="right", no_wrap=True)
    table.add_column("points", justify="right", no_wrap=True, style="bold")
    table.add_column("rating", justify="right", no_wrap=True, style="bold")
    for place, player in enumerate(ranking, 1):
        cells = [
            Text("-" if other == player else f"{found.scores[player, other]:.2f}", "dim" * (other == player))
            for other in ranking
        ]
        points = f"{found.points[player]:.3f}"
        rating = round(float(found.ratings[player]))
        table.add_row(
            str(place), Text(printable(names[player])), *cells, points, f"{rating:+d}" if rating else "0"
        )
    draw_table(env, table, lead=2)
    games = 2 * (len(names) - 1)
    env.out(f"\nexpected points in {games} games each, a draw being 1/2; rating: Bradley-Terry")


def tournament_fields(agents: Sequence[dict[str, Any]], found: Tournament) -> dict[str, Any]:
    """A tournament as a ``ttt-tournament`` document holds it: players by points, then every pairing."""
    points, ratings = found.points.tolist(), found.ratings.tolist()
    games = 2 * (len(agents) - 1)
    return {
        "method": "sampled" if found.sampled else "exact",
        "players": [
            {**agents[player], "points": points[player], "of": games, "rating": ratings[player]}
            for player in found.ranking
        ],
        "pairings": [
            {"x": agents[x]["name"], "o": agents[o]["name"], **rates_fields(rates)}
            for x, row in enumerate(found.rates)
            for o, rates in enumerate(row)
            if rates is not None
        ],
    }
