"""``ttt analyze``: what positions are worth."""

from collections.abc import Iterator, Sequence
from typing import Annotated

import typer

from ttt_cli.agents.grammar import Agent, resolve_all
from ttt_cli.documents import json_text, plain
from ttt_cli.engine.position import Position
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import STANDARD, Rules
from ttt_cli.environment import Environment
from ttt_cli.evaluation.analysis import analyse, consult
from ttt_cli.shell.completion import complete_agents
from ttt_cli.shell.line_filter import read_positions
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
) -> AnalysisResult | None:
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
    if position != "-":
        (result,) = _results(Positions.of([Position.parse(position, game)], game), agents)
        return result
    _answer_lines(env, game, agents)
    return None


def _results(positions: Positions, agents: Sequence[Agent]) -> Iterator[AnalysisResult]:
    opinions = [consult(one.name, one.policy, positions) for one in agents]
    return results_of(positions, analyse(positions), opinions)


def _answer_lines(env: Environment, rules: Rules, agents: Sequence[Agent]) -> None:
    """A line for each position on stdin, as soon as it has come in."""
    head = {"schema": AnalysisResult.schema, "version": 1}
    lines: list[str] = []  # of the positions that are remembered
    last = None
    for remembered, rows in read_positions(env, rules):
        if remembered is not last:
            last, lines = remembered, []
        if new := remembered.positions[len(lines) :]:
            for found in _results(new, agents):
                lines.append(json_text(head | plain(found)) if env.json else found.line())
        env.out(*(lines[row] for row in rows), flush=True)
