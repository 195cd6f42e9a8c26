"""``ttt solve``: the proven value of a position."""

from typing import Annotated

import typer

from ttt_cli.engine.position import Position
from ttt_cli.engine.rules import STANDARD
from ttt_cli.engine.solver import Solver
from ttt_cli.environment import Environment
from ttt_cli.shell.options import finite, given_rules, whole
from ttt_cli.views.numbers import counted
from ttt_cli.views.progress import progress
from ttt_cli.views.solution import Solution

IGNORES = {"store", "learner"}


def solve(
    env: Environment,
    position: Annotated[
        str | None,
        typer.Argument(metavar="[POSITION]", help="Such as X...O....; without it, the empty board."),
    ] = None,
    nodes: Annotated[
        int | None, typer.Option(parser=whole(), metavar="N", help="Visit at most N positions.")
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(min=0, metavar="S", help="Stop after S seconds.", callback=finite),
    ] = None,
) -> Solution:
    """Prove whether the side to move wins, draws or loses, on any board up to 64 cells, and print a line of
    best play. Where the limits do not suffice, nothing is claimed, and the exit code is 1.

    Examples:
      ttt solve --board 5x5 --line 4
      ttt solve "X.../..../.O../...." --board 4x4 --line 4
      ttt solve --board 8x8 --line 5 --seconds 60
    """
    rules = given_rules(env) or STANDARD
    asked = Position.start(rules) if position is None else Position.parse(position, rules)
    with progress(env, nodes, title="solve", unit="nodes") as tick:

        def report(visited: int, deviations: int) -> None:
            tick(visited, f"up to {counted(deviations, 'deviation')}")

        return Solution.of(Solver(rules).solve(asked, nodes=nodes, seconds=seconds, report=report))
