"""Reading the entries of a state file: the position each is about, and how its faults are reported.

Entries pass by in batches, which are taken apart into arrays. A batch that cannot be is gone through one
entry at a time, for the one that is wrong.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from math import isnan
from typing import Any, NoReturn, TypeVar

import numpy as np

from ttt_cli.engine.arrays import Bools, Floats, Int8s, Int64s, Uint8s, Uint16s
from ttt_cli.engine.position import SYMBOLS, Position
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.symmetry import Classes, classes
from ttt_cli.errors import InvalidFileError, NotationError

T = TypeVar("T")


BATCH = 1 << 12
"""Entries that are taken apart at a time."""


def unfit(text: str, fault: str, *, hint: str = "") -> InvalidFileError:
    """The error that names the entry of a position."""
    return InvalidFileError(fault, where=f'"entries": {text[:80]!r}', hint=hint)


MOST = 2**53
"""The largest count in a file: what no program reaches, and a float still holds. A thousand files of such
counts can be merged before 63 bits overflow."""

LARGEST = 1e150
"""The largest value in a file, so that no weighted mean overflows."""


@dataclass(frozen=True, eq=False)
class Batch:
    """Some entries of a file.

    :ivar texts: the keys; ``positions``: the positions they are.
    :ivar found: what the file says of each.
    """

    texts: list[str]
    positions: Positions
    found: list[Any]
    symmetric: bool

    @cached_property
    def classes(self) -> Classes:
        """What a symmetric table has of the positions."""
        return classes(self.positions)

    @cached_property
    def legal(self) -> Bools:
        """bool[k, cells]: the moves that the rows of the positions have."""
        return self.classes.legal if self.symmetric else self.positions.legal

    @cached_property
    def places(self) -> Int8s:
        """int8[k, cells]: which of a row's moves a legal cell is."""
        return np.cumsum(self.legal, axis=1, dtype=np.int8) - np.int8(1)

    def by_cell(self) -> Iterator[tuple[str, dict[str, int], Any]]:
        """Each text, the names of the moves there, and what the file says of it."""
        for text, legal, found in zip(self.texts, self.legal, self.found, strict=True):
            yield text, {str(cell + 1): cell for cell in np.flatnonzero(legal).tolist()}, found


def cell_names(rules: Rules) -> dict[str, int]:
    """What files call the cells."""
    return {str(cell + 1): cell for cell in range(rules.cells)}


def in_batches(
    rules: Rules, symmetric: bool, entries: Iterable[tuple[str, Any]], read: Callable[[Batch], T]
) -> deque[tuple[Positions, T]]:
    """The positions of a file's entries, batch by batch, and what ``read`` has made of each: what has been
    read is held in that form alone.

    :raises InvalidFileError: naming the first text of a batch that is not a position of the board.
    """
    return deque((batch.positions, read(batch)) for batch in _batches(rules, symmetric, entries))


def _batches(rules: Rules, symmetric: bool, entries: Iterable[tuple[str, Any]]) -> Iterator[Batch]:
    remaining = iter(entries)
    while some := list(islice(remaining, BATCH)):
        texts, found = map(list, zip(*some, strict=True))
        if set(map(len, texts)) != {rules.cells} or "".join(texts).strip(SYMBOLS):
            for text in texts:
                if len(text) != rules.cells or text.strip(SYMBOLS):
                    refuse(rules, text)
        batch = Batch(texts, Positions.parse(texts, rules), found, symmetric)
        fits = batch.positions.reachable
        if symmetric:
            own = batch.classes.positions
            fits = fits & (own.x == batch.positions.x) & (own.o == batch.positions.o)
        if not fits.all():
            refuse(rules, texts[int(np.argmin(fits))])
        yield batch


def objects(
    positions: Positions, at: Int64s, names: Iterable[str], values: Iterable[Any]
) -> Iterator[tuple[str, Any]]:
    """The entries of positions as objects with members, given in order; a position without any is left out.

    :param at: the number of the position that each member belongs to.
    """
    lengths = np.bincount(at, minlength=len(positions))
    told = lengths > 0
    together = zip(names, values, strict=True)
    for text, length in zip(positions[told].texts(), lengths[told].tolist(), strict=True):
        yield text, dict(islice(together, length))


def members(found: list[Any], names: Mapping[str, int]) -> tuple[Uint16s, Uint8s, list[Any]] | None:
    """What entries are made of that are objects with some of these names, and not empty; None if one is not.

    :returns: for each member the number of its entry, what its name stands for, and its value.
    """
    if not are(found, dict) or not all(found):
        return None
    keys = chained(found)
    if not set(keys) <= names.keys():
        return None
    which = np.fromiter(map(names.__getitem__, keys), np.uint8, len(keys))
    return numbered(found), which, chained(map(dict.values, found))


