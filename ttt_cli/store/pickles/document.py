"""Pickled data as the JSON document of the same content, so that whoever reads tables from JSON reads them.

Keys are written as ``str`` writes them. Tuples, sets and arrays become lists, objects the dicts of their
attributes, NaN null. A number that is whole is written so in a key, whatever its type, since equal keys are
one; keys that are the bytes of arrays are written as the lists of their numbers.
"""

import math
import re
import struct
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from ttt_cli.errors import InvalidFileError
from ttt_cli.store.pickles import machine
from ttt_cli.store.pickles.machine import Name, Record, loads, refused
from ttt_cli.store.reading import allowed, beyond
from ttt_cli.store.text import quoted

MOST_VALUES = 4_000_000
"""The most values of a document, each counted as often as it is there."""
USUAL, RATIO = 100_000, 32
"""So many any document may have, and beyond that so many for each byte of its file: a few bytes can refer to
the same values again and again."""
MOST_LEVELS = 30
"""What lies deeper, or contains itself, is left out."""
MOST_TABLES = 100
"""A tuple of no more tables is an object of them."""
LONGEST_AXIS = 2**22
_TEXT_UNIT = 16  # characters that count as one value
_TYPE = re.compile(r"[?]|b1|[iu][1248]|f[248]|[SU][0-9]{1,6}|O[48]?")
_DEFAULTS = {*(f"builtins.{name}" for name in ("dict", "list", "int", "float")), "collections.defaultdict"}
"""Functions whose defaults are as good as none: 0, or empty."""


@dataclass(frozen=True)
class Document:
    """What a pickle holds.

    :ivar value: dict with texts as keys, list, str, int, float (not NaN), bool or None; of a ``.npy`` file of
        numbers the array.
    :ivar objects: the names of the classes whose objects were taken as records.
    :ivar factories: the functions that would have given defaults.
    """

    value: Any
    objects: tuple[str, ...] = ()
    factories: tuple[str, ...] = ()


def read_pickle(data: bytes, where: str) -> Document:
    """The document of a pickle.

    :raises InvalidFileError: if it is damaged or too large, holds what is not plain data, or a dict has two
        keys that are written alike.
    """
    value = loads(data, where)
    walk = _Walk(where, allowed(min(MOST_VALUES, USUAL + RATIO * len(data))))
    tables = value if isinstance(value, (tuple, list)) and 0 < len(value) <= MOST_TABLES else ()
    if tables and all(isinstance(part, Record) and isinstance(walk.plain(part), Record) for part in tables):
        found: Any = {str(number): walk.value(table) for number, table in enumerate(tables, 1)}
    else:
        found = walk.value(value)
    return Document(found, tuple(walk.objects), tuple(walk.factories))


def elements(raw: bytes, dtype: "np.dtype[Any]") -> "np.ndarray[Any, Any]":
    """The elements of an array in one row.

    :raises ValueError: if they do not fill the bytes, or a text holds what is not a character.
    """
    if dtype.kind == "U":
        points = np.frombuffer(raw, np.dtype(np.uint32).newbyteorder(dtype.byteorder))
        if (points > sys.maxunicode).any():
            raise ValueError
    return np.frombuffer(raw, dtype)


