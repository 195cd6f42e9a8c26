"""The spellings in which strangers write boards, moves and values: each is played as its program plays."""

import json
import math
import pickle
import random
from collections.abc import Callable
from itertools import starmap

import numpy as np
import pytest

from tests.store.formats.programs import (
    entries,
    follows,
    goes_by,
    looks_up,
    plays_as,
    read,
    reads_as,
    refused,
)
from tests.store.formats.strangers import (
    BEST,
    CELLS,
    EMPTY,
    MOVES,
    POSITIONS,
    ROWS,
    Spell,
    by_cell,
    free,
    in_base_3,
    in_rows,
    mover,
    numbers,
    swapped,
    symbols,
)
from tests.ttt import some
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import STANDARD, Rules
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.errors import InvalidFileError

SHAPES = ("positions", "objects", "lists", "pairs", "policy")
SPELLED = [
    *(("joined", stones) for stones in ("XO.", "-110", "own", "XO ", "+-")),
    *(("commas", "12None"), ("commas", "XO "), ("bars", "xo-"), ("underscores", "120"), ("tuple", "1-10")),
    *(("list", "210"), ("quoted list", "XO "), ("quoted list", "XOE"), ("array", "1.2.0.")),
    *(("quoted array", "OX."), ("nested", "-110"), ("quoted nested", "XO "), ("printed rows", "120")),
    *(("rows", "XO_"), ("lines", "+-"), ("base 3", "120"), ("base 3 from the least", "210")),
    *(("base 3 from the least", "120"), ("decimal", "120"), ("ats", "XOE"), ("decimal", "850")),
]
PRINTED = [("framed", "XO "), ("ruled", "xo-"), ("printed", "XO ")]


def of_side(side: str) -> dict[tuple[str, int], float]:
    return {move: value for move, value in MOVES.items() if mover(move[0]) == side}


def check(shape: str, key: str, stones: str = "XO.", cell: str = "from 0") -> None:
    spelled, spelling = Spell(key, stones, cell), dict[str, str]()
    if shape == "positions":
        data, program = spelled.positions(POSITIONS), looks_up(POSITIONS)
        if key.startswith("base 3"):  # keys alone do not tell which end is first
            refused(data, "in which order")
            spelling = {"order": "rows from bottom right" if key.endswith("least") else "rows"}
    elif shape == "policy":
        ended = {spelled.of(board): "draw" for board in POSITIONS if not free(board)}
        data, program = spelled.policy(BEST) | ended, follows(BEST)
    else:
        data, program = getattr(spelled, shape)(MOVES), goes_by(MOVES)
    assert not reads_as(data, program, spelling=spelling).rejected


@pytest.mark.parametrize(("number", "spelled"), [*[*enumerate(SPELLED)][::3], *enumerate(PRINTED)], ids=str)
def test_a_spelling_is_found(number, spelled):
    check(SHAPES[number % 5], *spelled)


@pytest.mark.long
@pytest.mark.parametrize("shape", SHAPES)
def test_every_spelling_is_found(shape):
    for spelled in SPELLED:
        check(shape, *spelled)


@pytest.mark.parametrize(("shape", "cell"), list(zip(3 * SHAPES[1::2], CELLS, strict=True)))
def test_names_of_cells_are_found(shape, cell):
    check(shape, "joined", cell=cell)


@pytest.mark.parametrize("shape", ["objects", "lists"])
@pytest.mark.parametrize(("side", "stones"), [("X", "120"), ("O", "XO."), ("O", "OX."), ("X", "own")])
def test_a_table_of_one_side_has_its_owners_values(side, stones, shape):
    """Who moves first follows from the counts, or, where all are equal, is the usual side."""
    reads_as(getattr(Spell(stones=stones), shape)(of_side(side)), goes_by(of_side(side)))


def test_who_moves_first_is_asked_where_only_the_values_speak_against_custom():
    data = Spell(stones="210").objects(of_side("X"))
    assert "'2' always moves first (spelling.first=2)" in str(refused(data, "who moves first"))
    reads_as(data, goes_by(of_side("X")), spelling={"first": "2"})


