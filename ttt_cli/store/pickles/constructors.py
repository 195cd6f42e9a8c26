"""What the names in a pickle stand for. A name selects a function of this module; nothing is ever imported.

Arguments that do not fit raise TypeError or ValueError, which the machine tells as what they are.
"""

import re
import struct
import sys
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from ttt_cli.errors import InvalidFileError
from ttt_cli.store.pickles.values import (
    PickledArray,
    PickledDict,
    PickledName,
    PickledObject,
    PickledSet,
    PickledType,
    elements,
)
from ttt_cli.store.text import quoted

LONGEST_AXIS = 2**22
"""The longest axis of an array."""


class Reader(Protocol):
    """Who reads a pickle, as a constructor sees it."""

    factories: dict[str, None]

    def make(self, called: Any, arguments: Any) -> Any:
        """What calling a name gives."""

    def copying(self, size: int) -> None:
        """Count bytes that are made of others, of which a pickle can ask for more and more."""

    def refused(self, what: str) -> InvalidFileError:
        """The refusal of what is no plain data."""


def _object(reader: Reader, cls: PickledName, base: PickledName, state: Any) -> Any:
    """``copyreg._reconstructor``: how protocols 0 and 1 write an object."""
    _expect(isinstance(base, PickledName))
    made = reader.make(cls, ())
    if state is None:
        return made
    _expect(isinstance(made, PickledObject))
    if isinstance(state, PickledDict):
        made.items = state.items
    elif isinstance(state, (list, PickledSet)):
        made.members = state if isinstance(state, list) else state.members
    else:
        made.arguments = (state,)
    return made


def _new(reader: Reader, cls: PickledName, *arguments: Any) -> Any:
    return reader.make(cls, arguments)


def _new_with_names(reader: Reader, cls: PickledName, arguments: tuple[Any, ...], named: PickledDict) -> Any:
    _expect(isinstance(named, PickledDict) and isinstance(arguments, tuple))
    made = reader.make(cls, arguments)
    if named.items:
        _expect(isinstance(made, PickledObject))
        made.states.append(named)
    return made


def _encode(reader: Reader, text: str, encoding: str) -> bytes:
    """``_codecs.encode``: how protocols 0 to 2 write bytes."""
    _expect(isinstance(text, str) and encoding in ("latin1", "latin-1"))
    reader.copying(len(text))
    return text.encode("latin-1")


def _bytes(reader: Reader, content: Any = b"", encoding: str = "latin-1") -> bytes:
    return content if isinstance(content, bytes) else _encode(reader, content, encoding)


def _set(reader: Reader, members: Any = ()) -> PickledSet:
    return PickledSet(_list(reader, members))


def _list(reader: Reader, members: Any = (), longest: Any = None) -> list[Any]:
    _expect(longest is None or isinstance(longest, int))
    if isinstance(members, list):
        return members
    _expect(isinstance(members, tuple))
    reader.copying(8 * len(members))
    return list(members)


def _dict(reader: Reader, items: Any = None) -> PickledDict:
    if items is None:
        return PickledDict()
    if isinstance(items, list):  # as Python 2 writes an OrderedDict
        _expect(all(isinstance(item, (list, tuple)) and len(item) == 2 for item in items))
        reader.copying(64 * len(items))
        return PickledDict([(key, value) for key, value in items])
    _expect(isinstance(items, PickledDict))
    return PickledDict(items.items)


def _defaultdict(reader: Reader, factory: Any = None, items: Any = None) -> PickledDict:
    if isinstance(factory, PickledObject) and factory.name.module == "functools":
        (state,) = factory.states  # of functools.partial: function, arguments, named arguments, attributes
        factory = state[0] if isinstance(state, tuple) else None
    if factory is not None:
        _expect(isinstance(factory, (PickledName, PickledObject)))
        name = factory if isinstance(factory, PickledName) else factory.name
        if name.key not in _FACTORIES:
            reader.factories[str(name)] = None
    return _dict(reader, items)


def _type(reader: Reader, kind: Any, align: Any = False, copy: Any = True) -> PickledType:
    if isinstance(kind, bytes):
        kind = kind.decode("ascii")
    _expect(isinstance(kind, str))
    if not _KIND.fullmatch(kind):
        raise reader.refused(f"holds an array of {quoted(kind)}")
    found = PickledType("O" if kind.startswith("O") else kind)
    found.numpy()
    return found


def _scalar(reader: Reader, kind: PickledType, content: Any = b"") -> Any:
    _expect(isinstance(kind, PickledType) and kind.kind != "O")
    raw = _raw(reader, content)
    reader.copying(len(raw))
    if kind.kind in _NUMBERS and len(raw) == int(kind.kind[1]):  # there may be a hundred thousand
        return struct.unpack(kind.order + _NUMBERS[kind.kind], raw)[0]
    dtype = kind.numpy()
    _expect(len(raw) == dtype.itemsize)
    return elements(raw, dtype)[0].item() if raw else _EMPTY[kind.kind[0]]


def _shell(reader: Reader, cls: PickledName, shape: Any, kind: Any) -> PickledArray:
    """``_reconstruct``: an array that is empty until its state is set."""
    _expect(isinstance(cls, PickledName) and str(cls) == "numpy.ndarray")
    return PickledArray()


