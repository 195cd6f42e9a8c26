"""Pickles of plain data are read as ``pickle`` reads them, and nothing in any pickle is executed."""

import pickle
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tests.store.pickles import samples
from tests.ttt import TEXTS
from ttt_cli.errors import InvalidFileError
from ttt_cli.store import pickles
from ttt_cli.store.formats.pickled import is_pickle
from ttt_cli.store.pickles import read_pickle
from ttt_cli.store.system import scale_limits


def document(value):
    """What JSON could hold of what Python made of a pickle."""
    if isinstance(value, dict):
        return {
            str(key) if isinstance(key, str) else part_of(key): document(part) for key, part in value.items()
        }
    if isinstance(value, (set, frozenset, list, tuple)):
        return [document(member) for member in value]
    if isinstance(value, np.ndarray):
        return document(value.tolist()) if value.size else []
    if isinstance(value, np.generic):
        return document(value.item())
    if isinstance(value, (bytes, bytearray)):
        return value.decode("latin-1")
    return value


def part_of(key):
    if isinstance(key, (tuple, frozenset)):
        return f"({', '.join(map(part_of, key))})"
    if isinstance(key, np.generic):
        return part_of(key.item())
    if isinstance(key, bytes):
        return repr(key)
    return str(int(key)) if isinstance(key, float) and key.is_integer() else repr(key)


def read(data):
    return read_pickle(data, "a.pkl")[0]


@pytest.mark.parametrize("name", samples.TABLES)
def test_plain_data_is_read_as_python_reads_it(name):
    for data in samples.dumped(samples.TABLES[name]):
        assert is_pickle(data)
        found, wanted = read(data), document(pickle.loads(data))
        if name == "sets":
            found, wanted = ([sorted(map(repr, one)) for one in part] for part in (found, wanted))
        if name == "bytes":  # keys may be those of arrays
            found, wanted = (list(part.values()) for part in (found, wanted))
        assert repr(found) == repr(wanted)  # with types, and signs of zeros


@pytest.mark.parametrize("data", samples.HANDMADE)
def test_pickles_by_hand_are_read_as_python_reads_them(data):
    assert is_pickle(data)
    assert read(data) == document(pickle.loads(data, encoding="latin-1"))


KEYS = st.tuples(st.integers(-(2**80), 2**80) | TEXTS, st.tuples(st.booleans()))
SCALARS = st.none() | st.booleans() | st.integers(-(2**80), 2**80) | st.floats(allow_nan=False) | TEXTS
VALUES = st.recursive(
    SCALARS | st.binary() | st.binary().map(bytearray),
    lambda inner: (
        st.lists(inner, max_size=4).map(lambda found: [0, *found]) | st.dictionaries(KEYS, inner, max_size=4)
    ),
    max_leaves=20,
)


@given(VALUES, st.sampled_from(samples.PROTOCOLS))
def test_any_plain_data(value, protocol):
    assert repr(read(pickle.dumps(value, protocol))) == repr(document(value))


def test_objects_of_an_author_are_records():
    for agent in samples.dumped(samples.Agent({"a": 1})):
        found, classes = read_pickle(agent, "a.pkl")
        assert found["table"] == {"a": 1} and found["itself"] is None
        assert classes == ("tests.store.pickles.samples.Agent",)
    for value, wanted in [
        (samples.Slotted([1]), {"table": [1]}),
        (samples.Table({"a": 1}), {"a": 1}),
        (samples.Moves([1, 2]), [1, 2]),
    ]:
        assert all(read(data) == wanted for data in samples.dumped(value))


def test_several_pickles_in_a_file():
    data = pickle.dumps({"a": 1}) + pickle.dumps({"b": 2})
    assert read(data) == [{"a": 1}, {"b": 2}]
    with pytest.raises(InvalidFileError, match="opcode b'm' unknown"):
        read(data + b"more")


def test_nothing_is_executed_and_nothing_imported(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = set(sys.modules)
    for data in samples.harmful("PWNED"):
        with pytest.raises(InvalidFileError) as caught:
            read(data)
        assert str(caught.value).startswith("a.pkl") and "\n" not in str(caught.value)
    for data in [*samples.inert(), *samples.outside()]:
        with suppress(InvalidFileError):
            read(data)
    assert not list(Path().iterdir()) and set(sys.modules) == before


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"cos\nsystem\n(Vx\ntR.", "byte 0: the pickle names 'os.system', which is not plain data"),
        (b"\x80\x04\x8c\x05agent\x8c\x08<lambda>\x93.", "names 'agent.<lambda>', which is not plain data"),
        (b"cbuiltins\nint\n(I1\ntR.", "calls builtins.int"),
        (b"cnumpy\ndtype\n(Vc16\nI0\nI1\ntR.", "holds an array of 'c16'"),
        (b"cnumpy\ndtype\n(Vf8\nI0\nI1\ntR(I3\nV<\nN(Vx\ntNI-1\nI-1\nI0\ntb.", "gives no plain data"),
        (b"\x80\x04\x8b\x00\x00\x00\x7f.", "not enough data"),
        (b"\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\x7fx.", "only 2 remain"),
        (b"I" + b"1" * 5000 + b"\n.", "damaged: Exceeds the limit"),
        (b"\x80\x04}", "exhausted before seeing STOP"),
        (b"\x80\x04\xfe.", "opcode .* unknown"),
        (b"\x80\x04K\x01K\x01a.", "adds members to something that has none"),
        (b"\x80\x02\x8a\x82" + b"\1" * 130 + b".", "holds an integer of 1,033 bits"),
        (b"Np99999999999\n.", "99999999999 is not the number of an object"),
        (b"\x80\x04\x8c\x01a]\x93.", "a name is not text"),
        (b"\x80\x04N}b.", "sets the state of something that has none"),
        (b"\x80\x04\x8c\x03\xed\xa0\x80.", "surrogates not allowed"),
        (b"S'abc\n.", "strinq quote"),
    ],
)
def test_refusals_say_what_and_where(data, why):
    with pytest.raises(InvalidFileError, match=why.replace("(", r"\(")):
        read(data)


def test_limits(monkeypatch):
    monkeypatch.setattr(pickles, "MAX_VALUES", 100)
    data = pickle.dumps(list(range(200)))
    with pytest.raises(InvalidFileError, match=r"more than 100 values \(TTT_LIMITS=10"):
        read(data)
    scale_limits(10)
    try:
        assert read(data) == list(range(200))
    finally:
        scale_limits(1)
