"""Reading the entries of a state file: the positions they are about, and how their faults are reported.

Entries pass by in batches, which are taken apart into arrays. Where a batch has a fault its entries are read
one at a time, for the one to be named.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from typing import Any, TypeVar

import numpy as np

from ttt_cli.engine.arrays import Bools, Floats, Int8s, Int64s
from ttt_cli.engine.position import SYMBOLS, Position
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.symmetry import classes
from ttt_cli.errors import InvalidFileError, NotationError

T = TypeVar("T")

BATCH = 1 << 12
"""Entries that are taken apart at a time."""

MOST = 2**53
"""The largest count in a file: what no program reaches, and a float still holds. A thousand files of such
counts can be merged before 63 bits overflow."""

LARGEST = 1e150
"""The largest value in a file, so that no weighted mean overflows."""


def unfit(text: str, fault: str, *, hint: str = "") -> InvalidFileError:
    """The error that names the entry of a position."""
    return InvalidFileError(fault, where=f'"entries": {text[:80]!r}', hint=hint)


@dataclass(frozen=True, eq=False)
class Batch:
    """Some entries of a file.

    :ivar positions: what they are about; ``found``: what the file says of each.
    """

    positions: Positions
    found: list[Any]
    symmetric: bool

    @cached_property
    def legal(self) -> Bools:
        """bool[k, cells]: the moves that the rows of the positions have."""
        return classes(self.positions).legal if self.symmetric else self.positions.legal

    @cached_property
    def places(self) -> Int8s:
        """int8[k, cells]: which of a row's moves a legal cell is."""
        return np.cumsum(self.legal, axis=1, dtype=np.int8) - np.int8(1)

    @property
    def cells(self) -> str:
        """The moves of the first position, as messages have them."""
        return ", ".join(str(cell + 1) for cell in np.flatnonzero(self.legal[0]))


def in_batches(
    rules: Rules, symmetric: bool, entries: Iterable[tuple[str, Any]], read: Callable[[Batch], T]
) -> Iterator[tuple[Positions, T]]:
    """The positions of a file's entries, batch by batch, and what ``read`` makes of each.

    :param read: raises InvalidFileError for a batch with a fault, with what is wrong with its first entry.
    :raises InvalidFileError: naming an entry that is not one of this table.
    """
    remaining = iter(entries)
    while some := list(islice(remaining, BATCH)):
        texts, found = map(list, zip(*some, strict=True))
        positions = positions_of(texts, rules, symmetric)

        def read_some(some: slice, positions: Positions = positions, found: list[Any] = found) -> T:
            return read(Batch(positions[some], found[some], symmetric))

        yield positions, named(texts, found, read_some)


def named(texts: Sequence[str], found: Sequence[Any], read: Callable[[slice], T]) -> T:
    """What ``read`` makes of all entries, given their keys and what the file says of each.

    :raises InvalidFileError: naming the first entry that it refuses.
    """
    try:
        return read(slice(None))
    except InvalidFileError:
        for at, text in enumerate(texts):
            try:
                read(slice(at, at + 1))
            except InvalidFileError as error:
                shown = f", found {found[at]!r}"[:80] if error.message.startswith("expected") else ""
                raise unfit(text, error.message + shown, hint=error.hint) from None
        raise


def positions_of(texts: Sequence[str], rules: Rules, symmetric: bool = False) -> Positions:
    """The positions that the keys of entries are.

    :raises InvalidFileError: naming a key that is no position of the board, or of no class's own board.
    """
    if set(map(len, texts)) != {rules.cells} or "".join(texts).strip(SYMBOLS):
        odd = (text for text in texts if len(text) != rules.cells or text.strip(SYMBOLS))
        raise no_position(next(odd), rules)
    positions = Positions.parse(texts, rules)
    fits = positions.reachable
    if symmetric:
        own = classes(positions).positions
        fits = fits & (own.x == positions.x) & (own.o == positions.o)
    if not fits.all():
        raise no_position(texts[int(np.argmin(fits))], rules)
    return positions


def no_position(text: str, rules: Rules) -> InvalidFileError:
    """Why a text cannot be the key of an entry."""
    if len(text) != rules.cells:
        return unfit(text, f"expected a position of {rules.cells} cells, found {len(text)}")
    try:
        Position(text, rules)
    except NotationError as error:
        return unfit(text, str(error))
    return unfit(text, "a symmetric table holds the smallest text of each class, and this is not it")


def require(fits: Any, fault: str, items: Sequence[Any] = ()) -> None:
    """Make sure that entries are sound.

    :param fits: a truth value, or bool[k] of ``items``, the first of which that does not fit is shown.
    :raises InvalidFileError: if they are not.
    """
    if not np.all(fits):
        shown = f": {items[int(np.argmin(fits))]!r}"[:120] if len(items) else ""
        raise InvalidFileError(fault + shown)


def counts(values: Sequence[Any], fault: str, least: int = 0, most: int = MOST) -> Int64s:
    """int64[k] of values that can count something, within these limits.

    :raises InvalidFileError: if one cannot.
    """
    whole = {*map(type, values)} <= {int}
    require(whole and min(values, default=least) >= least and max(values, default=most) <= most, fault)
    return np.array(values, np.int64)


def numbers(values: Sequence[Any], fault: str) -> Floats:
    """float64[k] of values that are finite numbers, and not absurdly large.

    :raises InvalidFileError: if one is not.
    """
    require({*map(type, values)} <= {int, float}, fault)
    require(max(values, default=0) <= LARGEST and min(values, default=0) >= -LARGEST, fault)
    found = np.array(values, np.float64) + 0.0  # no -0.0
    require(not np.isnan(found).any(), fault)
    return found


def members(found: Sequence[Any], names: Mapping[str, int], fault: str) -> tuple[Int64s, Int64s, list[Any]]:
    """The members of entries that are objects with some of these names, each with at least one.

    :returns: of each the number of its entry, what its name stands for, and its value.
    :raises InvalidFileError: if an entry is none.
    """
    require({*map(type, found)} == {dict} and all(found), fault)
    keys = chained(found)
    require(names.keys() >= {*keys}, fault)
    which = np.fromiter(map(names.__getitem__, keys), np.int64, len(keys))
    return numbered(found), which, chained(map(dict.values, found))


def are_lists(found: Sequence[Any], length: int | None = None) -> bool:
    """Whether all of at least one value are lists, of this length if one is given, and else not empty."""
    return {*map(type, found)} == {list} and (
        all(found) if length is None else {*map(len, found)} == {length}
    )


def numbered(found: Sequence[Any]) -> Int64s:
    """The number of the entry that each of the members of entries belongs to."""
    lengths = np.fromiter(map(len, found), np.int64, len(found))
    return np.repeat(np.arange(len(found)), lengths)


def chained(found: Iterable[Iterable[Any]]) -> list[Any]:
    """The members of one after the other."""
    return list(chain.from_iterable(found))


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
