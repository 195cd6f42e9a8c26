"""The four authors' formats: what is read, put right, refused with its place, and written back."""

import io
import json
import math
import random
import re
import zipfile
from functools import cache
from unittest.mock import ANY

import numpy as np
import orjson
import pytest

from tests.store.conftest import parse
from tests.store.formats.programs import SPACE, TEXTS, entries, npz, read, refused
from tests.store.formats.strangers import EMPTY, after, free, symbols, winner
from ttt_cli.engine.game import Game
from ttt_cli.engine.rules import STANDARD
from ttt_cli.store import library
from ttt_cli.store.formats import all_formats, books, value_table
from ttt_cli.store.formats.format import ExportSource, Loaded, Rejected
from ttt_cli.store.library import load
from ttt_cli.store.state import State


def written(state: State, name: str, ending: str = "") -> bytes:
    form = next(form for form in all_formats() if form.name == name)
    return b"".join(form.write(ExportSource("", state, state.policy, suffix=ending)))


def written_again(data: bytes, where: str) -> bytes:
    """What a state of the content of a file is written as in the same format."""
    found = read(data, where)
    return written(found.state, found.format)


def kind(found: Loaded) -> tuple[str, str, str]:
    return found.format, found.state.learner.name, found.state.learner.choice


def book_of(found: Loaded) -> set[tuple[str, int, int, str]]:
    """The rows of a book: position, move, plies, result."""
    return {(text, *row[:3]) for text, rows in entries(found).items() for row in rows}


def brain_of(games: list[list[int]]) -> dict:
    """The graph machine's brain after these games, as its author's program keeps it."""
    brain: dict[str, dict] = {}
    keys: dict[str, str] = {}

    def node(board: str) -> str:
        if board not in keys:
            keys[board] = key = str(len(brain))
            won = {"X": 1, "O": -1, None: 0}[winner(board)]
            brain[key] = {"state": symbols(board), "next": [], "score": won, "end": won != 0}
        return keys[board]

    for game in games:
        board = EMPTY
        for cell in game:
            at, board = node(board), after(board, cell)
            if (then := node(board)) not in brain[at]["next"]:
                brain[at]["next"].append(then)
    for found in sorted(brain.values(), key=lambda found: found["state"].count(0)):
        if found["next"]:
            found["score"] = 0.9 * max((brain[key]["score"] for key in found["next"]), key=abs)
    return brain


def random_games(seed: int, count: int) -> list[list[int]]:
    rng, games = random.Random(seed), []
    for _ in range(count):
        board, game = EMPTY, list[int]()
        while cells := free(board):
            game.append(rng.choice(cells))
            board = after(board, game[-1])
        games.append(game)
    return games


def dump(brain: dict) -> bytes:
    return json.dumps(brain, indent=4).encode()


def test_a_brain_comes_back_byte_for_byte():
    data = dump(brain_of(random_games(1, 40)))
    found = read(data, "brain.json")
    assert kind(found) == ("state-action", "graph", "article")
    assert not found.repaired
    assert written_again(data, "brain.json") == written_again(data + b"\n", "brain.json") == data


def test_the_spelling_of_zeros_survives():
    brain = brain_of([[0, 1, 2, 4, 3, 5, 7, 6, 8], [8, 0, 1]])
    leaf = list(brain)[-1]
    brain[leaf]["score"] = 0.0
    brain["0"]["score"] = 0
    found = read(dump(brain), "brain.json")
    assert not found.repaired
    state = parse(library.content(found.state), "saved.json")
    assert written(state, "state-action") == dump(brain)
    longer = found.state
    longer.learner.learn(longer.table, Game.of(STANDARD, [8, 0, 5, 4, 2]))
    assert b'"score": 0,' not in written(longer, "state-action").split(b"}")[0]


