"""The four authors' formats: what is read, put right, refused with its place, and written back."""

import io
import json
import random
import re
import zipfile
from unittest.mock import ANY

import numpy as np
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import tables
from tests.store.formats.reading import read
from ttt_cli.engine.game import Game
from ttt_cli.engine.rules import STANDARD
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.errors import InvalidFileError
from ttt_cli.store import library, reading, source
from ttt_cli.store.formats import get, moves_csv, recognise, state_action, value_table
from ttt_cli.store.formats.format import ExportOptions, ExportSource
from ttt_cli.store.formats.imported import DEFAULTS, Options, Rejected, Row, to_state
from ttt_cli.store.library import import_file
from ttt_cli.store.state import State

SPACE = StateSpace.of(STANDARD)
E, X, O = 0, 1, -1  # noqa: E741
EMPTY = [E] * 9


def brain_of(games: list[list[int]]) -> dict:
    """The graph machine's brain after these games, as its author's program keeps it."""
    brain: dict[str, dict] = {}
    key_of: dict[tuple, str] = {}

    def node(state: list[int]) -> str:
        if tuple(state) not in key_of:
            key_of[tuple(state)] = key = str(len(brain))
            lines = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
            won = next((state[a] for a, b, c in lines if state[a] == state[b] == state[c] != 0), 0)
            brain[key] = {"state": list(state), "next": [], "score": won, "end": won != 0}
        return key_of[tuple(state)]

    for game in games:
        state = list(EMPTY)
        at = node(state)
        for ply, cell in enumerate(game):
            state[cell] = X if ply % 2 == 0 else O
            then = node(state)
            if then not in brain[at]["next"]:
                brain[at]["next"].append(then)
            at = then
    for found in sorted(brain.values(), key=lambda found: found["state"].count(0)):
        if found["next"]:
            found["score"] = 0.9 * max((brain[key]["score"] for key in found["next"]), key=abs)
    return brain


def random_games(seed: int, count: int) -> list[list[int]]:
    rng, games = random.Random(seed), []
    for _ in range(count):
        index, game = 0, []
        while not SPACE.terminal[index]:
            cell = rng.choice(np.flatnonzero(SPACE.legal[index]).tolist())
            game.append(cell)
            index = int(SPACE.successors[index, cell])
        games.append(game)
    return games


def dump(brain: dict) -> bytes:
    return json.dumps(brain, indent=4).encode()


@pytest.mark.parametrize("seed", range(1, 4))
def test_a_brain_comes_back_byte_for_byte(seed):
    data = dump(brain_of(random_games(seed, 40 * seed)))
    found = read(data, "brain.json")
    assert (found.format, found.learner, found.choice) == ("state-action", "graph", "article")
    assert not found.repaired
    assert state_action.to_bytes(found.entries, found.spelled) == data
    assert written_again(data + b"\n", "brain.json") == data


def test_the_spelling_of_zeros_survives():
    brain = brain_of([[0, 1, 2, 4, 3, 5, 7, 6, 8], [8, 0, 1]])
    leaf = list(brain)[-1]
    brain[leaf]["score"] = 0.0
    brain["0"]["score"] = 0
    found = read(dump(brain), "brain.json")
    assert not found.repaired
    state = library.parse(library.content(to_state(found, "0" * 24)), "saved.json")
    assert written(state, "state-action") == dump(brain)
    longer = to_state(found, "0" * 24)
    longer.learner.learn(longer.table, Game.of(STANDARD, [8, 0, 5, 4, 2]))
    assert b'"score": 0,' not in written(longer, "state-action").split(b"}")[0]


def test_no_bytes_are_an_empty_brain():
    with pytest.raises(InvalidFileError, match="is empty"):
        read(b"", "brain.json")
    found = read(b"", "brain.json", Options(empty_brain=True))
    assert (found.format, found.entries) == ("state-action", {})
    assert state_action.to_bytes(found.entries, found.spelled) == b""


