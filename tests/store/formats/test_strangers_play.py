"""Files are judged as the programs that wrote them play: by the author's rule, written out again here."""

import json
import pickle
from collections.abc import Callable
from functools import cache
from itertools import product

import numpy as np
import pytest

from tests.store.formats import strangers
from tests.store.formats.programs import (
    SPACE,
    Moves,
    goes_by,
    judged,
    looks_up,
    picked,
    plays_as,
    reads_as,
)
from tests.store.formats.reading import read
from tests.store.formats.strangers import KEYS, STONES, Spell, after, by_cell, free, in_rows, mover, winner
from ttt_cli.errors import InvalidFileError, UsageError
from ttt_cli.store import library
from ttt_cli.store.formats.imported import Options, to_state

PLAIN = Spell(STONES["XO."], KEYS["joined"])


@cache
def moves() -> dict[tuple[str, int], float]:
    return strangers.move_values(300)


@cache
def values() -> dict[str, float]:
    return strangers.position_values(150)


def asked(data: object, match: str, **options) -> InvalidFileError:
    """What is said of a file that leaves something open."""
    data = data if isinstance(data, str | bytes) else json.dumps(data)
    with pytest.raises(InvalidFileError, match=match) as refused:
        read(data.encode() if isinstance(data, str) else data, "f.json", Options(**options))
    return refused.value


def known_alone(table: dict[tuple[str, int], float]) -> Callable[[str], Moves]:
    """A program that considers the moves in its table, and any move where there is none."""

    def program(board: str) -> Moves:
        worth = {cell: table[board, cell] for cell in free(board) if (board, cell) in table}
        return picked(worth or dict.fromkeys(free(board), 0.0))

    return program


def swapped(board: str) -> str:
    return board.translate(str.maketrans("XO", "OX"))


def numbers(board: str) -> str:
    return str([{"X": 1, "O": -1, ".": 0}[stone] for stone in board])


def own_stones(board: str, *, side: str) -> str:
    """A board as the player of a side sees it, its own stones 1, the others' -1."""
    return numbers(board if side == "X" else swapped(board))


SPELLED = {"joined": "XO.", "tuple": "120", "quoted nested": "XO ", "list": "1-10", "array": "1.2.0."}


@pytest.mark.parametrize("key", SPELLED)
@pytest.mark.parametrize("ended", [True, False])
def test_a_table_of_positions_knows_no_wins_of_its_own(key, ended, tmp_path):
    """Without the boards on which the game is over, their wins are not seen: ``values.get(board, 0)``."""
    table = {text: value for text, value in values().items() if ended or free(text)}
    data = Spell(STONES[SPELLED[key]], KEYS[key]).positions(table)
    judged(data, looks_up(table), tmp_path)
    reads_as(data, looks_up(table, sees=True), wins="known")


def test_what_is_not_in_a_file_counts_as_its_author_says(tmp_path):
    table = {text: 0.6 + value for text, value in values().items() if free(text)}
    assert "(unknown=0.6)" in str(asked(PLAIN.positions(table), r"count as .* 0\.6, as"))
    for unknown in (0.0, 0.6, -0.25):
        program = looks_up(table, unknown=unknown)
        judged(PLAIN.positions(table), program, tmp_path, unknown=unknown, values_for="x")


@pytest.mark.parametrize(("meaning", "x", "o"), [("mover", -1, -1), ("moved", 1, 1), ("o", -1, 1)])
def test_unknown_positions_are_worth_something_to_whoever_the_values_are_for(meaning, x, o, tmp_path):
    signs = {text: {"X": o, "O": x}[mover(text)] for text in values()}
    written = {text: (1 if mover(text) == "O" else -1) * signs[text] * v for text, v in values().items()}
    data = Spell(STONES["120"], KEYS["tuple"]).positions(written)
    judged(data, looks_up(written, x, o, unknown=0.1), tmp_path, unknown=0.1, values_for=meaning)