@pytest.mark.parametrize(
    ("changes", "repaired"),
    [
        ({"0": {"score": 0.5}, "1": {"score": -1}}, "2 of [0-9]+ scores were stale and have been recomputed"),
        ({"0": {"state": []}}, ""),
    ],
)
def test_stale_scores_and_a_root_without_a_board_are_put_right(changes, repaired):
    brain = brain_of(random_games(1, 30))
    right = dump(brain)
    for key, change in changes.items():
        brain[key].update(change)
    (said,) = read(dump(brain), "brain.json").repaired
    assert re.match(repaired, said)
    refused(dump(brain), f"refused by --strict: {repaired}", "brain.json", strict=True)
    assert written_again(dump(brain), "brain.json") == right
    assert read(right.replace(b"    ", b""), "brain.json").repaired == [
        "laid out differently from the format"
    ]


def test_a_second_empty_board_joins_such_a_root():
    first, last = symbols("X........"), symbols("........X")
    brain = {
        "0": {"state": [], "next": ["1", "2"], "score": 0.0, "end": False},
        "1": {"state": symbols(EMPTY), "next": ["2", "3"], "score": 0.0, "end": False},
        "2": {"state": first, "next": [], "score": 0, "end": False},
        "3": {"state": last, "next": [], "score": 0, "end": False},
    }
    assert "'1'" in read(dump(brain), "brain.json").repaired[0]
    written = json.loads(written_again(dump(brain), "brain.json"))
    assert [node["state"] for node in written.values()] == [symbols(EMPTY), first, last]
    assert written["0"]["next"] == ["1", "2"]


@pytest.mark.parametrize(
    ("key", "change", "why"),
    [
        ("3", {"state": symbols("X........")}, "the same board as key"),
        ("3", {"state": [1] * 9}, "X moves first"),
        ("3", {"state": [1] * 8}, "state: 9 numbers"),
        ("1", {"next": ["3"]}, "not a node one move further"),
        ("1", {"next": ["2", "2"]}, "twice"),
        ("1", {"next": [2]}, "a list of keys"),
        ("7", {"end": False}, "end is false, but X has won"),
        ("1", {"end": True}, "nobody has won"),
        ("1", {"score": "0"}, "score: a finite number"),
        ("1", {"state": [True] + [0] * 8}, "state: 9 numbers"),
        ("1", {"score": math.nan}, "score: a finite number"),
        ("1", {"more": 0}, "and nothing else"),
    ],
)
def test_a_broken_brain_is_refused_naming_the_key(key, change, why):
    brain = brain_of([[0, 4, 8, 2, 6, 3, 7], [4, 0, 8, 2, 1, 7, 3, 5, 6]])
    brain[key].update(change)
    assert refused(dump(brain), why, "brain.json").where == f"brain.json, key '{key}'"


def test_keys_of_a_brain_count_from_0():
    brain = {{"5": "99"}.get(key, key): node for key, node in brain_of([[0, 4, 8, 2, 6, 3, 7]]).items()}
    assert refused(dump(brain), "expected key '5' with", "brain.json").where == "brain.json, key '99'"


BOOK = (
    "-1,0,0,0,1,0,0,0,0,-3,4\n-1,0,0,0,0,0,0,0,0,5,7\r\n\n-1,0,0,0,0,0,0,0,0,5,9\n-1,-1,0,1,1,0,0,0,0,-3,4\n"
)


def test_a_row_implies_the_side_and_the_winner():
    found = read("\ufeff" + BOOK, "book.csv")
    assert kind(found) == ("moves-csv", "book", "article")
    assert book_of(found) == {
        ("X........", 5, 8, "O"),
        ("X........", 5, 9, "draw"),
        ("X...O....", 3, 5, "X"),
        ("XX.OO....", 3, 5, "X"),
    }
    again = written(found.state, "moves-csv")
    assert again == written_again(again, "book.csv")
    assert again.splitlines() == sorted(
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
    ],
)
def test_impossible_rows_are_left_out_with_their_lines(row, why):
    data = BOOK.replace("\n\n", f"\n{row}\n")
    found = read(data, "book.csv")
    assert len(book_of(found)) == 4
    assert [(item.where, bool(re.search(why, item.why))) for item in found.rejected] == [("line 3", True)]
    refused(data, f"left out line 3: .*{why}", "book.csv", strict=True)


