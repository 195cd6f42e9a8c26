"""What a pickle holds as the JSON document of the same content: keys are texts, as ``str`` has them.

So whoever reads tables from JSON reads them from pickles. Tuples, sets and arrays become lists, objects the
dicts of their attributes, NaN null. A number that is whole is written so in a key, whatever its type, since
equal keys are one; keys that are the bytes of arrays are written as the lists of their numbers.
"""

import math
import struct
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any

from ttt_cli.errors import InvalidFileError
from ttt_cli.store.pickles.values import (
    Pickle,
    PickledArray,
    PickledDict,
    PickledName,
    PickledObject,
    PickledSet,
    PickledType,
)
from ttt_cli.store.reading import allowed, beyond
from ttt_cli.store.text import quoted

MOST_VALUES = 4_000_000
"""The most values of a document, each counted as often as it is there."""
USUAL = 100_000
"""So many any document may have, and beyond that"""
RATIO = 32
"""so many for each byte: a few bytes can refer to the same values again and again."""
MOST_LEVELS = 30
"""What lies deeper is left out."""
MOST_TABLES = 100
"""A tuple of no more tables is an object of them."""
_TEXT_UNIT = 16
"""Characters of a key that count as one value."""


def document(pickle: Pickle, where: str) -> Any:
    """The document of a pickle: dict with texts as keys, list, str, int, float (no NaN), bool or None.

    What contains itself is left out where it does.

    :raises InvalidFileError: if it is too large, or a dict has two keys that are written alike.
    """
    value = pickle.value
    if isinstance(value, PickledArray) and value.shape == () and isinstance(value.values, list):
        (value,) = value.values
    walk = _Walk(where, allowed(min(MOST_VALUES, USUAL + RATIO * pickle.size)))
    tables = value if isinstance(value, (tuple, list)) and 0 < len(value) <= MOST_TABLES else ()
    if tables and all(isinstance(table, (PickledDict, PickledObject)) for table in tables):
        return {str(number): walk.value(table) for number, table in enumerate(tables, 1)}
    return walk.value(value)


