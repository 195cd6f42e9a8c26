"""``ttt solve``: the proved value of a position."""

from dataclasses import dataclass
from typing import Annotated

from rich.text import Text

from ttt_cli.documents import Cell, Count, Document, Worth, aside, note
from ttt_cli.engine.position import Position
from ttt_cli.engine.rules import STANDARD, Rules
from ttt_cli.engine.side import Side
from ttt_cli.engine.solver import Solver
from ttt_cli.environment import Environment
from ttt_cli.errors import ExitCode
from ttt_cli.evaluation.analysis import WrittenPosition
from ttt_cli.shell.line_filter import read_position
from ttt_cli.shell.options import argument, given_rules, number, option
from ttt_cli.signals import graceful
from ttt_cli.views.board import board, ended
from ttt_cli.views.numbers import OUTCOMES, cells, counted


@dataclass(frozen=True)
class Solution(Document, name="solution"):
    """The proved value of a position and a line of best play; null and no cells if the limits were
    reached."""

    position: WrittenPosition
    rules: Rules
    to_move: Side | None
    value: Worth | None
    proven: bool
    line: tuple[Cell, ...]
    nodes: Count
    seconds: Annotated[float, note(minimum=0)]
    ruled_out: bool = aside()
    code: ExitCode = aside()

    def show(self, env: Environment) -> None:
        position = end = self.position
        if self.rules != STANDARD:
            env.out(self.rules.describe())
        if position.plies:
            env.draw(board(position))
            env.out("")
        effort = f"{counted(self.nodes, 'node')}, {self.seconds:.2f} s"
        if position.terminal:
            env.out(ended(position))
        elif self.value is None:
            how = "within these limits" if self.code == ExitCode.FAILED else "yet: it was interrupted"
            env.out(f"{position.mover} to move: not known {how} ({effort})")
            if self.ruled_out:
                env.out(f"ruled out so far: a win by {position.mover}")
        else:
            env.out(f"{position.mover} to move {OUTCOMES[self.value]}: proved ({effort})")
        if self.line:
            for cell in self.line:
                end = end.play(cell)
            more = "" if end.terminal else " ..."
            env.draw(Text(f"best play: {cells(self.line)}{more}"))


def solve(
    env: Environment,
    position: Annotated[str | None, argument("[POSITION]", "A position; by default the empty board.")] = None,
    nodes: Annotated[int | None, number("Visit at most N positions.")] = None,
    seconds: Annotated[float, option("S", "Limit on processor time.", min=0)] = 60.0,
) -> Solution:
    """Prove whether the side to move wins, draws or loses, on any board of up to 64 cells, and print a line
    of best play.

    At a limit or on Ctrl-C, it reports how far it got, and exits with 1 or 130.

    Examples:
      ttt solve --board 5x5 --line 4
      ttt solve "X.../..../.O../...." --board 4x4 --line 4
      ttt solve --board 8x8 --line 5 --seconds 600
    """
    rules = given_rules(env) or STANDARD
    root = Position.start(rules) if position is None else read_position(position, rules)
    with (
        graceful(env.say, "stopping (Ctrl-C again: at once)") as stopping,
        env.progress(nodes, title="solve", unit="nodes") as tick,
    ):

        def report(done: int) -> bool:
            tick(done)
            return stopping()

        proof = Solver(rules).solve(root, nodes=nodes, seconds=seconds, report=report)
    return Solution(
        position=root,
        rules=rules,
        to_move=None if root.terminal else Side.to_move(root.plies),
        value=proof.value,
        proven=proof.value is not None,
        line=proof.line,
        nodes=proof.nodes,
        seconds=round(proof.seconds, 3),
        ruled_out=proof.win_ruled_out,
        code=ExitCode.DONE if proof.value is not None else stopping.exit_code or ExitCode.FAILED,
    )