@pytest.mark.parametrize(("side", "sign", "stones"), [("X", 1, "210"), ("O", -1, "XO.")])
def test_positions_after_one_sides_moves_have_that_sides_values(side, sign, stones):
    own = {text: sign * v for text, v in POSITIONS.items() if text != "." * 9 and mover(text) != side}
    reads_as(Spell("tuple", stones).positions(own), looks_up(own, x=1, o=1), side)


@pytest.mark.parametrize(("meaning", "ended"), [("x", 0), ("o", 1), ("mover", 0), ("moved", 1)])
def test_the_side_that_values_favour_is_found(meaning, ended):
    table = {text: value for text, value in POSITIONS.items() if ended or free(text)}
    to_x = {text: 1 if mover(text) == "X" else -1 for text in table}
    signs = {text: {"x": 1, "o": -1, "mover": to_x[text], "moved": -to_x[text]}[meaning] for text in table}
    written = {text: value * signs[text] for text, value in table.items()}
    found = reads_as(Spell("joined", "120").positions(written), looks_up(table), wins="unknown")
    assert f"values '{meaning}'" in found.notes[0]


def test_chances_need_no_scale():
    table = {text: (1 + value) / 2 for text, value in POSITIONS.items()}
    refused(table, r"in the file worth .*: 0 .* 0\.5, as [0-9,]+ of [0-9,]+ values")
    found = reads_as(table, looks_up(POSITIONS), unknown=0.5)
    assert {text: entry["x"][0] for text, entry in entries(found).items()} == table


@pytest.mark.parametrize("turn", [("|X", "|O"), (",1", ",-1"), ("1", "2"), (" O", " X"), ("|O", "|X")])
def test_who_moves_or_has_just_moved_may_be_attached(turn):
    stones = "OX." if turn == (" O", " X") else "XO."
    reads_as(Spell(stones=stones, turn=turn).objects(MOVES), goes_by(MOVES))
    reads_as({f"{text}, {9 - text.count('.')}": v for text, v in POSITIONS.items()}, looks_up(POSITIONS))


@pytest.mark.parametrize("kept", ["all", "after its own moves"])
def test_each_player_may_have_a_table_of_its_own(kept):
    """Boards on which the game is over are in both, with a value for each."""
    tables = {
        side: {t: sign * v for t, v in POSITIONS.items() if kept == "all" or mover(t) != side or not free(t)}
        for side, sign in (("X", 1), ("O", -1))
    }
    reads_as(tables, looks_up(POSITIONS))
    reads_as({"p1": tables["X"], "p2": tables["O"]}, looks_up(POSITIONS), spelling={"player-x": "p1"})


def test_values_may_stand_beside_cells_or_counts():
    rows = by_cell(MOVES).items()
    named = {text: {"q": [*row.values()], "moves": [*row]} for text, row in rows}
    named[EMPTY] = {"q": ROWS[EMPTY][::-1], "moves": [*range(9)][::-1]}
    reads_as(named, goes_by(MOVES))
    counts = {text: dict.fromkeys(row, 3) for text, row in rows}
    records = {text: {cell: {"v": q, "n": 3} for cell, q in row.items()} for text, row in rows}
    found = reads_as({"Q": records, "N": counts}, goes_by(MOVES))
    assert "left out: the table 'N'" in found.notes
    costs = {text: {cell: -value for cell, value in row.items()} for text, row in rows}
    reads_as(costs, goes_by(MOVES), values="cost")
    listed = {text: [row[cell] for cell in free(text)] for text, row in ROWS.items()}
    reads_as({text: dict(enumerate(row)) for text, row in listed.items()}, goes_by(MOVES))
    ranks = {text: {"q": row, "rank": [*range(len(row))][::-1]} for text, row in listed.items()}
    reads_as(ranks, goes_by(MOVES))  # which are no cells


@pytest.mark.parametrize("mark", [":", " -> ", ";", "="])
def test_a_line_may_list_the_best_cells(mark):
    best = {board: sorted(free(board), key=row.__getitem__)[-3:] for board, row in ROWS.items()}
    lines = [f"{board}{mark}{','.join(str(cell + 1) for cell in cells)}" for board, cells in best.items()]
    program = goes_by({(board, cell): 1.0 for board, cells in best.items() for cell in cells})
    reads_as("\n".join(lines), program)


