"""The values of a position-keyed file: one number a position, or numbers by cell, in whatever shape.

A cell is named by its number, a pair of row and column, or a letter and a digit. Names are only collected
here; ``namings`` gives the ways to read them, the positions decide between these.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np

from ttt_cli.engine.arrays import Floats, Int64s
from ttt_cli.engine.rules import Rules
from ttt_cli.errors import InvalidFileError
from ttt_cli.learners.entries import LARGEST
from ttt_cli.store.text import quoted

MOST_BEADS = 10_000
"""The most beads of a box that lists them one by one."""

_DECISIONS = ("move", "action", "best_move", "best_action", "bestmove", "best", "cell", "decision", "choice")
_CELL = re.compile(r"[(\[]?\s*[0-9A-Ca-c]\s*[,; ]?\s*[0-9]?\s*[)\]]?")
_PART = re.compile(r"[0-9]+|[A-Za-z]")
_SCALARS = ("value", "values", "v", "q", "score", "weight", "utility", "mean", "probability")
_BEADS = ("count", "beads")
_COUNTS = (*_BEADS, "weight", "value", "q", "score", "probability")


@dataclass(frozen=True, eq=False)
class Values:
    """Numbers of a file.

    :ivar shape: ``position`` (one number a key), ``cells`` (by the cell's name), ``list`` (one for each cell)
        or ``free`` (one for each free cell, in order, or one for each bead).
    :ivar rows: int64[m], the key of each number.
    :ivar numbers: float64[m]; NaN for null, infinite for what is not a number.
    :ivar names: ``cells``: the cell of each number, as written.
    :ivar places: int64[m]: ``list`` and ``free``: the place of each number in its list.
    :ivar counted: whether the file calls them counts, of beads.
    :ivar decided: whether they are no numbers of the file, but 1 for each cell that it answers a board with.
    """

    shape: str
    rows: Int64s
    numbers: Floats
    names: Sequence[str] = ()
    places: Int64s = field(default_factory=lambda: np.zeros(0, np.int64))
    counted: bool = False
    decided: bool = False


def decisions(values: Sequence[Any]) -> Iterator[Values]:
    """The values of a policy: the cell that each board is answered with, or the best ones in a list.

    A list of two numbers may be a row and a column, or two cells.
    """
    fields = next((value.keys() for value in values if isinstance(value, dict)), ())
    named = [name for name in fields if name.lower() in _DECISIONS]
    if len(named) == 1:
        values = [value.get(named[0]) if isinstance(value, dict) else value for value in values]
    for parse in (_one_cell, _some_cells):
        found = [parse(value) for value in values]
        if not any(found) or any(names is None or len(set(names)) < len(names) for names in found):
            continue
        rows = np.repeat(np.arange(len(found)), [len(names or ()) for names in found])
        names = [name for names in found for name in names or ()]
        yield Values("cells", rows, np.ones(len(names)), names, decided=True)


def _one_cell(value: Any) -> list[str] | None:
    """The name of a cell, none where there is nothing; None if a value is not a cell."""
    if value is None:
        return []
    if isinstance(value, dict) and {name.lower() for name in value} in ({"row", "col"}, {"row", "column"}):
        value = [part for name, part in sorted(value.items(), key=lambda item: item[0].lower() != "row")]
    if isinstance(value, list):
        fits = len(value) == 2 and all(_is_whole(part) for part in value)
        return [",".join(str(int(part)) for part in value)] if fits else None
    if _is_whole(value):
        return [str(int(value))]
    return [value] if isinstance(value, str) and _CELL.fullmatch(value.strip()) else None


def _some_cells(value: Any) -> list[str] | None:
    if not isinstance(value, list):
        return _one_cell(value)
    found = [_one_cell(part) for part in value]
    return None if None in found else [name for names in found for name in names or ()]


def _is_whole(value: Any) -> bool:
    return type(value) is int and 0 <= value <= 99


def collect(values: Sequence[Any], keys: Sequence[str], rules: Rules, where: str) -> Values:
    """The numbers of a file's values.

    :raises InvalidFileError: naming the key whose value is of no shape that is known, or too large.
    """
    found = _collect(values, keys, rules, where)
    large = np.isfinite(found.numbers) & (np.abs(found.numbers) > LARGEST)
    for at in np.flatnonzero(large)[:1]:
        key = keys[found.rows[at]]
        raise InvalidFileError(
            f"{found.numbers[at]:g} is too large",
            where=f"{where}, key {quoted(key)}",
            hint=f"up to {LARGEST:g}",
        )
    return found


def _collect(values: Sequence[Any], keys: Sequence[str], rules: Rules, where: str) -> Values:
    values = _unwrapped(values)
    if all(value is None or _is_number(value) for value in values):
        known = [row for row, value in enumerate(values) if value is not None]
        return Values(
            "position", np.array(known, np.int64), np.array([values[row] for row in known], np.float64)
        )
    values = [list(chain(*value)) if _nested(value, rules) else value for value in values]
    for row, value in enumerate(values):
        if not (value is None or isinstance(value, (dict, list))):
            raise _unfit(value, keys[row], rules, where)
    if all(not value or _is_plain(value) for value in values):
        return _listed(values, rules)
    rows: list[int] = []
    pairs: list[tuple[str, Any]] = []
    for row, value in enumerate(values):
        found = _pairs(value or {})
        if found is None:
            raise _unfit(value, keys[row], rules, where)
        pairs += found
        rows += [row] * len(found)
    numbers = np.array([_number_of(number) for _, number in pairs], np.float64)
    names = [name for name, _ in pairs]
    return Values("cells", np.array(rows, np.int64), numbers, names, counted=_are_called_beads(values))


def _listed(values: Sequence[Any], rules: Rules) -> Values:
    """The numbers of lists."""
    lists = [value or [] for value in values]
    lengths = np.array([len(value) for value in lists], np.int64)
    flat = list(chain.from_iterable(lists))
    simple = set(map(type, flat)) <= {int, float}
    numbers = np.array(flat if simple else [_number_of(number) for number in flat], np.float64)
    places = np.arange(len(flat)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    shape = "list" if set(lengths.tolist()) <= {0, rules.cells} else "free"
    return Values(shape, np.repeat(np.arange(len(lists)), lengths), numbers, (), places)


def _is_plain(value: Any) -> bool:
    """Whether a value is a list of single things."""
    return type(value) is list and len(value) <= MOST_BEADS and not {dict, list} & set(map(type, value))


def _unfit(value: Any, key: str, rules: Rules, where: str) -> InvalidFileError:
    return InvalidFileError(
        f"{quoted(value)}: expected a number, a list of {rules.cells} or an object of cells",
        where=f"{where}, key {quoted(key)}",
    )


def _number_of(value: Any) -> float:
    return float(value) if _is_number(value) else math.nan if value is None else math.inf


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)


def _nested(value: Any, rules: Rules) -> bool:
    """Whether a value is a list of the board's rows."""
    return (
        isinstance(value, list)
        and len(value) == rules.rows
        and all(isinstance(row, list) and len(row) == rules.cols for row in value)
    )


def _unwrapped(values: Sequence[Any]) -> Sequence[Any]:
    """Values that are records, with the one field of each that holds the value in its place."""
    first = next((value for value in values if isinstance(value, dict) and value), None)
    if first is None or any(_PART.fullmatch(name) or "," in name for name in first):
        return values
    fields = [name for name, value in first.items() if isinstance(value, (list, dict))]
    fields = fields or [name for name in first if name.lower() in _SCALARS]
    if len(fields) != 1 or not all(isinstance(value, dict) and fields[0] in value for value in values):
        return values
    return [value[fields[0]] for value in values]


def _pairs(value: Any) -> list[tuple[str, Any]] | None:
    """Cells by name and what they hold; None if the value is nothing of that kind."""
    if isinstance(value, dict):
        return list(value.items())
    if all(isinstance(item, dict) for item in value):
        return [pair for item in value if (pair := _counted(item))] if all(map(_counted, value)) else None
    if all(isinstance(item, list) and len(item) == 2 for item in value):
        return [(_name(cell), number) for cell, number in value]
    return None


def _counted(item: dict[str, Any]) -> tuple[str, Any] | None:
    """The cell and the number of a record such as ``{"action": [0, 1], "count": 2}``."""
    counts = [name for name in item if name.lower() in _COUNTS]
    others = [name for name in item if name.lower() not in _COUNTS]
    return (_name(item[others[0]]), item[counts[0]]) if len(counts) == len(others) == 1 else None


def _are_called_beads(values: Sequence[Any]) -> bool:
    """Whether values are records of beads, by their first one."""
    items = next((value for value in values if isinstance(value, list) and value), [None])
    return isinstance(items[0], dict) and any(name.lower() in _BEADS for name in items[0])


def _name(cell: Any) -> str:
    return ",".join(map(str, cell)) if isinstance(cell, list) else str(cell)


def namings(names: set[str], rules: Rules) -> Iterator[tuple[str, dict[str, int]]]:
    """The ways to read cells' names: how, in words, and the cell (from 0, row by row) of each name.

    ``0`` and ``1`` stand for the number of the first cell, row or column.
    """
    parts = {name: _PART.findall(name) for name in names}
    if any(_PART.sub("", name).strip(" ,;:|/()[]'\"_") for name in names):
        return
    for part in parts.values():
        if len(part) == 1 and len(part[0]) == 2 and part[0].isdigit() and rules.cells < 10:
            part[:] = part[0]  # "12": row 1, column 2
    lengths = {len(part) for part in parts.values()}
    if lengths == {1}:
        for first in (0, 1):
            yield from _checked(
                str(first), {name: _at(part[0], first) for name, part in parts.items()}, rules.cells
            )
    if lengths != {2}:
        return
    letters = {tuple(item.isalpha() for item in part) for part in parts.values()}
    if letters == {(False, False)}:
        for first in (0, 1):
            yield from _grid(f"row,column from {first}", parts, (first, first), rules)
    elif letters == {(True, False)}:
        for first in (0, 1):
            yield from _grid(f"A{first}, A a row", parts, (0, first), rules)
            swapped = {name: part[::-1] for name, part in parts.items()}
            yield from _grid(f"A{first}, A a column", swapped, (first, 0), rules)
    elif letters == {(False, True)}:
        for first in (0, 1):
            yield from _grid(f"{first}A, A a column", parts, (first, 0), rules)


def _at(part: str, first: int) -> int:
    """The number of a part of a name, from 0: a digit counted from ``first``, or a letter."""
    return ord(part.lower()) - ord("a") if part.isalpha() else (int(part) if len(part) < 4 else 999) - first


def _grid(
    words: str, parts: Mapping[str, list[str]], first: tuple[int, int], rules: Rules
) -> Iterator[tuple[str, dict[str, int]]]:
    found = {}
    for name, part in parts.items():
        row, col = _at(part[0], first[0]), _at(part[1], first[1])
        found[name] = row * rules.cols + col if 0 <= row < rules.rows and 0 <= col < rules.cols else -1
    yield from _checked(words, found, rules.cells)


def _checked(words: str, found: dict[str, int], cells: int) -> Iterator[tuple[str, dict[str, int]]]:
    if all(0 <= cell < cells for cell in found.values()) and len(set(found.values())) == len(found):
        yield words, found
