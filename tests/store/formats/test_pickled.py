"""A pickled table is read as the JSON document of the same content is, however its author keeps it."""

import io
import json
import os
import pickle
import zipfile
import zlib
from collections import OrderedDict, defaultdict
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from tests.store.formats import strangers
from tests.store.formats.reading import read
from tests.store.pickles import samples
from ttt_cli.errors import InvalidFileError
from ttt_cli.store import npy


@cache
def moves() -> dict[tuple[str, int], float]:
    return strangers.move_values(150)


@cache
def positions() -> dict[str, float]:
    return strangers.position_values(150)


def stones(board: str) -> list[int]:
    return [{".": 0, "X": 1, "O": -1}[stone] for stone in board]


def array(board: str) -> np.ndarray:
    return np.array(stones(board))


def in_base_3(board: str) -> float:
    return float(sum(3 ** (8 - cell) * (stone % 3) for cell, stone in enumerate(stones(board))))


POSITIONS = {
    "text": str,
    "tuple": lambda board: tuple(stones(board)),
    "tuple of tuples": lambda board: tuple(map(tuple, array(board).reshape(3, 3).tolist())),
    "tuple of NumPy's numbers": lambda board: tuple(array(board)),
    "printed array": lambda board: str(array(board).astype(float)),
    "bytes of int64": lambda board: array(board).tobytes(),
    "bytes of int8": lambda board: array(board).astype(np.int8).tobytes(),
    "bytes of float64": lambda board: array(board).astype(float).tobytes(),
    "text as bytes": str.encode,
    "letters": tuple,
    "base-3 number": in_base_3,
    "base-3 number of NumPy's": lambda board: np.float64(in_base_3(board)),
}
"""How authors key a table by positions."""
KEEPS = {
    "dict": dict,
    "OrderedDict": OrderedDict,
    "defaultdict": lambda table: defaultdict(float, table),
    "attribute": samples.Agent,
    "slot": samples.Slotted,
    "its own class": samples.Table,
    "beside settings": lambda table: {"alpha": 0.5, "q_table": table, "history": [1, 2]},
    "in a pair": lambda table: (table, {"alpha": 0.5}),
    "array of one object": lambda table: np.array(table, dtype=object),
}
"""And where they keep it."""


def by_json(table: dict[str, object]):
    return read(json.dumps(table).encode(), "a.json")


@pytest.mark.parametrize("key", POSITIONS)
def test_values_of_positions_by_every_kind_of_key(key):
    spelled = {POSITIONS[key](board): value for board, value in positions().items()}
    wanted = by_json({str(int(at)): v for at, v in spelled.items()} if "base-3" in key else positions())
    for data in (pickle.dumps(spelled), pickle.dumps(spelled, 1)):
        found = read(data, "a.pkl")
        assert (found.format, found.learner) == ("pickle", "td")
        assert found.entries == wanted.entries and not found.rejected


@cache
def moves_by_cell():
    """What is read of the moves, spelled in JSON."""
    boards = {board for board, _ in moves()}
    return by_json(
        {board: {str(c): moves().get((board, c), 0.0) for c in strangers.free(board)} for board in boards}
    )


@pytest.mark.parametrize(
    ("key", "kept"), list(zip(POSITIONS, 4 * ("array", "by cell", "beside"), strict=True))
)
def test_values_of_moves_by_cell_as_arrays_and_beside_the_position(key, kept):
    spell = POSITIONS[key]
    rows = {spell(board): np.array(row) for board, row in strangers.in_rows(moves()).items()}
    table = {
        "array": rows,
        "by cell": {spelled: dict(enumerate(row)) for spelled, row in rows.items()},
        "beside": {(spell(board), cell): value for (board, cell), value in moves().items()},
    }[kept]
    found = read(pickle.dumps(table), "a.pkl")
    assert found.learner == "q" and found.entries == moves_by_cell().entries


@pytest.mark.parametrize("keep", KEEPS)
def test_tables_wherever_they_are_kept(keep):
    wanted = by_json(positions())
    for data in samples.dumped(KEEPS[keep](positions()))[::-3]:
        found = read(data, "a.pkl")
        assert found.entries == wanted.entries
        assert "nothing was executed" in found.notes[0]
        author = [note for note in found.notes if "records of their attributes" in note]
        assert bool(author) == (keep in ("attribute", "slot", "its own class"))


def test_a_pickle_may_be_packed_by_zlib(monkeypatch):
    data = pickle.dumps(positions())
    for level in (1, 3, 9):
        assert read(zlib.compress(data, level), "a.pkl").entries == read(data, "a.pkl").entries
    packed = zlib.compress(data)
    for bad, why in [(packed[:-5], "ends in the middle"), (packed[:-4] + b"????", "damaged")]:
        with pytest.raises(InvalidFileError, match=why):
            read(bad, "a.pkl")
    with pytest.raises(InvalidFileError, match="keys are not positions"):
        read(b"x^2,1\n", "a.csv")
    monkeypatch.setattr(npy, "USUAL", 1000)
    monkeypatch.setattr(npy, "RATIO", 1)
    with pytest.raises(InvalidFileError, match="once unpacked") as refused:
        read(packed, "a.pkl")
    assert "TTT_LIMITS" in refused.value.hint


