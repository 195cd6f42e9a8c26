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

    @classmethod
    def of(cls, proof: Proof) -> "Solution":
        """The result of a search."""
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
        )

    @property
    def code(self) -> ExitCode:
        """Whether the limits sufficed."""
        return ExitCode.DONE if self.proven else ExitCode.FAILED

    def show(self, env: Environment) -> None:
        """Draw the position, say what it is worth, and how play may go on."""
        position = self.proof.position
        env.draw(board(position, unicode=env.unicode))
        env.out("")
        effort = f"{counted(self.nodes, 'node')}, {self.seconds:.2f} s"
        if position.terminal:
            env.out(f"{position.winner} has won" if position.winner else "a draw")
        elif self.value is None:
            env.out(f"{position.mover} to move: not known within these limits ({effort})")
        else:
            env.out(f"{position.mover} to move {OUTCOMES[self.value]}: proven ({effort})")
        if self.line:
            end = position
            for cell in self.proof.line:
                end = end.play(cell)
            cells = " ".join(map(str, self.line))
            env.draw(Text(f"best play: {cells}{'' if end.terminal else ' ...'}"), wrap=True)
