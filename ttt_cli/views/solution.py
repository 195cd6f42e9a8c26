"""``ttt solve``: what a position has been proved to be worth."""

from dataclasses import dataclass
from typing import Annotated

from rich.text import Text

from ttt_cli.documents import Cell, Count, Document, PositionText, RulesFields, SideKey, Worth, aside, note
from ttt_cli.engine.side import Side
from ttt_cli.engine.solver import Proof
from ttt_cli.environment import Environment
from ttt_cli.errors import ExitCode
from ttt_cli.views.board import board
from ttt_cli.views.numbers import OUTCOMES, VALUES, counted


@dataclass(frozen=True)
class Solution(Document, name="solution"):
    """What a position has been proven to be worth, and how play may go on when both sides keep that; null and
    no cells where the limits did not suffice."""

    position: PositionText
    rules: RulesFields
    to_move: SideKey | None
    value: Worth | None
    proven: bool
    line: list[Cell]
    nodes: Count
    seconds: Annotated[float, note(minimum=0)]
    proof: Proof = aside()
    ended_by: ExitCode = aside()

    @classmethod
    def of(cls, proof: Proof, ended_by: ExitCode = ExitCode.FAILED) -> "Solution":
        """The result of a search.

        :param ended_by: the exit code where nothing has been proved.
        """
        position = proof.position
        return cls(
            position.text,
            position.rules.fields(),
            None if position.terminal else Side.to_move(position.plies).key,
            VALUES.get(proof.value),
            proof.proven,
            [cell + 1 for cell in proof.line],
            proof.nodes,
            round(proof.seconds, 3),
            proof,
            ended_by,
        )

    @property
    def code(self) -> ExitCode:
        """Whether the limits sufficed."""
        return ExitCode.DONE if self.proven else self.ended_by

    def show(self, env: Environment) -> None:
        """Draw the position, say what it is worth, and how play may go on."""
        position = self.proof.position
        env.draw(board(position, unicode=env.unicode))
        env.out("")
        effort = f"{counted(self.nodes, 'node')}, {self.seconds:.2f} s"
        if position.terminal:
            env.out(f"{position.winner} has won" if position.winner else "a draw")
        elif self.value is None:
            how = "within these limits" if self.ended_by == ExitCode.FAILED else "yet: it was interrupted"
            env.out(f"{position.mover} to move: not known {how} ({effort})")
            if (ruled_out := self.proof.ruled_out) is not None:
                times = f"at most {counted(ruled_out, 'time')}" if ruled_out else "never"
                env.out(f"ruled out so far: a win by whoever departs {times} from the most promising moves")
        else:
            env.out(f"{position.mover} to move {OUTCOMES[self.value]}: proven ({effort})")
        if self.line:
            end = position
            for cell in self.proof.line:
                end = end.play(cell)
            cells = " ".join(map(str, self.line))
            env.draw(Text(f"best play: {cells}{'' if end.terminal else ' ...'}"), wrap=True)
