"""The values of a stranger's table as numbers: of a key itself, or of cells by the names they have there."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from ttt_cli.engine.arrays import Floats, Int64s
from ttt_cli.engine.rules import Rules
from ttt_cli.errors import InvalidFileError
from ttt_cli.learners.entries import MAX_VALUE
from ttt_cli.store.text import quoted

EXPECTED = "expected a number, a list of {} numbers or an object of numbers by cell"
MOST_BEADS = 10_000
"""The most beads of a box that lists them one by one."""

DECISIONS = {"move", "action", "best_move", "best_action", "bestmove", "best", "cell", "decision", "choice"}
POLICIES = {"policy", "policies", "pi"}
"""The usual names of fields that hold a move, and of tables of moves."""
_PLACES = {"row", "col"}, {"row", "column"}, {"y", "x"}
SCALARS = {
    *("weight", "value", "q", "score", "probability", "q_value", "qvalue", "q-value"),
    *("values", "q_values", "v", "utility", "mean", "beads"),
}
"""The usual names of the field of a record that holds the value."""
_AMOUNTS = {*SCALARS, "count"}
COUNTS = {"visits", "visit_count", "num_visits", "count", "counts", "n", "games", "wins", "losses", "draws"}
"""The usual names of fields that tell how much a value is worth, or how it came about."""
_CELL = re.compile(r"[(\[]?\s*[0-9A-Da-d]\s*[,; ]?\s*[0-9]?\s*[)\]]?")
_PART = re.compile(r"[0-9]+|[A-Za-z]")
TURNED = "column and row"
_NAMINGS: dict[tuple[bool, ...], tuple[str, ...]] = {
    (False,): ("{}",),
    (True,): ("{}",),
    (False, False): ("row and column from {}", f"{TURNED} from {{}}"),
    (True, False): ("A{} with A a row", "A{} with A a column"),
    (False, True): ("{}A with A a column",),
}
"""What the parts of a name may mean, by which of them are letters."""


@dataclass(frozen=True, eq=False)
class Values:
    """The numbers of a table.

    :ivar shape: ``position``: each is of a key itself; ``cells``: of a cell; ``free``: a list has one for
        each free cell, in order, or one for each bead.
    :ivar rows: int64[m], the key of each number.
    :ivar numbers: float64[m]; NaN for null, infinite for anything but a number of sensible size.
    :ivar names: the names of cells.
    :ivar ids: int64[m], the name of each number, which in a list is its place.
    :ivar are_counts: whether the file calls them counts of beads.
    :ivar are_decisions: whether each is 1, for a cell that a policy answers its board with.
    """

    shape: str
    rows: Int64s
    numbers: Floats
    names: Sequence[str]
    ids: Int64s
    are_counts: bool = False
    are_decisions: bool = False

    @classmethod
    def of(cls, shape: str, entries: Sequence[Sequence[tuple[str, Any]]], **flags: bool) -> "Values":
        """From the names and numbers of each key."""
        rows = np.repeat(np.arange(len(entries)), [len(pairs) for pairs in entries])
        numbers = np.array([_number(number) for pairs in entries for _, number in pairs], np.float64)
        names = list(dict.fromkeys(name for pairs in entries for name, _ in pairs))
        id_of = {name: at for at, name in enumerate(names)}
        ids = np.array([id_of[name] for pairs in entries for name, _ in pairs], np.int64)
        return cls(shape, rows, numbers, names, ids, **flags)


def _number(value: Any) -> float:
    if value is None:
        return math.nan
    return float(value) if type(value) in (int, float) and not abs(value) > MAX_VALUE else math.inf


def decisions(values: Sequence[Any]) -> Iterator[Values]:
    """Values as those of a policy: the cell that each board is answered with, or a list of the best ones.

    A list of two numbers may be a row and a column, or two cells.
    """
    fields = next((value.keys() for value in values if isinstance(value, dict)), ())
    named = [name for name in fields if name.lower() in DECISIONS]
    if len(named) == 1:
        values = [value.get(named[0]) if isinstance(value, dict) else value for value in values]
    for several in (False, True):
        entries: list[list[tuple[str, int]]] = []
        for value in values:
            cells = [_cell(part) for part in (value if several and isinstance(value, list) else [value])]
            if None in cells or len({*cells}) < len(cells):
                break
            entries.append([(name, 1) for name in cells if name])
        few = len({name for pairs in entries for name, _ in pairs}) <= 2  # as of values that are 0.0 and 1.0
        if any(entries) and len(entries) == len(values) and not (few and float in {*map(type, values)}):
            yield Values.of("cells", entries, are_decisions=True)


def _cell(value: Any) -> str | None:
    """The name of a cell, empty for null and NaN; None if a value is not a cell."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, dict) and {name.lower() for name in value} in _PLACES:
        value = [value[name] for name in sorted(value, key=str.lower, reverse=True)]  # the row first
    if isinstance(value, str):
        return value if _CELL.fullmatch(value.strip()) else None
    parts = value if isinstance(value, list) and len(value) == 2 else [value]
    if not all(type(part) in (int, float) and part % 1 == 0 and 0 <= part <= 99 for part in parts):
        return None
    return str([*map(int, parts)])


