"""Pickles of plain data are read as ``pickle`` reads them, and nothing in any pickle is executed."""

import math
import pickle
import pickletools
import sys
import tracemalloc
from contextlib import suppress
from pathlib import Path
from time import process_time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.store.pickles import samples
from ttt_cli.errors import InvalidFileError
from ttt_cli.store.pickles import machine
from ttt_cli.store.pickles.machine import OPCODES, is_pickle, loads
from ttt_cli.store.pickles.values import PickledArray, PickledDict, PickledObject, PickledSet
from ttt_cli.store.reading import scale_limits


def python(value):
    """What Python would have made of a pickle's values."""
    if isinstance(value, PickledDict):
        return {python(key): python(item) for key, item in value.items}
    if isinstance(value, PickledSet):
        return {python(member) for member in value.members}
    if isinstance(value, PickledArray):
        if isinstance(value.values, list):
            return [python(member) for member in value.values], value.shape
        return value.values.tolist(), value.values.shape
    return type(value)(map(python, value)) if isinstance(value, (list, tuple)) else value


def expected(value):
    """The same of what Python made, with arrays as lists and their shapes, and bytes for byte arrays."""
    if isinstance(value, dict):
        return {expected(key): expected(item) for key, item in value.items()}
    if isinstance(value, (set, frozenset)):
        return set(map(expected, value))
    if isinstance(value, np.ndarray):
        if value.dtype == object or not value.size:
            return [expected(member) for member in value.ravel().tolist()], value.shape
        return value.tolist(), value.shape
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, bytearray):
        return bytes(value)
    return type(value)(map(expected, value)) if type(value) in (list, tuple) else value


def same(found, wanted):
    """Equal, with the same types and signs of zeros."""
    assert repr(found) == repr(wanted) if not isinstance(found, set) else found == wanted


@pytest.mark.parametrize("name", samples.TABLES)
def test_plain_data_are_read_as_python_reads_them(name):
    for data in samples.dumped(samples.TABLES[name]):
        assert is_pickle(data)
        found, wanted = python(loads(data, "a.pkl").value), expected(pickle.loads(data))
        assert found == wanted
        if name not in ("sets", "constants"):
            same(found, wanted)


@pytest.mark.parametrize("data", samples.HANDMADE)
def test_handmade_pickles(data):
    assert is_pickle(data)
    assert python(loads(data, "a.pkl").value) == expected(pickle.loads(data))


scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**80), 2**80)
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary()
)
keys = st.recursive(scalars, lambda inner: st.lists(inner, max_size=4).map(tuple), max_leaves=6)
values = st.recursive(
    scalars | st.binary().map(bytearray),
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(keys, inner, max_size=5)
        | st.sets(keys, max_size=3)
        | st.frozensets(keys, max_size=3)
    ),
    max_leaves=20,
)


@given(values, st.sampled_from(samples.PROTOCOLS))
def test_any_plain_data(value, protocol):
    data = pickle.dumps(value, protocol)
    assert python(loads(data, "a.pkl").value) == expected(value)
    assert python(loads(pickletools.optimize(data), "a.pkl").value) == expected(value)


@given(
    st.sampled_from(["?", "<i1", ">i4", "<u8", "<f2", ">f4", "<f8", "<U2", "S3"]),
    st.lists(st.integers(0, 3), max_size=3),
    st.sampled_from("CF"),
    st.binary(max_size=300),
    st.sampled_from(samples.PROTOCOLS),
)
def test_any_array(kind, shape, order, content, protocol):
    count = math.prod(shape)
    raw = (content * 3000)[: count * np.dtype(kind).itemsize]
    raw = bytes(
        byte % 100 if kind == "<U2" and at % 4 == 0 else 0 if kind == "<U2" else byte
        for at, byte in enumerate(raw)
    )
    raw = raw.ljust(count * np.dtype(kind).itemsize, b"\0")
    array = np.frombuffer(raw, kind).reshape(shape, order=order) if raw else np.zeros(shape, kind)
    found = loads(pickle.dumps(array, protocol), "a.pkl").value
    assert found.shape == array.shape
    if array.size:
        assert repr(found.values.tolist()) == repr(array.tolist())


