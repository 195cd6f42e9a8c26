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
    drawn = board(Position("XOXOXOX.."), last=6).plain
    assert drawn.splitlines() == [
        *(" X │ O │*X*", "───┼───┼───", " O │*X*│ O ", "───┼───┼───", "*X*│   │   "),
    ]


def test_notes_stand_below_the_numbers() -> None:
    notes = {11: [Text("loss 10"), Text("(win)")]}
    drawn = board(Position("X" + "." * 11, Rules(3, 4)), notes=notes).plain.splitlines()
    assert {len(line) for line in drawn} == {4 * 9 + 3}
    assert [line.split("│")[3] for line in drawn[-3:]] == ["   12    ", " loss 10 ", "  (win)  "]
    assert drawn[1].strip("│ ") == drawn[2].strip("│ ") == ""


def test_a_compact_board_is_a_line_a_row() -> None:
    drawn = board(Position.start(Rules(8, 8, 5)), cursor=9, compact=True).plain.splitlines()
    assert len(drawn) == 8 and {len(line) for line in drawn} == {39}
    assert drawn[1].split("│")[1] == "[10]"