@pytest.mark.parametrize("filler", [None, -1.0, 1e300])
def test_taken_cells_may_hold_any_filler(filler):
    reads_as(Spell("list", "1-10").lists(MOVES, filler), goes_by(MOVES))


def test_taken_cells_may_hold_their_stones_and_texts_at_free_ones_are_left_out():
    table: dict[str, dict] = Spell(stones="own", cell="from 1").objects(MOVES)
    for key, value in table.items():
        value.update({str(at): stone for at, stone in enumerate(key, 1) if stone in "XO"})
    reads_as(table, goes_by(MOVES))
    for key in [key for key in table if key.count("X") == 2][:7]:
        table[key][next(cell for cell in table[key] if cell in key)] = "?"
    assert [item.why for item in read(table).rejected] == ["not a finite number"] * 7


@pytest.mark.parametrize("value", [math.inf, math.nan, None])
def test_positions_without_a_finite_value_are_left_out(value):
    why = "not a finite number" if value == math.inf else "no value"
    found = read(json.dumps({**POSITIONS, "XO.......": value}), unknown=0)
    assert [(item.where, item.why) for item in found.rejected] == [("key 'XO.......'", why)]
    plays_as(found.state, looks_up({key: value for key, value in POSITIONS.items() if key != "XO......."}))


@pytest.mark.parametrize(
    ("table", "value", "why"),
    [
        (by_cell(MOVES), {1: 0.5, 12: 0.5}, "the values do not fit them"),
        (by_cell(MOVES), {-1: 0.5}, "'-1' is not a cell"),
        ({text: {"q_values": row, "visits": 3} for text, row in ROWS.items()}, 0.5, "expected a number"),
        (by_cell(MOVES), [{"action": 4}], "expected a number"),
        (dict.fromkeys(ROWS), None, "none of the values can be used"),
        ({"X........": []} | dict.fromkeys(ROWS, ["0.5"] * 9), ["0.5"] * 9, "none of the values can be used"),
    ],
)
def test_a_value_unlike_the_others_is_refused(table, value, why):
    refused(table | {"X........": value}, why)


@pytest.mark.parametrize("o_mark", [1, -1])
def test_a_cell_may_be_marked_on_an_empty_board_and_there_is_none_when_the_game_is_over(o_mark):
    table: dict[str, dict[str, float]] = {board: {} for board, _ in MOVES}
    for (board, at), value in MOVES.items():
        mark = 1 if mover(board) == "X" else o_mark
        table[board][str(tuple(mark * (at == cell) for cell in range(9)))] = value
    reads_as(table | {"XXXOO....": {"-1": 0.5}}, goes_by(MOVES))