def test_stale_scores_are_computed_anew_and_counted():
    brain = brain_of(random_games(1, 30))
    right = dump(brain)
    brain["0"]["score"], brain["1"]["score"] = 0.5, -1
    found = read(dump(brain), "brain.json")
    assert found.repaired == [f"2 of {len(brain)} scores were stale and have been recomputed"]
    assert state_action.to_bytes(found.entries, found.spelled) == right


def test_a_root_without_a_board_is_the_empty_one():
    brain = brain_of(random_games(2, 30))
    right = dump(brain)
    brain["0"]["state"] = []
    found = read(dump(brain), "brain.json")
    assert len(found.repaired) == 1
    assert state_action.to_bytes(found.entries, found.spelled) == right


def test_a_second_empty_board_joins_such_a_root():
    brain = {
        "0": {"state": [], "next": ["1", "2"], "score": 0.0, "end": False},
        "1": {"state": EMPTY, "next": ["2", "3"], "score": 0.0, "end": False},
        "2": {"state": [X] + [E] * 8, "next": [], "score": 0, "end": False},
        "3": {"state": [E] * 8 + [X], "next": [], "score": 0, "end": False},
    }
    found = read(dump(brain), "brain.json")
    assert "'1'" in found.repaired[0]
    written = json.loads(state_action.to_bytes(found.entries, found.spelled))
    assert [node["state"] for node in written.values()] == [EMPTY, [X] + [E] * 8, [E] * 8 + [X]]
    assert written["0"]["next"] == ["1", "2"]


def spoil(change) -> bytes:
    brain = brain_of([[0, 4, 8, 2, 6, 3, 7], [4, 0, 8, 2, 1, 7, 3, 5, 6]])
    change(brain)
    return dump(brain)


def rekey(brain: dict, old: str, new: str) -> None:
    items = [(new if key == old else key, node) for key, node in brain.items()]
    brain.clear()
    brain.update(items)


@pytest.mark.parametrize(
    ("change", "key", "why"),
    [
        (lambda b: rekey(b, "5", "99"), "99", "expected key '5' with"),
        (lambda b: b["3"].update(state=b["2"]["state"]), "3", "the same board as key '2'"),
        (lambda b: b["3"].update(state=[1] * 9), "3", "X moves first"),
        (lambda b: b["3"].update(state=[1] * 8), "3", "a state of 9 numbers"),
        (lambda b: b["1"].update(next=["3"]), "1", "not a node one move further"),
        (lambda b: b["1"].update(next=["999"]), "1", "not a node one move further"),
        (lambda b: b["1"].update(next=["2", "2"]), "1", "twice"),
        (lambda b: b["1"].update(next=[2]), "1", "a list of keys"),
        (lambda b: b["7"].update(end=False), "7", "end is false, but X has won"),
        (lambda b: b["1"].update(end=True), "1", "nobody has won"),
        (lambda b: b["1"].update(score="0"), "1", "a number as score"),
        (lambda b: b["1"].pop("score"), "1", "and nothing else"),
        (lambda b: b["0"].update(state=[X] + [E] * 8), "0", "first node must be the empty board"),
    ],
)
def test_a_broken_brain_is_refused_naming_the_key(change, key, why):
    with pytest.raises(InvalidFileError, match=why) as caught:
        read(spoil(change), "brain.json")
    assert caught.value.where == f"brain.json, key '{key}'"


BOOK = (
    "-1,0,0,0,1,0,0,0,0,-3,4\n-1,0,0,0,0,0,0,0,0,5,7\r\n\n-1,0,0,0,0,0,0,0,0,5,9\n-1,-1,0,1,1,0,0,0,0,-3,4\n"
)


