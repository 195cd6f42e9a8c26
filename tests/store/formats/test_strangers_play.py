"""Files are judged as the programs that wrote them play: by the author's rule, written out again here.

``Program`` is an author's player, independent of the package. It looks boards up as its file spells them.
"""

import json
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from tests.store.formats import strangers
from tests.store.formats.programs import SPACE, Moves, goes_by, judged, picked, plays_as
from tests.store.formats.reading import read
from tests.store.formats.strangers import KEYS, STONES, Spell, after, free, mover, winner
from ttt_cli.errors import InvalidFileError, UsageError
from ttt_cli.store import library
from ttt_cli.store.formats.imported import Options, to_state


def values(games: int = 150) -> dict[str, float]:
    return strangers.position_values(games)


def looks_up(
    table: dict[str, float],
    sign: dict[str, int],
    *,
    ties: str = "random",
    unknown: float = 0.0,
    sees: bool = False,
) -> Callable[[str], Moves]:
    """A program that goes to the position of the largest value, for each side times its sign."""

    def play(board: str) -> Moves:
        side = mover(board)
        worth = {}
        for cell in free(board):
            then = after(board, cell)
            worth[cell] = sign[side] * table.get(then, unknown)
            if sees and then not in table and winner(then):
                worth[cell] = 100.0
        return picked(worth, ties)

    return play


SPELLED = [
    ("joined", "XO."),
    ("tuple", "120"),
    ("quoted nested", "XO "),
    ("list", "1-10"),
    ("array", "1.2.0."),
]


@pytest.mark.parametrize(("key", "stones"), SPELLED)
@pytest.mark.parametrize("ended", [True, False])
def test_a_table_of_positions_knows_no_wins_of_its_own(key, stones, ended, tmp_path):
    """Without the boards on which the game is over, their wins are not seen: ``values.get(board, 0)``."""
    table = {text: value for text, value in values().items() if ended or free(text)}
    data = Spell(STONES[stones], KEYS[key]).positions(table)
    judged(data, looks_up(table, {"X": 1, "O": -1}), tmp_path)
    judged(data, looks_up(table, {"X": 1, "O": -1}, sees=True), tmp_path, wins="known")


def test_what_is_not_in_a_file_counts_as_its_author_says(tmp_path):
    table = {text: 0.6 + value for text, value in values().items() if free(text)}
    data = Spell(STONES["XO."], KEYS["joined"]).positions(table)
    with pytest.raises(InvalidFileError, match=r"count as .* 0\.6, as") as asked:
        read(data.encode(), "f.json")
    assert "(unknown=0.6)" in str(asked.value)
    for unknown in (0.0, 0.6, -0.25):
        program = looks_up(table, {"X": 1, "O": -1}, unknown=unknown)
        judged(data, program, tmp_path, unknown=unknown, values_for="x")


@pytest.mark.parametrize("meaning", ["mover", "moved", "o"])
def test_unknown_positions_are_worth_something_to_whoever_the_values_are_for(meaning, tmp_path):
    table = values()
    sign = {"mover": lambda text: 1 if mover(text) == "X" else -1, "o": lambda text: -1}
    sign["moved"] = lambda text: -sign["mover"](text)
    written = {text: sign[meaning](text) * value for text, value in table.items()}

    def program(board: str) -> Moves:
        side = mover(board)
        wants = {"mover": -1, "moved": 1, "o": 1 if side == "O" else -1}[meaning]
        return picked({cell: wants * written.get(after(board, cell), 0.1) for cell in free(board)})

    data = Spell(STONES["120"], KEYS["tuple"]).positions(written)
    judged(data, program, tmp_path, unknown=0.1, values_for=meaning)


def test_unknown_may_mean_never_unless_nothing_is_known(tmp_path):
    moves = {move: value - 1 for move, value in strangers.move_values(150).items()}

    def program(board: str) -> Moves:
        worth = {cell: moves[board, cell] for cell in free(board) if (board, cell) in moves}
        return picked(worth or dict.fromkeys(free(board), 0.0))

    data = Spell(STONES["XO."], KEYS["joined"]).objects(moves)
    judged(data, program, tmp_path, unknown="random")


