"""Pickles of plain data as JSON documents of the same content, read without unpickling.

A pickle is a program for a small stack machine. ``pickletools`` decodes its opcodes (protocols 0 to 5), and
``_Reader`` builds inert values from them. Nothing that a pickle names is looked up, imported or called: a
name stays text, ``NAMES`` lists the few calls that stand for plain data, and any other becomes an ``Object``
with name and arguments. Other names of Python's library, and references outside the file, are refused.

In the document, keys are written as by ``str``. Tuples, sets and arrays become lists, objects the dicts of
their attributes. A whole number in a key is written without a point, since equal keys are one; keys that are
the bytes of arrays are written as the lists of their numbers.
"""

import codecs
import io
import pickletools
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ttt_cli.errors import InvalidFileError
from ttt_cli.store.system import scaled, too_large
from ttt_cli.store.text import quoted

MAX_VALUES = 4_000_000  # opcodes and values of any file, each counted as often as it occurs
FREE_VALUES = 100_000  # that even the smallest file may have
VALUES_PER_BYTE = 32  # beyond these, since a few bytes can refer to the same values again and again
MAX_LEVELS = 30  # of nesting; deeper values are left out
MAX_INTEGER_BITS = 1023  # of any integer with no more, a float can be made

BUILT = {f"numpy.{core}.multiarray._reconstruct" for core in ("core", "_core")} | {"numpy.dtype"}
"""Objects that are filled after they are made: an array, and the type of its elements."""
OBJECTS = BUILT | {"types.SimpleNamespace", "builtins.range", "functools.partial", "random.Random"}
"""Names of Python's library and of NumPy whose calls are kept as objects, like those of an author's names."""
_REFUSED = {"__builtin__", "commands", "os2emxpath", "posixpath", "ntpath", *sys.stdlib_module_names}
_REFUSED |= {"numpy", "numba", "joblib", "dill", "cloudpickle"}
"""Of these packages only ``NAMES`` and ``OBJECTS`` are allowed: Python's own library (of Python 2 too), and
those whose objects hold nothing without being called."""
_NAME = re.compile(r"[^\W\d][\w.]{0,199}")
_PYTHON_2 = {"__builtin__": "builtins", "copy_reg": "copyreg"}
_RENAMED = {"long": "int", "unicode": "str", "xrange": "range"}
_TYPE = re.compile(r"[?]|b1|[iu][1248]|f[248]|[SU][0-9]{1,6}|O[48]?")
_TEXT_UNIT = 16  # characters that count as one value

codecs.lookup("raw-unicode-escape")  # pickletools needs it: imported now, and not because of a file

Array = np.ndarray[Any, np.dtype[Any]]


Document = tuple[Any, tuple[str, ...]]
"""What a file holds: a dict with str keys, list, str, int, float, bool or None, or a NumPy array; and the
names of the classes whose objects were taken as records."""


class Name(str):
    """The name of a class or function, with its module, never looked up."""

    __slots__ = ()


class Object:
    """An object of some class, as a pickle would make and fill it.

    :ivar items: set as in a dict; members: appended or added.
    :ivar states: set as its state: usually one dict, its attributes.
    """

    __slots__ = ("arguments", "items", "members", "name", "states")

    def __init__(self, name: str, arguments: Sequence[Any] = ()) -> None:
        self.name = name
        self.arguments = arguments
        self.items = dict[str, Any]()
        self.members = list[Any]()
        self.states = list[Any]()


def read_pickle(data: bytes, where: str) -> Document:
    """Read a pickle; several in a row become a list of them.

    :raises InvalidFileError: if it is damaged or too large, or holds other than plain data or repeated keys.
    """
    reader = _Reader(where, len(data))
    file = io.BytesIO(data)
    values = [reader.load(file)]
    end = len(data.rstrip(b"\r\n"))  # a pickle ends with a point
    while file.tell() < end:
        values.append(reader.load(file))
    value = reader.value(values[0] if len(values) == 1 else values)
    return value, tuple(reader.objects)


def elements(raw: bytes, dtype: "np.dtype[Any]") -> Array:
    """The elements of an array, flat.

    :raises ValueError: if they do not fill the bytes, or a text has invalid characters.
    """
    if dtype.kind == "U":
        points = np.frombuffer(raw, np.dtype(np.uint32).newbyteorder(dtype.byteorder))
        if (points > sys.maxunicode).any():
            raise ValueError
    return np.frombuffer(raw, dtype)


