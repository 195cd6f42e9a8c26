"""The recogniser over the product of all spellings: tables of strangers' programs are played as these play.

The truth is the stranger's own greedy choice in every position that its table tells about.
"""

import json
import random
from functools import cache
from itertools import product

import numpy as np
import pytest

from tests.store.formats import strangers
from tests.store.formats.reading import read
from tests.store.formats.strangers import CELLS, KEYS, STONES, Spell
from ttt_cli.engine.rules import STANDARD
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.errors import InvalidFileError
from ttt_cli.store.formats.imported import Imported, Options, to_state

SHAPES = ("positions", "objects", "lists", "pairs")
PRODUCT = [
    (key, stones, shape)
    for key, stones, shape in product(KEYS, STONES, SHAPES)
    if strangers.can_write(key, stones)
]
SPACE = StateSpace.of(STANDARD)


@cache
def moves() -> dict[tuple[str, int], float]:
    return strangers.move_values(150)


@cache
def positions() -> dict[str, float]:
    return strangers.position_values(150)


INDEX = {text: index for index, text in enumerate(SPACE.texts())}


def worth(found: Imported, text: str) -> float:
    """What a position is worth to X."""
    ((side, (value, _)),) = found.entries[text].items()
    return value if side == "x" else -value


def choices(found: Imported, texts) -> dict[str, set[int]]:
    support = to_state(found, "0" * 64).policy.table(StateSpace.of()).support
    return {text: set(np.flatnonzero(support[INDEX[text]]).tolist()) for text in texts}


def differing(found: Imported, truth: dict[str, set[int]]) -> list[str]:
    played = choices(found, truth)
    assert truth
    return [text for text in truth if played[text] != truth[text]]


def check(key: str, stones: str, shape: str, cell: str = "from 0") -> None:
    spell = Spell(STONES[stones], KEYS[key], cell=CELLS[cell])
    table = positions() if shape == "positions" else moves()
    truth = strangers.greedy_positions(table) if shape == "positions" else strangers.greedy_moves(table)
    found = read(getattr(spell, shape)(table).encode(), f"{key}, {stones}, {shape}")
    assert not found.rejected
    if (key, shape) == (
        "base 3 from the least",
        "positions",
    ):  # which end of the board is first, keys alone do not tell
        truth = {text[::-1]: {8 - cell for cell in cells} for text, cells in truth.items()}
    assert not differing(found, truth)


@pytest.mark.parametrize("case", random.Random(1).sample(PRODUCT, 12), ids=" ".join)
def test_a_spelling_is_found(case):
    check(*case)


@pytest.mark.long
@pytest.mark.parametrize("key", KEYS)
def test_every_spelling_is_found(key, sized):
    cases = [case for case in PRODUCT if case[0] == key]
    for case in cases[:: sized(4, 1)]:
        check(*case)


@pytest.mark.parametrize(("cell", "shape"), [*product(CELLS, ("objects", "pairs"))])
def test_names_of_cells_are_found(cell, shape):
    check("joined", "XO.", shape, cell)


@pytest.mark.parametrize("stones", ["XO.", "120", "OX.", "210", "1-10", "own"])
@pytest.mark.parametrize("side", ["X", "O"])
def test_a_table_of_one_side_is_its_owners(side, stones):
    """Who moves first follows from the counts, or, where all are equal, from how well the table plays."""
    table = {move: value for move, value in moves().items() if strangers.mover(move[0]) == side}
    spell = Spell(STONES[stones], KEYS["joined"])
    found = read(spell.objects(table).encode(), "f.json")
    assert not differing(found, strangers.greedy_moves(table))
    other = next(text for text in SPACE.texts() if strangers.free(text) and strangers.mover(text) != side)
    assert choices(found, [other])[other] == set(strangers.free(other))  # unknown: at random


@pytest.mark.parametrize("stones", ["XO.", "210"])
@pytest.mark.parametrize("side", ["X", "O"])
def test_positions_after_one_sides_moves_are_worth_to_that_side(side, stones):
    sign = 1 if side == "X" else -1
    own = {
        text: sign * v for text, v in positions().items() if text != "." * 9 and strangers.mover(text) != side
    }
    found = read(Spell(STONES[stones], KEYS["tuple"]).positions(own).encode(), "f.json")
    truth = strangers.greedy_positions({text: sign * value for text, value in own.items()}, side)
    assert not differing(found, truth)