def test_a_row_tells_the_side_and_the_winner():
    found = read(("\ufeff" + BOOK).encode(), "book.csv")
    assert (found.format, found.learner, found.choice) == ("moves-csv", "book", "article")
    assert found.rows == [
        Row("X........", 5, 8, "O"),
        Row("X........", 5, 9, "draw"),
        Row("X...O....", 3, 5, "X"),
        Row("XX.OO....", 3, 5, "X"),
    ]
    written = moves_csv.to_bytes(found.rows)
    assert written == moves_csv.to_bytes(read(written, "book.csv").rows)
    assert written.splitlines() == sorted(
        (line.encode() for line in BOOK.split()), key=lambda line: [int(n) for n in line.split(b",")]
    )


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ("-1,0,0,0,1,0,0,0,0,9,4", "is 9; possible are -2, -3, -4, -6"),
        ("-1,0,0,0,1,0,0,0,0,-1,4", "is -1; possible are -2"),
        ("-1,0,0,0,1,0,0,0,0,-9,3", "stage is 3; .* end at 4 to 9"),
        ("-1,1,-1,-1,1,0,1,0,0,-8,5", "stage is 5; .* end at 6 to 9"),
        ("-1,-1,-1,1,1,0,0,0,0,6,6", "none: the game is over"),
        ("-1,-1,-1,0,0,0,0,0,0,6,6", "3 X and 0 O"),
        ("-2,0,0,0,1,0,0,0,0,-9,4", "not -2"),
        ("-1,0,0,0,1,0,0,0,0,-9", "expected 11 integers"),
        ("-1,0,0,0,1,0,0,0,0,-9," + "4" * 400, "expected 11 integers"),
    ],
)
def test_a_row_that_cannot_be_is_left_out_with_its_line(row, why):
    data = BOOK.replace("\n\n", f"\n{row}\n").encode()
    found = read(data, "book.csv")
    assert len(found.rows) == 4
    assert [(item.where, bool(re.search(why, item.why))) for item in found.rejected] == [("line 3", True)]
    with pytest.raises(InvalidFileError, match=why) as caught:
        read(data, "book.csv", Options(strict=True))
    assert caught.value.where == "book.csv, line 3"


@pytest.mark.parametrize("stage", [5, 6, 9])
def test_a_row_with_an_end_that_no_game_has_is_kept_and_told(stage, tmp_path):
    """X wins at once here, so the game cannot go on: its author's player still plays by such a row."""
    data = f"-1,-1,0,1,1,0,0,0,0,-3,{stage}\n-1,-1,0,1,1,0,0,0,0,-9,{stage}\n".encode()
    found = read(data, "book.csv")
    assert not found.rejected and len(found.rows) == 2
    assert any("as none can" in note for note in found.notes)
    with pytest.raises(InvalidFileError, match=f"ends at stage {stage}"):
        read(data, "book.csv", Options(strict=True))
    (tmp_path / "book.csv").write_bytes(data)
    state = import_file(tmp_path / "book.csv").state
    again = library.parse(library.content(state), "again.csv")
    assert sorted(moves_csv.to_bytes(found.rows).splitlines()) == sorted(data.splitlines())
    for one in (state, again):
        (row,) = one.policy.probabilities(SPACE[[SPACE.texts().index("XX.OO....")]])
        shares = [0, 0, 0.5, 0, 0, 0, 0, 0, 0.5] if stage < 9 else [0, 0, 0.2, 0, 0, 0.2, 0.2, 0.2, 0.2]
        assert row.tolist() == shares  # draws are set aside


def test_duplicate_rows_are_dropped_and_counted():
    found = read((BOOK + BOOK).encode(), "book.csv")
    assert len(found.rows) == 4 and not found.rejected
    assert found.repaired == ["4 rows were there before and dropped"]


