"""Tables of games that either side began, and tables that have more rows than there are positions.

An author who lets a coin decide who begins keeps boards on which X is ahead and boards on which O is. Whose
stones are the program's own is then for the author's code to say.
"""

import json
import pickle
from itertools import product

import pytest

from tests.store.formats import strangers
from tests.store.formats.programs import Moves, goes_by, judged, picked
from tests.store.formats.reading import read
from tests.store.formats.strangers import free, mover
from ttt_cli.errors import InvalidFileError
from ttt_cli.store.formats.imported import Options


def in_columns(cells: str) -> str:
    return json.dumps([{"X": 1, "O": -1, ".": 0}[stone] for stone in cells])


def swapped(board: str) -> str:
    return board.translate(str.maketrans("XO", "OX"))


def coin_tossed() -> dict[str, list[float]]:
    """The table of a program whose own stone is 1 whoever begins; of the games that it began, both turns."""
    table: dict[str, list[float]] = {}
    for (board, cell), value in strangers.move_values(300).items():
        for stones in (board, swapped(board)) if mover(board) == "O" else (board,):
            table.setdefault(in_columns(stones), [0.0] * 9)[cell] = value
    return table


def test_whose_games_count_is_asked():
    with pytest.raises(InvalidFileError, match=r"either side began: [0-9,]+ of [0-9,]+ are none") as asked:
        read(json.dumps(coin_tossed()).encode(), "f.json")
    for way in ("spelling.first=1", "spelling.first=-1", "spelling.mine=1", "spelling.mine=-1"):
        assert f"({way})" in str(asked.value)


@pytest.mark.parametrize("way", ["first", "mine"])
def test_each_answer_is_that_program(way, tmp_path):
    """The games that it began, or those in which its stone is its own: both are what it plays."""
    program = goes_by(strangers.move_values(300))
    data = json.dumps(coin_tossed())
    found = judged(data, program, tmp_path, spelling={way: "1"})
    assert found.rejected and all("no position in this spelling" in item.why for item in found.rejected)


def test_own_stones_may_be_ahead_on_the_others_turn(tmp_path):
    """A program that always begins, and looks at the boards after its moves too: those it never plays by."""
    moves = strangers.move_values(300)
    table = {in_columns(board): row for board, row in strangers.in_rows(moves).items()}
    program = goes_by(moves, sides="X")
    judged(json.dumps(table), program, tmp_path, spelling={"mine": "1"})


def test_an_agent_pickled_as_tables_by_cell_is_read_whole(tmp_path):
    """``Q[cell][board]``, where one of the tables holds a board on which nobody is to move."""
    moves = {move: value for move, value in strangers.move_values(300).items() if mover(move[0]) == "O"}
    tables: dict[tuple[int, int], dict[str, float]] = {cell: {} for cell in product(range(3), range(3))}
    for (board, cell), value in moves.items():
        tables[divmod(cell, 3)][board.replace(".", "-")] = value
    tables[1, 1]["OOX-O-XXO"] = 0.5
    data = pickle.dumps({"Q": tables, "alpha": 0.5})
    found = judged(data, goes_by(moves), tmp_path, spelling={"first": "X"})
    assert [item.where for item in found.rejected] == ["key 'OOX-O-XXO'"]


def every_board(rows: dict[str, list[float]], filler: list[float]) -> dict[tuple[int, ...], list[float]]:
    digits = {"X": 1, "O": 2, ".": 0}
    known = {tuple(digits[stone] for stone in board): row for board, row in rows.items()}
    return {board: known.get(board, filler) for board in product(range(3), repeat=9)}


def own_rows() -> dict[str, list[float]]:
    return strangers.in_rows(strangers.move_values(300))


def test_a_dict_of_all_boards_keeps_those_it_has_learned(tmp_path):
    data = pickle.dumps(every_board(own_rows(), [0.0] * 9))
    found = judged(data, goes_by(strangers.move_values(300)), tmp_path)
    assert any("count as boards never seen" in note for note in found.notes)