@pytest.mark.parametrize("meaning", ["x", "o", "mover", "moved"])
@pytest.mark.parametrize("ended", [True, False])
def test_whose_good_a_value_measures_is_found(meaning, ended):
    table = {text: v for text, v in positions().items() if ended or strangers.free(text)}

    def turned(text: str, value: float) -> float:
        to_x = 1 if strangers.mover(text) == "X" else -1
        return value * {"x": 1, "o": -1, "mover": to_x, "moved": -to_x}[meaning]

    written = {text: turned(text, value) for text, value in table.items()}
    found = read(Spell(STONES["120"], KEYS["joined"]).positions(written).encode(), "f.json")
    assert f"values '{meaning}'" in found.notes[0]
    assert not differing(found, strangers.greedy_positions(table))


def test_chances_need_no_scale():
    table = {text: (1 + value) / 2 for text, value in positions().items()}
    data = Spell(STONES["XO."], KEYS["joined"]).positions(table).encode()
    with pytest.raises(InvalidFileError, match=r"count as .*: 0 .* 0\.5, as [0-9,]+ of [0-9,]+ values"):
        read(data, "f.json")
    found = read(data, "f.json", Options(unknown=0.5))
    assert not differing(found, strangers.greedy_positions(positions()))
    assert {text: worth(found, text) for text in found.entries} == table


def drawn_as(found: Imported, table: dict[tuple[str, int], float]) -> bool:
    """Whether beads are drawn in proportion to a table's counts, in every position that has any."""
    policy = to_state(found, "0" * 64).policy.table(StateSpace.of())
    boxes = strangers.by_cell(table)
    return all(
        policy.played[INDEX[text]].tolist()
        == pytest.approx([box.get(cell, 0) / sum(box.values()) for cell in range(9)])
        for text, box in boxes.items()
        if sum(box.values())
    )


def test_a_box_may_list_its_beads_one_by_one():
    table = strangers.beads(600)
    boxes = {
        text.replace(".", "-"): [cell for cell, count in cells.items() for _ in range(int(count))]
        for text, cells in strangers.by_cell(table).items()
    }
    found = read(json.dumps(boxes).encode(), "f.json")
    assert drawn_as(found, table)


