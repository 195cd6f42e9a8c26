"""``ttt tournament``: everyone against everyone."""

from typing import Annotated

from ttt_cli.environment import Environment
from ttt_cli.errors import UsageError
from ttt_cli.evaluation.tournament import GAMES, play_tournament
from ttt_cli.evaluation.walk import BUDGET
from ttt_cli.shell.common import resolved
from ttt_cli.shell.options import Walked, argument, complete_agents
from ttt_cli.views.tournament import Standings


def tournament(
    env: Environment,
    agents: Annotated[list[str], argument("AGENT AGENT...", "The players.", complete_agents)],
    positions: Walked = None,
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
    players = resolved(env, *agents)
    entered = [(player.fields(), player.policy) for player in players]
    found = play_tournament(entered, budget=positions or BUDGET)
    if found.sampled:
        why = "too much can happen in them, or a player's choices vary"
        env.say(f"{found.sampled:,} of the pairings are matches of {GAMES:,} games: {why}")
    return Standings(found)
