"""The recogniser over the product of all spellings: strangers' tables are played as their programs play."""

import json
import random
from functools import cache
from itertools import product

import pytest

from tests.store.formats import strangers
from tests.store.formats.programs import goes_by, looks_up, reads_as
from tests.store.formats.reading import read
from tests.store.formats.strangers import CELLS, KEYS, STONES, Spell, free, mover
from ttt_cli.engine.rules import STANDARD, Rules
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.errors import InvalidFileError
from ttt_cli.store.formats.imported import Options

SHAPES = ("positions", "objects", "lists", "pairs")
PRODUCT = [
    (key, stones, shape)
    for key, stones, shape in product(KEYS, STONES, SHAPES)
    if strangers.can_write(key, stones)
]
PLAIN = Spell(STONES["XO."], KEYS["joined"])


@cache
def moves() -> dict[tuple[str, int], float]:
    return strangers.move_values(150)


@cache
def positions() -> dict[str, float]:
    return strangers.position_values(150)


def of_side(side: str) -> dict[tuple[str, int], float]:
    return {move: value for move, value in moves().items() if mover(move[0]) == side}


def check(key: str, stones: str, shape: str, cell: str = "from 0") -> None:
    spell = Spell(STONES[stones], KEYS[key], cell=CELLS[cell])
    table = positions() if shape == "positions" else moves()
    data = getattr(spell, shape)(table)
    if (key, shape) == ("base 3 from the least", "positions"):  # keys alone do not tell which end is first
        table = {text[::-1]: value for text, value in table.items()}
    found = reads_as(data, looks_up(table) if shape == "positions" else goes_by(table))
    assert not found.rejected


@pytest.mark.parametrize("case", random.Random(1).sample(PRODUCT, 12), ids=" ".join)
def test_a_spelling_is_found(case):
    check(*case)


@pytest.mark.long
@pytest.mark.parametrize("key", KEYS)
def test_every_spelling_is_found(key, sized):
    cases = [case for case in PRODUCT if case[0] == key]
    for case in cases[:: sized(8, 1)]:
        check(*case)


@pytest.mark.parametrize(("cell", "shape"), [*product(CELLS, ("objects", "pairs"))])
def test_names_of_cells_are_found(cell, shape):
    check("joined", "XO.", shape, cell)


@pytest.mark.parametrize("stones", ["XO.", "120", "OX.", "210", "1-10", "own"])
@pytest.mark.parametrize("side", ["X", "O"])
def test_a_table_of_one_side_is_its_owners(side, stones):
    """Who moves first follows from the counts, or, where all are equal, from how well the table plays."""
    reads_as(Spell(STONES[stones], KEYS["joined"]).objects(of_side(side)), goes_by(of_side(side)))


@pytest.mark.parametrize("stones", ["XO.", "210"])
@pytest.mark.parametrize("side", ["X", "O"])
def test_positions_after_one_sides_moves_are_worth_to_that_side(side, stones):
    sign = 1 if side == "X" else -1
    own = {text: sign * v for text, v in positions().items() if text != "." * 9 and mover(text) != side}
    reads_as(Spell(STONES[stones], KEYS["tuple"]).positions(own), looks_up(own, x=1, o=1), side)


@pytest.mark.parametrize("meaning", ["x", "o", "mover", "moved"])
@pytest.mark.parametrize("ended", [True, False])
def test_whose_good_a_value_measures_is_found(meaning, ended):
    table = {text: value for text, value in positions().items() if ended or free(text)}
    to_x = {text: 1 if mover(text) == "X" else -1 for text in table}
    signs = {text: {"x": 1, "o": -1, "mover": to_x[text], "moved": -to_x[text]}[meaning] for text in table}
    written = {text: value * signs[text] for text, value in table.items()}
    found = reads_as(Spell(STONES["120"], KEYS["joined"]).positions(written), looks_up(table))
    assert f"values '{meaning}'" in found.notes[0]


def test_chances_need_no_scale():
    table = {text: (1 + value) / 2 for text, value in positions().items()}
    with pytest.raises(InvalidFileError, match=r"count as .*: 0 .* 0\.5, as [0-9,]+ of [0-9,]+ values"):
        read(PLAIN.positions(table).encode(), "f.json")
    found = reads_as(PLAIN.positions(table), looks_up(positions()), unknown=0.5)
    assert {text: entry["x"][0] for text, entry in found.entries.items()} == table


@pytest.mark.parametrize("turn", [("|X", "|O"), (",1", ",-1"), ("1", "2"), (" O", " X")])
def test_the_player_to_move_may_be_attached(turn):
    stones = STONES["OX." if turn == (" O", " X") else "XO."]
    reads_as(Spell(stones, KEYS["joined"], turn).objects(moves()), goes_by(moves()))


def test_each_player_may_have_a_table_of_its_own():
    values = {"X": positions(), "O": {text: -value for text, value in positions().items()}}
    tables = {side: json.loads(PLAIN.positions(table)) for side, table in values.items()}
    reads_as(json.dumps(tables), looks_up(positions()))


def test_a_table_may_stand_among_other_things():
    table = json.loads(PLAIN.objects(moves()))
    data = {"epsilon": 0.1, "trained": {"at": 1, "on": 2}, "q_table": table}
    reads_as(json.dumps(data), goes_by(moves()))


@pytest.mark.parametrize("filler", [0.0, None, -1.0, -999.0, 5.0, 1e300])
def test_taken_cells_may_hold_any_filler(filler):
    reads_as(Spell(STONES["1-10"], KEYS["list"]).lists(moves(), filler), goes_by(moves()))