def _array(reader: Reader, content: Any, kind: PickledType, shape: Any, order: Any) -> PickledArray:
    """``_frombuffer``: how protocol 5 writes an array."""
    _expect(order in ("C", "F"))
    made = PickledArray()
    set_array(reader, made, (1, shape, kind, order == "F", content))
    return made


def set_type(reader: Reader, target: PickledType, state: Any) -> None:
    """Set the state of an element type: its byte order. One with fields or dates in it does not fit."""
    _expect(isinstance(state, tuple) and 2 < len(state) <= 9)
    _version, order, *others = state
    if isinstance(order, bytes):
        order = order.decode("ascii")
    _expect(isinstance(order, str) and order in ("<", ">", "|", "="))
    _expect(all(part is None or isinstance(part, int) for part in others))  # no fields
    target.order = "=" if order == "|" else order


def set_array(reader: Reader, target: PickledArray, state: Any) -> None:
    """Set the state of an array: version, shape, element type, whether it is by columns, content."""
    _expect(isinstance(state, tuple) and len(state) == 5)
    _version, shape, kind, by_columns, content = state
    _expect(target.values is None and isinstance(kind, PickledType) and isinstance(shape, tuple))
    _expect(len(shape) <= 32 and all(type(length) is int and 0 <= length <= LONGEST_AXIS for length in shape))
    count = 1
    for length in shape:
        count *= length
    target.shape = shape
    if kind.kind == "O":
        _expect(isinstance(content, list) and len(content) == count)
        target.values = content
        return
    raw, dtype = _raw(reader, content), kind.numpy()
    _expect(len(raw) == count * dtype.itemsize)
    if not raw:
        _expect(count == 0)
        target.values = []
        return
    target.values = elements(raw, dtype).reshape(shape, order="F" if by_columns else "C")


def _raw(reader: Reader, content: Any) -> bytes:
    """The bytes of an array; Python 2 wrote them as text."""
    if isinstance(content, str):
        reader.copying(len(content))
        return content.encode("latin-1")
    _expect(isinstance(content, bytes))
    return content


def _expect(fits: bool) -> None:
    if not fits:
        raise TypeError


_KIND = re.compile(r"[?]|b1|[iu][1248]|f[248]|[SU][0-9]{1,6}|O[48]?")
_EMPTY = {"U": "", "S": b""}
_NUMBERS = {"f8": "d", "f4": "f", "i8": "q", "i4": "i"}
"""As ``struct`` spells the usual types of numbers."""

CONSTRUCTORS: Mapping[tuple[str, str], Callable[..., Any]] = {
    ("_codecs", "encode"): _encode,
    ("builtins", "bytes"): _bytes,
    ("builtins", "bytearray"): _bytes,
    ("builtins", "set"): _set,
    ("builtins", "frozenset"): _set,
    ("builtins", "list"): _list,
    ("builtins", "dict"): _dict,
    ("collections", "deque"): _list,
    ("collections", "OrderedDict"): _dict,
    ("collections", "Counter"): _dict,
    ("collections", "defaultdict"): _defaultdict,
    ("copyreg", "_reconstructor"): _object,
    ("copyreg", "__newobj__"): _new,
    ("copyreg", "__newobj_ex__"): _new_with_names,
    ("numpy", "dtype"): _type,
    **{
        (f"numpy.{core}.{module}", name): constructor
        for core in ("core", "_core")
        for module, name, constructor in (
            ("multiarray", "_reconstruct", _shell),
            ("multiarray", "scalar", _scalar),
            ("numeric", "_frombuffer", _array),
        )
    },
}
"""What a pickle may call, by module and name, and what that gives."""
INERT = frozenset(
    {
        ("builtins", "range"),
        ("functools", "partial"),
        ("random", "Random"),
        ("types", "SimpleNamespace"),
    }
)
"""Classes of the library whose objects may stand beside a table: they are inert, as those of an author's."""
NAMED_ONLY = frozenset(
    {
        *(("builtins", name) for name in ("object", "tuple", "int", "float", "str", "bool")),
        *(("numpy", name) for name in ("ndarray", "float32", "float64", "int64", "zeros")),
    }
)
"""Names that may be mentioned, as the function that gives a default or the class of an array, not called."""
_FACTORIES = frozenset(
    {*(("builtins", name) for name in ("dict", "list", "int", "float")), ("collections", "defaultdict")}
)
"""Functions whose defaults are as good as none: 0, or empty."""
_FUNCTIONS = frozenset({"dill", "cloudpickle"})
_REFUSED = (
    sys.stdlib_module_names
    | _FUNCTIONS
    | {"__builtin__", "commands", "joblib", "numpy", "os2emxpath", "posixpath", "ntpath", "numba"}
) - {"__main__"}
"""Packages of which no name that is not listed may stand in a pickle: Python's own library (of Python 2 too),
and those whose objects cannot be told without calling them."""
_NAME = re.compile(r"[^\W\d][\w.]{0,199}")


def is_refused(name: PickledName) -> str:
    """What a name is that may not stand in a pickle of plain data; nothing if it may."""
    if name.key in CONSTRUCTORS or name.key in INERT or name.key in NAMED_ONLY:
        return ""
    root = name.module.partition(".")[0]
    if root in _FUNCTIONS or "<" in name.name:
        return "a function"
    strange = not (_NAME.fullmatch(name.module) and _NAME.fullmatch(name.name))
    refused = root in _REFUSED and not name.module.startswith("numpy.random.")
    return "no plain data" * (strange or refused)
