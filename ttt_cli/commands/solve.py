"""``ttt solve``: the proven value of a position."""

from typing import Annotated

from ttt_cli.engine.position import Position
from ttt_cli.engine.rules import STANDARD
from ttt_cli.engine.solver import Solver
from ttt_cli.environment import Environment
from ttt_cli.errors import Stopped
from ttt_cli.shell.options import argument, given_rules, number, option
from ttt_cli.views.numbers import counted
from ttt_cli.views.progress import progress
from ttt_cli.views.solution import Solution


def solve(
    env: Environment,
    position: Annotated[str | None, argument("[POSITION]", "By default the empty board.")] = None,
    nodes: Annotated[int | None, number("Visit at most N positions.")] = None,
    seconds: Annotated[float, option("S", "Limit of processor time.", min=0)] = 60.0,
) -> Solution:
    """Prove whether the side to move wins, draws or loses, on any board up to 64 cells, and print a line of
    best play. Where the limits do not suffice, or Ctrl-C ends it, it says how far it came; the exit code is 1
    (130).

    Examples:
      ttt solve --board 5x5 --line 4
      ttt solve "X.../..../.O../...." --board 4x4 --line 4
      ttt solve --board 8x8 --line 5 --seconds 600
    """
    rules = given_rules(env) or STANDARD
    asked = Position.start(rules) if position is None else Position.parse(position, rules)
    with progress(env, nodes, title="solve", unit="nodes") as tick:

        def report(visited: int, deviations: int) -> None:
            tick(visited, f"up to {counted(deviations, 'deviation')}")

        solver = Solver(rules)
        try:
            return Solution.of(solver.solve(asked, nodes=nodes, seconds=seconds, report=report))
        except Stopped as end:
            return Solution.of(solver.so_far(asked), end.exit_code)