def test_unknown_may_mean_never_unless_nothing_is_known(tmp_path):
    """A program that pays for every move and knows those in its table alone: 0 would be the best of all."""
    table = {move: value - 1 for move, value in strangers.move_values(600).items()}
    data = json.dumps({str(move): value for move, value in table.items()})
    asked(data, "unknown=random")
    judged(data, known_alone(table), tmp_path, unknown="random")
    found = read(data.encode(), "f.json", Options(unknown=0.0))
    assert any("though others are known (unknown=random: never)" in note for note in found.notes)


def a_program_with(ties: str, table: dict[tuple[str, int], float]) -> Callable[[str], Moves]:
    """A program that takes the largest value; ``first-learned`` draws where ``not any(values)``."""

    def learned_first(board: str) -> Moves:
        worth = {cell: table.get((board, cell), 0.0) for cell in free(board)}
        return picked(worth, "first" if any(worth.values()) else "random")

    return learned_first if ties == "first-learned" else goes_by(table, ties)


@pytest.mark.parametrize("ties", ["random", "first", "last", "first-learned"])
def test_ties_are_broken_as_the_program_does(ties, tmp_path):
    """Only what is exactly equal is a tie: 0.1 + 0.2 is not 0.3."""
    table = {move: round(value, 1) for move, value in moves().items()}
    table[".........", 2], table[".........", 6] = 0.1 + 0.2, 0.3
    (tmp_path / "f.json").write_text(PLAIN.objects(table))
    state = library.import_file(tmp_path / "f.json").state.playing(None, ties)
    plays_as(library.parse(library.content(state), "again.json"), a_program_with(ties, table))


def test_a_program_may_draw_only_where_a_board_is_not_in_its_table(tmp_path):
    """``if board not in table: random.choice``, else the first maximum: its rows are whole."""
    rows = in_rows(moves())

    def program(board: str) -> Moves:
        if board not in rows:
            return picked(dict.fromkeys(free(board), 0.0))
        return picked({cell: rows[board][cell] for cell in free(board)}, "first")

    (tmp_path / "f.json").write_text(json.dumps(rows))
    state = library.import_file(tmp_path / "f.json", Options(unknown="random")).state.playing(None, "first")
    plays_as(library.parse(library.content(state), "again.json"), program)


