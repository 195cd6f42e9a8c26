"""Pickles of plain data, read without unpickling.

A pickle is a program for a small stack machine. ``pickletools`` takes its opcodes apart (protocols 0 to 5);
``loads`` builds inert values from them. Nothing that a pickle names is looked up, imported or called: a name
stays text, and a call becomes a ``Record`` of the name and the arguments. ``document`` knows the few names
that stand for plain data. Names of Python's own library that it does not know, functions, and whatever would
have to be fetched from outside the file are refused.
"""

import codecs
import io
import pickletools
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ttt_cli.errors import InvalidFileError
from ttt_cli.store.reading import allowed, beyond
from ttt_cli.store.text import quoted

MOST_OPCODES = 4_000_000
"""The most opcodes of a file; a table of the usual board takes some 100,000."""
LONGEST_INTEGER = 1024
"""The most bits of an integer: it still fits into a float."""
MOST_PICKLES = 16
"""The most pickles of a file."""
PROTOCOL = 5
REMEDY = "save the table alone, as JSON or as a pickle of a plain dict"

DICTS = {"builtins.dict", *(f"collections.{name}" for name in ("Counter", "OrderedDict", "defaultdict"))}
LISTS = {"builtins.list", "builtins.set", "builtins.frozenset", "collections.deque"}
TEXTS = {"_codecs.encode", "builtins.bytes", "builtins.bytearray"}
OBJECTS = {f"copyreg.{name}" for name in ("_reconstructor", "__newobj__", "__newobj_ex__")}
ARRAYS = {
    f"numpy.{core}.{name}"
    for core in ("core", "_core")
    for name in ("multiarray._reconstruct", "multiarray.scalar", "numeric._frombuffer")
}
INERT = {"builtins.range", "functools.partial", "random.Random", "types.SimpleNamespace"}
"""Classes of the library whose objects may stand beside a table, as records like those of an author's."""
NAMED_ONLY = {
    *(f"builtins.{name}" for name in ("object", "tuple", "int", "float", "str", "bool")),
    *(f"numpy.{name}" for name in ("ndarray", "float32", "float64", "int64", "zeros")),
}
"""Names that may be mentioned, as the function that gives a default or the class of an array."""
PLAIN = DICTS | LISTS | TEXTS | OBJECTS | ARRAYS | {"numpy.dtype"}
"""What may be called, by name: what ``document`` makes plain data of."""

_FUNCTIONS = {"dill", "cloudpickle"}
_REFUSED = (
    sys.stdlib_module_names
    | {"__builtin__", "commands", "joblib", "numpy", "os2emxpath", "posixpath", "ntpath", "numba"}
) - {"__main__"}
"""Packages of which no other name may stand in a pickle: Python's own library (of Python 2 too), and those
whose objects are nothing without calling them."""
_NAME = re.compile(r"[^\W\d][\w.]{0,199}")
_PYTHON_2 = {"__builtin__": "builtins", "copy_reg": "copyreg"}
_RENAMED = {"long": "int", "unicode": "str", "xrange": "range"}
_START = re.compile(rb"\x80[\x02-\x05][^\x00-\x08]|\(+[dl]p[0-9]+\n|\(*[}\])]q\x00|[}\])]\.$")
_START_OF_CALL = re.compile(rb"\(?[ci][A-Za-z_][\w.]*\n[A-Za-z_][\w.]*\n(?:p[0-9]+\n|q[^\n]|[()])")
_MARK = object()
_OPCODES = {opcode.code.encode("latin-1"): opcode for opcode in pickletools.opcodes}

codecs.lookup("raw-unicode-escape")  # which pickletools needs: no file makes a module be imported


class Name(str):
    """The name of a class or function, with its module. It has not been looked up."""

    __slots__ = ()


class Record:
    """What a pickle says of something that would have been called or built.

    :ivar name: of what would have been called; of a dict or a set, that of its type.
    :ivar arguments: what it would have been called with.
    :ivar items: what would have been set as in a dict. Hashing keys would let the file choose collisions.
    :ivar members: what would have been appended or added.
    :ivar states: what would have been set as its state: usually one dict, its attributes.
    """

    __slots__ = ("arguments", "items", "members", "name", "states")

    def __init__(self, name: str, arguments: Sequence[Any] = ()) -> None:
        self.name, self.arguments = name, arguments
        self.items: Sequence[tuple[Any, Any]] = ()
        self.members: Sequence[Any] = ()
        self.states: Sequence[Any] = ()

    def add(self, part: str, new: Iterable[Any]) -> None:
        """Append to ``items``, ``members`` or ``states``."""
        if not getattr(self, part):
            setattr(self, part, [])
        getattr(self, part).extend(new)


def is_pickle(data: bytes, at: int = 0) -> bool:
    """Whether a file's content begins as a pickle does, and ends so where that may be text too.

    :param at: the byte where it begins.
    """
    ends = data[-9:].rstrip().endswith(b".")
    return bool(_START.match(data, at) or (ends and _START_OF_CALL.match(data, at)))


