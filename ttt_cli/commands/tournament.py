"""``ttt tournament``: everyone against everyone."""

from typing import Annotated

import typer

from ttt_cli.agents.grammar import resolve_all
from ttt_cli.documents import AgentFields
from ttt_cli.environment import Environment
from ttt_cli.errors import UsageError
from ttt_cli.evaluation.tournament import GAMES, play_tournament
from ttt_cli.evaluation.walk import BUDGET
from ttt_cli.shell.completion import complete_agents
from ttt_cli.shell.options import given_rules, whole
from ttt_cli.views.tournament import Standings


def tournament(
    env: Environment,
    agents: Annotated[
        list[str],
        typer.Argument(metavar="AGENT AGENT...", help="The players.", autocompletion=complete_agents),
    ],
    positions: Annotated[
        int | None,
        typer.Option(
            parser=whole(), metavar="N", help="Visit at most N positions.", show_default="10,000,000"
        ),
    ] = None,
) -> Standings:
    """Everyone against everyone as both sides, exact: a cross-table of expected points and a rating.

    Where too many positions are possible between two players, or a program's choices vary, they play a
    match instead.

    Examples:
      ttt tournament q td graph book menace minimax random
      ttt tournament q q.article downloaded.json --json
    """
    if len(agents) < 2:
        raise UsageError("a tournament needs two players at least", hint="such as ttt tournament q minimax")
    players = resolve_all(agents, env.store, given_rules(env))
    for player in players:
        env.remark(player.remarks)
    found = play_tournament([player.policy for player in players], budget=positions or BUDGET)
    for player in players:
        env.remark(player.remarks)
    if found.sampled:
        why = "too much can happen in them, or a player's choices vary"
        env.say(f"{found.sampled:,} of the pairings are matches of {GAMES:,} games: {why}")
    return Standings.of([AgentFields(**player.fields()) for player in players], found)