def test_taken_cells_may_hold_their_stones_and_texts_at_free_ones_are_counted():
    table = json.loads(Spell(STONES["own"], KEYS["joined"], cell=CELLS["from 1"]).objects(moves()))
    for key, value in table.items():
        value.update({str(at + 1): stone for at, stone in enumerate(key) if stone in "XO"})
    reads_as(json.dumps(table), goes_by(moves()))
    for key in [key for key in table if key.count("X") == 2][:7]:
        table[key][next(cell for cell in table[key] if cell in key)] = "?"
    found = read(json.dumps(table).encode(), "f.json")
    assert "7 values of free cells are not numbers and are left out" in found.notes


def test_numbers_may_be_mirrored_against_the_cells():
    """The digits of a number from the least on, the values of the moves from the first cell on."""
    for key in ("base 3", "base 3 from the least"):
        reads_as(Spell(STONES["120"], KEYS[key]).lists(of_side("X")), goes_by(of_side("X")))


def test_keys_in_columns_may_have_values_in_rows():
    """An author whose keys run down the columns, while the numbers of the cells run along the rows."""
    spell = Spell(
        STONES["XO."], lambda symbols: "".join(symbols[cell] for cell in (0, 3, 6, 1, 4, 7, 2, 5, 8))
    )
    assert "columns" in reads_as(spell.lists(moves()), goes_by(moves())).notes[0]


@pytest.mark.parametrize(("separator", "header"), [(",", "state,value"), (";", ""), ("\t", "board\tv")])
def test_tables_may_be_csv(separator, header):
    spell = Spell(STONES["XO "], KEYS["joined"])
    rows = [f"{spell.of(text)}{separator}{value!r}" for text, value in positions().items()]
    reads_as("\r\n".join([header, *rows] if header else rows), looks_up(positions()))


def test_csv_may_hold_a_cell_in_a_row_and_keys_with_commas():
    spell = Spell(STONES["120"], KEYS["joined"])
    rows = [f"{spell.of(text)},{cell},{value!r}" for (text, cell), value in moves().items()]
    reads_as("\n".join(rows), goes_by(moves()))
    commas = Spell(STONES["1-10"], KEYS["commas"])
    reads_as(
        "\n".join(f"{commas.of(text)},{value!r}" for text, value in positions().items()),
        looks_up(positions()),
    )


def test_other_boards_are_read_when_they_are_named():
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
        table = {text: positions()[text] for text in rng.sample(sorted(positions()), count)}
        try:
            reads_as(Spell(STONES["120"], KEYS["tuple"]).positions(table), looks_up(table))
        except InvalidFileError as error:
            assert "whose win do large values mean" in str(error)


@pytest.mark.parametrize("seed", range(1, 6))
def test_values_that_say_nothing_are_read_by_custom(seed):
    """An untrained table: of its author's choices only the usual ones can be assumed, and they are."""
    rng = random.Random(seed)
    boards = rng.sample([text for text in StateSpace.of(STANDARD).texts() if free(text)], 40 * seed)
    table = {(text, cell): rng.uniform(-1, 1) for text in boards for cell in free(text)}
    reads_as(PLAIN.objects(table), goes_by(table))


def _symbols(text: str, first: str, second: str, empty: str) -> list[str]:
    return [{"X": first, "O": second, ".": empty}[stone] for stone in text]


def _rows(text: str) -> list[list[str]]:
    return [[*text[row : row + 3]] for row in (0, 3, 6)]


def _blank(text: str) -> str:
    return text.replace(".", " ")


PAIRED = {
    "board|cell": lambda text, cell: f"{text}|{cell}",
    "board|player-cell": lambda text, cell: f"{_blank(text)}|{mover(text)}-{cell}",
    "(board, cell)": lambda text, cell: str((_blank(text), cell)),
    "(printed rows, (row, column))": lambda text, cell: str((str(_rows(_blank(text))), divmod(cell, 3))),
    "(number, cell)": lambda text, cell: str((int("".join(_symbols(text, "1", "2", "0")), 3), cell)),
}
ALONE = {
    "[None 1 2 …]": lambda text: "[" + " ".join(_symbols(text, "2", "1", "None")) + "]",
    "signed digits": lambda text: "".join(_symbols(text, "1", "-1", "0")),
    "turn in the tuple": lambda text: str(
        (*map(int, _symbols(text, "1", "-1", "0")), 1 if mover(text) == "X" else -1)
    ),
    "turn in front": lambda text: str("XO".index(mover(text)) + 1) + "".join(_symbols(text, "1", "2", "0")),
    "(bits of X, bits of O)": lambda text: str(
        tuple(sum(1 << cell for cell in range(9) if text[cell] == stone) for stone in "XO")
    ),
    "two bits a cell": lambda text: str(
        sum(".XO".index(stone) << 2 * cell for cell, stone in enumerate(text))
    ),
    "(board, is X to move)": lambda text: str((text, mover(text) == "X")),
    "own stones": lambda text: str(
        [int(s) for s in _symbols(text, *(("1", "-1") if mover(text) == "X" else ("-1", "1")), "0")]
    ),
}


@pytest.mark.parametrize("name", [*PAIRED, *ALONE])
def test_keys_as_they_are_met(name):
    if name in PAIRED:
        table = {PAIRED[name](text, cell): value for (text, cell), value in moves().items()}
    else:
        table = {ALONE[name](text): row for text, row in strangers.in_rows(moves()).items()}
    reads_as(json.dumps(table), goes_by(moves()))
