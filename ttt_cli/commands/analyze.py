"""``ttt analyze``: what positions are worth."""

from collections.abc import Sequence
from typing import Annotated

import typer

from ttt_cli.agents.grammar import resolve_all
from ttt_cli.engine.position import Position
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import STANDARD
from ttt_cli.environment import Environment
from ttt_cli.errors import ExitCode
from ttt_cli.evaluation.analysis import analyse, consult
from ttt_cli.json_text import json_text, plain
from ttt_cli.shell.completion import complete_agents
from ttt_cli.shell.line_filter import answer_lines
from ttt_cli.shell.options import given_rules
from ttt_cli.views.analysis import AnalysisResult, results_of


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
) -> AnalysisResult | ExitCode:
    """The perfect value of every move of a position, and how many plies away the end is.

    Examples:
      ttt analyze X...O....
      ttt analyze "X../.O./..." --agent q --agent minimax:depth=2
      ttt analyze - --json < positions.txt
    """
    rules = given_rules(env)
    agents = resolve_all(agent or [], env.store, rules)
    for one in agents:
        env.remark(one.remarks)
    game = agents[0].rules if agents else rules or STANDARD

    def ask(positions: Positions) -> Sequence[AnalysisResult]:
        opinions = [consult(one.name, one.policy, positions) for one in agents]
        return list(results_of(positions, analyse(positions), opinions))

    def say(found: AnalysisResult) -> str:
        head = {"schema": found.schema, "version": 1}
        return json_text(head | plain(found)) if env.json else found.line()

    if position == "-":
        fatal = any(one.policy.external for one in agents)
        return answer_lines(env, game, lambda positions: list(map(say, ask(positions))), str, fatal=fatal)
    return ask(Positions.of([Position.parse(position, game)], game))[0]
