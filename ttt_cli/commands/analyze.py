"""``ttt analyze``: what positions are worth."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from ttt_cli.environment import Environment
from ttt_cli.shell.completion import complete_agents
from ttt_cli.shell.line_filter import read_positions
from ttt_cli.shell.options import given_rules

if TYPE_CHECKING:
    from ttt_cli.engine.policy import Policy
    from ttt_cli.engine.rules import Rules

Player = tuple[str, "Policy"]

HEADING = "Judge"


DOCUMENTS = {"analysis": "ttt_cli.views.analysis:AnalysisFields"}


def analyze(
    env: Environment,
    position: Annotated[
        str, typer.Argument(metavar="POSITION", help="Such as X...O...., or - for positions on stdin.")
    ],
    agent: Annotated[
        list[str] | None,
        typer.Option(
            metavar="AGENT",
            help="Show an agent's own values and choice beside it; may be repeated.",
            autocompletion=complete_agents,
        ),
    ] = None,
) -> None:
    """The perfect value of every move of a position, and how many plies away the end is.

    Examples:
      ttt analyze X...O....
      ttt analyze "X../.O./..." --agent q --agent minimax:depth=2
      ttt analyze - --json < positions.txt
    """
    from ttt_cli.agents.grammar import resolve_all
    from ttt_cli.engine.rules import STANDARD

    rules = given_rules(env)
    agents = resolve_all(agent or [], env.store, rules)
    for one in agents:
        env.remark(one.remarks)
    game = agents[0].rules if agents else rules or STANDARD
    players = [(one.name, one.policy) for one in agents]
    if position == "-":
        _filter(env, game, players)
    else:
        _show(env, game, position, players)


def _filter(env: Environment, rules: "Rules", players: Sequence[Player]) -> None:
    import orjson

    from ttt_cli.evaluation.analysis import analyse, consult
    from ttt_cli.views.analysis import analysis_fields, analysis_line

    head = {"schema": "ttt-analysis", "version": 1}
    lines: list[str] = []  # of the positions that are remembered
    last = None
    for remembered, rows in read_positions(env, rules):
        if remembered is not last:
            last, lines = remembered, []
        if new := remembered.positions[len(lines) :]:
            opinions = [consult(name, policy, new) for name, policy in players]
            for found in analysis_fields(new, analyse(new), opinions):
                lines.append(orjson.dumps(head | found).decode() if env.json else analysis_line(found))
        if rows:
            env.out("\n".join([lines[row] for row in rows]), flush=True)


def _show(env: Environment, rules: "Rules", text: str, players: Sequence[Player]) -> None:
    from ttt_cli.engine.position import Position
    from ttt_cli.engine.positions import Positions
    from ttt_cli.evaluation.analysis import analyse, consult
    from ttt_cli.views import analysis as view

    position = Position.parse(text, rules)
    here = Positions.of([position], rules)
    found = analyse(here)
    opinions = [consult(name, policy, here) for name, policy in players]
    if env.json:
        env.document("ttt-analysis", next(view.analysis_fields(here, found, opinions)))
    else:
        view.show_analysis(env, position, found, opinions)
