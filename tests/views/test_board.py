"""Boards as people see them."""

from rich.text import Text

from ttt_cli.engine.position import Position
from ttt_cli.engine.rules import Rules
from ttt_cli.views.board import board


def test_notes_stand_below_the_numbers() -> None:
    notes = {11: [Text("loss 10"), Text("(win)")]}
    drawn = board(Position("X" + "." * 11, Rules(3, 4)), notes=notes).plain.splitlines()
    assert {len(line) for line in drawn} == {4 * 9 + 3}
    assert [line.split("│")[3] for line in drawn[-3:]] == ["   12    ", " loss 10 ", "  (win)  "]
    assert drawn[1].strip("│ ") == drawn[2].strip("│ ") == ""
