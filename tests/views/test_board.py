"""Boards as people see them."""

from rich.text import Text

from ttt_cli.engine.position import Position
from ttt_cli.engine.rules import Rules
from ttt_cli.views.board import board


def test_free_cells_are_numbered_and_the_last_move_is_marked() -> None:
    drawn = board(Position("X.O.X...."), last=4).plain
    assert drawn.splitlines() == [
        *(" X │ 2 │ O ", "───┼───┼───", " 4 │(X)│ 6 ", "───┼───┼───", " 7 │ 8 │ 9 "),
    ]


def test_the_winning_line_is_marked_and_nothing_can_be_played_any_more() -> None:
    drawn = board(Position("XOXOXOX.."), last=6, unicode=False).plain
    assert drawn.splitlines() == [
        *(" X | O |*X*", "---+---+---", " O |*X*| O ", "---+---+---", "*X*|   |   "),
    ]


def test_notes_stand_below_the_numbers() -> None:
    drawn = board(Position("X" + "." * 11, Rules(3, 4)), notes={11: Text("loss 10")}).plain.splitlines()
    assert {len(line) for line in drawn} == {4 * 9 + 3}
    assert drawn[-2].split("│")[3].strip() == "12"
    assert drawn[-1].split("│")[3] == " loss 10 "
    assert drawn[1].strip("│ ") == ""