def a_program_with(ties: str, moves: dict[tuple[str, int], float]) -> Callable[[str], Moves]:
    """A program that takes the largest value; ``first-learned`` draws where ``not any(values)``."""

    def learned_first(board: str) -> Moves:
        worth = {cell: moves.get((board, cell), 0.0) for cell in free(board)}
        return picked(worth, "first" if any(worth.values()) else "random")

    return learned_first if ties == "first-learned" else goes_by(moves, ties)


@pytest.mark.parametrize("ties", ["random", "first", "last", "first-learned"])
def test_ties_are_broken_as_the_program_does(ties, tmp_path):
    """Only what is exactly equal is a tie: 0.1 + 0.2 is not 0.3."""
    moves = {(text, cell): round(value, 1) for (text, cell), value in strangers.move_values(300).items()}
    moves[".........", 2], moves[".........", 6] = 0.1 + 0.2, 0.3
    (tmp_path / "f.json").write_text(Spell(STONES["XO."], KEYS["joined"]).objects(moves))
    state = library.import_file(tmp_path / "f.json").state.playing(None, ties)
    again = library.parse(library.content(state), "again.json")
    plays_as(again, a_program_with(ties, moves))


def test_a_program_may_draw_only_where_a_board_is_not_in_its_table(tmp_path):
    """``if board not in table: random.choice``, else the first maximum: its rows are whole."""
    rows = strangers.in_rows(strangers.move_values(300))

    def program(board: str) -> Moves:
        if board not in rows:
            return picked(dict.fromkeys(free(board), 0.0))
        return picked({cell: rows[board][cell] for cell in free(board)}, "first")

    (tmp_path / "f.json").write_text(json.dumps(rows))
    state = library.import_file(tmp_path / "f.json", Options(unknown="random")).state.playing(None, "first")
    plays_as(library.parse(library.content(state), "again.json"), program)


def test_a_file_that_counts_beads_draws_them(tmp_path):
    table = strangers.beads(600)
    boxes = strangers.by_cell(table)

    def draws(board: str) -> Moves:
        box = boxes.get(board) or dict.fromkeys(free(board), 1.0)
        return {cell: count / sum(box.values()) for cell, count in box.items() if count}

    data = Spell(STONES["XO."], KEYS["joined"]).objects(table)
    found = judged(data, draws, tmp_path)
    assert any("beads" in note for note in found.notes)
    fullest = lambda board: picked(boxes.get(board) or dict.fromkeys(free(board), 1.0))  # noqa: E731
    plays_as(library.load(tmp_path / "file.json").state.choosing("most"), fullest, "X")
    values_file = Spell(STONES["XO."], KEYS["joined"]).objects(strangers.move_values(150))
    with pytest.raises(UsageError, match="no counts of beads"):
        to_state(read(values_file.encode(), "f.json"), "0" * 64).choosing("draw")


IMAGES = [
    [cells[at] for at in range(9)]
    for turned in ([0, 1, 2, 3, 4, 5, 6, 7, 8], [0, 3, 6, 1, 4, 7, 2, 5, 8])
    for first in (turned, [turned[at] for at in (6, 7, 8, 3, 4, 5, 0, 1, 2)])
    for cells in (first, [first[at] for at in (2, 1, 0, 5, 4, 3, 8, 7, 6)])
]


TURNS = [(2, 6), (6, -2), (-2, -6), (-6, 2)]
"""From the first cell to the ends of the first row and of the first column, on the boards turned."""


TURNED = [image for image in IMAGES if (image[2] - image[0], image[6] - image[0]) in TURNS]


@cache
def canonical(board: str, order: str) -> tuple[str, list[int]]:
    """The least image of a board under an order of the symbols; cell ``at`` of it is cell ``image[at]``."""
    ranks = str.maketrans(order, "012")
    found = [("".join(board[cell] for cell in image), image) for image in IMAGES]
    return min(found, key=lambda item: item[0].translate(ranks))


@pytest.mark.parametrize(("order", "stones"), [(".XO", "XO."), ("XO.", "120"), ("O.X", "XO.")])
def test_keys_up_to_symmetry_stand_for_all_images(order, stones, tmp_path):
    table: dict[str, float] = {}
    for text, value in values(400).items():
        table.setdefault(canonical(text, order)[0], value)
    program = looks_up(
        {text: table.get(canonical(text, order)[0], 0.0) for text in SPACE.texts()}, {"X": 1, "O": -1}
    )
    data = Spell(STONES[stones], KEYS["joined"]).positions(table)
    found = judged(data, program, tmp_path)
    assert any("up to symmetry" in note for note in found.notes)
    plain = looks_up(table, {"X": 1, "O": -1})
    judged(data, plain, tmp_path, spelling={"symmetry": "no"})


