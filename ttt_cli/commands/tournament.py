"""``ttt tournament``: everyone against everyone."""

from dataclasses import dataclass
from typing import Annotated

from rich.text import Text

from ttt_cli.documents import Document
from ttt_cli.environment import Environment
from ttt_cli.errors import UsageError
from ttt_cli.evaluation.match import GAMES
from ttt_cli.evaluation.tournament import Tournament, play_tournament
from ttt_cli.evaluation.walk import BUDGET
from ttt_cli.shell.common import resolved
from ttt_cli.shell.options import MaxPositions, named
from ttt_cli.views.tables import draw_table


@dataclass(frozen=True)
class Standings(Document, name="tournament"):
    """The result of a tournament: the players by points, then every pairing."""

    DOCUMENT = ("*result",)

    result: Tournament

    def show(self, env: Environment) -> None:
        players = self.result.players
        rows = []
        for place, (player, scores) in enumerate(zip(players, self.result.scores, strict=True), 1):
            cells = [
                Text("-", "dim") if other == place else Text(f"{score:.2f}")
                for other, score in enumerate(scores, 1)
            ]
            rating = round(player.rating)
            totals = (f"{player.points:.3f}", f"{rating:+d}" if rating else "0")
            rows.append([str(place), player.agent.name, *cells, *(Text(total, "bold") for total in totals)])
        places = [f">{place}" for place in range(1, len(players) + 1)]
        draw_table(env, [">", "player", *places, ">points", ">rating"], rows, lead=2)
        games = players[0].of
        env.out("", f"expected points in {games} games each, a draw being 1/2")
        env.out("rating: Bradley-Terry, with a draw added to each pairing")


def tournament(
    env: Environment,
    agents: Annotated[list[str], named("AGENT AGENT...", "The players.")],
    positions: MaxPositions = None,
) -> Standings:
    """Let everyone play everyone, as X and as O, exactly, and show a cross-table of expected points and a
    rating.

    Two players play a match instead if too many positions are possible between them, or if one is a program
    whose choices vary.

    Examples:
      ttt tournament q td graph book menace minimax random
      ttt tournament q q.article downloaded.json --json
    """
    if len(agents) < 2:
        raise UsageError("a tournament needs at least two players", hint="such as ttt tournament q minimax")
    players = resolved(env, *agents)
    entered = [(player.fields(), player.policy) for player in players]
    pairings = len(entered) * (len(entered) - 1) // 2
    with env.progress(pairings, title="tournament", unit="pairings") as tick:
        result = play_tournament(entered, budget=positions or BUDGET, tick=tick)
    if result.sampled:
        pairs = ", ".join(dict.fromkeys(" and ".join(sorted((game.x, game.o))) for game in result.sampled))
        why = "too many positions can occur, or a player's choices vary or fail"
        env.remark([f"sampled, by a match of {GAMES:,} games, since {why}: {pairs}"])
    return Standings(result)