class _Walk:
    """A walk over the values of a pickle, which counts what it makes."""

    def __init__(self, where: str, most: int) -> None:
        self.where = where
        self.most = self.left = most
        self.open: set[int] = set()

    def count(self, values: int = 1) -> None:
        self.left -= values
        if self.left < 0:
            raise beyond(f"holds more than {self.most:,} values", self.where)

    def value(self, found: Any) -> Any:
        """A value of a document."""
        self.count()
        if found is None or isinstance(found, (bool, int, str)):
            return found
        if isinstance(found, float):
            return None if math.isnan(found) else found
        if isinstance(found, (bytes, PickledName, PickledType)):
            return self.text(found, _letters if isinstance(found, bytes) else None)
        if id(found) in self.open or len(self.open) >= MOST_LEVELS:
            return None
        self.open.add(id(found))
        made = self.container(found)
        self.open.discard(id(found))
        return made

    def container(self, found: Any) -> Any:
        if isinstance(found, PickledDict):
            return self.items(found.items)
        if isinstance(found, PickledObject):
            return self.attributes(found)
        made = [self.value(member) for member in self.members(found)]
        return made[0] if isinstance(found, PickledArray) and not found.shape and made else made

    def members(self, found: Any) -> Sequence[Any]:
        """The members of what is no dict; of an array, its rows."""
        if not isinstance(found, PickledArray):
            return found.members if isinstance(found, PickledSet) else found
        if found.values is None:
            return []
        if isinstance(found.values, list):
            rows: list[Any] = found.values
            for length in reversed(found.shape[1:]):
                rows = [rows[at : at + length] for at in range(0, len(rows), length or 1)]
            self.count(len(found.values))
            return rows
        self.count(found.values.size)
        return found.values.tolist() if found.shape else [found.values.item()]

    def attributes(self, found: PickledObject) -> Any:
        """An object: its attributes, or the arguments it would be made of where it has none."""
        made: dict[str, Any] = {}
        self.count(len(found.states))
        for state in found.states:
            if all(part is None or isinstance(part, PickledDict) for part in _parts(state)):
                for part in _parts(state):
                    made.update(self.items(part.items) if part else {})
            else:
                made["state"] = self.value(state)
        parts = {"items": self.items(found.items), "members": self.value(found.members)}
        parts = {name: part for name, part in parts.items() if part}
        if not made and len(parts) == 1:
            return next(iter(parts.values()))
        if not made and not parts and found.arguments:
            return self.value(found.arguments[0] if len(found.arguments) == 1 else found.arguments)
        return {**made, **parts}

    def items(self, items: Sequence[tuple[Any, Any]]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        spell = _spelling_of_bytes([key for key, _ in items])
        for key, value in items:
            text = self.text(key, spell)
            if text in made:
                raise InvalidFileError("the key is there twice", where=f"{self.where}, key {quoted(text)}")
            made[text] = self.value(value)
        return made

    def text(self, key: Any, spell: Callable[[bytes], str] | None) -> str:
        """A key as ``str`` has it.

        :param spell: how bytes are written.
        """
        text = key if isinstance(key, str) else self.part(key, spell)
        self.count(len(text) // _TEXT_UNIT)
        return text

    def part(self, key: Any, spell: Callable[[bytes], str] | None) -> str:
        """A part of a key as ``repr`` has it."""
        self.count()
        if isinstance(key, str):
            self.count(len(key) // _TEXT_UNIT)
            return repr(key)
        if isinstance(key, float) and key.is_integer():
            return str(int(key))
        if isinstance(key, bytes):
            self.count(len(key) // _TEXT_UNIT)
            return spell(key) if spell else repr(key)
        if key is None or isinstance(key, (bool, int, float, PickledName, PickledType)):
            return str(key) if not isinstance(key, PickledType) else key.kind
        if id(key) in self.open or len(self.open) >= MOST_LEVELS:
            return "..."
        self.open.add(id(key))
        made = self.list(key, spell)
        self.open.discard(id(key))
        return made

    def list(self, key: Any, spell: Callable[[bytes], str] | None) -> str:
        members: Iterable[Any]
        if isinstance(key, PickledDict):
            members = (part for item in key.items for part in item)
        elif isinstance(key, PickledObject):
            self.count(len(key.states))
            parts = [part for state in key.states for part in _parts(state)]
            values = [
                [value for _, value in part.items] if isinstance(part, PickledDict) else [part]
                for part in parts
            ]
            members = [*key.arguments, *chain.from_iterable(values), *key.members]
            if len(members) == 1:
                return self.part(members[0], spell)
        else:
            members = self.members(key)
        return f"({', '.join([self.part(member, spell) for member in members])})"


def _letters(raw: bytes) -> str:
    return raw.decode("latin-1")


def _parts(state: Any) -> tuple[Any, ...]:
    """The parts of an object's state: its attributes, and those that are slots."""
    return state if isinstance(state, tuple) and len(state) == 2 else (state,)


def _spelling_of_bytes(keys: list[Any]) -> Callable[[bytes], str] | None:
    """How the bytes in keys are written: as text, or as arrays of small numbers; None: as neither."""
    parts = chain.from_iterable(
        key if isinstance(key, tuple) and len(key) <= MOST_LEVELS else (key,) for key in keys
    )
    found = {part for part in parts if isinstance(part, bytes)}
    if not found:
        return None
    if all(part.isascii() and part.decode().isprintable() for part in found):
        return _letters
    for form in "qdifhb":
        size = struct.calcsize(f"<{form}")
        if all(len(part) % size == 0 and _are_small(_numbers(part, form)) for part in found):
            return lambda raw: f"({', '.join(str(int(number)) for number in _numbers(raw, form))})"
    return None


def _numbers(raw: bytes, form: str) -> tuple[float, ...]:
    return struct.unpack(f"<{len(raw) // struct.calcsize(f'<{form}')}{form}", raw)


def _are_small(numbers: tuple[float, ...]) -> bool:
    return all(-128 <= number < 128 and number == int(number) for number in numbers)