class _Reader:
    """The stack machine, and the conversion of what it has built; it counts the values of both."""

    def __init__(self, where: str, size: int) -> None:
        self.where = where
        self.at = 0  # the byte that is read
        self.most = self.left = scaled(min(MAX_VALUES, FREE_VALUES + VALUES_PER_BYTE * size))
        self.stack: list[Any] = []  # above the last mark
        self.below: list[list[Any]] = []  # what is below each mark
        self.memo: dict[int, Any] = {}
        self.converting: set[int] = set()
        self.objects: dict[str, None] = {}

    def count(self, values: int) -> None:
        """Count values before they are made; raise InvalidFileError if they are too many."""
        self.left -= values
        if self.left < 0:
            raise too_large(f"holds more than {self.most:,} values", self.where)

    def damaged(self, why: str) -> InvalidFileError:
        place = f"{self.where}, byte {self.at}"
        return InvalidFileError(f"the pickle is damaged: {quoted(why, 120)[1:-1]}", where=place)

    def refused(self, what: str) -> InvalidFileError:
        message = f"the pickle {what}; only plain data is read, and nothing executed"
        hint = "save the table alone, as JSON or as a pickle of a plain dict"
        return InvalidFileError(message, where=f"{self.where}, byte {self.at}", hint=hint)

    # ---- The machine ----

    def load(self, file: io.BytesIO) -> Any:
        """The value of one pickle: None, bool, int, float, str, bytes, list, dict with str keys, array,
        ``Name`` and ``Object``. References to one value share it."""
        self.stack, self.below, self.memo = [], [], {}
        try:
            for opcode, argument, at in _opcodes(file):
                self.count(1)
                self.at = at or 0
                if opcode in _PUSHES:
                    value = _PUSHES[opcode](self, argument)  # which may change the stack
                    self.stack.append(value)
                elif opcode in _CHANGES:
                    _CHANGES[opcode](self, argument)
                elif opcode != "STOP":
                    raise self.refused(f"refers to something outside the file ({opcode})")
            return self.stack.pop()
        except IndexError:
            raise self.damaged("its stack is empty") from None
        except KeyError as error:
            raise self.damaged(f"it refers to {error.args[0]}, which is not there") from None
        except (ValueError, AssertionError) as error:  # of pickletools, which decodes the arguments
            raise self.damaged(str(error)) from None

    def checked(self, value: Any) -> Any:
        if isinstance(value, int) and value.bit_length() > MAX_INTEGER_BITS:
            raise self.refused(f"holds an integer of {value.bit_length():,} bits")
        if isinstance(value, str):
            value.encode()  # UnicodeError, a ValueError, where it holds lone surrogates
        return bytes(value) if isinstance(value, bytearray) else value

    def pop_many(self, count: int) -> list[Any]:
        return [self.stack.pop() for _ in range(count)][::-1]

    def mark(self) -> None:
        self.below.append(self.stack)
        self.stack = []

    def pop_to_mark(self) -> list[Any]:
        above = self.stack
        self.stack = self.below.pop()
        return above

    def memoize(self, number: int) -> None:
        if not 0 <= number < 2**32:  # larger ones could be chosen to collide
            raise self.damaged(f"{number} is not the number of an object")
        self.memo[number] = self.stack[-1]

    def name(self, module: Any, name: Any) -> Name:
        """A name, if it is allowed in a pickle of plain data."""
        if not isinstance(module, str) or not isinstance(name, str):
            raise self.damaged("a name is not text")
        if module in _PYTHON_2:
            module, name = _PYTHON_2[module], _RENAMED.get(name, name)
        full = f"{module}.{name}"
        if full not in NAMES and full not in OBJECTS:
            is_inert = module.partition(".")[0] not in _REFUSED or module.startswith("numpy.random.")
            if not (is_inert and _NAME.fullmatch(module) and _NAME.fullmatch(name)):
                raise self.refused(f"names {quoted(full, 80)}, which is not plain data")
        return Name(full)

    def call(self, called: Any, arguments: Any) -> Any:
        """The plain data that a call would give, or an object."""
        if not isinstance(called, Name) or not isinstance(arguments, list):
            raise self.damaged("it calls what is not a name")
        if called not in NAMES:
            return Object(called, arguments)
        if (call := NAMES[called]) is None:
            raise self.refused(f"calls {called}")
        return self.result_of(called, call, *arguments)

    def result_of(self, name: str, call: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return call(self, *arguments)
        except (TypeError, ValueError, OverflowError, LookupError):
            raise self.refused(f"calls {name} in a way that gives no plain data") from None

    def call_above_mark(self) -> Any:
        """What the first value above the mark, called with the others, would give."""
        above = self.pop_to_mark()
        return self.call(above[0], above[1:])

    def set_items(self, alternating: Sequence[Any], target: Any = None) -> Any:
        """Add keys and values, which alternate, to a dict or an object, by default the one on top."""
        target = self.stack[-1] if target is None else target
        items = target.items if isinstance(target, Object) else target
        if not isinstance(items, dict):
            raise self.damaged("it sets items of something that has none")
        for key, value in zip(alternating[::2], alternating[1::2], strict=True):
            text = self.key(key)
            if text in items:
                place = f"{self.where}, key {quoted(text)}"
                raise InvalidFileError("the key is repeated", where=place)
            items[text] = value
        return target

    def add_members(self, new: Iterable[Any]) -> None:
        top = self.stack[-1]
        members = top.members if isinstance(top, Object) else top
        if not isinstance(members, list):
            raise self.damaged("it adds members to something that has none")
        members.extend(new)

    def set_state(self, state: Any) -> None:
        top = self.stack[-1]
        if isinstance(top, Object):
            top.states.append(state)
        elif not isinstance(top, dict):  # a dict of Python's own has no state that matters
            raise self.damaged("it sets the state of something that has none")

    # ---- Calls that stand for plain data ----

    def as_dict(self, content: Any = (), *_: Any) -> dict[str, Any]:
        self.count(len(content))
        if isinstance(content, dict):
            return dict(content)
        return dict(self.set_items([part for key, value in content for part in (key, value)], {}))

    def as_list(self, content: Any = (), *_: Any) -> list[Any]:
        self.count(len(content))
        return list(content)

    def as_bytes(self, content: Any = b"", *_: Any) -> bytes:
        """Bytes, which protocols 0 to 2, and Python 2, write as text."""
        self.count(len(content) // _TEXT_UNIT)
        return content.encode("latin-1") if isinstance(content, str) else content

    def as_object(self, kind: Any, _base: Any, state: Any) -> Any:
        """An object of a class, made from its base's state."""
        value = self.call(kind, [state])
        if isinstance(value, Object):
            self.count(len(state) if isinstance(state, (dict, list)) else 0)
            value.items.update(state if isinstance(state, dict) else {})
            value.members.extend(state if isinstance(state, list) else ())
        return value

    def scalar(self, kind: Any, content: Any = b"") -> Any:
        dtype = self.dtype(kind)
        raw = self.as_bytes(content)
        if not raw:
            return {"U": "", "S": b""}[dtype.kind]  # an empty text; of any other kind an error
        return elements(raw, dtype)[0].item()

    def array(self, content: Any, kind: Any, shape: Any, order: Any) -> Array:
        dtype = self.dtype(kind)
        if dtype.kind == "O":
            return np.fromiter(self.as_list(content), object).reshape(shape)
        raw = self.as_bytes(content)
        row = elements(raw, dtype) if raw else np.zeros(0, dtype)
        return row.reshape(shape, order="F" if order == "F" else "C")

    def built(self, value: Object) -> Any:
        """An array, or the type of its elements as text."""
        if value.name == "numpy.dtype":
            return self.dtype(value).str
        ((_version, shape, kind, by_columns, content),) = value.states
        return self.array(content, kind, shape, "F" if by_columns else "C")

    def dtype(self, kind: Any) -> "np.dtype[Any]":
        """The type of an array's elements: numbers, texts or objects."""
        if not isinstance(kind, Object) or kind.name != "numpy.dtype":
            raise TypeError
        code = kind.arguments[0]
        if not _TYPE.fullmatch(code):
            raise self.refused(f"holds an array of {quoted(code)}")
        _version, order, *fields = kind.states[-1][:5]
        if any(fields) or order not in ("<", ">", "=", "|"):
            raise ValueError
        return np.dtype("O" if code.startswith("O") else order.replace("|", "=") + code)

    # ---- The document ----

    def value(self, value: Any) -> Any:
        """What JSON can hold of a value; an inner reference to an outer one is null."""
        self.count(1)
        if isinstance(value, bytes):
            value = value.decode("latin-1")
        if isinstance(value, str):
            self.count(len(value) // _TEXT_UNIT)
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        if id(value) in self.converting or len(self.converting) >= MAX_LEVELS:
            return None
        self.converting.add(id(value))
        content = self.content(value)
        self.converting.discard(id(value))
        return content

    def content(self, value: Any) -> Any:
        """What JSON can hold of an object, a dict, an array or a list."""
        if isinstance(value, Object):
            if value.name not in BUILT:
                return self.record(value)
            return self.value(self.result_of(value.name, _Reader.built, value))
        if isinstance(value, dict):
            return {key: self.value(member) for key, member in value.items()}
        if isinstance(value, np.ndarray):
            self.count(value.size + value.nbytes // _TEXT_UNIT)
            value = value.tolist() if value.size else []
        return [self.value(member) for member in value] if isinstance(value, list) else self.value(value)

    def record(self, value: Object) -> Any:
        """An object's attributes, or if it has none the arguments that it would be made with."""
        self.objects[value.name] = None
        attributes: dict[str, Any] = {}
        for state in value.states:
            parts = state if isinstance(state, list) and len(state) == 2 else [state]
            if not all(part is None or isinstance(part, dict) for part in parts):
                parts = [{"state": state}]
            for part in parts:  # attributes, and slots if it has any
                attributes |= self.value(part) or {}
        content = {"items": self.value(value.items), "members": self.value(value.members)}
        held = {name: part for name, part in content.items() if part}
        if attributes or len(held) == 2:
            return {**attributes, **held}
        if held:
            return next(iter(held.values()))
        arguments = value.arguments[0] if len(value.arguments) == 1 else value.arguments
        return self.value(arguments) if value.arguments else {}

    def key(self, value: Any) -> str:
        parts = value if isinstance(value, list) else [value]
        self.count(sum(len(part) for part in parts if isinstance(part, bytes)) // _TEXT_UNIT)
        spelled = [_bytes_in_key(part) if isinstance(part, bytes) else part for part in parts]
        key = spelled if isinstance(value, list) else spelled[0]
        text = key if isinstance(key, str) else _written(self.value(key))
        self.count(len(text) // _TEXT_UNIT)
        return text


NAMES: Mapping[str, Callable[..., Any] | None] = {
    **dict.fromkeys(("builtins.dict", "collections.Counter", "collections.OrderedDict"), _Reader.as_dict),
    "collections.defaultdict": lambda reader, _=None, *found: reader.as_dict(*found),
    **dict.fromkeys(
        ("builtins.list", "builtins.set", "builtins.frozenset", "collections.deque"), _Reader.as_list
    ),
    **dict.fromkeys(("_codecs.encode", "builtins.bytes", "builtins.bytearray"), _Reader.as_bytes),
    "copyreg._reconstructor": _Reader.as_object,
    **{f"numpy.{core}.multiarray.scalar": _Reader.scalar for core in ("core", "_core")},
    **{f"numpy.{core}.numeric._frombuffer": _Reader.array for core in ("core", "_core")},
    **dict.fromkeys(f"builtins.{name}" for name in ("object", "tuple", "int", "float", "str", "bool")),
    **dict.fromkeys(f"numpy.{name}" for name in ("ndarray", "float32", "float64", "int64", "zeros")),
}
"""The allowed names of Python's library and of NumPy, and what makes the value of a call of each; None: it
may only be mentioned, as a default factory or the class of an array."""
_NUMBERS = ("INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT")
_TEXTS = (
    *("STRING", "BINSTRING", "SHORT_BINSTRING"),  # of Python 2
    *("UNICODE", "SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8"),
)
_BYTES = ("BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8")
_PUSHES: Mapping[str, Callable[[_Reader, Any], Any]] = {
    **dict.fromkeys((*_NUMBERS, *_TEXTS, *_BYTES), _Reader.checked),
    "NONE": lambda reader, _: None,
    "NEWTRUE": lambda reader, _: True,
    "NEWFALSE": lambda reader, _: False,
    **dict.fromkeys(("EMPTY_LIST", "EMPTY_SET", "EMPTY_TUPLE"), lambda reader, _: []),
    "EMPTY_DICT": lambda reader, _: {},
    **dict.fromkeys(("LIST", "FROZENSET", "TUPLE"), lambda reader, _: reader.pop_to_mark()),
    "TUPLE1": lambda reader, _: reader.pop_many(1),
    "TUPLE2": lambda reader, _: reader.pop_many(2),
    "TUPLE3": lambda reader, _: reader.pop_many(3),
    "DICT": lambda reader, _: reader.set_items(reader.pop_to_mark(), {}),
    "DUP": lambda reader, _: reader.stack[-1],
    **dict.fromkeys(("GET", "BINGET", "LONG_BINGET"), lambda reader, number: reader.memo[number]),
    "GLOBAL": lambda reader, names: reader.name(*names.split(" ", 1)),
    "STACK_GLOBAL": lambda reader, _: reader.name(*reader.pop_many(2)),
    **dict.fromkeys(("REDUCE", "NEWOBJ"), lambda reader, _: reader.call(*reader.pop_many(2))),
    "NEWOBJ_EX": lambda reader, _: reader.call(*reader.pop_many(3)[:2]),  # named arguments are left out
    "INST": lambda reader, names: reader.call(reader.name(*names.split(" ", 1)), reader.pop_to_mark()),
    "OBJ": lambda reader, _: reader.call_above_mark(),
}
"""Opcodes that push a value."""
_CHANGES: Mapping[str, Callable[[_Reader, Any], object]] = {
    **dict.fromkeys(("PROTO", "FRAME"), lambda reader, _: None),
    "MARK": lambda reader, _: reader.mark(),
    "POP": lambda reader, _: reader.stack.pop() if reader.stack else reader.pop_to_mark(),
    "POP_MARK": lambda reader, _: reader.pop_to_mark(),
    "MEMOIZE": lambda reader, _: reader.memoize(len(reader.memo)),
    **dict.fromkeys(("PUT", "BINPUT", "LONG_BINPUT"), lambda reader, number: reader.memoize(number)),
    "APPEND": lambda reader, _: reader.add_members(reader.pop_many(1)),
    **dict.fromkeys(("APPENDS", "ADDITEMS"), lambda reader, _: reader.add_members(reader.pop_to_mark())),
    "SETITEM": lambda reader, _: reader.set_items(reader.pop_many(2)),
    "SETITEMS": lambda reader, _: reader.set_items(reader.pop_to_mark()),
    "BUILD": lambda reader, _: reader.set_state(reader.stack.pop()),
}
"""Opcodes that change the stack, or the value on top."""


def _opcodes(file: io.BytesIO) -> Iterator[tuple[str, Any, int | None]]:
    """The opcodes of a pickle. Texts of Python 2 may hold any bytes, as those of NumPy's numbers do; before
    Python 3.12.8 ``pickletools`` takes them for ASCII."""
    while True:
        end = file.tell()
        try:
            for opcode, argument, at in pickletools.genops(file):
                yield opcode.name, argument, at
                end = file.tell()
        except UnicodeDecodeError as error:
            if file.getbuffer()[end] != ord("S"):
                raise
            yield "STRING", error.object.decode("latin-1"), end
        else:
            return


def _bytes_in_key(raw: bytes) -> Any:
    """Bytes in a key: as text, or as the small numbers of an array, or else as ``repr`` writes them."""
    if raw.isascii() and raw.decode().isprintable():
        return raw.decode()
    for form in ("<i8", "<f8", "<i4", "<f4", "<i2", "i1"):
        if len(raw) % np.dtype(form).itemsize:
            continue
        numbers = np.frombuffer(raw, form)
        if ((numbers >= -128) & (numbers < 128) & (numbers == np.trunc(numbers))).all():
            return numbers.astype(np.int64).tolist()
    return repr(raw)


def _written(value: Any) -> str:
    """A key as ``repr`` would write it, from its value in a document."""
    if isinstance(value, (dict, list)):
        return f"({', '.join(map(_written, value.values() if isinstance(value, dict) else value))})"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return repr(value)