def test_keys_may_be_up_to_rotation_alone(tmp_path):
    """Four images, not eight: what is known of a board is not known of its mirror image. Keys that are the
    least of these and some mirrored ones look alike, and stand for no group: so it is asked."""
    assert len(TURNED) == 4

    def least(board: str) -> str:
        return min("".join(board[cell] for cell in image) for image in TURNED)

    table: dict[str, float] = {}
    for text, value in values(400).items():
        table.setdefault(least(text), value)
    program = looks_up({text: table.get(least(text), 0.0) for text in SPACE.texts()}, {"X": 1, "O": -1})
    data = Spell(STONES["120"], KEYS["joined"]).positions(table)
    with pytest.raises(InvalidFileError, match="some mirrored ones too") as refused:
        read(data.encode(), "f.json")
    assert "spelling.symmetry=rotations" in refused.value.hint
    found = judged(data, program, tmp_path, spelling={"symmetry": "rotations"})
    assert any("up to symmetry" in note for note in found.notes)


def canonical_moves(*, mapped: bool) -> dict[tuple[str, int], float]:
    """Q values under canonical keys; the cells are those of the key, or of the board as it is played."""
    table: dict[tuple[str, int], float] = {}
    for (text, cell), value in strangers.move_values(400).items():
        key, image = canonical(text, ".XO")
        table.setdefault((key, image.index(cell) if mapped else cell), value)
    return table


@pytest.mark.parametrize("shape", ["objects", "lists"])
@pytest.mark.parametrize("stones", ["XO.", "120"])
@pytest.mark.parametrize("mapped", [True, False])
def test_moves_under_keys_up_to_symmetry_are_mapped_back_or_not(mapped, stones, shape, tmp_path):
    table = canonical_moves(mapped=mapped)

    def program(board: str) -> Moves:
        key, image = canonical(board, ".XO")
        worth = {cell: table.get((key, image.index(cell) if mapped else cell), 0.0) for cell in free(board)}
        return picked(worth)

    spell = Spell(STONES[stones], KEYS["joined"])
    found = judged(getattr(spell, shape)(table), program, tmp_path)
    assert any("occupied" in note for note in found.notes) != mapped


@pytest.mark.parametrize("stones", ["XO.", "120"])
def test_values_at_occupied_cells_are_counted(stones, tmp_path):
    """A program that learned from illegal moves too: they are never played."""
    moves = strangers.move_values(300)
    table = {}
    for text in {text for text, _ in moves}:
        table[Spell(STONES[stones], KEYS["joined"]).of(text)] = [
            moves.get((text, cell), 0.0) if text[cell] == "." else -0.1 * cell for cell in range(9)
        ]
    found = judged(json.dumps(table), goes_by(moves), tmp_path)
    assert any("occupied cells are left out" in note for note in found.notes)


def test_boards_played_on_after_a_win_are_left_out_and_counted(tmp_path):
    table = values()
    late = {}
    for text in list(table):
        if winner(text) and text.count(".") > 1:
            cell = text.index(".")
            late[after(text, cell)] = 0.3
    late = dict(list(late.items())[:30])
    data = Spell(STONES["XO."], KEYS["joined"]).positions(table | late)
    found = judged(data, looks_up(table, {"X": 1, "O": -1}), tmp_path, spelling={"first": "X"})
    assert len(found.rejected) == len(late) == 30
    assert all("went on after it was won" in item.why for item in found.rejected)
    (told,) = (note for note in found.remarks if note.startswith("left out"))
    assert "and 28 more (ttt verify lists them): the game went on" in told
    with pytest.raises(InvalidFileError, match="are none"):
        read(data.encode(), "f.json", Options(strict=True))
    with pytest.raises(InvalidFileError):  # they are the larger part
        few = dict(list(late.items())[:9]) | dict(list(table.items())[:5])
        read(json.dumps(few).encode(), "f.json", Options(spelling={"first": "X"}))


