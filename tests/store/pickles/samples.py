"""Pickles of every kind, made here: of plain data, of an author's objects, and some that would do harm."""

import os
import pickle
import subprocess
from collections import Counter, OrderedDict, defaultdict
from typing import Any

import numpy as np

PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)


class Agent:
    """An author's player."""

    def __init__(self, table: Any) -> None:
        self.table = table
        self.alpha = 0.5
        self.itself = self


class Slotted:
    """An object without a dict."""

    __slots__ = ("table",)

    def __init__(self, table: Any) -> None:
        self.table = table


class Table(dict):  # type: ignore[type-arg]
    """A dict of an author's."""


class Moves(list):  # type: ignore[type-arg]
    """A list of an author's."""


class Named:
    """An object that is made with named arguments."""

    def __new__(cls, cell: int = 0) -> "Named":
        return super().__new__(cls)

    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, int]]:
        return (), {"cell": 4}


class Call:
    """What is pickled as a call, by whichever opcodes the protocol has for it."""

    def __init__(self, called: Any, *arguments: Any) -> None:
        self.reduced = called, arguments

    def __reduce__(self) -> Any:
        return self.reduced


KINDS = ("?", "b", "B", "h", "H", "i", "I", "q", "Q", "e", "f", "d", ">f8", ">i2", "U3", "S3")
TABLES: dict[str, Any] = {
    "texts": {"X........": 0.5, "XO.......": -0.25, "é\u2028": 1e308, "": 0.0},
    "tuples": {((0, 0, 1), (0, -1, 0)): {4: 0.5}, (0,) * 9: {}, ((), 1): None, (1, 2): 3, (1, 2, 3): 4},
    "integers": {n: n for n in (0, 1, -1, 255, 256, 65535, 65536, 2**31, -(2**31), 2**63, -(2**64), 2**1000)},
    "floats": [0.0, -0.0, 1e-300, float("inf"), -float("inf"), 3.141592653589793],
    "constants": [None, True, False, (), [], {}, set(), frozenset(), "", b"", bytearray()],
    "bytes": {b"\x00\x01\xff": b"x" * 300, bytes(700): bytearray(b"ab\xff"), b"q": bytearray(300)},
    "long texts": ["x" * 300, "y" * 70_000, "a\nb\\u0041\\", "'\""],
    "sets": [{1, 2, 3}, frozenset({"a", "b"}), {(1, 2): {3}}],
    "collections": [OrderedDict(a=1), Counter("abca"), defaultdict(float, {(1, 2): 0.5}), defaultdict(None)],
    "nested defaults": defaultdict(dict, {"X........": defaultdict(int, {0: 1})}),
    "arrays": [np.arange(9.0), np.zeros((3, 3), np.int8), np.asfortranarray(np.arange(6).reshape(2, 3))],
    "types of arrays": [np.zeros(2, kind) for kind in KINDS],
    "odd arrays": [np.zeros(0), np.zeros((0, 4)), np.array(5.0), np.zeros((2, 1, 3)), np.array(["", "ab"])],
    "objects in arrays": [
        np.array([1, "a", None, (1, 2)], object),
        np.array([[1, 2], [3, None]], object, order="F"),
    ],
    "scalars": {
        np.int64(3): np.float64(0.5),
        np.str_("ab"): np.bool_(True),
        (np.int8(-1), np.float32(0.5)): np.bytes_(b"x"),
    },
}
"""Plain data by what is special of them."""
HANDMADE = [
    b"(dp0\nS'X........'\np1\nF0.5\nsS\"it's\\n\\x41\\xf0\"\np2\nI01\ns.",
    b"\x80\x02}q\x00(U\x03abcq\x01K\x01T\x03\x00\x00\x00abdq\x02L5L\nI00\nI-7\nu.",
    b"c__builtin__\nset\np0\n((lp1\nI1\naI2\natp2\nRp3\n.",
    b"(lp0\n(dp1\nVa\\u00e9\np2\nL-123456789012345678901L\nsa(I1\nI2\ntp3\nag3\na(I5\nlp4\na.",
    b"ccollections\nOrderedDict\np0\n((lp1\n(lp2\nI1\naS'a'\naatp3\nR.",
    b"]q\x00(K\x012K\x02e0]q\x01(K\x03K\x04(K\x051K\x01(0e.",
    b"\x80\x02]q\x00r\x00\x01\x00\x00(j\x00\x01\x00\x00\x8b\x02\x00\x00\x00\xff\x00G?\xe0\x00\x00\x00\x00\x00\x00e0]p7\n.",
    b"\x80\x04\x8d\x01\x00\x00\x00\x00\x00\x00\x00a\x8e\x01\x00\x00\x00\x00\x00\x00\x00b\x86.",
]
"""Pickles by hand, with the opcodes that Python 3 does not write."""
AUTHORS = [Agent({"X........": 0.5}), Slotted([1]), Table({"X........": 0.5}), Moves([1, 2]), Named()]
"""Objects of an author's classes."""
FUNCTIONS = [
    *("os.system", "builtins.eval", "__builtin__.execfile", "commands.getoutput", "numpy.load"),
    *("pickle.loads", "dill._dill._create_function", "joblib.memory.Memory"),
]
"""Functions that no table needs, as a pickle names them."""