def test_beads_may_be_records():
    table = strangers.beads(600)
    boxes = {
        text.replace(".", " "): [
            {"action": [cell // 3, cell % 3], "count": int(count)} for cell, count in cells.items()
        ]
        for text, cells in strangers.by_cell(table).items()
    }
    found = read(json.dumps(boxes).encode(), "f.json")
    assert drawn_as(found, table)
    boxes = {
        text: [{**bead, "count": 2 - at % 2} for at, bead in enumerate(box)] for text, box in boxes.items()
    }
    assert read(json.dumps(boxes).encode(), "f.json").plays.choice == "draw"  # since it calls them counts


@pytest.mark.parametrize("turn", [("|X", "|O"), (",1", ",-1"), ("1", "2"), (" O", " X")])
def test_the_player_to_move_may_be_attached(turn):
    spell = Spell(STONES["XO."], KEYS["joined"], turn)
    if turn == (" O", " X"):
        spell = Spell(STONES["OX."], KEYS["joined"], turn)
    found = read(spell.objects(moves()).encode(), "f.json")
    assert not differing(found, strangers.greedy_moves(moves()))


def test_each_player_may_have_a_table_of_its_own():
    plain = Spell(STONES["XO."], KEYS["list"])
    values = {"X": positions(), "O": {text: -value for text, value in positions().items()}}
    tables = {side: json.loads(plain.positions(table)) for side, table in values.items()}
    found = read(json.dumps(tables).encode(), "f.json")
    assert not differing(found, strangers.greedy_positions(positions()))


def test_a_table_may_stand_among_other_things():
    table = json.loads(Spell(STONES["XO."], KEYS["joined"]).objects(moves()))
    data = json.dumps({"epsilon": 0.1, "trained": {"at": 1, "on": 2}, "q_table": table}).encode()
    assert not differing(read(data, "f.json"), strangers.greedy_moves(moves()))


@pytest.mark.parametrize("filler", [0.0, None, -1.0, -999.0, 5.0])
def test_taken_cells_may_hold_any_filler(filler):
    spell = Spell(STONES["1-10"], KEYS["list"])
    found = read(spell.lists(moves(), filler).encode(), "f.json")
    assert not differing(found, strangers.greedy_moves(moves()))


def test_taken_cells_may_hold_their_stones():
    table = json.loads(Spell(STONES["own"], KEYS["joined"], cell=CELLS["from 1"]).objects(moves()))
    for key, value in table.items():
        value.update({str(at + 1): stone for at, stone in enumerate(key) if stone in "XO"})
    found = read(json.dumps(table).encode(), "f.json")
    assert not differing(found, strangers.greedy_moves(moves()))


def test_texts_at_free_cells_are_left_out_and_counted():
    table = json.loads(Spell(STONES["XO."], KEYS["joined"], cell=CELLS["from 1"]).objects(moves()))
    rows = [value for value in table.values() if len(value) > 1][:7]
    for value in rows:
        value[next(iter(value))] = "?"
    found = read(json.dumps(table).encode(), "f.json")
    assert "7 values of free cells are no numbers and are left out" in found.notes


def test_numbers_may_be_mirrored_against_the_cells():
    """The digits of a number from the least on, the values of the moves from the first cell on."""
    table = {move: value for move, value in moves().items() if strangers.mover(move[0]) == "X"}
    for key in ("base 3", "base 3 from the least"):
        found = read(Spell(STONES["120"], KEYS[key]).lists(table).encode(), "f.json")
        assert not differing(found, strangers.greedy_moves(table))


def test_keys_in_columns_may_have_values_in_rows():
    """An author whose keys run down the columns, while the numbers of the cells run along the rows."""
    columns = [0, 3, 6, 1, 4, 7, 2, 5, 8]
    spell = Spell(STONES["XO."], lambda symbols: "".join(symbols[cell] for cell in columns))
    found = read(spell.lists(moves()).encode(), "f.json")
    assert "columns" in found.notes[0]
    assert not differing(found, strangers.greedy_moves(moves()))


def test_stones_may_be_mine_and_theirs():
    """A player that sees its own stones as 1 and the others as -1, on whichever side it is."""
    table = {}
    for (text, cell), value in moves().items():
        mine, theirs = ("X", "O") if strangers.mover(text) == "X" else ("O", "X")
        key = str([{mine: 1, theirs: -1, ".": 0}[stone] for stone in text])
        table.setdefault(key, {})[str(cell)] = value
    found = read(json.dumps(table).encode(), "f.json")
    assert "mine '1'" in found.notes[0]
    assert not differing(found, strangers.greedy_moves(moves()))


@pytest.mark.parametrize(("separator", "header"), [(",", "state,value"), (";", ""), ("\t", "board\tv")])
def test_tables_may_be_csv(separator, header):
    spell = Spell(STONES["XO "], KEYS["joined"])
    rows = [f"{spell.of(text)}{separator}{value!r}" for text, value in positions().items()]
    data = "\r\n".join([header, *rows] if header else rows).encode()
    assert not differing(read(data, "f.csv"), strangers.greedy_positions(positions()))


def test_csv_may_hold_a_cell_in_a_row_and_keys_with_commas():
    spell = Spell(STONES["120"], KEYS["joined"])
    rows = [f"{spell.of(text)},{cell},{value!r}" for (text, cell), value in moves().items()]
    assert not differing(read("\n".join(rows).encode(), "f.csv"), strangers.greedy_moves(moves()))
    commas = Spell(STONES["1-10"], KEYS["commas"])
    rows = [f"{commas.of(text)},{value!r}" for text, value in positions().items()]
    assert not differing(read("\n".join(rows).encode(), "f.csv"), strangers.greedy_positions(positions()))


def test_other_boards_are_read_when_they_are_named():
    from ttt_cli.engine.rules import Rules

    rules = Rules(2, 3, 2)
    space = StateSpace.of(rules)
    table = {text: float(space.results[at]) for at, text in enumerate(space.texts())}
    found = read(json.dumps(table).encode(), "f.json", Options(values_for="x", rules=rules))
    assert found.positions == len(space) and found.rules == rules


@pytest.mark.parametrize("count", [5, 10, 20, 50])
def test_a_small_part_of_a_table_is_read_rightly_or_refused(count):
    """What the data leave open is asked for, not guessed."""
    rng = random.Random(count)
    for _ in range(5):
        kept = set(rng.sample(sorted(positions()), count))
        table = {text: value for text, value in positions().items() if text in kept}
        try:
            found = read(Spell(STONES["120"], KEYS["tuple"]).positions(table).encode(), "f.json")
        except InvalidFileError as error:
            assert "whose win do large values mean" in str(error)
        else:
            assert not [text for text, value in table.items() if worth(found, text) != value]


@pytest.mark.parametrize("seed", range(1, 6))
def test_values_that_say_nothing_are_read_by_custom(seed):
    """An untrained table: of its author's choices only the usual ones can be assumed, and they are."""
    rng = random.Random(seed)
    boards = rng.sample([text for text in SPACE.texts() if strangers.free(text)], 40 * seed)
    table = {(text, cell): rng.uniform(-1, 1) for text in boards for cell in strangers.free(text)}
    found = read(Spell(STONES["XO."], KEYS["joined"]).objects(table).encode(), "f.json")
    assert not differing(found, strangers.greedy_moves(table))


def _blank(text: str) -> str:
    return text.replace(".", " ")


def _symbols(text: str, first: str, second: str, empty: str) -> list[str]:
    return [{"X": first, "O": second, ".": empty}[stone] for stone in text]


PAIRED = {
    "board|cell": lambda text, cell: f"{text}|{cell}",
    "board|player-cell": lambda text, cell: f"{_blank(text)}|{strangers.mover(text)}-{cell}",
    "(board, cell)": lambda text, cell: str((_blank(text), cell)),
    "(printed rows, (row, column))": lambda text, cell: str(
        (str([list(_blank(text)[row : row + 3]) for row in (0, 3, 6)]), (cell // 3, cell % 3))
    ),
    "(number, cell)": lambda text, cell: str((int("".join(_symbols(text, "1", "2", "0")), 3), cell)),
}
ALONE = {
    "[None 1 2 …]": lambda text: "[" + " ".join(_symbols(text, "2", "1", "None")) + "]",
    "signed digits": lambda text: "".join(_symbols(text, "1", "-1", "0")),
    "turn in the tuple": lambda text: str(
        (*map(int, _symbols(text, "1", "-1", "0")), 1 if strangers.mover(text) == "X" else -1)
    ),
    "turn in front": lambda text: (
        str("XO".index(strangers.mover(text)) + 1) + "".join(_symbols(text, "1", "2", "0"))
    ),
    "(bits of X, bits of O)": lambda text: str(
        tuple(sum(1 << cell for cell in range(9) if text[cell] == stone) for stone in "XO")
    ),
    "two bits a cell": lambda text: str(
        sum(".XO".index(stone) << 2 * cell for cell, stone in enumerate(text))
    ),
    "(board, is X to move)": lambda text: str((text, strangers.mover(text) == "X")),
}


@pytest.mark.parametrize("name", PAIRED)
def test_keys_of_board_and_move_as_they_are_met(name):
    table = {PAIRED[name](text, cell): value for (text, cell), value in moves().items()}
    found = read(json.dumps(table).encode(), name)
    assert not differing(found, strangers.greedy_moves(moves()))


@pytest.mark.parametrize("name", ALONE)
def test_keys_of_a_board_as_they_are_met(name):
    table = {ALONE[name](text): row for text, row in strangers.in_rows(moves()).items()}
    found = read(json.dumps(table).encode(), name)
    assert not differing(found, strangers.greedy_moves(moves()))