MINE = {"         ": {"4": 1, "0": 0}, "O        ": {"4": 1, "8": 0}, "XO       ": {"4": 1, "8": 0}}
MINE |= {"OXO      ": {"4": 1, "8": 0}, "XXOO     ": {"4": 1, "8": 0}}


def test_what_is_said_outright_holds_or_is_refused():
    data = json.dumps(MINE).encode()
    found = read(data, "f.json", Options(spelling={"mine": "X", "theirs": "O"}))
    assert "mine 'X', theirs 'O'" in found.notes[0] and "first" not in found.notes[0]
    assert found.entries["X........"] == {"5": [1.0, 1]}  # the other's stone is X, who has begun
    assert found.entries["XO......."] == {"5": [1.0, 1]}
    assert found.entries["XOX......"] == {"5": [1.0, 1]}
    for spelling, told in (
        ({"mine": "Q"}, "mine=Q"),
        ({"first": "X", "mine": "X"}, "mine=X"),
        ({"empty": "."}, "empty=."),
        ({"cells": "7"}, "cells=7"),
        ({"player-x": "X"}, "player-x=X"),
    ):
        with pytest.raises(InvalidFileError, match=f"does not bear out .*{told}"):
            read(data, "f.json", Options(spelling=spelling))
    with pytest.raises(InvalidFileError) as refused:
        read(data, "f.json", Options(spelling={"mine": "Q"}))
    assert "'X'" in refused.value.hint and "'O'" in refused.value.hint
    with pytest.raises(UsageError, match="has no 'colour'") as unknown:
        read(data, "f.json", Options(spelling={"colour": "red"}))
    assert "theirs" in unknown.value.hint


def test_own_and_the_others_stones_serve_both_roles_after_a_move_too(tmp_path):
    """A program that values the board after its move, its own stones 1, the others -1, on either side."""
    table = {
        text: value * (1 if mover(text) == "O" else -1) for text, value in values().items() if text != "." * 9
    }
    own = {}
    for text, value in table.items():
        mine, theirs = ("X", "O") if mover(text) == "O" else ("O", "X")
        own[str([{mine: 1, theirs: -1, ".": 0}[stone] for stone in text])] = value

    def program(board: str) -> Moves:
        return picked({cell: table.get(after(board, cell), 0.0) for cell in free(board)})

    with pytest.raises(InvalidFileError, match=r"'1' always moves first \(spelling.first=1\)") as asked:
        read(json.dumps(own).encode(), "f.json")
    assert "f.json:spelling.mine=1" in asked.value.hint  # which leaves no key out
    judged(json.dumps(own), program, tmp_path, spelling={"mine": "1", "theirs": "-1"})


def test_moves_that_are_not_in_a_table_of_costs_are_asked_about(tmp_path):
    """A program that pays for every move and knows those in its table alone: 0 would be the best of all."""
    moves = {move: value - 1 for move, value in strangers.move_values(600).items()}

    def program(board: str) -> Moves:
        known = {cell: moves[board, cell] for cell in free(board) if (board, cell) in moves}
        return picked(known or dict.fromkeys(free(board), 0.0))

    data = json.dumps({str(move): value for move, value in moves.items()})
    with pytest.raises(InvalidFileError, match="unknown=random"):
        read(data.encode(), "f.json")
    judged(data, program, tmp_path, unknown="random")
    found = read(data.encode(), "f.json", Options(unknown=0.0))
    assert any("though others are known (unknown=random: never)" in note for note in found.notes)


def test_numbers_beside_a_board_are_no_part_of_a_key():
    """A value for each of eight cells: the key would be the board and seven of them."""
    rows = strangers.in_rows(strangers.move_values(300)).items()
    lines = [f"{board}:{','.join(map(str, row[1:]))}" for board, row in rows]
    with pytest.raises(InvalidFileError, match="hold more than a position"):
        read("\n".join(lines).encode(), "f.csv")


CSV = {
    "nine values behind a tab": lambda key, row: f"{key}\t" + "\t".join(map(str, row)),
    "dashes for nothing": lambda key, row: f'"{key}",' + ",".join(str(v) if v else "-" for v in row),
    "a list": lambda key, row: f'"{key}","{row}"',
    "a printed array": lambda key, row: f'"{key}","[{" ".join(map(str, row))}]"',
    "nine values": lambda key, row: f'"{key}",' + ",".join(map(str, row)),
}