@pytest.mark.parametrize("stage", [5, 9])
def test_a_row_with_an_impossible_end_is_kept_and_noted(stage, tmp_path):
    """X wins at once here, so the game cannot go on: its author's player still plays by such a row."""
    data = f"-1,-1,0,1,1,0,0,0,0,-3,{stage}\n-1,-1,0,1,1,0,0,0,0,-9,{stage}\n".encode()
    found = read(data, "book.csv")
    assert not found.rejected and len(book_of(found)) == 2
    assert any("no game with this move ends" in note for note in found.notes)
    refused(data, "no game with this move ends", "book.csv", strict=True)
    (tmp_path / "book.csv").write_bytes(data)
    assert [item.where for item in library.verify(tmp_path / "book.csv").rejected] == ["line 1"]
    state = load(tmp_path / "book.csv").state
    again = parse(library.content(state), "again.csv")
    assert sorted(written(state, "moves-csv").splitlines()) == sorted(data.splitlines())
    for one in (state, again):
        (row,) = one.policy.probabilities(SPACE[[TEXTS.index("XX.OO....")]])
        shares = [0, 0, 0.5, 0, 0, 0, 0, 0, 0.5] if stage < 9 else [0, 0, 0.2, 0, 0, 0.2, 0.2, 0.2, 0.2]
        assert row.tolist() == shares  # draws are set aside
        (counts,) = one.with_choice("default").policy.values(SPACE[[TEXTS.index("XX.OO....")]])
        assert np.isnan(counts).tolist() == [True] * 8 + [False]  # which leave the winning move's row aside


def test_blank_and_repeated_rows_and_line_ends_are_put_right(tmp_path):
    good = b"-1,-1,1,-1,-1,1,0,1,0,9,7"
    lines = [good, b"0,0,0,0,0,0,0,0,0,-5,9\r", b"", b"1,2,3", good + b" ", b"  ", b"1,2,3", good] * 50
    path = tmp_path / "book.csv"
    path.write_bytes(b"\xef\xbb\xbf" + b"\n".join(lines))
    found = load(path)
    assert found.rejected[:2] == [Rejected("line 4", ANY), Rejected("line 7", ANY)]
    assert found.repaired == ["198 repeated rows were dropped"]
    assert len(book_of(found)) == 2 and len(found.rejected) == 100
    assert read(b"\n".join([good] * 2), "book.csv", strict=True).notes == ["1 repeated row was dropped"]
    found = read(b"\n".join([good, *(b"%d" % number for number in range(8))]), "book.csv")
    assert found.remarks[-1] == "book.csv: left out more for other reasons (ttt verify lists them)"


def test_a_stage_is_possible_exactly_where_a_game_can_end_so():
    """Every game, from its end backwards: the stages that a row may have are those of some game."""
    rows = set()
    for game in random_games(3, 150):
        boards = [EMPTY]
        for cell in game:
            boards.append(after(boards[-1], cell))
        end = len(game), winner(boards[-1]) or "draw"
        rows |= {(board, cell + 1, *end) for board, cell in zip(boards, game, strict=False)}
    data = b"".join(books.moves_csv(rows))
    found = read(data, "book.csv")
    assert written(found.state, "moves-csv") == data and not found.rejected and not found.notes


@cache
def value_csv(*changes: tuple[int, float]) -> bytes:
    """The values before any learning, but for those of some boards."""
    values = value_table.starts().copy()
    for index, value in changes:
        values[:, index] = value, 1 - value
    lines = (f"{index},{x!r},{o!r}\n" for index, (x, o) in enumerate(values.T.tolist()))
    return f"index,value_x,value_o\n{''.join(lines)}".encode()


def index_of(text: str) -> int:
    return int("".join(symbols(text[::-1], "1", "2", "0")), 3)