def test_keys_in_columns_may_have_values_in_rows():
    assert "columns" in reads_as(Spell("columns").lists(MOVES), goes_by(MOVES)).notes[0]
    stated = {"order": "columns from top left"}  # values of positions say nothing of the order
    reads_as(Spell("columns").positions(POSITIONS), looks_up(POSITIONS), spelling=stated)
    named = {(board, cell % 3 * 3 + cell // 3): value for (board, cell), value in MOVES.items()}
    reads_as(Spell("columns").objects(named), goes_by(MOVES), spelling=stated)  # cells in that order, too


@pytest.mark.parametrize(
    ("header", "mark", "spell"),
    [
        *(("state,value", ",", Spell(stones="XO ")), ("", ";", Spell(stones="XO "))),
        *(("board\tv", "\t", Spell(stones="XO ")), ("", ",", Spell("commas", "1-10"))),
        ("", "\t", Spell("commas", "1-10")),
    ],
)
def test_tables_may_be_csv(header, mark, spell):
    rows = [f"{key}{mark}{value!r}" for key, value in spell.positions(POSITIONS).items()]
    reads_as("\r\n".join([header, *rows] if header else rows), looks_up(POSITIONS))
    rows = [f"{','.join(text).replace('.', '')},{value!r}" for text, value in POSITIONS.items()]
    assert len(entries(read("\n".join(rows)))) == len(POSITIONS)  # the empty board is no header


FIELDS = [{"state": text, "action": cell, "value": value} for (text, cell), value in MOVES.items()]
NOTHING = ["", "nan", "None", "-inf", "NaN", "-", "null", "Infinity", "NA"]
RECORDS = {
    "objects": FIELDS,
    "lists": [[*it.values()] for it in FIELDS],
    "lists under a header that is not all text": [
        ["state", None, "value"],
        *map(list, map(dict.values, FIELDS)),
    ],
    "columns": {
        **{"state": [[*it["state"]] for it in FIELDS], "action": [it["action"] for it in FIELDS]},
        "value": [it["value"] for it in FIELDS],
    },
    "lines": "\r\n\r\n \n".join(map(json.dumps, FIELDS)).encode() + b"\n\n",  # some blank
    "printed boards": [it | {"state": Spell("ruled", "XO ").of(it["state"])} for it in FIELDS],
    "beside settings": {"alpha": 0.1, "table": FIELDS},
    "a table beside an object of settings": {"settings": {"alpha": 0.1}, "seen": {}, "q": by_cell(MOVES)},
    "whole boards": [{"board": symbols(text), "q_values": row, "visits": 5} for text, row in ROWS.items()],
    "printed objects": "\n".join(f'{text},"{cells}"' for text, cells in by_cell(MOVES).items()),
    "printed texts": "\n".join(f'{key},"{it}"' for key, it in Spell(cell="pair").objects(MOVES).items()),
    "lines with nothing at most cells": "\n".join(
        ["board,a0,a1,a2,a3,a4,a5,a6,a7,a8"]
        + [
            ",".join([text, *(repr(v) if v else n for v, n in zip(row, NOTHING, strict=True))])
            for text, row in ROWS.items()
        ]
    ),
    "a number in front": "\n".join(
        f'{at},"{numbers(text)}",{str(row)[1:-1]}' for at, (text, row) in enumerate(ROWS.items())
    ),
    "visits beside the values": {
        text: {"visits": dict.fromkeys(cells, 7), "q_values": cells} for text, cells in by_cell(MOVES).items()
    },
    "values beside a score": {text: {"score": 1, "q": row, "n": 7} for text, row in ROWS.items()},
    "values under another name": {text: {"estimates": row, "n": 7} for text, row in ROWS.items()},
    "rows of the board": {text: [row[:3], row[3:6], row[6:]] for text, row in ROWS.items()},
    "objects of the first cells as lists": {  # as PHP writes them
        text: [*cells.values()] if [*cells] == [*range(len(cells))] else cells
        for text, cells in by_cell(MOVES).items()
    },
    "a player's each": {side: [row for row in FIELDS if mover(row["state"]) == side] for side in "XO"},
    "a list of tables": [by_cell(of_side(side)) for side in "XO"],
    "own stones beside the name of the side": {
        side: {swapped(text) if side == "O" else text: row for text, row in in_rows(of_side(side)).items()}
        for side in "XO"
    },
    "pickled": pickle.dumps([(symbols(text), row) for text, row in ROWS.items()]),
}
LINES: dict[str, Callable[[str, list[float]], str]] = {
    "boards": lambda text, row: json.dumps({text: row}),
    "a board and an object": lambda text, row: f"{text}: {dict(enumerate(row))}",
    "nine values behind a tab": lambda text, row: "\t".join(map(str, [numbers(text), *row])),
    "numbers as NumPy 2 prints them": lambda text, row: (
        f'"{numbers(text)}","[{", ".join(f"np.float64({value})" for value in row)}]"'
    ),
    "a printed array": lambda text, row: f'"{numbers(text)}","[{" ".join(map(str, row))}]"',
    "cells and values by turns": lambda text, row: ",".join(
        [text.replace(".", "-"), *(f"{cell},{row[cell]!r}" for cell in free(text)), ""]
    ),
    "board:values": lambda text, row: f"{text.replace('.', 'E')}:{str(row)[1:-1]}",
    "digits and blanks": lambda text, row: f"{''.join(symbols(text, '1', '0', ' '))}:{str(row)[1:-1]}",
    "bars between cells": lambda text, row: f"{'|'.join(text)},{str(row)[1:-1]}",
    "a number and values": lambda text, row: " ".join(
        map(str, ["".join(symbols(text, "1", "2", "0")), *row])
    ),
}
HEADS = {
    "an index of pandas, which has no heading": ",0,1,2,3,4,5,6,7,8",
    "headings like cells": "state,00,01,02,10,11,12,20,21,22",
}
AS_CSV = "\n".join(f"{text},{str(row)[1:-1]}" for text, row in ROWS.items())
RECORDS |= {form: f"{head}\n{AS_CSV}" for form, head in HEADS.items()}
RECORDS |= {f"lines: {form}": "\n".join(starmap(line, ROWS.items())) for form, line in LINES.items()}


@pytest.mark.parametrize("form", some(RECORDS))
def test_tables_may_be_records(form):
    found = reads_as(RECORDS[form], goes_by(MOVES))
    assert not any("left out: the table" in note for note in found.notes)


def beside(value: str, **others: Callable[[int], float]) -> list[dict]:
    """Records whose value has a name (or none if that is empty), and other numbers behind it."""
    return [
        {"state": it["state"], "action": it["action"], **({value: it["value"]} if value else {})}
        | {name: number(row) for name, number in others.items()}
        for row, it in enumerate(FIELDS)
    ]


def csv_of(records: list[dict]) -> str:
    rows = (",".join(map(str, it.values())) for it in records)
    return "\n".join([", ".join(records[0]), *rows])


VISITS = {"visits": lambda row: row * 7 % 500}
REWARD = {"reward": lambda row: row % 3 - 1}
ENDS = {"wins": lambda row: row % 5, "losses": lambda row: row % 7}
CODED = [it | {"state": in_base_3(it["state"])} for it in beside("estimate", **VISITS)]
WIDE = [{"s": text, **{f"q{at}": q for at, q in enumerate(row)}, "visits": 5} for text, row in ROWS.items()]


COUNTED = [
    *((beside("q_value", **VISITS), VISITS), (beside("Score", **ENDS), ENDS)),
    (beside("q", **REWARD), REWARD),
    *((beside("estimate", **VISITS), VISITS), (CODED, VISITS), (WIDE, VISITS)),
]


@pytest.mark.parametrize("form", [list, csv_of])
@pytest.mark.parametrize("case", some(COUNTED))
def test_counts_and_rewards_beside_the_values_are_left_out(form, case):
    records, counts = case
    said = [note for note in reads_as(form(records), goes_by(MOVES)).notes if "column" in note]
    assert said == [f"left out: the column '{name}'" for name in counts]


@pytest.mark.parametrize("form", [list, csv_of])
def test_a_single_count_is_the_value_and_of_several_columns_none(form):
    refused(form(beside("", **ENDS)), "'wins', 'losses'")
    refused(form(beside("first", second=lambda row: row % 3 - 1)), "hold more than a position")
    assert entries(read(form(beside("", **VISITS)), values="mover"))


def test_lines_with_a_result_are_not_a_log_of_games():
    lines = (json.dumps({"s": it["state"], "a": it["action"], "result": it["value"]}) for it in FIELDS)
    plays_as(read("\n".join(lines), "f.jsonl").state, goes_by(MOVES))


def test_records_that_differ_are_refused():
    refused([*FIELDS, {"state": EMPTY, "value": 0.5}], "no table of positions")
    longer = refused([*RECORDS["lists"], [EMPTY, 0.5, 1, 0.25]], "4 fields")
    assert longer.where == f"f.json, record {len(MOVES) + 1}"
    for at in (0, -1):
        records = [*FIELDS]
        records[at] = {**records[at], "value": "?"}
        refused(records, "'?': expected a number")
    lines = RECORDS["lines: board:values"].rpartition(",")[0]
    for damaged in ("?", "\u00b2", "[1 ?]"):
        refused(f"{lines},{damaged}", "expected a number")
    other = {**FIELDS[0], "value": 0.875}
    assert f"{FIELDS[0]['state']}" in refused([*FIELDS, other], "the key is repeated").where
    assert "repeated rows count once: 1" in reads_as([*FIELDS, FIELDS[0]], goes_by(MOVES)).notes


def test_other_boards_are_read_when_they_are_named():
    rules = Rules(2, 3, 2)
    space = StateSpace.of(rules)
    table = {text: float(space.results[at]) for at, text in enumerate(space.texts())}
    found = read(table, values="x", rules=rules)
    assert found.state.size[0] == len(space) and found.state.rules == rules


@pytest.mark.parametrize("count", [5, 20])
def test_a_small_part_of_a_table_is_read_correctly_or_refused(count):
    """What the data leave open is asked for, not guessed."""
    rng = random.Random(count)
    for _ in range(5):
        table = {text: POSITIONS[text] for text in rng.sample(sorted(POSITIONS), count)}
        try:
            reads_as(Spell("tuple", "120").positions(table), looks_up(table))
        except InvalidFileError as error:
            assert "whose win do large values mean" in str(error)


@pytest.mark.parametrize("seed", [1, 2])
def test_random_values_are_read_by_convention(seed):
    """An untrained table: of its author's choices the usual ones are assumed, but for whose win counts."""
    rng = random.Random(seed)
    boards = rng.sample([text for text in StateSpace.of(STANDARD).texts() if free(text)], 40 * seed)
    table = {(text, cell): rng.uniform(-1, 1) for text in boards for cell in free(text)}
    _, assumed, _ = reads_as(Spell().objects(table), goes_by(table), values="mover").notes
    assert assumed.endswith("who moves first? 'X' always moves first (spelling.first=X)")


PAIRED: dict[str, Callable[[str, int], object]] = {
    "board|cell": lambda text, cell: f"{text}|{cell}",
    "board|player-cell": lambda text, cell: f"{text.replace('.', ' ')}|{mover(text)}-{cell}",
    "(printed rows, (row, column))": lambda text, cell: (
        str(np.array(symbols(text, "X", "O", " ")).reshape(3, 3).tolist()),
        divmod(cell, 3),
    ),
    "(number, cell)": lambda text, cell: (in_base_3(text), cell),
}
ALONE: dict[str, Callable[[str], object]] = {
    "turn in the tuple": lambda text: (*symbols(text), 1 if mover(text) == "X" else -1),
    "turn in front": lambda text: f"{'XO'.index(mover(text)) + 1}{''.join(symbols(text, '1', '2', '0'))}",
    "(bits of X, bits of O)": lambda text: tuple(
        sum(1 << cell for cell in range(9) if text[cell] == stone) for stone in "XO"
    ),
    "bits of X, bits of O, the first cell highest": lambda text: tuple(
        int("".join(symbols(text, *ones, "0")), 2) for ones in ("10", "01")
    ),
    "two bits a cell": lambda text: sum(".XO".index(stone) << 2 * cell for cell, stone in enumerate(text)),
    "(board, is X to move)": lambda text: (text, mover(text) == "X"),
    "own stones": lambda text: symbols(text if mover(text) == "X" else swapped(text)),
    "array of objects": lambda text: np.array(symbols(text, 2, 1, None), dtype=object),
    "array of texts": lambda text: np.array(symbols(text, "X", "O", " ")).reshape(3, 3),
    "lists of names": lambda text: [[name] for name in symbols(text, "Player.X", "Player.O", "Empty")],
}


@pytest.mark.parametrize("name", some([*PAIRED, *ALONE]))
def test_keys_found_in_real_files(name):
    if name in PAIRED:
        table = {str(PAIRED[name](text, cell)): value for (text, cell), value in MOVES.items()}
    else:
        table = {str(ALONE[name](text)): row for text, row in ROWS.items()}
    reads_as(table, goes_by(MOVES))


@pytest.mark.parametrize("rules", [Rules(2, 4), Rules(4, 2), Rules(2, 5)], ids=str)
def test_a_cell_is_named_on_boards_of_four_rows_or_columns(rules: Rules):
    space = StateSpace.of(rules)
    boards = [text for text in space[~space.terminal].texts()[::3] if text.count(".") % 2 == 0]
    named = ["ABCD"[cell // rules.cols] + str(cell % rules.cols + 1) for cell in range(rules.cells)]
    named = named if rules.cells < 10 else [str(cell + 1) for cell in range(rules.cells)]
    rows = [f"{text},{named[text.rindex('.')]}" for text in boards]
    policy = read("\n".join(rows), "policy.csv", rules=rules).state.policy
    played = policy.probabilities(Positions.unchecked(boards, rules))
    assert played.argmax(axis=1).tolist() == [text.rindex(".") for text in boards]
