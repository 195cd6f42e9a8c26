"""Reading the entries of a state file into arrays, and reporting the faults in them.

Entries are read in batches. If a batch has a fault, its halves are read on their own, and so on down to the
entry at fault.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import chain, islice
from typing import Any

import numpy as np

from ttt_cli.engine.arrays import Floats, Int64s
from ttt_cli.engine.position import Position
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.symmetry import classes
from ttt_cli.errors import InvalidFileError, NotationError, TttError

ENTRY_BATCH = 1 << 12
"""Entries in a batch."""

MAX_FAULTS = 100
"""The most faults that ``all_faults`` lists."""
_faults: ContextVar[list[TttError] | None] = ContextVar("_faults", default=None)

MAX_COUNT = 2**53 - 1
"""The largest count in a file: no program reaches it, and any parser reads it exactly. A thousand files of
such counts can be merged before 63 bits overflow."""

MAX_VALUE = 1e150
"""The largest value in a file, so that no weighted mean overflows."""


def entry_error(key: Any, fault: str, *, hint: str = "") -> InvalidFileError:
    return InvalidFileError(fault, where=f'"entries": {str(key)[:80]!r}', hint=hint)


@contextmanager
def all_faults() -> Iterator[list[TttError]]:
    """Collect the faults of the entries that are read in this context, instead of raising the first."""
    faults: list[TttError] = []
    token = _faults.set(faults)
    try:
        yield faults
    finally:
        _faults.reset(token)


def report(fault: InvalidFileError) -> None:
    """Raise the fault of an entry, unless ``all_faults`` collects them and has room for it."""
    faults = _faults.get()
    if faults is None or len(faults) >= MAX_FAULTS:
        raise fault
    faults.append(fault)


def read_batches(
    entries: Iterable[tuple[str, Any]], read: Callable[[list[str], list[Any]], None], expected: str
) -> None:
    """Read the entries of a file, batch by batch.

    :param read: takes the keys and values of a batch; raises InvalidFileError if an entry has a fault.
    :param expected: what each entry has to be, in words.
    :raises InvalidFileError: naming the first entry with a fault.
    """
    remaining = iter(entries)
    while batch := list(islice(remaining, ENTRY_BATCH)):
        _read(batch, read, expected)


def _read(batch: list[tuple[str, Any]], read: Callable[[list[str], list[Any]], None], expected: str) -> None:
    keys, values = map(list, zip(*batch, strict=True))
    try:
        read(keys, values)
    except InvalidFileError as error:
        if len(batch) == 1:
            message = error.message or f"expected {expected}, found {values[0]!r}"[:200]
            report(entry_error(keys[0], message, hint=error.hint))
            return
        middle = len(batch) // 2
        for half in (batch[:middle], batch[middle:]):
            _read(half, read, expected)


def parse_keys(keys: Sequence[str], rules: Rules, symmetric: bool = False) -> Positions:
    """The positions that the keys of entries name.

    :raises InvalidFileError: if one is not a position of the board, or if ``symmetric`` not a canonical form.
    """
    try:
        positions = Positions.parse(keys, rules)
    except NotationError:
        raise InvalidFileError(f"is not a position: {Position.unchecked(keys[0], rules).fault()}") from None
    if symmetric:
        canonical = classes(positions).positions
        if not ((canonical.x == positions.x) & (canonical.o == positions.o)).all():
            fault = "a symmetric table holds the smallest text of each class, and this is not it"
            raise InvalidFileError(fault)
    return positions


def require(fits: Any) -> None:
    """Raise an error unless ``fits``, bool or bool[k], is true for all entries.

    :raises InvalidFileError: without a message; ``read_batches`` says what was expected.
    """
    if not np.all(fits):
        raise InvalidFileError("")


def as_counts(values: Sequence[Any], least: int = 0, most: int = MAX_COUNT) -> Int64s:
    """int64[k], the values, which are required to be whole numbers within these limits."""
    require({*map(type, values)} <= {int})
    require(min(values, default=least) >= least and max(values, default=most) <= most)
    return np.array(values, np.int64)


def as_floats(values: Sequence[Any]) -> Floats:
    """float64[k], the values, which are required to be numbers of at most ``MAX_VALUE``."""
    require({*map(type, values)} <= {int, float})
    require(max(values, default=0) <= MAX_VALUE and min(values, default=0) >= -MAX_VALUE)
    floats = np.array(values, np.float64) + 0.0  # no -0.0
    require(not np.isnan(floats).any())
    return floats


def members(entries: Sequence[Any], names: Mapping[str, int]) -> tuple[Int64s, Int64s, list[Any]]:
    """For each member of all entries the place of its entry, the number of its name, and its value. Entries
    are required to be objects with at least one of these names and no other."""
    require({*map(type, entries)} == {dict} and all(entries))
    keys = flatten(entries)
    require(names.keys() >= {*keys})
    numbers = np.fromiter(map(names.__getitem__, keys), np.int64, len(keys))
    return places_of_members(entries), numbers, flatten(map(dict.values, entries))


def columns_of(values: Sequence[Any], number: int) -> list[list[Any]]:
    """The columns of these values, which are required to be lists of this many items."""
    require({*map(type, values)} == {list} and {*map(len, values)} == {number})
    items = flatten(values)
    return [items[column::number] for column in range(number)]


def places_of_members(entries: Sequence[Any]) -> Int64s:
    """int64[k]: for each member of each entry, the place of the entry."""
    lengths = np.fromiter(map(len, entries), np.int64, len(entries))
    return np.repeat(np.arange(len(entries)), lengths)


def flatten(parts: Iterable[Iterable[Any]]) -> list[Any]:
    return list(chain.from_iterable(parts))