def test_a_large_book_is_read_in_blocks_like_a_small_one(tmp_path, monkeypatch):
    """Blank lines, line ends, a BOM, rows that are wrong and rows that come again, across the blocks."""
    good = b"-1,-1,1,-1,-1,1,0,1,0,9,7"
    lines = [good, b"0,0,0,0,0,0,0,0,0,-5,9\r", b"", b"1,2,3", good + b" ", b"  ", b"1,2,3", good] * 50
    path = tmp_path / "book.csv"
    path.write_bytes(b"\xef\xbb\xbf" + b"\n".join(lines))
    state = import_file(path)
    monkeypatch.setattr(reading, "LARGE", 100)
    monkeypatch.setattr(source, "read_blocks", lambda path: reading.read_blocks(path, 64))
    same = import_file(path)
    large = same.imported
    assert large == state.imported
    assert large.rejected[:2] == [Rejected("line 4", ANY), Rejected("line 7", ANY)]
    assert large.repaired == ["198 rows were there before and dropped"]
    assert library.content(same.state) == library.content(state.state)
    assert library.load(path).digest == same.digest == state.digest


def test_a_stage_is_possible_just_where_a_game_ends_so():
    """Every game, told from its end backwards: the stages that a row may have are those of some game."""
    rows = set()
    for game in random_games(3, 150):
        path = tables.path(SPACE, game)
        result = int(SPACE.results[path[-1]])
        ending = (9, "draw") if result == 0 else (len(game), "X" if result > 0 else "O")
        rows |= {Row(SPACE.text(i), c + 1, *ending) for i, c in zip(path, game, strict=False)}
    found = read(moves_csv.to_bytes(rows), "book.csv")
    assert set(found.rows) == rows and not found.rejected


def written_again(data: bytes, where: str) -> bytes:
    """What a state of the content of a file is written as in the same format."""
    found = read(data, where)
    return written(to_state(found, "0" * 24), found.format)


def written(state: State, name: str) -> bytes:
    """A state in a format."""
    form = get(name)
    assert form is not None
    return b"".join(form.write(ExportSource("", state, state.policy), ExportOptions()))


def value_csv(values: np.ndarray) -> bytes:
    lines = (f"{index},{x!r},{o!r}\n" for index, (x, o) in enumerate(values.T.tolist()))
    return f"index,value_x,value_o\n{''.join(lines)}".encode()


def index_of(text: str) -> int:
    """Where a table keeps a board."""
    return sum({".": 0, "X": 1, "O": 2}[stone] * 3**cell for cell, stone in enumerate(text))


def test_values_come_back():
    rng = np.random.default_rng(1)
    reachable = [index_of(text) for text in SPACE.texts()]
    values = value_table.starts().copy()
    values[:, rng.choice(reachable, 2000)] = rng.random((2, 2000))
    data = value_csv(values)
    found = read(data, "values.csv")
    assert (found.format, found.learner) == ("value-table", "td")
    for text, entry in list(found.entries.items())[::97]:
        assert [entry[side][0] for side in "xo"] == values[:, index_of(text)].tolist()
    assert read(npz(V_x=values[0], V_o=values[1]), "values.npz").entries == found.entries
    assert written_again(data, "values.csv") == data
    assert read(data.replace(b"\n", b"\r\n"), "values.csv").entries == found.entries
    values[:, 3**9 - 1] = 0.25  # nine stones of O
    assert "1 boards that no game reaches" in read(value_csv(values), "values.csv").notes[-1]


def test_boards_before_any_learning():
    starts = value_table.starts()

    def at(text: str) -> list[float]:
        return starts[:, index_of(text)].tolist()

    assert at("X........") == [0.5, 0.5]
    assert at("XXX.OO...") == [1, 0] and at("OOO.XX.X.") == [0, 1]
    assert at("XOXXOOOXX") == [0, 0]  # drawn
    assert at("XXX...OOO") == [1, 1]  # no game reaches it
    assert at("XXXXXXXXX") == [1, 0]