def dumped(value: Any) -> list[bytes]:
    """The pickles of a value by every protocol that can write it."""
    found = []
    for protocol in PROTOCOLS:
        try:
            found.append(pickle.dumps(value, protocol))
        except (pickle.PicklingError, TypeError):  # by old protocols
            continue
    return found


def plain() -> list[bytes]:
    """Pickles of plain data, all protocols."""
    return [data for table in TABLES.values() for data in dumped(table)] + HANDMADE


def inert() -> list[bytes]:
    """Pickles of an author's objects; the names of modules and classes as another program has them."""
    return [
        data.replace(b"tests.store.pickles.samples", b"game.another.one.of.author7")
        for value in AUTHORS
        for data in dumped(value)
        if b"getattr" not in data
    ]


def harmful(mark: str) -> list[bytes]:
    """Pickles that would leave a file ``mark``, each in its way, or reach for what could."""
    command, text = f"touch {mark}", f"open({mark!r}, 'w').close()"
    calls = [
        *(Call(os.system, command), Call(eval, text), Call(exec, text), Call(open, mark, "w")),
        *(Call(os.mkdir, mark), Call(subprocess.getoutput, command), Call(subprocess.Popen, ["touch", mark])),
        *(Call(getattr, Call(__import__, "os"), "system"), Call(__import__, "this"), Call(np.save, mark, 1)),
        *(Call(np.loadtxt, mark), Call(map, Call(eval, text)), Call(type, "A", (), {})),
    ]
    written = [data for call in calls for data in dumped({"X........": 0.5, "y": call})]
    argument = b"V" + command.encode() + b"\n"
    for name in FUNCTIONS:
        module, _, function = name.encode().rpartition(b".")
        place = module + b"\n" + function + b"\n"
        named = b"c" + place
        short = b"\x80\x04\x8c%c%b\x8c%c%b\x93" % (len(module), module, len(function), function)
        written += [
            named + b"(" + argument + b"tR.",
            b"(i" + place + b".",
            b"(" + argument + b"i" + place + b".",
            b"(" + named + argument + b"o.",
            b"\x80\x02" + named + b"(" + argument + b"t\x81.",
            short + b"(" + argument + b"tR.",
            short + b"(" + argument + b"t}\x92.",
            short + b")\x81}\x8c\x01aK\x01sb.",
            b"ccopyreg\n_reconstructor\n(" + named + b"cbuiltins\nobject\nNtR.",
            b"ccopyreg\n__newobj__\n(" + named + argument + b"tR.",
            b"ccollections\ndefaultdict\n(" + named + b"tR.",
            b"cfunctools\npartial\n(" + named + b"tR.",
            b"(dp0\nVX........\n" + named + b"s.",
        ]
    return written


def outside() -> list[bytes]:
    """Pickles that ask for what is not in them."""
    return [
        *(b"Pabc\n.", b"\x80\x02K\x01Q.", b"\x80\x02\x82\x01.", b"\x80\x02\x83\x01\x00."),
        *(b"\x80\x02\x84\x01\x00\x00\x00.", b"\x80\x05\x97.", b"\x80\x05C\x01a\x98.", b"\x80\x06N."),
    ]
