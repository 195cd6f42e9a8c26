"""What ``ttt solve`` shows of a position."""

from typing import Annotated, Any, TypedDict

from rich.text import Text

from ttt_cli.documents import Cell, Count, PositionText, RulesFields, SideKey, Worth, note
from ttt_cli.engine.side import Side
from ttt_cli.engine.solver import Proof
from ttt_cli.environment import Environment
from ttt_cli.views.board import board
from ttt_cli.views.numbers import VALUES

Seconds = Annotated[float, note(minimum=0)]


class SolutionFields(TypedDict):
    """What a position has been proven to be worth, and how play may go on when both sides keep that; null and
    no cells where the limits did not suffice."""

    position: PositionText
    rules: RulesFields
    to_move: SideKey | None
    value: Worth | None
    proven: bool
    line: list[Cell]
    nodes: Count
    seconds: Seconds


def solution_fields(proof: Proof) -> dict[str, Any]:
    """The fields of a ``ttt-solution`` document."""
    position, rules = proof.position, proof.position.rules
    return {
        "position": position.text,
        "rules": rules.fields(),
        "to_move": None if position.terminal else Side.to_move(position.plies).key,
        "value": VALUES.get(proof.value),
        "proven": proof.proven,
        "line": [cell + 1 for cell in proof.line],
        "nodes": proof.nodes,
        "seconds": round(proof.seconds, 3),
    }


def show_solution(env: Environment, proof: Proof) -> None:
    """Draw the position, say what it is worth, and how play may go on."""
    position = proof.position
    env.draw(board(position, unicode=env.unicode))
    env.out("")
    effort = f"{proof.nodes:,} {'node' if proof.nodes == 1 else 'nodes'}, {proof.seconds:.2f} s"
    if position.terminal:
        env.out(f"{position.winner} has won" if position.winner else "a draw")
    elif proof.value is None:
        env.out(f"{position.mover} to move: not known within these limits ({effort})")
    else:
        outcome = {1: "wins", 0: "draws", -1: "loses"}[proof.value]
        env.out(f"{position.mover} to move {outcome}: proven ({effort})")
    if proof.line:
        cells = " ".join(str(cell + 1) for cell in proof.line)
        end = position
        for cell in proof.line:
            end = end.play(cell)
        env.draw(Text(f"best play: {cells}{'' if end.terminal else ' ...'}"), wrap=True)