@pytest.mark.parametrize(
    ("change", "why", "where"),
    [
        (lambda d: d.replace(b"\n7,", b"\n8,", 1), "each once", "line 10"),
        (
            lambda d: d.replace(b"\n19682,", b"\n19683,"),
            "index of 0 to 19682, .* found '19683,",
            "line 19684",
        ),
        (lambda d: d[: d.rindex(b"19682")], "index 19682 is missing", ""),
        (lambda d: d.replace(b"\n7,0.5,", b"\n7,nan,"), "and two numbers, found '7,nan", "line 9"),
        (lambda d: d.replace(b"\n7,0.5,", b"\n7,0.5,0.5,"), "and two numbers", "line 9"),
        (lambda d: d.replace(b"\n7,0.5,", b"\n-7,0.5,"), "expected an index", "line 9"),
    ],
)
def test_a_broken_value_table_is_refused(change, why, where):
    with pytest.raises(InvalidFileError, match=why) as caught:
        read(change(value_csv(value_table.starts())), "values.csv")
    assert where in caught.value.where


def npz(**arrays) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def test_arrays_are_checked_and_pickles_in_them_not_loaded():
    good = np.zeros(19683)
    objects = np.array([{"a": 1}] * 19683, dtype=object)
    for arrays, why in [
        ({"V_o": good}, "V_x: expected .*; found only .'V_o'"),
        ({"V_x": good, "V_o": objects}, "Python objects"),
        ({"V_x": good, "V_o": good[1:]}, "expected 19683 numbers"),
        ({"V_x": good, "V_o": good.astype(int)}, "found int64"),
        ({"V_x": good, "V_o": np.full(19683, np.nan)}, "expected 19683 numbers"),
        ({"V_x": good, "V_o": np.zeros(40_000)}, "damaged|expected 19683"),
    ]:
        with pytest.raises(InvalidFileError, match=why):
            read(npz(**arrays), "values.npz")
    whole = npz(V_x=good, V_o=good)
    for cut in (100, len(whole) // 2, len(whole) - 30):
        with pytest.raises(InvalidFileError):
            read(whole[:cut], "values.npz")
    other = io.BytesIO()
    with zipfile.ZipFile(other, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("V_x.npy", b"\0" * 10**7)
        archive.writestr("V_o.npy", b"\0" * 10**7)
    with pytest.raises(InvalidFileError):
        read(other.getvalue(), "bomb.npz")


def test_a_q_table_comes_back():
    values = np.where(SPACE.legal, np.random.default_rng(1).standard_normal((len(SPACE), 9)), 0.0)
    keys = {text.translate(str.maketrans(".XO", "012")): row for row, text in enumerate(SPACE.texts())}
    lines = (
        f'"{key}":{orjson.dumps(values[row].tolist()).decode()}'
        for key, row in sorted(keys.items())
        if not SPACE.terminal[row]
    )
    data = ("{\n" + ",\n".join(lines) + "\n}\n").encode()
    found = read(data, "q.json")
    assert (found.format, found.learner, found.positions, found.moves) == ("q-table", "q", 4520, 16167)
    assert written_again(data, "q.json") == data


def test_fillers_and_ended_positions_of_a_q_table_are_ignored():
    table = {
        "121220100": [7, -3, 2, 1e300, 0, 0.25, 5, 0.5, -0.125],
        "111220000": [1] * 9,
        "000000000": [0] * 9,
    }
    found = read(json.dumps(table).encode(), "q.json")
    assert found.format == "q-table"
    assert found.entries == {"XOXOO.X..": {"6": [0.25, 1], "8": [0.5, 1], "9": [-0.125, 1]}}


@given(st.binary(max_size=400))
@settings(max_examples=60, deadline=None)
def test_any_bytes_are_read_or_refused_in_a_line(data):
    content = source.Source("file", data)
    try:
        recognise(content, DEFAULTS).read(content, DEFAULTS)
    except InvalidFileError as error:
        assert "\n" not in str(error)