def test_values_come_back():
    boards = random.Random(1).sample(TEXTS, 500)
    learned = {index_of(text): number / 1000 for number, text in enumerate(boards)}
    data = value_csv(*learned.items())
    found = read(data, "values.csv")
    assert kind(found) == ("value-table", "td", "article")
    held = entries(found)
    for text in boards[1::97]:
        entry, value = held[text], learned[index_of(text)]
        assert [entry["x"][0], entry["o"][0]] == [value, 1 - value]
    values = np.loadtxt(io.BytesIO(data), delimiter=",", skiprows=1).T
    for arrays in (npz(V_x=values[1], V_o=values[2]), written(found.state, "value-table", ".npz")):
        assert arrays.startswith(b"PK") and entries(read(arrays, "values.npz")) == held
    assert written_again(data, "values.csv") == data
    assert entries(read(data.replace(b"\n", b"\r\n"), "values.csv")) == held
    nine_of_o = value_csv((3**9 - 1, 0.25))
    assert [item.where for item in read(nine_of_o, "values.csv").rejected] == ["index 19682"]


def test_an_untrained_table_holds_the_authors_starting_values():
    starts = {"X........": [0.5, 0.5], "XXX.OO...": [1, 0], "OOO.XX.X.": [0, 1], "XOXXOOOXX": [0, 0]}
    starts |= {"XXX...OOO": [1, 1], "XXXXXXXXX": [1, 0]}  # which no game reaches
    assert {text: value_table.starts()[:, index_of(text)].tolist() for text in starts} == starts


@pytest.mark.parametrize(
    ("old", "new", "why", "where"),
    [
        (b"\n7,", b"\n8,", "each once", "line 10"),
        (b"\n19682,", b"\n19683,", "index of 0 to 19682, .* found '19683,", "line 19684"),
        (b"\n19682,", b"\n\n", "index 19682 is missing", ""),
        (b"\n7,", b"\n0.5,0,0\n7,", "each once", "line 9"),
        (b"\n7,", b"\n7,,", "two numbers", "line 9"),
        (b"\n7,0.5,", b"\n7,nan,", "and two numbers, found '7,nan", "line 9"),
    ],
)
def test_a_broken_value_table_is_refused(old, new, why, where):
    data = value_csv().replace(old, new, 1)
    assert where in refused(data.split(b"\n\n")[0], why, "values.csv").where


def test_arrays_are_checked_and_pickles_in_them_not_loaded():
    good = np.zeros(19683)
    objects = np.array([{"a": 1}] * 19683, dtype=object)
    for arrays, why in [
        ({"V_o": good}, "V_x: expected .*; found only .'V_o'"),
        ({"V_x": good, "V_o": objects}, "Python objects"),
        ({"V_x": good, "V_o": good[1:]}, "expected 19683 numbers"),
        ({"V_x": good, "V_o": good.astype(int)}, "found int64"),
        ({"V_x": good, "V_o": np.full(19683, np.nan)}, "expected 19683 numbers"),
    ]:
        refused(npz(**arrays), why, "values.npz")
    whole = npz(V_x=good, V_o=good)
    for cut in (100, len(whole) // 2, len(whole) - 30):
        refused(whole[:cut], where="values.npz")
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("V_x.npy", b"\0" * 10**7)
        archive.writestr("V_o.npy", b"\0" * 10**7)
    refused(bomb.getvalue(), where="bomb.npz")


@pytest.mark.long
def test_a_q_table_comes_back():
    values = np.where(SPACE.legal, np.random.default_rng(1).standard_normal((len(SPACE), 9)), 0.0)
    keys = {text.translate(str.maketrans(".XO", "012")): row for row, text in enumerate(TEXTS)}
    lines = (
        f'"{key}":{orjson.dumps(values[row].tolist()).decode()}'
        for key, row in sorted(keys.items())
        if not SPACE.terminal[row]
    )
    data = ("{\n" + ",\n".join(lines) + "\n}\n").encode()
    found = read(data, "q.json")
    assert kind(found) == ("q-table", "q", "article") and found.state.size == (4520, 16167)
    assert written_again(data, "q.json") == data


def test_fillers_and_ended_positions_of_a_q_table_are_ignored():
    fillers = [7, -3, 2, 1e300, 0, 0.25, 5, 0.5, -0.125]
    found = read({"121220100": fillers, "111220000": [1] * 9, "000000000": [0] * 9}, "q.json")
    assert found.format == "q-table" and found.state.plays is None
    assert entries(found) == {"XOXOO.X..": {"6": [0.25, 1], "8": [0.5, 1], "9": [-0.125, 1]}}