@pytest.mark.parametrize("form", CSV)
@pytest.mark.parametrize("counted", [True, False])
def test_tables_in_columns(form, counted, tmp_path):
    moves = strangers.move_values(300)
    spell = Spell(STONES["1-10"], KEYS["list"])
    mark = "\t" if "\t" in CSV[form]("", [0]) else ","
    lines = [CSV[form](spell.of(text), row) for text, row in strangers.in_rows(moves).items()]
    if counted:
        lines = [f"{number}{mark}{line}" for number, line in enumerate(lines)]
    judged("\n".join(lines) + "\n", goes_by(moves), tmp_path, unknown=0.0)


def test_rows_may_have_pairs_of_a_cell_and_its_value(tmp_path):
    """Rows of different lengths, as a program writes that goes on with a comma after each value."""
    moves = strangers.move_values(300)
    rows: dict[str, str] = {}
    for (text, cell), value in moves.items():
        rows[text] = rows.get(text, text.replace(".", "-") + ",") + f"{cell},{value!r},"
    judged("\n".join(rows.values()) + "\n", goes_by(moves), tmp_path)
    lines = [f"{text}:{', '.join(map(str, row))}" for text, row in strangers.in_rows(moves).items()]
    judged("\n".join(lines) + "\n", goes_by(moves), tmp_path)
    number = strangers.base_3(least_first=False)
    lines = [
        " ".join([number(list(text.translate(str.maketrans(".XO", "012")))), *map(str, row)])
        for text, row in strangers.in_rows(moves).items()
    ]
    judged("\n".join(lines) + "\n", goes_by(moves), tmp_path)


PRINTED = {
    "floats": lambda text: str(np.array([{"X": 1.0, "O": -1.0, ".": 0.0}[s] for s in text])),
    "floats in rows": lambda text: str(
        np.array([{"X": 1.0, "O": -1.0, ".": 0.0}[s] for s in text]).reshape(3, 3)
    ),
    "None": lambda text: str(np.array([{"X": 1, "O": 2, ".": None}[s] for s in text], dtype=object)),
    "texts": lambda text: str(np.array([{"X": "X", "O": "O", ".": " "}[s] for s in text]).reshape(3, 3)),
    "long lists": lambda text: str([[{"X": "Player.X", "O": "Player.O", ".": "Empty"}[s]] for s in text] * 1),
}


@pytest.mark.parametrize("form", PRINTED)
def test_keys_as_arrays_print(form, tmp_path):
    table = values()
    data = json.dumps({PRINTED[form](text): value for text, value in table.items()})
    judged(data, looks_up(table, {"X": 1, "O": -1}), tmp_path)


def test_whether_moves_are_for_x_or_for_whoever_makes_them_is_asked(tmp_path):
    """A table that would play O badly: an agent trained wrongly, or one that takes the least as O."""
    moves = {
        (text, cell): value * (1 if mover(text) == "X" else -1)
        for (text, cell), value in strangers.move_values(400).items()
    }
    data = Spell(STONES["XO."], KEYS["joined"]).objects(moves)
    with pytest.raises(InvalidFileError, match=r"whose win .*values=mover.*values=x") as asked:
        read(data.encode(), "f.json")
    assert "f.json:values=mover" in asked.value.hint
    for_x = {(text, cell): value * (1 if mover(text) == "X" else -1) for (text, cell), value in moves.items()}
    worse = {move: -value for move, value in for_x.items()}  # the mover's is asked for however it plays
    with pytest.raises(InvalidFileError, match="large values mean: that of whoever is to move") as asked:
        read(Spell(STONES["XO."], KEYS["joined"]).objects(worse).encode(), "f.json")
    for values_for, table in (("mover", moves), ("x", for_x)):
        judged(data, goes_by(table), tmp_path, values_for=values_for)


@pytest.mark.parametrize("blank", [" ", "-"])
def test_a_move_may_be_told_by_the_board_after_it(blank, tmp_path):
    moves = strangers.move_values(300)
    rows = [(text, after(text, cell), value) for (text, cell), value in moves.items()]
    lines = [f"{text},{then}".replace(".", blank) + f",{value!r}" for text, then, value in rows]
    data = "\n".join(["before,after,value", *lines])
    judged(data, goes_by(moves), tmp_path)