Boxes = dict[str, dict[int, float]]
BEADS: dict[str, Callable[[Boxes], object]] = {
    "counts": lambda boxes: boxes,
    "one by one": lambda boxes: {
        text.replace(".", "-"): [cell for cell, count in box.items() for _ in range(int(count))]
        for text, box in boxes.items()
    },
    "records": lambda boxes: {
        text.replace(".", " "): [
            {"action": [cell // 3, cell % 3], "count": int(count)} for cell, count in box.items()
        ]
        for text, box in boxes.items()
    },
}


@pytest.mark.parametrize("form", BEADS)
def test_a_file_that_counts_beads_draws_them(form, tmp_path):
    boxes = {text: box for text, box in by_cell(strangers.beads(600)).items() if sum(box.values())}

    def draws(board: str) -> Moves:
        box = boxes.get(board) or dict.fromkeys(free(board), 1.0)
        return {cell: count / sum(box.values()) for cell, count in box.items() if count}

    found = judged(json.dumps(BEADS[form](boxes)), draws, tmp_path)
    assert any("beads" in note for note in found.notes)
    fullest = lambda board: picked(boxes.get(board) or dict.fromkeys(free(board), 1.0))  # noqa: E731
    plays_as(library.load(tmp_path / "file.json").state.choosing("most"), fullest, "X")


def test_what_a_file_calls_counts_are_beads_and_values_are_not():
    boxes = by_cell({move: 2 - move[1] % 2 for move in strangers.beads(600)})
    data = json.dumps(BEADS["records"](boxes)).encode()
    assert read(data, "f.json", Options(spelling={"first": "X"})).plays.choice == "draw"
    with pytest.raises(UsageError, match="no counts of beads"):
        to_state(read(PLAIN.objects(moves()).encode(), "f.json"), "0" * 64).choosing("draw")


TURNED = [image for at, image in enumerate(SPACE.rules.symmetries) if at in (0, 3, 5, 6)]


@cache
def canonical(board: str, order: str) -> tuple[str, tuple[int, ...]]:
    """The least image of a board under an order of the symbols; cell ``at`` of it is cell ``image[at]``."""
    ranks = str.maketrans(order, "012")
    found = [("".join(board[cell] for cell in image), image) for image in SPACE.rules.symmetries]
    return min(found, key=lambda item: item[0].translate(ranks))


@pytest.mark.parametrize(("order", "stones"), [(".XO", "XO."), ("XO.", "120"), ("O.X", "XO.")])
def test_keys_up_to_symmetry_stand_for_all_images(order, stones, tmp_path):
    table: dict[str, float] = {}
    for text, value in strangers.position_values(400).items():
        table.setdefault(canonical(text, order)[0], value)
    every = {text: table.get(canonical(text, order)[0], 0.0) for text in SPACE.texts()}
    data = Spell(STONES[stones], KEYS["joined"]).positions(table)
    found = judged(data, looks_up(every), tmp_path)
    assert any("up to symmetry" in note for note in found.notes)
    reads_as(data, looks_up(table), spelling={"symmetry": "no"})


def test_keys_may_be_up_to_rotation_alone():
    """Four images, not eight: what is known of a board is not known of its mirror image. Keys that are the
    least of these and some mirrored ones look alike, and stand for no group: so it is asked."""

    def least(board: str) -> str:
        return min("".join(board[cell] for cell in image) for image in TURNED)

    table: dict[str, float] = {}
    for text, value in strangers.position_values(400).items():
        table.setdefault(least(text), value)
    data = Spell(STONES["120"], KEYS["joined"]).positions(table)
    assert "spelling.symmetry=rotations" in asked(data, "some mirrored ones too").hint
    every = looks_up({text: table.get(least(text), 0.0) for text in SPACE.texts()})
    found = reads_as(data, every, spelling={"symmetry": "rotations"})
    assert any("up to symmetry" in note for note in found.notes)


@pytest.mark.parametrize("shape", ["objects", "lists"])
@pytest.mark.parametrize("stones", ["XO.", "120"])
@pytest.mark.parametrize("mapped", [True, False])
def test_moves_under_keys_up_to_symmetry_are_mapped_back_or_not(mapped, stones, shape):
    """The cells are those of the key, or of the board as it is played."""
    table: dict[tuple[str, int], float] = {}
    for (text, cell), value in strangers.move_values(400).items():
        key, image = canonical(text, ".XO")
        table.setdefault((key, image.index(cell) if mapped else cell), value)

    def program(board: str) -> Moves:
        key, image = canonical(board, ".XO")
        return picked(
            {cell: table.get((key, image.index(cell) if mapped else cell), 0.0) for cell in free(board)}
        )

    found = reads_as(getattr(Spell(STONES[stones], KEYS["joined"]), shape)(table), program)
    assert any("occupied" in note for note in found.notes) != mapped


@pytest.mark.parametrize("stones", ["XO.", "120"])
def test_values_at_occupied_cells_are_counted(stones):
    """A program that learned from illegal moves too: they are never played."""
    spell = Spell(STONES[stones], KEYS["joined"])
    table = {
        spell.of(text): [row[cell] if text[cell] == "." else -0.1 * cell for cell in range(9)]
        for text, row in in_rows(moves()).items()
    }
    found = reads_as(json.dumps(table), goes_by(moves()))
    assert any("occupied cells are left out" in note for note in found.notes)


def test_boards_played_on_after_a_win_are_left_out_and_counted(tmp_path):
    won = [text for text in values() if winner(text) and text.count(".") > 1]
    late = {after(text, text.index(".")): 0.3 for text in won}
    late = dict(list(late.items())[:30])
    found = judged(PLAIN.positions(values() | late), looks_up(values()), tmp_path, spelling={"first": "X"})
    assert len(found.rejected) == len(late) == 30
    assert all("went on after it was won" in item.why for item in found.rejected)
    (told,) = (note for note in found.remarks if note.startswith("left out"))
    assert "and 28 more (ttt verify lists them): the game went on" in told
    asked(PLAIN.positions(values() | late), "are not positions", strict=True)
    few = dict(list(late.items())[:9]) | dict(list(values().items())[:5])  # they are the larger part
    asked(few, "does not bear out", spelling={"first": "X"})


MINE = {"         ": {"4": 1, "0": 0}, "O        ": {"4": 1, "8": 0}, "XO       ": {"4": 1, "8": 0}}
MINE |= {"OXO      ": {"4": 1, "8": 0}, "XXOO     ": {"4": 1, "8": 0}}


def test_what_is_said_outright_holds_or_is_refused():
    found = read(json.dumps(MINE).encode(), "f.json", Options(spelling={"mine": "X", "theirs": "O"}))
    assert "mine 'X', theirs 'O'" in found.notes[0] and "first" not in found.notes[0]
    assert found.entries["X........"] == {"5": [1.0, 1]}  # the other's stone is X, who has begun
    assert found.entries["XO......."] == {"5": [1.0, 1]}
    assert found.entries["XOX......"] == {"5": [1.0, 1]}
    for spelling in ({"first": "X", "mine": "X"}, {"empty": "."}, {"cells": "7"}, {"player-x": "X"}):
        name, value = list(spelling.items())[-1]
        asked(MINE, f"does not bear out .*{name}={value}", spelling=spelling)
    hint = asked(MINE, "does not bear out .*mine=Q", spelling={"mine": "Q"}).hint
    assert "'X'" in hint and "'O'" in hint
    with pytest.raises(UsageError, match="has no 'colour'") as unknown:
        read(json.dumps(MINE).encode(), "f.json", Options(spelling={"colour": "red"}))
    assert "theirs" in unknown.value.hint
    late = {f"{at:09b}".replace("1", "X").replace("0", "-"): 0.5 for at in range(1, 200)}
    asked(late, r"first=X: [0-9]+ of 199 keys are boards", spelling={"first": "X"}, values_for="x")


def test_own_and_the_others_stones_serve_both_roles_after_a_move_too(tmp_path):
    """A program that values the board after its move, its own stones 1, the others -1, on either side."""
    table = {text: v * (1 if mover(text) == "O" else -1) for text, v in values().items() if text != "." * 9}
    own = {own_stones(text, side="OX"[mover(text) == "O"]): value for text, value in table.items()}
    error = asked(own, r"'1' always moves first \(spelling.first=1\)")
    assert "f.json:spelling.mine=1" in error.hint  # which leaves no key out
    judged(json.dumps(own), looks_up(table, 1, 1), tmp_path, spelling={"mine": "1", "theirs": "-1"})


def test_what_stands_beside_a_board_is_never_passed_over():
    """A value for each of eight cells; a game whose oldest stone vanishes: the board is not the position."""
    lines = [f"{board}:{','.join(map(str, row[1:]))}" for board, row in in_rows(moves()).items()]
    asked("\n".join(lines), "hold more than a position")
    ages = {text: "".join("0" if text[at] == "." else str(at % 3) for at in range(9)) for text, _ in moves()}
    table = {str((text, ages[text], cell)): value for (text, cell), value in moves().items()}
    asked(table, "the keys hold more than a position")


ROWS: dict[str, Callable[[str, list[float]], str]] = {
    "nine values behind a tab": lambda board, row: f"{numbers(board)}\t" + "\t".join(map(str, row)),
    "dashes for nothing": lambda board, row: (
        f'"{numbers(board)}",' + ",".join(str(v) if v else "-" for v in row)
    ),
    "a list": lambda board, row: f'"{numbers(board)}","{row}"',
    "a printed array": lambda board, row: f'"{numbers(board)}","[{" ".join(map(str, row))}]"',
    "nine values": lambda board, row: f'"{numbers(board)}",' + ",".join(map(str, row)),
}
LINES: dict[str, Callable[[str, list[float]], str]] = {
    "cells and values": lambda board, row: ",".join(
        [board.replace(".", "-"), *(f"{cell},{row[cell]!r}" for cell in free(board)), ""]
    ),
    "board:values": lambda board, row: f"{board}:{', '.join(map(str, row))}",
    "a number and values": lambda board, row: " ".join(
        [str(int(board.translate(str.maketrans(".XO", "012")), 3)), *map(str, row)]
    ),
}


@pytest.mark.parametrize("form", [*ROWS, *LINES])
def test_tables_in_lines(form):
    lines = [(ROWS | LINES)[form](board, row) for board, row in in_rows(moves()).items()]
    reads_as("\n".join(lines) + "\n", goes_by(moves()), unknown=0.0)
    if form in ROWS:
        mark = "\t" if "tab" in form else ","
        counted = [f"{number}{mark}{line}" for number, line in enumerate(lines)]
        reads_as("\n".join(counted) + "\n", goes_by(moves()), unknown=0.0)


PRINTED = {
    "floats": lambda text: np.array([{"X": 1.0, "O": -1.0, ".": 0.0}[s] for s in text]),
    "floats in rows": lambda text: np.array([{"X": 1.0, "O": -1.0, ".": 0.0}[s] for s in text]).reshape(3, 3),
    "None": lambda text: np.array([{"X": 1, "O": 2, ".": None}[s] for s in text], dtype=object),
    "texts": lambda text: np.array([{"X": "X", "O": "O", ".": " "}[s] for s in text]).reshape(3, 3),
    "long lists": lambda text: [[{"X": "Player.X", "O": "Player.O", ".": "Empty"}[s]] for s in text],
}


@pytest.mark.parametrize("form", PRINTED)
def test_keys_as_arrays_print(form):
    data = json.dumps({str(PRINTED[form](text)): value for text, value in values().items()})
    reads_as(data, looks_up(values()))


def test_whether_moves_are_for_x_or_for_whoever_makes_them_is_asked():
    """A table that would play O badly: an agent trained wrongly, or one that takes the least as O."""
    right = strangers.move_values(400)
    table = {move: value * (1 if mover(move[0]) == "X" else -1) for move, value in right.items()}
    error = asked(PLAIN.objects(table), r"whose win .*values=mover.*values=x")
    assert "f.json:values=mover" in error.hint
    worse = {move: -value for move, value in right.items()}  # the mover's is asked for however it plays
    asked(PLAIN.objects(worse), "large values mean: that of whoever is to move")
    reads_as(PLAIN.objects(table), goes_by(table), values_for="mover")
    reads_as(PLAIN.objects(table), goes_by(right), values_for="x")


@pytest.mark.parametrize("blank", [" ", "-"])
def test_a_move_may_be_told_by_the_board_after_it(blank):
    rows = [(text, after(text, cell), value) for (text, cell), value in moves().items()]
    lines = [f"{text},{then}".replace(".", blank) + f",{value!r}" for text, then, value in rows]
    reads_as("\n".join(["before,after,value", *lines]), goes_by(moves()))


def test_two_tables_may_be_added_up(tmp_path):
    """Double Q-learning: each table has learned from half of the games, the program goes by their sum."""
    halves = [strangers.move_values(400, seed) for seed in (1, 2)]
    data = json.dumps({f"q{number}": by_cell(half) for number, half in enumerate(halves, 1)})
    assert "its program adds the two up (spelling.player-x=added)" in str(asked(data, "player-x="))
    added = {move: halves[0].get(move, 0.0) + halves[1].get(move, 0.0) for move in halves[0] | halves[1]}
    judged(data, goes_by(added), tmp_path, spelling={"player-x": "added"})


def test_what_is_known_for_a_player_counts_on_its_turn_alone():
    """``board|player``: an agent that looks at boards on the other's turn too."""
    table = {f"{text}|{mover(text)}-{cell}": value for (text, cell), value in moves().items()}
    for (text, cell), value in list(moves().items())[::5]:
        table[f"{text}|{'XO'[mover(text) == 'X']}-{cell}"] = 0.9 - value
    reads_as(json.dumps(table), goes_by(moves()))


POLICIES: dict[str, Callable[[str, int], object]] = {
    "a cell from 0": lambda board, cell: cell,
    "a cell from 1": lambda board, cell: cell + 1,
    "row and column": lambda board, cell: [cell // 3, cell % 3],
    "row and column from 1": lambda board, cell: [cell // 3 + 1, cell % 3 + 1],
    "row and column by name": lambda board, cell: {"row": cell // 3, "col": cell % 3},
    "best cells in a list": lambda board, cell: [cell],
    "a record": lambda board, cell: {"move": cell, "value": 0.5},
    "a line": lambda board, cell: f"{board}:{cell}",
    "a line with an arrow": lambda board, cell: f"{board} -> {cell + 1}",
    "two columns": lambda board, cell: f"{board},{cell}",
    "a column of pairs": lambda board, cell: f'{board},"({cell // 3}, {cell % 3})"',
    "a column of names": lambda board, cell: f"{board},{'ABC'[cell // 3]}{cell % 3 + 1}",
    "ten columns": lambda board, cell: f"{numbers(board)[1:-1]},{cell}",
}


@pytest.mark.parametrize("form", POLICIES)
def test_maps_from_boards_to_moves_are_policies(form, tmp_path):
    answers = {board: max(free(board), key=row.__getitem__) for board, row in in_rows(moves()).items()}
    written = {board: POLICIES[form](board, cell) for board, cell in answers.items()}
    in_lines = isinstance(written["." * 9], str)

    def program(board: str) -> Moves:
        return {answers[board]: 1.0} if board in answers else picked(dict.fromkeys(free(board), 0.0))

    found = judged("\n".join(written.values()) if in_lines else json.dumps(written), program, tmp_path)
    assert any("a policy" in note for note in found.notes)


# An author who lets a coin decide who begins keeps boards on which X is ahead and boards on which O is. Whose
# stones are the program's own is then for the author's code to say.


def coin_tossed() -> dict[str, list[float]]:
    """The table of a program whose own stone is 1 whoever begins; of the games that it began, both turns."""
    table: dict[str, list[float]] = {}
    for (board, cell), value in moves().items():
        for stones in (board, swapped(board)) if mover(board) == "O" else (board,):
            table.setdefault(numbers(stones), [0.0] * 9)[cell] = value
    return table


def test_whose_games_count_is_asked_and_each_answer_is_that_program(tmp_path):
    """The games that it began, or those in which its stone is its own: both are what it plays."""
    error = asked(coin_tossed(), r"either side began: [0-9,]+ of [0-9,]+ are not positions")
    for way in ("spelling.first=1", "spelling.first=-1", "spelling.mine=1", "spelling.mine=-1"):
        assert f"({way})" in str(error)
    for way in ("first", "mine"):
        found = judged(json.dumps(coin_tossed()), goes_by(moves()), tmp_path, spelling={way: "1"})
        assert found.rejected and all(
            "not a position in this spelling" in item.why for item in found.rejected
        )
    inner = {"epsilon": 0.1, "q_table": coin_tossed()}
    for data in (json.dumps(inner), pickle.dumps(inner)):
        assert reads_as(data, goes_by(moves()), spelling={"mine": "1"}).positions > 200


def test_own_stones_may_be_ahead_on_the_others_turn():
    """A program that always begins, and looks at the boards after its moves too: those it never plays by."""
    table = {numbers(board): row for board, row in in_rows(moves()).items()}
    reads_as(json.dumps(table), goes_by(moves(), sides="X"), spelling={"mine": "1"})


def test_an_agent_pickled_as_tables_by_cell_is_read_whole():
    """``Q[cell][board]``, where one of the tables holds a board on which nobody is to move."""
    of_o = {move: value for move, value in moves().items() if mover(move[0]) == "O"}
    tables: dict[tuple[int, int], dict[str, float]] = {cell: {} for cell in product(range(3), range(3))}
    for (board, cell), value in of_o.items():
        tables[divmod(cell, 3)][board.replace(".", "-")] = value
    tables[1, 1]["OOX-O-XXO"] = 0.5
    found = reads_as(pickle.dumps({"Q": tables, "alpha": 0.5}), goes_by(of_o), spelling={"first": "X"})
    assert [item.where for item in found.rejected] == ["key 'OOX-O-XXO'"]


def every_board() -> dict[tuple[int, ...], list[float]]:
    known = {tuple(".XO".index(stone) for stone in board): row for board, row in in_rows(moves()).items()}
    return {board: known.get(board, [0.0] * 9) for board in product(range(3), repeat=9)}


def test_a_table_of_all_boards_keeps_those_it_has_learned():
    """By their digits, or as ``numpy.savetxt`` writes the rows of an array."""
    found = reads_as(pickle.dumps(every_board()), goes_by(moves()))
    assert any("count as boards never seen" in note for note in found.notes)
    reads_as("\n".join(",".join(map(repr, row)) for row in every_board().values()), goes_by(moves()))


@pytest.mark.long
def test_a_dict_of_all_boards_that_began_at_random_asks_who_begins():
    """Without a filler the boards that no game reaches cannot be told from the others."""
    table = {
        board: row if any(row) else [sum(board) * 1e-9 + cell * 1e-8 for cell in range(9)]
        for board, row in every_board().items()
    }
    asked(pickle.dumps(table), "either side began")
    by_text = {"".join(".XO"[digit] for digit in board): row for board, row in table.items()}
    worth = {(board, cell): row[cell] for board, row in by_text.items() for cell in free(board)}
    reads_as(pickle.dumps(table), goes_by(worth), spelling={"first": "1"})


def test_keys_that_are_no_boards_are_left_out():
    """Settings beside the positions; ``reset`` that returns nothing, so that None is a key."""
    table: dict[str, object] = {"Number of episodes": 300, "epsilon": 0.1, **by_cell(moves())}
    found = reads_as(json.dumps(table), goes_by(moves()))
    assert "left out as not positions: 'Number of episodes', 'epsilon'" in found.notes
    later = {move: value for move, value in moves().items() if move[0] != "." * 9}
    keyed = {tuple(".XO".index(stone) for stone in board): cells for board, cells in by_cell(later).items()}
    found = reads_as(pickle.dumps({None: {4: 0.7}, **keyed}), goes_by(later))
    assert any("left out as not positions: 'None'" in note for note in found.notes)


def test_a_table_that_has_learned_to_block_rather_than_to_win_asks_who_begins():
    """All its boards are X's to move, or O's if O begins: then it would win at once by moves of no worth."""
    table: dict[str, dict[int, float]] = {}
    for board, _ in moves():
        if mover(board) == "O" or len(free(board)) < 2:
            continue
        wins, blocks = (
            [cell for cell in free(board) if winner(board[:cell] + stone + board[cell + 1 :])]
            for stone in "XO"
        )
        if blocks and not wins:
            table[board] = {cell: -0.1 if cell in blocks else -9.9 for cell in free(board)}
        elif wins and len(table) % 10 == 0:
            table[board] = {cell: 10.0 if cell in wins else -0.1 for cell in free(board)}
    error = asked(table, r"'X' always moves first .*'O' always moves first", unknown=0.0)
    assert "spelling.first=X" in error.hint


def test_boards_played_on_after_a_win_do_not_make_stones_ones_own():
    """Of O's moves after X has won: they are positions only if the stones were one's own and the other's."""
    table = {text: value for text, value in strangers.position_values(300).items() if text != "." * 9}
    moved = {text: value * (1 if mover(text) == "O" else -1) for text, value in table.items()}
    won = [text for text in table if winner(text) == "X" and text.count(".") > 1]
    late = {after(text, text.index(".")): 0.3 for text in won[:40]}
    data = json.dumps({numbers(text): value for text, value in (moved | late).items()})
    found = reads_as(data, looks_up(moved, 1, 1))
    assert {item.why for item in found.rejected} == {
        "the game went on after it was won, or ended otherwise (unless spelling.mine=-1)"
    }