def collect(values: Sequence[Any], keys: Sequence[str], rules: Rules, where: str) -> Values:
    """Collect the numbers of a table's values.

    :raises InvalidFileError: naming the key whose value is of another kind than the others.
    """
    values = _unwrapped(values)
    entries, shape = [], ""
    for value, key in zip(values, keys, strict=True):
        kind, pairs = _pairs(value, rules)
        if not kind or (pairs and shape not in ("", kind)):
            message = f"{quoted(value)}: {EXPECTED.format(rules.cells)}"
            message += ", and all values of the same kind" if kind else ""
            raise InvalidFileError(message, where=f"{where}, key {quoted(key)}")
        shape = kind if pairs else shape
        entries.append(pairs)
    if shape == "list":
        shape = "cells" if {len(pairs) for pairs in entries} <= {0, rules.cells} else "free"
    first = next((value[0] for value in values if isinstance(value, list) and value), None)
    are_counts = isinstance(first, dict) and not {*map(str.lower, first)}.isdisjoint({"count", "beads"})
    return Values.of(shape, entries, are_counts=are_counts)


def _unwrapped(values: Sequence[Any]) -> Sequence[Any]:
    """Values that are records, replaced by the one field of each that holds the value."""
    first = next((value for value in values if isinstance(value, dict) and value), None)
    if first is None:
        return values
    by_cell = [name for name, value in first.items() if isinstance(value, (list, dict))]
    records = [name for name in by_cell if {*map(type, first[name])} == {dict}]
    called = [name for name in first if name.lower() in SCALARS]
    fields = records or [name for name in by_cell if name in called] or called or by_cell
    if len(fields) != 1 or not all(isinstance(value, dict) and fields[0] in value for value in values):
        return values
    return [value[fields[0]] for value in values]


def _pairs(value: Any, rules: Rules) -> tuple[str, Sequence[tuple[str, Any]]]:
    """The kind of a value, empty if it has none, and the names of cells with what they hold."""
    if value is None or isinstance(value, dict):
        return "cells", [*(value or {}).items()]
    if not isinstance(value, list):
        is_number = type(value) in (int, float)
        return "position" if is_number else "", [("", value)] if is_number and not math.isnan(value) else []
    kinds = {*map(type, value)}
    if len(value) == rules.rows and kinds == {list} and all(len(row) == rules.cols for row in value):
        value = [*chain(*value)]  # the rows of the board
        kinds = {*map(type, value)}
    if len(value) <= MOST_BEADS and not kinds & {dict, list}:
        return "list", [(str(at), number) for at, number in enumerate(value)]
    records: list[tuple[str, Any]] = []
    for item in value:
        if isinstance(item, list) and len(item) == 2:
            records.append((str(item[0]), item[1]))
            continue
        fields = [*item.items()] if isinstance(item, dict) else []  # such as {"action": [0, 1], "count": 2}
        counts = [number for name, number in fields if name.lower() in _AMOUNTS]
        cells = [cell for name, cell in fields if name.lower() in DECISIONS]
        cells = cells or [cell for name, cell in fields if name.lower() not in _AMOUNTS]
        if len(counts) != 1 or len(cells) != 1:
            return "", []
        records.append((str(cells[0]), counts[0]))
    return "cells", records


def namings(names: Sequence[str], rules: Rules) -> Iterator[tuple[str, Int64s]]:
    """The ways to read names of cells: each in words, and int64[names], the cells from 0, row by row.

    ``0`` and ``1`` are the number of the first cell, row or column.
    """
    odd = (_PART.sub("", name).strip(" ,;:|/()[]'\"_-") or name.startswith("-") for name in names)
    if any(odd):
        return
    parts = [_PART.findall(name) for name in names]
    marked = [[at for at, item in enumerate(part) if item != "0"] for part in parts]
    if (
        {*map(len, parts)} == {rules.cells}
        and {*map(len, marked)} == {1}
        and not any("-" in it for it in names)
    ):
        yield "the marked one of all", np.array(marked)[:, 0]
    if rules.cells < 10:  # "12": row 1, column 2
        parts = [[*part[0]] if len(part) == 1 and len(part[0]) == 2 else part for part in parts]
    ways = {_NAMINGS.get(tuple(item.isalpha() for item in part), ()) for part in parts}
    for words in ways.pop() if len(ways) == 1 else ():
        for first in (0, 1):
            at = np.array([[_index(item, first) for item in part] for part in parts])
            turned = words == "A{} with A a column" or words.startswith(TURNED)
            row, col = (at[:, 1], at[:, 0]) if turned else (at[:, 0], at[:, -1])
            cells = row if at.shape[1] == 1 else row * rules.cols + col
            if at.shape[1] == 2 and not ((col >= 0) & (col < rules.cols) & (row < rules.rows)).all():
                continue
            if row.min() >= 0 and cells.max() < rules.cells and len({*cells.tolist()}) == len(names):
                yield words.format(first), cells


def _index(item: str, first: int) -> int:
    return ord(item.lower()) - ord("a") if item.isalpha() else int(item[:4]) - first