def test_a_second_board_in_a_key_is_another_game():
    """A game whose oldest stone vanishes: the board alone is not the position."""
    moves = strangers.move_values(300)
    ages = {text: "".join("0" if text[at] == "." else str(at % 3) for at in range(9)) for text, _ in moves}
    table = {str((text, ages[text], cell)): value for (text, cell), value in moves.items()}
    with pytest.raises(InvalidFileError, match="the keys hold more than a position"):
        read(json.dumps(table).encode(), "f.json")


def test_two_tables_may_be_added_up(tmp_path):
    """Double Q-learning: each table has learned from half of the games, the program goes by their sum."""
    halves = [strangers.move_values(400, seed) for seed in (1, 2)]
    data = json.dumps({f"q{number}": strangers.by_cell(half) for number, half in enumerate(halves, 1)})
    with pytest.raises(InvalidFileError, match="player-x=") as refused:
        read(data.encode(), "f.json")
    assert "its program adds the two up (spelling.player-x=added)" in str(refused.value)
    added = {move: halves[0].get(move, 0.0) + halves[1].get(move, 0.0) for move in halves[0] | halves[1]}
    judged(data, goes_by(added), tmp_path, spelling={"player-x": "added"})


def test_what_is_known_for_a_player_counts_on_its_turn_alone(tmp_path):
    """``board|player``: an agent that looks at boards on the other's turn too."""
    moves = strangers.move_values(300)
    table = {f"{text}|{mover(text)}-{cell}": value for (text, cell), value in moves.items()}
    for (text, cell), value in list(moves.items())[::5]:
        table[f"{text}|{'XO'[mover(text) == 'X']}-{cell}"] = 0.9 - value
    judged(json.dumps(table), goes_by(moves), tmp_path)


def _answers() -> dict[str, int]:
    """A policy: the best move of each board that was seen."""
    moves = strangers.move_values(300)
    boards = strangers.in_rows(moves).items()
    return {board: max(free(board), key=row.__getitem__) for board, row in boards}


def _lines(spell: Callable[[str, int], str]) -> Callable[[dict[str, int]], str]:
    return lambda answers: "\n".join(spell(board, cell) for board, cell in answers.items())


def _json(spell: Callable[[int], object]) -> Callable[[dict[str, int]], str]:
    return lambda answers: json.dumps({board: spell(cell) for board, cell in answers.items()})


POLICIES = {
    "a cell from 0": _json(lambda cell: cell),
    "a cell from 1": _json(lambda cell: cell + 1),
    "row and column": _json(lambda cell: [cell // 3, cell % 3]),
    "row and column from 1": _json(lambda cell: [cell // 3 + 1, cell % 3 + 1]),
    "row and column by name": _json(lambda cell: {"row": cell // 3, "col": cell % 3}),
    "best cells in a list": _json(lambda cell: [cell]),
    "a record": _json(lambda cell: {"move": cell, "value": 0.5}),
    "lines": _lines(lambda board, cell: f"{board}:{cell}"),
    "lines with arrows": _lines(lambda board, cell: f"{board} -> {cell + 1}"),
    "two columns": _lines(lambda board, cell: f"{board},{cell}"),
    "a column of pairs": _lines(lambda board, cell: f'{board},"({cell // 3}, {cell % 3})"'),
    "a column of names": _lines(lambda board, cell: f"{board},{'ABC'[cell // 3]}{cell % 3 + 1}"),
    "ten columns": _lines(
        lambda board, cell: ",".join([*({"X": "1", "O": "-1", ".": "0"}[s] for s in board), str(cell)])
    ),
}


@pytest.mark.parametrize("form", POLICIES)
def test_maps_from_boards_to_moves_are_policies(form, tmp_path):
    answers = _answers()

    def program(board: str) -> Moves:
        return {answers[board]: 1.0} if board in answers else picked(dict.fromkeys(free(board), 0.0))

    found = judged(POLICIES[form](answers), program, tmp_path)
    assert any("a policy" in note for note in found.notes)


def test_a_stated_reading_that_fits_too_little_is_refused_with_the_counts():
    table = {f"{at:09b}".replace("1", "X").replace("0", "-"): 0.5 for at in range(1, 200)}
    with pytest.raises(InvalidFileError, match=r"first=X: [0-9]+ of 199 keys are boards"):
        read(json.dumps(table).encode(), "f.json", Options(spelling={"first": "X"}, values_for="x"))
