"""What a stranger's file says of each board: a number, numbers by cell in whatever shape, or a decision.

Cells are named by a number, a row and a column, or a letter and a digit. ``collect`` keeps names as they are
written, ``namings`` gives the ways to read them; which of these is meant the positions decide.
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
_SCALARS = ("value", "values", "v", "q", "score", "weight", "utility", "mean", "probability")
_BEADS = ("count", "beads")
_COUNTS = (*_BEADS, "weight", "value", "q", "score", "probability")
_CELL = re.compile(r"[(\[]?\s*[0-9A-Ca-c]\s*[,; ]?\s*[0-9]?\s*[)\]]?")
_PART = re.compile(r"[0-9]+|[A-Za-z]")


@dataclass(frozen=True, eq=False)
class Values:
    """Numbers of a file.

    :ivar shape: ``position`` (one a key), ``cells`` (by the cell's name), ``list`` (one for each cell) or
        ``free`` (one for each free cell, in order, or one for each bead).
    :ivar rows: int64[m], the key of each number.
    :ivar numbers: float64[m]; NaN for null, infinite for what is not a number.
    :ivar names: of ``cells``: the cell of each number.
    :ivar places: int64[m], of ``list`` and ``free``: the place of each number in its list.
    :ivar counted: whether the file calls them counts, of beads.
    :ivar decided: whether they are decisions: 1 for each cell that a board is answered with.
    """

    shape: str
    rows: Int64s
    numbers: Floats
    names: Sequence[str] = ()
    places: Int64s = field(default_factory=lambda: np.zeros(0, np.int64))
    counted: bool = False
    decided: bool = False


def decisions(values: Sequence[Any]) -> Iterator[Values]:
    """Values as a policy's: the cell that each board is answered with, or the best ones in a list.

    A list of two numbers may be a row and a column, or two cells.
    """
    fields = next((value.keys() for value in values if isinstance(value, dict)), ())
    named = [name for name in fields if name.lower() in _DECISIONS]
    if len(named) == 1:
        values = [value.get(named[0]) if isinstance(value, dict) else value for value in values]
    for parse in (_one_cell, _some_cells):
        found: list[list[str]] = []
        for value in values:
            names = parse(value)
            if names is None or len({*names}) < len(names):
                break
            found.append(names)
        if any(found) and len(found) == len(values):
            rows = np.repeat(np.arange(len(found)), [len(names) for names in found])
            yield Values("cells", rows, np.ones(len(rows)), [*chain.from_iterable(found)], decided=True)


def _one_cell(value: Any) -> list[str] | None:
    """The name of a cell, none where there is nothing; None if a value is not a cell."""
    if value is None:
        return []
    if isinstance(value, dict) and {name.lower() for name in value} in ({"row", "col"}, {"row", "column"}):
        value = [value[name] for name in sorted(value, key=str.lower, reverse=True)]
    if isinstance(value, str):
        return [value] if _CELL.fullmatch(value.strip()) else None
    parts = value if isinstance(value, list) and len(value) == 2 else [value]
    if not all(type(part) is int and 0 <= part <= 99 for part in parts):
        return None
    return [",".join(map(str, parts))]


def _some_cells(value: Any) -> list[str] | None:
    found = [_one_cell(part) for part in value] if isinstance(value, list) else [_one_cell(value)]
    return None if None in found else [name for names in found for name in names or ()]


def collect(values: Sequence[Any], keys: Sequence[str], rules: Rules, where: str) -> Values:
    """The numbers of a file's values.

    :raises InvalidFileError: naming the key whose value is of no shape that is known, or too large.
    """
    values = _unwrapped(values)
    rows_of_rows = [_is_grid(value, rules) for value in values]
    values = [[*chain(*value)] if grid else value for value, grid in zip(values, rows_of_rows, strict=True)]
    counted = False
    if all(value is None or type(value) in (int, float) for value in values):
        shape = "position"
        found = [[] if value is None or math.isnan(value) else [("", value)] for value in values]
    elif all(value is None or _is_plain(value) for value in values):
        found = [[("", number) for number in value or ()] for value in values]
        shape = "list" if {len(pairs) for pairs in found} <= {0, rules.cells} else "free"
    else:
        shape = "cells"
        found = [_pairs(value, key, rules, where) for value, key in zip(values, keys, strict=True)]
        first = next((value[0] for value in values if isinstance(value, list) and value), None)
        counted = isinstance(first, dict) and any(name.lower() in _BEADS for name in first)
    lengths = np.array([len(pairs) for pairs in found], np.int64)
    rows = np.repeat(np.arange(len(found)), lengths)
    numbers = np.array([_number(number) for pairs in found for _, number in pairs], np.float64)
    for at in np.flatnonzero(np.isfinite(numbers) & (np.abs(numbers) > LARGEST))[:1]:
        place = f"{where}, key {quoted(keys[rows[at]])}"
        raise InvalidFileError(f"{numbers[at]:g} is too large", where=place, hint=f"up to {LARGEST:g}")
    names = [name for pairs in found for name, _ in pairs]
    places = np.arange(len(rows)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return Values(shape, rows, numbers, names, places, counted)


def _number(value: Any) -> float:
    return float(value) if type(value) in (int, float) else math.nan if value is None else math.inf


def _is_grid(value: Any, rules: Rules) -> bool:
    """Whether a value is a list of the board's rows."""
    rows = isinstance(value, list) and len(value) == rules.rows
    return rows and all(isinstance(row, list) and len(row) == rules.cols for row in value)


def _is_plain(value: Any) -> bool:
    """Whether a value is a list of single things."""
    return type(value) is list and len(value) <= MOST_BEADS and not {dict, list} & {*map(type, value)}


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


def _pairs(value: Any, key: str, rules: Rules, where: str) -> list[tuple[str, Any]]:
    """Cells by name and what they hold.

    :raises InvalidFileError: if a value is nothing of that kind.
    """
    if value is None or isinstance(value, dict):
        return [*(value or {}).items()]
    if isinstance(value, list) and all(isinstance(item, list) and len(item) == 2 for item in value):
        return [(_name(cell), number) for cell, number in value]
    records = [_record(item) for item in value] if isinstance(value, list) else [None]
    if None in records:
        raise InvalidFileError(
            f"{quoted(value)}: expected a number, a list of {rules.cells} or an object of cells",
            where=f"{where}, key {quoted(key)}",
        )
    return [record for record in records if record]


def _record(item: Any) -> tuple[str, Any] | None:
    """The cell and the number of a record such as ``{"action": [0, 1], "count": 2}``."""
    fields = list(item.items()) if isinstance(item, dict) else []
    counts = [number for name, number in fields if name.lower() in _COUNTS]
    cells = [cell for name, cell in fields if name.lower() not in _COUNTS]
    return (_name(cells[0]), counts[0]) if len(counts) == len(cells) == 1 else None


def _name(cell: Any) -> str:
    return ",".join(map(str, cell)) if isinstance(cell, list) else str(cell)


def namings(names: set[str], rules: Rules) -> Iterator[tuple[str, dict[str, int]]]:
    """The ways to read cells' names: how, in words, and the cell (from 0, row by row) of each name.

    ``0`` and ``1`` stand for the number of the first cell, row or column.
    """
    parts = {name: _PART.findall(name) for name in names}
    if any(_PART.sub("", name).strip(" ,;:|/()[]'\"_-") for name in names):
        return
    for part in parts.values():
        if len(part) == 1 and len(part[0]) == 2 and part[0].isdigit() and rules.cells < 10:
            part[:] = part[0]  # "12": row 1, column 2
    kinds = {tuple(item.isalpha() for item in part) for part in parts.values()}
    for first in (0, 1):
        if {len(kind) for kind in kinds} == {1}:
            yield from _located(str(first), parts, (first,), rules)
        elif kinds == {(False, False)}:
            yield from _located(f"row,column from {first}", parts, (first, first), rules)
        elif kinds == {(True, False)}:
            yield from _located(f"A{first}, A a row", parts, (0, first), rules)
            turned = {name: part[::-1] for name, part in parts.items()}
            yield from _located(f"A{first}, A a column", turned, (first, 0), rules)
        elif kinds == {(False, True)}:
            yield from _located(f"{first}A, A a column", parts, (first, 0), rules)


def _located(
    words: str, parts: Mapping[str, Sequence[str]], first: Sequence[int], rules: Rules
) -> Iterator[tuple[str, dict[str, int]]]:
    """The cell of each name, its numbers counted from ``first``, if each is another cell of the board."""
    sizes = (rules.cells,) if len(first) == 1 else (rules.rows, rules.cols)
    cells = {}
    for name, part in parts.items():
        at = [
            ord(item.lower()) - ord("a") if item.isalpha() else int(item[:4]) - start
            for item, start in zip(part, first, strict=True)
        ]
        if not all(0 <= place < size for place, size in zip(at, sizes, strict=True)):
            return
        cells[name] = at[0] if len(at) == 1 else at[0] * rules.cols + at[1]
    if len(set(cells.values())) == len(cells):
        yield words, cells
