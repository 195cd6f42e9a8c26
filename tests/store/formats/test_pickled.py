"""A pickled table is read as the JSON document of the same content is, however its author keeps it."""

import io
import os
import pickle
import zipfile
import zlib
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from tests.store.formats.programs import entries, npy, npz, read, refused
from tests.store.formats.strangers import MOVES, POSITIONS, ROWS, by_cell, free, in_base_3, symbols
from tests.store.pickles import samples
from tests.ttt import some
from ttt_cli.store import source


def array(board: str) -> np.ndarray:
    return np.array(symbols(board))


KEYS = {
    "text": str,
    "tuple": lambda board: tuple(symbols(board)),
    "tuple of tuples": lambda board: tuple(map(tuple, array(board).reshape(3, 3).tolist())),
    "tuple of NumPy's numbers": lambda board: tuple(array(board)),
    "printed array": lambda board: str(array(board).astype(float)),
    "bytes of int64": lambda board: array(board).tobytes(),
    "bytes of int8": lambda board: array(board).astype(np.int8).tobytes(),
    "bytes of float64": lambda board: array(board).astype(float).tobytes(),
    "text as bytes": str.encode,
    "letters": tuple,
    "base-3 number": lambda board: float(in_base_3(board)),
    "base-3 number of NumPy's": lambda board: np.float64(in_base_3(board)),
}
"""How authors key a table by positions."""
VALUES = {
    "positions": lambda spell: {spell(board): value for board, value in POSITIONS.items()},
    "arrays": lambda spell: {spell(board): np.array(row) for board, row in ROWS.items()},
    "by cell": lambda spell: {spell(board): cells for board, cells in by_cell(MOVES).items()},
    "beside": lambda spell: {(spell(board), cell): value for (board, cell), value in MOVES.items()},
}
"""What they key."""


@cache
def wanted(kept: str) -> dict[str, object]:
    """What is read of the values, spelled in JSON."""
    rows = {board: {c: row[c] for c in free(board)} for board, row in ROWS.items()}
    return entries(read({"positions": POSITIONS, "arrays": rows}.get(kept, by_cell(MOVES))))


@pytest.mark.parametrize("case", some(zip(KEYS, 3 * [*VALUES], strict=True)))
def test_a_table_by_every_kind_of_key(case):
    key, kept = case
    found = read(pickle.dumps(VALUES[kept](KEYS[key])), "a.pkl")
    assert (found.format, found.state.learner.name) == ("pickle", "td" if kept == "positions" else "q")
    assert entries(found) == wanted(kept) and not found.rejected
    assert "nothing was executed" in found.notes[0]


def test_a_pickle_may_be_packed_by_zlib(monkeypatch):
    data = pickle.dumps(POSITIONS)
    for level in (1, 3, 9):
        assert entries(read(zlib.compress(data, level), "a.pkl")) == wanted("positions")
    packed = zlib.compress(data)
    refused(packed[:-5], "cut off")
    refused(packed[:-4] + b"????", "damaged")
    refused("x^2,1\n", "keys are not positions")
    monkeypatch.setattr(source, "FREE_BYTES", 1000)
    monkeypatch.setattr(source, "UNPACKED_PER_BYTE", 1)
    assert "TTT_LIMITS" in refused(packed, "when unpacked").hint


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (samples.Agent(5), "it holds objects of tests.store.pickles.samples.Agent"),
        ({}, "holds no positions"),
        (3.5, "holds no table"),
        ([1, 2], "holds no table"),
        ({"XO": 1.0}, "not positions"),
        ({1: 0.5, "1": 0.5}, "the key is repeated"),
        ({"alpha": 0.5, "q": {**ROWS, "XXX......": [1.0] * 9}}, "moves first: .* 1 of .* positions .*'XXX"),
    ],
)
def test_a_pickle_without_a_table_says_what_it_holds(value, why):
    refused(pickle.dumps(value), why, "a.pkl")


def test_network_weights_are_named_as_such():
    checkpoint = io.BytesIO()
    with zipfile.ZipFile(checkpoint, "w") as archive:
        archive.writestr("model/data.pkl", b"\x80\x02}q\x00.")
    forest = b"\x80\x03csklearn.ensemble._forest\nRandomForestClassifier\nq\x00)\x81q\x01}q\x02b."
    for data, package in [(checkpoint.getvalue(), "torch"), (forest, "sklearn")]:
        assert "exec:COMMAND" in refused(data, f"a model of {package}", "model.pth").hint