def loads(data: bytes, where: str) -> Any:
    """The value of a pickle: None, bool, int, float, str, bytes, list, tuple, ``Name`` and ``Record``; of
    several pickles that follow each other, their tuple. What is referred to twice is one object.

    :param where: the file's name, for errors.
    :raises InvalidFileError: if it is damaged, too large, or names what is not plain data.
    """
    file, left = io.BytesIO(data), [allowed(MOST_OPCODES)]
    values = [_Machine(file, where, left).run()]
    while is_pickle(data, file.tell()) and len(values) < MOST_PICKLES:
        values.append(_Machine(file, where, left).run())
    if file.read(9).strip(b"\r\n"):
        raise InvalidFileError("the pickle is damaged: something follows its end", where=where)
    return values[0] if len(values) == 1 else tuple(values)


class _Machine:
    """The stack machine of one pickle."""

    def __init__(self, file: io.BytesIO, where: str, left: list[int]) -> None:
        """:param left: how many opcodes the file may still have, counted down."""
        self.file, self.where, self.left = file, where, left
        self.at = 0
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def run(self) -> Any:
        try:
            for name, argument in self.opcodes():
                if name == "STOP":
                    return self.pop()
                if name in _VALUES:
                    self.stack.append(self.checked(argument))
                elif name in _MAKES:
                    self.stack.append(_MAKES[name](self, argument))
                elif name in _DOES:
                    _DOES[name](self, argument)
                else:
                    raise self.refused(f"asks for what is not in it ({name})")
        except IndexError:
            raise self.damaged("its stack is empty") from None
        except KeyError as error:
            raise self.damaged(f"it refers to {error.args[0]}, which is not there") from None
        except (ValueError, AssertionError) as error:  # of pickletools, which decodes the arguments
            raise self.damaged(str(error)) from None
        raise beyond(f"has more than {allowed(MOST_OPCODES):,} opcodes", self.where)

    def opcodes(self) -> Iterator[tuple[str, Any]]:
        """The names of the opcodes and their arguments: ``pickletools.genops``, but texts of Python 2 may
        hold the bytes of an array."""
        while self.left[0] > 0:
            self.left[0] -= 1
            self.at = self.file.tell()
            code = self.file.read(1)
            opcode = _OPCODES.get(code)
            if opcode is None:
                raise ValueError(f"0x{code.hex()} is not an opcode" if code else "it ends in the middle")
            if opcode.name == "STRING":
                raw = pickletools.read_stringnl(self.file, decode=False)
                yield opcode.name, codecs.escape_decode(raw)[0].decode("latin-1")
            else:
                yield opcode.name, opcode.arg.reader(self.file) if opcode.arg else None

    def damaged(self, why: str) -> InvalidFileError:
        return InvalidFileError(f"the pickle is damaged: {quoted(why, 120)[1:-1]}", where=self.place)

    def refused(self, what: str, hint: str = REMEDY) -> InvalidFileError:
        return refused(what, self.place, hint)

    @property
    def place(self) -> str:
        return f"{self.where}, byte {self.at}"

    def checked(self, value: Any) -> Any:
        """A value that stands in the pickle itself."""
        if isinstance(value, int) and value.bit_length() > LONGEST_INTEGER:
            raise self.refused(f"holds an integer of {value.bit_length():,} bits")
        if isinstance(value, str):
            value.encode()  # UnicodeError, a ValueError, where it holds lone surrogates
        return bytes(value) if isinstance(value, bytearray) else value

    def top(self) -> Any:
        if self.stack[-1] is _MARK:
            raise IndexError
        return self.stack[-1]

    def pop(self) -> Any:
        self.top()
        return self.stack.pop()

    def to_mark(self) -> list[Any]:
        """What lies above the last mark."""
        taken = []
        while (value := self.stack.pop()) is not _MARK:
            taken.append(value)
        return taken[::-1]

    def pairs(self) -> list[tuple[Any, Any]]:
        taken = self.to_mark()
        if len(taken) % 2:
            raise self.damaged("a key has no value")
        return list(zip(taken[::2], taken[1::2], strict=True))

    def put(self, number: int) -> None:
        if not 0 <= number < 2**32:  # larger ones could be chosen to collide
            raise self.damaged(f"{number} is not the number of an object")
        self.memo[number] = self.top()

    def name(self, module: Any, name: Any) -> Name:
        """A name, if it may stand in a pickle of plain data.

        :raises InvalidFileError: naming it.
        """
        if not isinstance(module, str) or not isinstance(name, str):
            raise self.damaged("a name is not text")
        if module in _PYTHON_2:
            module, name = _PYTHON_2[module], _RENAMED.get(name, name)
        full, root = f"{module}.{name}", module.partition(".")[0]
        if full in PLAIN or full in INERT or full in NAMED_ONLY:
            return Name(full)
        if root in _FUNCTIONS or "<" in name:
            raise self.refused(f"names {quoted(full, 80)}, a function")
        strange = not (_NAME.fullmatch(module) and _NAME.fullmatch(name))
        if strange or (root in _REFUSED and not module.startswith("numpy.random.")):
            raise self.refused(f"names {quoted(full, 80)}, which is not plain data")
        return Name(full)

    def call(self, called: Any, arguments: Any) -> Record:
        """The record of a call.

        :raises InvalidFileError: if what is called may only be named.
        """
        if not isinstance(called, Name) or not isinstance(arguments, tuple):
            raise self.damaged("it calls what is not a name")
        if called in NAMED_ONLY:
            raise self.refused(f"calls {called}")
        return Record(called, arguments)

    def call_first(self, taken: list[Any]) -> Record:
        return self.call(taken[0], tuple(taken[1:]))

    def record(self, kind: str, part: str, new: Iterable[Any]) -> Record:
        made = Record(kind)
        made.add(part, new)
        return made

    def add(self, part: str, new: list[Any]) -> None:
        """Add to a part of what lies on top."""
        target = self.top()
        if isinstance(target, Record):
            target.add(part, new)
        elif isinstance(target, list) and part == "members":
            target.extend(new)
        else:
            raise self.damaged(f"it adds {part} to something that has none")

    def protocol(self, number: int) -> None:
        if number > PROTOCOL:
            raise self.refused(f"is of protocol {number}", f"save it with protocol {PROTOCOL} or lower")


