"""``ttt solve``: what a position has been proved to be worth."""

from dataclasses import dataclass
from typing import Annotated

from rich.text import Text

from ttt_cli.documents import Cell, Count, Document, Worth, aside, note
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.side import Side
from ttt_cli.engine.solver import Proof
from ttt_cli.environment import Environment
from ttt_cli.errors import ExitCode
from ttt_cli.evaluation.analysis import Board
from ttt_cli.views.board import board, ended
from ttt_cli.views.numbers import OUTCOMES, cells, counted


@dataclass(frozen=True)
class Solution(Document, name="solution"):
    """What a position has been proven to be worth, and how play may go on when both sides keep that; null and
    no cells where the limits did not suffice.

    :ivar ended_by: the exit code where nothing has been proved.
    """

    position: Board
    rules: Rules
    to_move: Side | None
    value: Worth | None
    proven: bool
    line: tuple[Cell, ...]
    nodes: Count
    seconds: Annotated[float, note(minimum=0)]
    ruled_out: int | None = aside()
    ended_by: ExitCode = aside()

    @classmethod
    def of(cls, proof: Proof, ended_by: ExitCode = ExitCode.FAILED) -> "Solution":
        """The result of a search."""
        position, seconds = proof.position, round(proof.seconds, 3)
        to_move = None if position.terminal else Side.to_move(position.plies)
        found = (proof.value, proof.proven, proof.line, proof.nodes, seconds, proof.ruled_out)
        return cls(position, position.rules, to_move, *found, ended_by)

    @property
    def code(self) -> ExitCode:
        """Whether the limits sufficed."""
        return ExitCode.DONE if self.proven else self.ended_by

    def show(self, env: Environment) -> None:
        """Draw the position, say what it is worth, and how play may go on."""
        position = end = self.position
        env.draw(board(position, unicode=env.unicode))
        env.out("")
        effort = f"{counted(self.nodes, 'node')}, {self.seconds:.2f} s"
        if position.terminal:
            env.out(ended(position))
        elif self.value is None:
            how = "within these limits" if self.ended_by == ExitCode.FAILED else "yet: it was interrupted"
            env.out(f"{position.mover} to move: not known {how} ({effort})")
            if (ruled_out := self.ruled_out) is not None:
                departs = f"departs at most {counted(ruled_out, 'time')}" if ruled_out else "never departs"
                env.out(f"ruled out so far: a win by a side that {departs} from its most promising moves")
        else:
            env.out(f"{position.mover} to move {OUTCOMES[self.value]}: proven ({effort})")
        if self.line:
            for cell in self.line:
                end = end.play(cell)
            more = "" if end.terminal else " ..."
            env.draw(Text(f"best play: {cells(self.line)}{more}"), wrap=True)