class _Walk:
    """A walk over the values of a pickle, which counts what it makes."""

    def __init__(self, where: str, most: int) -> None:
        self.where = where
        self.most = self.left = most
        self.open: set[int] = set()
        self.objects: dict[str, None] = {}
        self.factories: dict[str, None] = {}

    def count(self, values: int) -> None:
        self.left -= values
        if self.left < 0:
            raise beyond(f"holds more than {self.most:,} values", self.where)

    def value(self, found: Any) -> Any:
        """A value of a document."""
        self.count(1)
        if found is None or isinstance(found, (bool, int, str)):
            return found
        if isinstance(found, float):
            return None if math.isnan(found) else found
        if isinstance(found, bytes):
            self.count(len(found) // _TEXT_UNIT)
            return found.decode("latin-1")
        if id(found) in self.open or len(self.open) >= MOST_LEVELS:
            return None
        self.open.add(id(found))
        made = self.container(found)
        self.open.discard(id(found))
        return made

    def container(self, found: Any) -> Any:
        if isinstance(found, Record):
            plain = self.plain(found)
            if not isinstance(plain, Record):
                return self.value(plain)
            return self.items(plain.items) if plain.name in machine.DICTS else self.attributes(plain)
        made = [self.value(member) for member in self.members(found)]
        return made[0] if isinstance(found, np.ndarray) and not found.ndim else made

    def members(self, found: Any) -> Sequence[Any]:
        """The members of a list, or the rows of an array."""
        if not isinstance(found, np.ndarray):
            return found
        self.count(found.size)
        return found.tolist() if found.ndim and found.size else found.ravel().tolist()

    def attributes(self, found: Record) -> Any:
        """An object: its attributes, or the arguments it would be made of where it has none."""
        made: dict[str, Any] = {}
        self.count(len(found.states))
        for state in found.states:
            parts = _parts(state)
            if all(part is None or isinstance(part, Record) for part in parts):
                for part in parts:
                    made.update(self.items(part.items) if part else {})
            else:
                made["state"] = self.value(state)
        held = {"items": self.items(found.items), "members": self.value(found.members)}
        held = {name: part for name, part in held.items() if part}
        if not made and len(held) == 1:
            return next(iter(held.values()))
        if not made and not held and found.arguments:
            return self.value(found.arguments[0] if len(found.arguments) == 1 else found.arguments)
        return {**made, **held}

    def items(self, items: Sequence[tuple[Any, Any]]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        spell = _spelling_of_bytes([key for key, _ in items])
        for key, value in items:
            plain = self.plain(key) if isinstance(key, Record) else key
            text = str(plain) if isinstance(plain, str) else self.part(key, spell)
            self.count(len(text) // _TEXT_UNIT)
            if text in made:
                raise InvalidFileError("the key is there twice", where=f"{self.where}, key {quoted(text)}")
            made[text] = self.value(value)
        return made

    def part(self, key: Any, spell: Callable[[bytes], str] | None) -> str:
        """A part of a key as ``repr`` writes it.

        :param spell: how bytes are written.
        """
        self.count(1)
        if isinstance(key, (str, bytes)):
            self.count(len(key) // _TEXT_UNIT)
            return spell(key) if spell and isinstance(key, bytes) else repr(key)
        if isinstance(key, float) and key.is_integer():
            return str(int(key))
        if key is None or isinstance(key, (bool, int, float)):
            return str(key)
        if id(key) in self.open or len(self.open) >= MOST_LEVELS:
            return "..."
        self.open.add(id(key))
        plain = self.plain(key) if isinstance(key, Record) else key
        if isinstance(plain, Record):
            members = _all_of(plain)
        elif isinstance(plain, (list, tuple, np.ndarray)):
            members = self.members(plain)
        else:
            members = [plain]
        written = [self.part(member, spell) for member in members]
        self.open.discard(id(key))
        alone = isinstance(key, Record) and len(written) == 1 and not isinstance(plain, (list, np.ndarray))
        return written[0] if alone else f"({', '.join(written)})"

    def plain(self, found: Record) -> Any:
        """The plain data that a record stands for; a record itself where that is a dict or an object.

        :raises InvalidFileError: if it is known, but was not called so.
        """
        try:
            return self.made(found)
        except (TypeError, ValueError, OverflowError, IndexError):
            raise refused(f"calls {found.name} in a way that gives no plain data", self.where) from None

    def made(self, found: Record) -> Any:
        name, arguments = found.name, found.arguments
        if name in machine.DICTS:
            return self.dict(found)
        if name in machine.LISTS:
            members = self.listed(arguments[0]) if arguments else []
            return [*members, *found.members]
        if name in machine.TEXTS:
            return _raw(found)
        if name in machine.OBJECTS:
            return self.object(found)
        if name.endswith("multiarray._reconstruct"):
            ((_version, shape, kind, by_columns, content),) = found.states or ((0, (0,), None, False, b""),)
            return self.array(shape, kind, by_columns, content)
        if name.endswith("numeric._frombuffer"):
            content, kind, shape, order = arguments
            return self.array(shape, kind, order == "F", content)
        if name.endswith("multiarray.scalar"):
            kind, content = arguments if len(arguments) > 1 else (*arguments, b"")
            dtype, raw = self.dtype(kind), _raw(content)
            empty = {"U": "", "S": b""}
            return elements(raw, dtype)[0].item() if raw else empty[dtype.kind]
        if name == "numpy.dtype":
            return self.dtype(found).str
        if name not in machine.INERT:
            self.objects[name] = None
        return found

    def dict(self, found: Record) -> Record:
        arguments = list(found.arguments)
        if found.name.endswith("defaultdict") and arguments:
            self.default(arguments.pop(0))
        if not arguments:
            return found
        first = self.plain(arguments[0]) if isinstance(arguments[0], Record) else arguments[0]
        held = first.items if isinstance(first, Record) else [(key, value) for key, value in first or ()]
        self.count(len(held))
        made = Record("builtins.dict")
        made.items = [*held, *found.items]
        return made

    def default(self, factory: Any) -> None:
        """Note what would have given the defaults of a dict."""
        if isinstance(factory, Record) and factory.name == "functools.partial":
            (state,) = factory.states  # function, arguments, named arguments, attributes
            factory = state[0] if isinstance(state, tuple) and state else None
        name = factory.name if isinstance(factory, Record) else factory
        if name is not None and not isinstance(name, str):
            raise TypeError
        if name is not None and name not in _DEFAULTS:
            self.factories[name] = None

    def object(self, found: Record) -> Any:
        """What ``copyreg`` would have made: an object of a class, by its arguments or its base's state."""
        name, *arguments = found.arguments
        if not isinstance(name, Name):
            raise TypeError
        made = Record(name)
        made.items, made.members, made.states = found.items, found.members, found.states
        if found.name == "copyreg.__newobj__":
            made.arguments = tuple(arguments)
        elif found.name == "copyreg.__newobj_ex__":
            made.arguments, named = arguments
            made.states = [named, *made.states] if named.items else made.states
        else:
            _base, state = arguments
            plain = self.plain(state) if isinstance(state, Record) else state
            if isinstance(plain, Record):
                made.items = [*plain.items, *made.items]
            elif isinstance(plain, list):
                made.members = [*plain, *made.members]
            elif plain is not None:
                made.arguments = (plain,)
        return self.plain(made)

    def array(self, shape: Any, kind: Any, by_columns: Any, content: Any) -> "np.ndarray[Any, Any]":
        if not all(type(length) is int and 0 <= length <= LONGEST_AXIS for length in shape):
            raise ValueError
        dtype = np.dtype(float) if kind is None else self.dtype(kind)
        if dtype.kind == "O":
            row = np.empty(len(content), object)
            row[:] = content
        else:
            raw = _raw(content)
            row = elements(raw, dtype) if raw else np.zeros(0, dtype)
        return row.reshape(shape, order="F" if by_columns and dtype.kind != "O" else "C")

    def dtype(self, kind: Any) -> "np.dtype[Any]":
        """The type of an array's elements: numbers, texts or objects, without fields."""
        if not isinstance(kind, Record) or kind.name != "numpy.dtype":
            raise TypeError
        code = kind.arguments[0]
        code = code.decode("ascii") if isinstance(code, bytes) else code
        if not _TYPE.fullmatch(code):
            raise refused(f"holds an array of {quoted(code)}", self.where)
        (_version, order, *others) = kind.states[-1] if kind.states else (0, "=")
        if not all(part is None or isinstance(part, int) for part in others):
            raise ValueError
        order = order.decode("ascii") if isinstance(order, bytes) else order
        return np.dtype("O" if code.startswith("O") else order.replace("|", "=") + code)

    def listed(self, found: Any) -> Sequence[Any]:
        plain = self.plain(found) if isinstance(found, Record) else found
        if not isinstance(plain, (list, tuple)):
            raise TypeError
        self.count(len(plain))
        return plain


def _raw(content: Any) -> bytes:
    """Bytes; protocols 0 to 2, and Python 2, write them as text."""
    if isinstance(content, Record) and content.name in machine.TEXTS:
        return _raw(*content.arguments[:1] or (b"",))
    raw = content.encode("latin-1") if isinstance(content, str) else content
    if not isinstance(raw, bytes):
        raise TypeError
    return raw


def _all_of(found: Record) -> Sequence[Any]:
    """The members of an object that is a key."""
    states = [part for state in found.states for part in _parts(state)]
    values: Iterator[Any] = chain.from_iterable(
        [value for _, value in part.items] if isinstance(part, Record) else [part] for part in states
    )
    held = chain.from_iterable(found.items)
    return [*found.arguments, *values, *found.members, *held]


def _parts(state: Any) -> tuple[Any, ...]:
    """The parts of an object's state: its attributes, and those that are slots."""
    return state if isinstance(state, tuple) and len(state) == 2 else (state,)


def _spelling_of_bytes(keys: list[Any]) -> Callable[[bytes], str] | None:
    """How the bytes in keys are written: as text, or as arrays of small numbers; None: as neither."""
    parts = chain.from_iterable(
        key if isinstance(key, tuple) and len(key) <= MOST_LEVELS else (key,) for key in keys
    )
    found = {_raw(part) for part in parts if isinstance(part, bytes) or _is_text(part)}
    if not found:
        return None
    if all(part.isascii() and part.decode().isprintable() for part in found):
        return lambda raw: raw.decode("latin-1")
    for form in "qdifhb":
        size = struct.calcsize(f"<{form}")
        if all(len(part) % size == 0 and _are_small(_numbers(part, form)) for part in found):
            return partial(_numbered, form=form)
    return None


def _numbered(raw: bytes, form: str) -> str:
    return f"({', '.join(str(int(number)) for number in _numbers(raw, form))})"


def _is_text(part: Any) -> bool:
    return isinstance(part, Record) and part.name in machine.TEXTS and bool(part.arguments)


def _numbers(raw: bytes, form: str) -> tuple[float, ...]:
    return struct.unpack(f"<{len(raw) // struct.calcsize(f'<{form}')}{form}", raw)


def _are_small(numbers: tuple[float, ...]) -> bool:
    return all(-128 <= number < 128 and number == int(number) for number in numbers)