def refused(what: str, where: str, hint: str = REMEDY) -> InvalidFileError:
    """The refusal of a pickle of more than plain data."""
    return InvalidFileError(
        f"the pickle {what}; only plain data is read, and nothing executed", where=where, hint=hint
    )


_VALUES = {
    *("INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT"),
    *("STRING", "BINSTRING", "SHORT_BINSTRING", "UNICODE", "SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8"),
    *("BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8"),
}
"""Opcodes whose argument is a value."""
_MAKES: Mapping[str, Callable[[_Machine, Any], Any]] = {
    "NONE": lambda machine, _: None,
    "NEWTRUE": lambda machine, _: True,
    "NEWFALSE": lambda machine, _: False,
    "EMPTY_LIST": lambda machine, _: [],
    "EMPTY_TUPLE": lambda machine, _: (),
    "EMPTY_DICT": lambda machine, _: Record("builtins.dict"),
    "EMPTY_SET": lambda machine, _: Record("builtins.set"),
    "LIST": lambda machine, _: machine.to_mark(),
    "TUPLE": lambda machine, _: tuple(machine.to_mark()),
    "TUPLE1": lambda machine, _: (machine.pop(),),
    "TUPLE2": lambda machine, _: (machine.pop(), machine.pop())[::-1],
    "TUPLE3": lambda machine, _: (machine.pop(), machine.pop(), machine.pop())[::-1],
    "DICT": lambda machine, _: machine.record("builtins.dict", "items", machine.pairs()),
    "FROZENSET": lambda machine, _: machine.record("builtins.set", "members", machine.to_mark()),
    "DUP": lambda machine, _: machine.top(),
    **dict.fromkeys(("GET", "BINGET", "LONG_BINGET"), lambda machine, number: machine.memo[number]),
    "GLOBAL": lambda machine, names: machine.name(*names.split(" ", 1)),
    "STACK_GLOBAL": lambda machine, _: machine.name(*(machine.pop(), machine.pop())[::-1]),
    "REDUCE": lambda machine, _: machine.call(*(machine.pop(), machine.pop())[::-1]),
    "NEWOBJ": lambda machine, _: machine.call(*(machine.pop(), machine.pop())[::-1]),
    "NEWOBJ_EX": lambda machine, _: machine.call(
        Name("copyreg.__newobj_ex__"), (machine.pop(), machine.pop(), machine.pop())[::-1]
    ),
    "INST": lambda machine, names: machine.call(machine.name(*names.split(" ", 1)), tuple(machine.to_mark())),
    "OBJ": lambda machine, _: machine.call_first(machine.to_mark()),
}
"""Opcodes that push what they give."""
_DOES: Mapping[str, Callable[[_Machine, Any], object]] = {
    "PROTO": _Machine.protocol,
    "FRAME": lambda machine, size: None,
    "MARK": lambda machine, _: machine.stack.append(_MARK),
    "POP": lambda machine, _: machine.stack.pop(),
    "POP_MARK": lambda machine, _: machine.to_mark(),
    "MEMOIZE": lambda machine, _: machine.put(len(machine.memo)),
    **dict.fromkeys(("PUT", "BINPUT", "LONG_BINPUT"), lambda machine, number: machine.put(number)),
    "APPEND": lambda machine, _: machine.add("members", [machine.pop()]),
    "APPENDS": lambda machine, _: machine.add("members", machine.to_mark()),
    "ADDITEMS": lambda machine, _: machine.add("members", machine.to_mark()),
    "SETITEM": lambda machine, _: machine.add("items", [(machine.pop(), machine.pop())[::-1]]),
    "SETITEMS": lambda machine, _: machine.add("items", machine.pairs()),
    "BUILD": lambda machine, _: machine.add("states", [machine.pop()]),
}
"""Opcodes that change the stack, or what lies on top of it."""