def test_what_gives_defaults_is_noted():
    items = b"".join(
        b"V%b\nF%b\n" % (board.encode(), str(value).encode()) for board, value in positions().items()
    )
    found = read(b"ccollections\ndefaultdict\n(cagent\nzeros\ntR(" + items + b"u.", "a.pkl")
    assert found.entries == by_json(positions()).entries
    assert "takes what is not in it from agent.zeros, which was not called" in found.notes[-1]


def test_a_pickle_without_a_table_says_what_it_holds():
    for value, why in [
        (samples.Agent(5), "it holds objects of tests.store.pickles.samples.Agent"),
        ({}, "holds no positions"),
        (3.5, "holds no table"),
        ([1, 2], "holds no table"),
        ({"XO": 1.0}, "not positions"),
        ({1: 0.5, "1": 0.5}, "the key is there twice"),
        ({"alpha": 0.5, "q": {**positions(), "XXX......": 1.0}}, "1 of [0-9]+ are not positions .*'XXX"),
    ]:
        with pytest.raises(InvalidFileError, match=why):
            read(pickle.dumps(value), "a.pkl")


def test_weights_of_networks_are_called_what_they_are():
    checkpoint = io.BytesIO()
    with zipfile.ZipFile(checkpoint, "w") as archive:
        archive.writestr("model/data.pkl", b"\x80\x02}q\x00.")
    forest = b"\x80\x03csklearn.ensemble._forest\nRandomForestClassifier\nq\x00)\x81q\x01}q\x02b."
    for data, package in [(checkpoint.getvalue(), "PyTorch"), (forest, "scikit-learn")]:
        with pytest.raises(InvalidFileError, match=f"a model of {package}") as refused:
            read(data, "model.pth")
        assert "exec:COMMAND" in refused.value.hint


def test_what_contains_itself_or_grows_without_end_is_read_or_refused(monkeypatch):
    agent = samples.Agent(positions())
    agent.game = {"players": [agent, agent]}
    assert read(pickle.dumps(agent), "a.pkl").entries == by_json(positions()).entries
    monkeypatch.setattr("ttt_cli.store.pickles.MOST_VALUES", 40_000)
    laughs: list[object] = [0.5] * 10
    for _ in range(20):
        laughs = [laughs] * 10
    with pytest.raises(InvalidFileError, match="holds more than 40,000 values"):
        read(pickle.dumps({"X........": laughs}), "a.pkl")
    loop: dict[str, object] = {}
    loop["X........"] = loop
    with pytest.raises(InvalidFileError):
        read(pickle.dumps(loop), "a.pkl")


def saved(array: object) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


def archived(**arrays: object) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def test_a_dict_in_a_file_of_numpy():
    wanted = by_json(positions())
    for data in (saved(positions()), archived(q=positions()), archived(q=positions(), alpha=0.5)):
        found = read(data, "a.npy")
        assert found.format == "npy" and found.entries == wanted.entries


@pytest.mark.parametrize("by_cell", [True, False])
def test_an_array_with_a_row_for_each_board(by_cell):
    table = np.zeros((3**9, 9))
    for (board, cell), value in moves().items():
        table[int(in_base_3(board)), cell] = value
    shaped = table.reshape((3,) * 9 + (9,)) if by_cell else table
    keyed = {
        (np.base_repr(index, 3).rjust(9, "0") if by_cell else str(index)): table[index].tolist()
        for index in np.flatnonzero(table.any(axis=1)).tolist()
    }
    found = read(saved(shaped), "a.npy")
    assert found.learner == "q" and found.entries == by_json(keyed).entries
    assert "19,683" not in found.notes[0] and f"{19683 - len(keyed):,} rows" in found.notes[0]
    if not by_cell:
        assert read(pickle.dumps({"alpha": 0.1, "Q": table}), "a.pkl").entries == found.entries
        turn = np.array([np.base_repr(index, 3).count("1") % 2 for index in range(3**9)])
        turn ^= np.array([np.base_repr(index, 3).count("2") % 2 for index in range(3**9)])
        tables = np.where(turn[None, :, None] == [[[0]], [[1]]], table, 0.0)  # each player's own
        assert read(saved(tables), "a.npy").entries == found.entries


def test_files_of_numpy_that_hold_no_table_or_harm(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    whole = saved(positions())
    for data, why in [
        (saved(np.zeros((4, 4))), "an array of shape"),
        (saved(np.zeros(2, [("a", object)])), "damaged .npy"),
        (saved(np.zeros(2, [("a", float)])), "damaged .npy"),
        (saved(np.zeros(0)), "damaged .npy"),
        (saved(np.zeros(19683))[:-8], "damaged .npy"),
        (whole[:-3], "ends in the middle"),
        (whole[:40], "damaged .npy"),
        (whole.replace(b"\x93NUMPY\x01", b"\x93NUMPY\x09"), "damaged .npy"),
        (saved(np.zeros(9)).replace(b"(9,)", b"(9999999999999,)".ljust(4))[:200], "damaged .npy"),
        (saved(samples.Call(os.mkdir, "PWNED")), "names 'posix.mkdir'|names 'os.mkdir'|names 'nt.mkdir'"),
        (archived(q=positions())[:-20], "damaged .npz"),
        (archived(q=samples.Call(os.mkdir, "PWNED")), "mkdir"),
    ]:
        with pytest.raises(InvalidFileError, match=why):
            read(data, "a.npy")
    assert not list(Path().iterdir())