def test_recursive_and_exploding_pickles_are_read_or_refused(monkeypatch):
    agent = samples.Agent(POSITIONS)
    agent.game = {"players": [agent, agent]}
    found = read(pickle.dumps(agent), "a.pkl")
    assert entries(found) == wanted("positions")
    assert any("records of their attributes" in note for note in found.notes)
    monkeypatch.setattr("ttt_cli.store.pickles.MAX_VALUES", 40_000)
    laughs: list[object] = [0.5] * 10
    for _ in range(20):
        laughs = [laughs] * 10
    refused(pickle.dumps({"X........": laughs}), "holds more than 40,000 values")
    loop: dict[str, object] = {}
    loop["X........"] = loop
    assert "objects" not in refused(pickle.dumps(loop)).hint


def test_a_dict_in_a_file_of_numpy():
    for data in (npy(POSITIONS), npz(q=POSITIONS), npz(q=POSITIONS, alpha=0.5)):
        found = read(data, "a.npy")
        assert found.format == "npy" and entries(found) == wanted("positions")
        assert not any("objects" in note for note in found.notes)


@pytest.mark.parametrize("by_symbol", [True, pytest.param(False, marks=pytest.mark.long)])
def test_an_array_with_a_row_for_each_board(by_symbol):
    table = np.zeros((3**9, 9))
    for (board, cell), value in MOVES.items():
        table[in_base_3(board), cell] = value
    shaped = table.reshape((3,) * 9 + (9,)) if by_symbol else table
    keyed = {
        (np.base_repr(index, 3).rjust(9, "0") if by_symbol else str(index)): table[index].tolist()
        for index in np.flatnonzero(table.any(axis=1)).tolist()
    }
    found = read(npy(shaped), "a.npy")
    assert found.state.learner.name == "q" and entries(found) == entries(read(keyed))
    assert entries(read(npz(Q=shaped), "a.npz")) == entries(found)
    assert entries(read(npz(alpha=np.array([0.1]), Q=shaped), "a.npz")) == entries(found)
    assert entries(read(pickle.dumps({"alpha": 0.1, "Q": shaped}), "a.pkl")) == entries(found)
    assert "19,683" not in found.notes[0] and f"{19683 - len(keyed):,} rows" in found.notes[0]
    if not by_symbol:
        other_end = [int(np.base_repr(index, 3).rjust(9, "0")[::-1], 3) for index in range(3**9)]
        assert entries(read(npy(table[other_end]), "a.npy")) == entries(found)
        turn = np.array([np.base_repr(index, 3).count("1") % 2 for index in range(3**9)])
        turn ^= np.array([np.base_repr(index, 3).count("2") % 2 for index in range(3**9)])
        tables = np.where(turn[None, :, None] == [[[0]], [[1]]], table, 0.0)  # each player's own
        assert entries(read(npy(tables), "a.npy")) == entries(found)


def test_unsuitable_numpy_files_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    whole = npy(POSITIONS)
    for data, why in [
        (npy(np.zeros((4, 4))), "an array of shape"),
        (npy(np.zeros(4)), "an array of shape"),
        (npy(np.zeros((19683, 4))), "an array of shape"),
        (npy(np.zeros(2, [("a", object)])), "damaged .npy"),
        (npy(np.zeros(2, [("a", float)])), "holds an array of"),
        (npy(np.zeros(0)), "an array of float64 of shape .0,"),
        (npy(np.zeros(19683))[:-8], "damaged .npy"),
        (whole[:-3], "damaged"),
        (whole[:40], "damaged .npy"),
        (whole.replace(b"\x93NUMPY\x01", b"\x93NUMPY\x09"), "damaged .npy"),
        (npy(np.zeros(9)).replace(b"(9,)", b"(9999999999999,)".ljust(4))[:200], "damaged .npy"),
        (npy(samples.Call(os.mkdir, "PWNED")), "names '(posix|os|nt).mkdir'"),
        (npz(q=POSITIONS)[:-20], "damaged .npz"),
        (npz(q=samples.Call(os.mkdir, "PWNED")), "mkdir"),
    ]:
        refused(data, why, "a.npy")
    assert not list(Path().iterdir())
