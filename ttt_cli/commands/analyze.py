"""``ttt analyze``: what positions are worth."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from ttt_cli.environment import Environment
from ttt_cli.shell.completion import complete_agents
from ttt_cli.shell.line_filter import read_positions, remembered
from ttt_cli.shell.memory import state_memory
from ttt_cli.shell.options import given_rules

if TYPE_CHECKING:
    from ttt_cli.engine.policy import PolicyTable
    from ttt_cli.engine.state_space import StateSpace

Player = tuple[str, "PolicyTable"]

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
    from ttt_cli.engine.state_space import StateSpace

    rules = given_rules(env)
    agents = resolve_all(agent or [], env.store, rules)
    game = agents[0].rules if agents else rules or STANDARD
    state_memory(env, game, 2 * len(agents))
    space = StateSpace.of(game)
    players = []
    for one in agents:
        players.append((one.name, one.policy.table(space)))
    if position == "-":
        _filter(env, space, players)
    else:
        _show(env, space, position, players)


def _filter(env: Environment, space: "StateSpace", players: Sequence[Player]) -> None:
    import orjson

    from ttt_cli.evaluation.analysis import analyse, consult
    from ttt_cli.views.analysis import analysis_fields, analysis_line

    head = {"schema": "ttt-analysis", "version": 1}

    def answer(indexes: list[int]) -> list[str]:
        opinions = [consult(name, policy, indexes) for name, policy in players]
        fields = analysis_fields(space, indexes, analyse(space, indexes), opinions)
        if env.json:
            return [orjson.dumps(head | found).decode() for found in fields]
        return [analysis_line(found) for found in fields]

    lines = remembered(answer)
    for indexes in read_positions(env, space):
        if indexes:
            env.out("\n".join(lines(indexes)), flush=True)


def _show(env: Environment, space: "StateSpace", text: str, players: Sequence[Player]) -> None:
    from ttt_cli.engine.position import Position
    from ttt_cli.evaluation.analysis import analyse, consult
    from ttt_cli.views import analysis as view

    position = Position.parse(text, space.rules)
    indexes = [space.index(position)]
    found = analyse(space, indexes)
    opinions = [consult(name, policy, indexes) for name, policy in players]
    if env.json:
        env.document("ttt-analysis", next(view.analysis_fields(space, indexes, found, opinions)))
    else:
        view.show_analysis(env, position, found, opinions)