def test_every_opcode_is_read_or_refused_and_met_in_these_tests():
    codes = {ord(opcode.code): opcode.name for opcode in pickletools.opcodes}
    assert set(OPCODES) | {ord(".")} == set(codes)
    files = [*samples.plain(), *samples.inert(), *samples.harmful("x"), *samples.outside()[:-1]]
    assert set().union(*map(samples.opcodes, files)) == set(codes.values())


def test_an_object_is_a_record_of_its_attributes():
    for data in samples.dumped(samples.Agent({"X........": 0.5})):
        found = loads(data, "a.pkl")
        agent = found.value
        assert found.objects == ("tests.store.pickles.samples.Agent",)
        (state,) = agent.states
        attributes = dict(state.items)
        assert isinstance(agent, PickledObject) and python(attributes["table"]) == {"X........": 0.5}
        assert attributes["itself"] is agent


def test_objects_that_are_dicts_or_lists_or_have_slots_or_arguments():
    for data in samples.dumped(samples.Table({"X........": 0.5})):
        assert loads(data, "a.pkl").value.items == [("X........", 0.5)]
    for data in samples.dumped(samples.Moves([1, 2])):
        assert loads(data, "a.pkl").value.members == [1, 2]
    for data in samples.dumped(samples.Slotted([1])):
        ((none, slots),) = loads(data, "a.pkl").value.states
        assert none is None and slots.items == [("table", [1])]
    for data in samples.dumped(samples.Named())[4:]:
        found = loads(data, "a.pkl").value
        assert found.states[0].items == [("cell", 4)] or found.arguments


def test_what_gives_defaults_is_told_and_not_called():
    data = pickle.dumps({"a": 1}, 0)
    assert loads(data, "a.pkl").factories == ()
    data = b"ccollections\ndefaultdict\n(cagent\nzeros\ntRVa\nI1\ns."
    found = loads(data, "a.pkl")
    assert found.factories == ("agent.zeros",) and found.value.items == [("a", 1)]


def test_references_are_shared_and_cycles_kept():
    inner = [1]
    loop = [inner, inner]
    loop.append(loop)
    for data in samples.dumped(loop):
        found = loads(data, "a.pkl").value
        assert found[0] is found[1] and found[2] is found


def test_several_pickles_in_a_file():
    data = pickle.dumps({"a": 1}) + pickle.dumps({"b": 2})
    assert python(loads(data, "a.pkl").value) == ({"a": 1}, {"b": 2})
    with pytest.raises(InvalidFileError, match="something follows its end"):
        loads(data + b"more", "a.pkl")


def test_nothing_is_executed_and_nothing_imported(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = set(sys.modules)
    for data in samples.harmful("PWNED"):
        with pytest.raises(InvalidFileError) as caught:
            loads(data, "a.pkl")
        assert "a.pkl, byte " in str(caught.value) and "\n" not in str(caught.value)
    for data in [*samples.inert(), *samples.outside()]:
        try:
            loads(data, "a.pkl")
        except InvalidFileError as error:
            assert "nothing executed" in str(error)
    assert not list(Path().iterdir()) and set(sys.modules) == before


def test_harmful_pickles_would_harm(tmp_path, monkeypatch):
    """They are no straw men: those for this system leave their mark where they are loaded."""
    monkeypatch.chdir(tmp_path)
    left = 0
    calls = samples.harmful("PWNED")[:24]  # os.system, eval, exec and open by six protocols
    for data in calls:
        pickle.loads(data)
        left += Path("PWNED").exists()
        Path("PWNED").unlink(missing_ok=True)
    assert left == len(calls)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"cos\nsystem\n(Vx\ntR.", "byte 0: the pickle names 'os.system', no plain data"),
        (b"\x80\x04\x8c\x05agent\x8c\x08<lambda>\x93.", "names 'agent.<lambda>', a function"),
        (b"cdill._dill\n_create_function\n.", "names 'dill._dill._create_function', a function"),
        (b"cbuiltins\nint\n(I1\ntR.", "calls builtins.int"),
        (b"cnumpy\ndtype\n(Vc16\nI0\nI1\ntR.", "holds an array of 'c16'"),
        (b"cnumpy\ndtype\n(Vf8\nI0\nI1\ntR(I3\nV<\nN(Vx\ntNI-1\nI-1\nI0\ntb.", "does not fit"),
        (b"\x80\x04\x8b\x00\x00\x00\x7f.", "an integer of 2,130,706,432 bytes"),
        (b"\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\x7fx.", "ends in the middle"),
        (b"\x80\x04\x95\xff\x00\x00\x00\x00\x00\x00\x00N.", "ends in the middle"),
        (b"I" + b"1" * 5000 + b"\n.", "is not an integer"),
        (b"(" * 2000 + b".", "nested too deeply"),
        (b"\x80\x04}", "ends in the middle"),
        (b"\x80\x04\xfe.", "0xfe is not an opcode"),
        (b"\x80\x04h\x05.", "refers to 5"),
        (b"\x80\x04.", "its stack is empty"),
        (b"\x80\x04(0.", "its stack is empty"),
        (b"\x80\x04K\x01K\x01a.", "not a list"),
        (b"\x80\x04K\x01(K\x01u.", "a key has no value"),
        (b"\x80\x04N}b.", "sets the state of what has none"),
        (b"\x80\x04\x8c\x03\xed\xa0\x80.", "not UTF-8"),
        (b"S'abc\n.", "not a string"),
        (b"\x80\x06N.", "protocol 6"),
    ],
)
def test_refusals_say_what_and_where(data, why):
    with pytest.raises(InvalidFileError, match=why.replace("(", r"\(")):
        loads(data, "a.pkl")