@pytest.mark.long
def test_a_dict_of_all_boards_that_began_at_random_asks_who_begins(tmp_path):
    """Without a filler the boards that no game reaches cannot be told from the others."""
    table = {
        board: row if any(row) else [sum(board) * 1e-9 + cell * 1e-8 for cell in range(9)]
        for board, row in every_board(own_rows(), [0.0] * 9).items()
    }
    data = pickle.dumps(table)
    with pytest.raises(InvalidFileError, match="either side began"):
        read(data, "f.pkl")

    def program(board: str) -> Moves:
        row = table[tuple({"X": 1, "O": 2, ".": 0}[stone] for stone in board)]
        return picked({cell: row[cell] for cell in free(board)})

    judged(data, program, tmp_path, spelling={"first": "1"})


def test_rows_of_all_boards_need_no_keys(tmp_path):
    """``numpy.savetxt`` of a table whose row is the board's number in base 3."""
    rows = every_board(own_rows(), [0.0] * 9)
    text = "\n".join(",".join(map(repr, rows[board])) for board in product(range(3), repeat=9))
    judged(text, goes_by(strangers.move_values(300)), tmp_path)


def test_a_key_that_is_none_is_left_out(tmp_path):
    """``reset`` that returns nothing: what was learned under its key can never be looked up on a board."""
    moves = {move: value for move, value in strangers.move_values(300).items() if move[0] != "." * 9}
    table: dict[object, dict[int, float]] = {None: {4: 0.7}}
    for board, cells in strangers.by_cell(moves).items():
        table[tuple({"X": 1, "O": -1, ".": 0}[stone] for stone in board)] = cells
    found = judged(pickle.dumps(table), goes_by(moves), tmp_path)
    assert any("left out as no positions: 'None'" in note for note in found.notes)


def test_words_beside_the_positions_are_left_out(tmp_path):
    moves = strangers.move_values(300)
    table: dict[str, object] = {"Number of episodes": 300, "epsilon": 0.1, **strangers.by_cell(moves)}
    found = judged(json.dumps(table), goes_by(moves), tmp_path)
    assert "left out as no positions: 'Number of episodes', 'epsilon'" in found.notes


def test_a_table_that_has_learned_to_block_rather_than_to_win_asks_who_begins():
    """All its boards are X's to move, or O's if O begins: then it would win at once by moves of no worth."""
    table: dict[str, dict[int, float]] = {}
    for board, _ in strangers.move_values(300):
        if mover(board) == "O" or len(free(board)) < 2:
            continue
        wins, blocks = (
            [cell for cell in free(board) if strangers.winner(board[:cell] + stone + board[cell + 1 :])]
            for stone in "XO"
        )
        if blocks and not wins:
            table[board] = {cell: -0.1 if cell in blocks else -9.9 for cell in free(board)}
        elif wins and len(table) % 10 == 0:
            table[board] = {cell: 10.0 if cell in wins else -0.1 for cell in free(board)}
    with pytest.raises(InvalidFileError, match=r"'X' always moves first .*'O' always moves first") as refused:
        read(json.dumps(table).encode(), "f.json", Options(unknown=0.0))
    assert "spelling.first=X" in refused.value.hint


def test_what_is_said_holds_for_a_table_among_other_things():
    table = json.loads(json.dumps(coin_tossed()))
    data = json.dumps({"epsilon": 0.1, "q_table": table}).encode()
    assert read(data, "f.json", Options(spelling={"mine": "1"})).positions > 200
    assert read(pickle.dumps({"q_table": table}), "f.pkl", Options(spelling={"mine": "1"})).positions > 200


def test_boards_played_on_after_a_win_do_not_make_stones_ones_own(tmp_path):
    """Of O's moves after X has won: they are positions only if the stones were one's own and the other's."""
    table = {text: value for text, value in strangers.position_values(300).items() if text != "." * 9}
    moved = {text: value * (1 if mover(text) == "O" else -1) for text, value in table.items()}
    won = [text for text in table if strangers.winner(text) == "X" and text.count(".") > 1]
    late = {strangers.after(text, text.index(".")): 0.3 for text in won[:40]}
    data = json.dumps({in_columns(text): value for text, value in (moved | late).items()})

    def program(board: str) -> Moves:
        return picked({cell: moved.get(strangers.after(board, cell), 0.0) for cell in free(board)})

    found = judged(data, program, tmp_path)
    assert {item.why for item in found.rejected} == {
        "the game went on after it was won, or ended otherwise (unless spelling.mine=-1)"
    }