def numbered(found: list[Any]) -> Uint16s:
    """The number of the entry that each of the members of entries belongs to."""
    lengths = np.fromiter(map(len, found), np.int64, len(found))
    return np.repeat(np.arange(len(found), dtype=np.uint16), lengths)


def values_and_visits(pairs: list[Any]) -> tuple[Floats, Int64s] | None:
    """The values and visits in a list of ``[value, visits]``, visits from 1; None if one is no such pair."""
    if not are(pairs, list) or set(map(len, pairs)) != {2}:
        return None
    both = chained(pairs)
    worth, visits = both[::2], both[1::2]
    if not (are_numbers(worth) and are_counts(visits, 1)):
        return None
    return np.array(worth, np.float64) + 0.0, np.array(visits, np.int64)


def counts_of(numbers: list[Any]) -> tuple[Int64s] | None:
    """The changes of counts in a list of whole numbers other than 0; None if one is no such number."""
    if set(map(type, numbers)) != {int} or not all(numbers) or max(map(abs, numbers)) >= MOST:
        return None
    return (np.array(numbers, np.int64),)


def check_members(text: str, found: Any, names: Mapping[str, int], pairs: bool) -> None:
    """Check an entry.

    :param names: those that its members can have.
    :raises InvalidFileError: if it is no object of these, each ``[value, visits]`` or a whole number.
    """
    member = "[value, visits]" if pairs else "a whole number other than 0"
    if not isinstance(found, dict) or not found or not found.keys() <= names.keys():
        kind = "sides" if "x" in names else "cells"
        raise unfit(text, f"expected {member} for some of the {kind} {', '.join(names)}")
    if pairs:
        check_pairs(text, found)
    for name, number in found.items() if not pairs else ():
        if type(number) is not int or not 0 < abs(number) < MOST:
            raise unfit(text, f'"{name}": expected {member}')


def check_pairs(text: str, found: dict[str, Any]) -> None:
    """Check the members of an entry one by one.

    :raises InvalidFileError: naming one that is not ``[value, visits]``, visits from 1.
    """
    for name, pair in found.items():
        if not (isinstance(pair, list) and len(pair) == 2 and is_number(pair[0])):
            raise unfit(text, f'"{name}": expected [value, visits]')
        if not is_count(pair[1]) or pair[1] == 0:
            raise unfit(text, f'"{name}": expected visits from 1, found {pair[1]!r}')


def are_counts(values: list[Any], least: int = 0, most: int = MOST) -> bool:
    """Whether each of at least one value from a file can count something, and is within these limits."""
    return set(map(type, values)) == {int} and min(values) >= least and max(values) <= most


def are_numbers(values: list[Any]) -> bool:
    """Whether each of at least one value from a file is a number to reckon with."""
    if not set(map(type, values)) <= {int, float}:
        return False
    in_range = abs(min(values)) <= LARGEST and abs(max(values)) <= LARGEST
    return in_range and not any(map(isnan, values))


def are(found: list[Any], kind: type) -> bool:
    """Whether all of them are of this type."""
    return all(issubclass(each, kind) for each in set(map(type, found)))


def chained(found: Iterable[Iterable[Any]]) -> list[Any]:
    """The members of one after the other."""
    return list(chain.from_iterable(found))


def refuse(rules: Rules, text: str) -> NoReturn:
    """Say why a text cannot be the key of an entry."""
    if len(text) != rules.cells:
        raise unfit(text, f"expected a position of {rules.cells} cells, found {len(text)}")
    try:
        Position(text, rules)
    except NotationError as error:
        raise unfit(text, str(error)) from None
    raise unfit(text, "a symmetric table holds the smallest text of each class, and this is not it")


def is_count(value: Any) -> bool:
    """Whether a value from a file can count something."""
    return type(value) is int and 0 <= value <= MOST


def is_number(value: Any) -> bool:
    """Whether a value from a file is a number to reckon with: finite, and not absurdly large."""
    return type(value) in (int, float) and abs(value) <= LARGEST


def alike(mine: Any, theirs: Any, tolerance: float) -> bool:
    """Whether two entries, or files' worth of them, are the same, floats to within a tolerance."""
    if isinstance(mine, float) and isinstance(theirs, float):
        return abs(mine - theirs) <= tolerance
    if isinstance(mine, dict) and isinstance(theirs, dict):
        return mine.keys() == theirs.keys() and all(alike(mine[k], theirs[k], tolerance) for k in mine)
    if isinstance(mine, list) and isinstance(theirs, list):
        pairs = zip(mine, theirs, strict=False)
        return len(mine) == len(theirs) and all(alike(*pair, tolerance) for pair in pairs)
    return bool(mine == theirs)