def cost(data):
    """The seconds and the most bytes that reading takes."""
    tracemalloc.start()
    began = process_time()
    with suppress(InvalidFileError):
        loads(data, "a.pkl")
    seconds, (_, most) = process_time() - began, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return seconds, most


def colliding(count):
    """A dict whose keys all have one hash in Python."""
    return (
        b"\x80\x02}("
        + b"".join(b"\x8a\x10" + ((2**61 - 1) * n).to_bytes(16, "little") + b"N" for n in range(1, count))
        + b"u."
    )


@pytest.mark.parametrize(
    "data",
    [
        b"\x80\x04]\x94(" + b"h\x00" * 100_000 + b"e.",
        b"\x80\x04]\x94" + b"".join(b"(" + b"h%c" % n * 10 + b"l\x94" for n in range(200)) + b".",
        b"\x80\x04" + b"]" * 100_000 + b"a" * 99_999 + b".",
        b"\x80\x04N" + b"\x85" * 100_000 + b".",
        b"c_codecs\nencode\np0\n(V" + b"x" * 50_000 + b"\np2\nVlatin1\ntp1\n" + b"g0\ng1\nR" * 20_000 + b".",
        b"(" + b"I1\n" * 50_000 + b"tp0\n(tp3\n(g0\ntp1\ncbuiltins\nset\np2\n" + b"g2\ng1\nR" * 20_000 + b".",
        colliding(30_000),
        b"cnumpy\ndtype\np0\n(Vf8\nI0\nI1\ntRp1\n.",
        b"\x80\x04X\xff\xff\xff\x7f" + b"x" * 1000 + b".",
    ],
    ids=["self", "laughs", "lists", "tuples", "encode", "sets", "hashes", "type", "claim"],
)  # fmt: skip
def test_hostile_pickles_cost_little(data):
    seconds, most = cost(data)
    assert seconds < 2 and most < 120 * 2**20


def test_limits(monkeypatch):
    monkeypatch.setattr(machine, "MOST_OPCODES", 100)
    data = pickle.dumps(list(range(200)))
    with pytest.raises(InvalidFileError, match=r"more than 100 opcodes \(--limits 10"):
        loads(data, "a.pkl")
    scale_limits(10)
    try:
        assert loads(data, "a.pkl").value == list(range(200))
    finally:
        scale_limits(1)


def test_text_is_no_pickle():
    for text in (
        b"",
        b"{}",
        b"[]",
        b"[1].",
        b"cell\nvalue\n0.5",
        b"index,value\n",
        b"(1, 2)",
        b"count\nx\n1.",
    ):
        assert not is_pickle(text)
