"""The values of a table as numbers, before it is known which positions or moves they belong to.

``collect`` takes apart numbers, lists, objects by cell and records; ``decisions`` reads the same values as
moves, those of a policy. ``namings`` lists what the names of cells may mean.
"""

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

MAX_BEADS = 100_000  # of a box that lists them one by one
FEW_DECISIONS = 2  # floats with no more distinct values, such as 0.0 and 1.0, are values and not cells
MOVE_FIELDS = {"move", "action", "best_move", "best_action", "bestmove", "best", "cell", "decision", "choice"}
POLICY_NAMES = {"policy", "policies", "pi"}  # of tables of moves
VALUE_FIELDS = {"value", "values", "v", "q", "q_value", "qvalue", "q-value", "q_values", "score", "weight"}
VALUE_FIELDS |= {"probability", "utility", "mean", "beads"}
COUNT_FIELDS = {"visits", "visit_count", "num_visits", "count", "counts", "n"}  # of a value's updates
COUNT_FIELDS |= {"games", "wins", "losses", "draws", "updates", "tries", "trials", "plays", "times"}
"""The usual names of fields of records."""
NOT_PLAYED = COUNT_FIELDS | {"e", "traces", "eligibility", "model", "returns", "returns_sum", "returns_count"}
"""Names of tables beside the one that is played."""
_ROW_AND_COLUMN_FIELDS = {"row", "col"}, {"row", "column"}, {"y", "x"}
CELL_FIELDS = MOVE_FIELDS.union(*_ROW_AND_COLUMN_FIELDS)
_AMOUNT_FIELDS = {*VALUE_FIELDS, "count"}

_CELL = re.compile(r"[(\[]?\s*[0-9A-Da-d]\s*(?:[,;]\s*)?(?:[0-9]\s*)?[)\]]?")
_NAME_PART = re.compile(r"[0-9]+|[A-Za-z]")
TRANSPOSED = "column and row"
MARKED = "the marked one of all"
_NAMINGS: dict[tuple[bool, ...], tuple[tuple[str, int, int], ...]] = {
    (False,): (("{}", 0, 0),),
    (True,): (("{}", 0, 0),),
    (False, False): (("row and column from {}", 0, 1), (f"{TRANSPOSED} from {{}}", 1, 0)),
    (True, False): (("A{} with A a row", 0, 1), ("A{} with A a column", 1, 0)),
    (False, True): (("{}A with A a column", 0, 1),),
}
"""What the parts of a name may mean, by which of them are letters: in words, and the places of the row and of
the column among the parts."""


@dataclass(frozen=True, eq=False)
class Values:
    """The numbers of a table.

    :ivar shape: ``position``: each is of a key itself; ``cells``: of a cell; ``list``: one for each free
        cell, in order, or one for each bead.
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

    @property
    def of_moves(self) -> bool:
        """Whether the numbers are those of moves."""
        return self.shape != "position"

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


def quoted_key(key: str, most: int = 40) -> str:
    """Quote a key of a ``Candidate`` for a message; tabs separate what stood in several columns or
    objects."""
    return quoted(key.replace("\t", ","), most)


def collect(values: Sequence[Any], keys: Sequence[str], rules: Rules, where: str) -> Values:
    """The numbers of a table's values; raises InvalidFileError naming the key of one unlike the others."""
    values = _unwrapped(values, rules)
    entries = []
    shape = ""
    for value, key in zip(values, keys, strict=True):
        kind, pairs = _pairs(value, rules)
        if pairs and {kind, shape} == {"cells", "list"}:
            kind = shape = "cells"  # PHP writes an object whose keys are the first cells, in order, as a list
        if not kind or (pairs and shape not in ("", kind)):
            expected = f"expected a number, a list of {rules.cells} numbers or an object of numbers by cell"
            more = ", and all values of the same kind" if kind else ""
            message = f"{quoted(value)}: {expected}{more}"
            raise InvalidFileError(message, where=f"{where}, key {quoted_key(key)}")
        shape = kind if pairs else shape
        entries.append(pairs)
    if shape == "position":
        entries = [pairs or [("", None)] for pairs in entries]  # which will be left out
    lengths = {*map(len, entries)} - {0}
    if shape == "cells" and len(lengths) > 1 and all(map(_are_counted, entries)):
        shape = "list"
    elif shape == "list" and lengths <= {rules.cells}:
        shape = "cells"
    first = next((value[0] for value in values if isinstance(value, list) and value), None)
    are_counts = isinstance(first, dict) and not {*map(str.lower, first)}.isdisjoint({"count", "beads"})
    return Values.of(shape, entries, are_counts=are_counts)


def _are_counted(pairs: Sequence[tuple[str, Any]]) -> bool:
    """Whether names only count the free cells, from 0."""
    return [name for name, _ in pairs] == [*map(str, range(len(pairs)))]


def _unwrapped(values: Sequence[Any], rules: Rules) -> Sequence[Any]:
    """Values that are records, replaced by the one field of each that holds the value, or by pairs with the
    cells that another field holds."""
    first = next((value for value in values if isinstance(value, dict) and value), None)
    if first is None:
        return values
    by_cell = [name for name, value in first.items() if isinstance(value, (list, dict))]
    records = [name for name in by_cell if {*map(type, first[name])} == {dict}]
    called = [name for name in first if name.lower() in VALUE_FIELDS]
    fields = records or [name for name in by_cell if name in called] or called or by_cell
    if len(fields) != 1 or not all(isinstance(value, dict) and fields[0] in value for value in values):
        return values
    numbers = [value[fields[0]] for value in values]
    others = [name for name in by_cell if name not in fields]
    pairs = (_paired([value.get(name) for value in values], numbers, rules) for name in others)
    return next(filter(None, pairs), numbers)


def _paired(cells: Sequence[Any], numbers: Sequence[Any], rules: Rules) -> Sequence[Any]:
    """Pairs of a cell and its number, where each stand in lists of their own; empty if they do not."""
    both = [*zip(cells, numbers, strict=True)]
    if not all(isinstance(part, list) for pair in both for part in pair):
        return []
    named = [frozenset(map(str, map(_cell_name, one))) for one in cells]
    sizes = [(len(one), len(other)) for one, other in both]
    are_distinct = sizes == [(len(names), len(names)) for names in named]
    are_alike = len({*named}) == len({*map(len, named)})  # on all boards with as many
    if not are_distinct or are_alike or not any(namings([*frozenset().union(*named)], rules)):
        return []
    return [[*map(list, zip(*pair, strict=True))] for pair in both]


def _pairs(value: Any, rules: Rules) -> tuple[str, Sequence[tuple[str, Any]]]:
    """The kind of a value (``position``, ``cells``, ``list``; empty if it has none), and the names of cells
    with their numbers."""
    if value is None or isinstance(value, dict):
        return "cells", [(name, _value_of(item)) for name, item in (value or {}).items()]
    if not isinstance(value, list):
        if type(value) not in (int, float):
            return "", []
        return "position", [] if math.isnan(value) else [("", value)]
    kinds = {*map(type, value)}
    if len(value) == rules.rows and kinds == {list} and all(len(row) == rules.cols for row in value):
        value = [*chain(*value)]  # the rows of the board
        kinds = {*map(type, value)}
    if len(value) <= MAX_BEADS and not kinds & {dict, list}:
        return "list", [(str(at), number) for at, number in enumerate(value)]
    pairs = [*filter(None, map(_record_pair, value))]
    return ("cells", pairs) if len(dict(pairs)) == len(value) else ("", [])


def _value_of(item: Any) -> Any:
    """The value in a record of a value and counts, such as ``{"q": 0.5, "visits": 2}``."""
    if not isinstance(item, dict):
        return item
    called = [name for name in item if name.lower() not in COUNT_FIELDS]
    return item[called[0]] if len(called) == 1 and called[0].lower() in VALUE_FIELDS else item


def _record_pair(item: Any) -> tuple[str, Any] | None:
    """The cell and the number of a pair, or of a record such as ``{"action": [0, 1], "count": 2}``."""
    if isinstance(item, list) and len(item) == 2:
        return str(item[0]), item[1]
    fields = [*item.items()] if isinstance(item, dict) else []
    numbers = [number for name, number in fields if name.lower() in _AMOUNT_FIELDS]
    cells = [cell for name, cell in fields if name.lower() in MOVE_FIELDS]
    cells = cells or [cell for name, cell in fields if name.lower() not in _AMOUNT_FIELDS]
    return (str(cells[0]), numbers[0]) if len(numbers) == len(cells) == 1 else None


def decisions(values: Sequence[Any]) -> Iterator[Values]:
    """The ways to read values as the moves of a policy: each value is the cell that its board is answered
    with, or a list of the best ones. A list of two numbers may be a row and a column, or two cells.
    """
    fields = next((value.keys() for value in values if isinstance(value, dict)), ())
    named = [name for name in fields if name.lower() in MOVE_FIELDS]
    if len(named) == 1:
        values = [value.get(named[0]) if isinstance(value, dict) else value for value in values]
    for several in (False, True):
        answers = [value if several and isinstance(value, list) else [value] for value in values]
        entries: list[list[tuple[str, int]]] = []
        for cells in (list(map(_cell_name, answer)) for answer in answers):
            if None in cells or len({*cells}) < len(cells):
                break
            entries.append([(name, 1) for name in cells if name])
        distinct = {name for pairs in entries for name, _ in pairs}
        are_values = len(distinct) <= FEW_DECISIONS and float in {*map(type, values)}
        if distinct and len(entries) == len(values) and not are_values:
            yield Values.of("cells", entries, are_decisions=True)


def _cell_name(value: Any) -> str | None:
    """The name of the cell that a value is, empty for null and NaN; None if it is not a cell."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, dict) and {name.lower() for name in value} in _ROW_AND_COLUMN_FIELDS:
        value = [value[name] for name in sorted(value, key=str.lower, reverse=True)]  # the row first
    if isinstance(value, str):
        return value if _CELL.fullmatch(value.strip()) else None
    parts = value if isinstance(value, list) and len(value) == 2 else [value]
    if not all(type(part) in (int, float) and part % 1 == 0 and 0 <= part < 1 << 16 for part in parts):
        return None
    return str([*map(int, parts)])


def namings(names: Sequence[str], rules: Rules) -> Iterator[tuple[str, Int64s]]:
    """The ways to read names of cells: each in words, and int64[names], the cells from 0, row by row.

    ``0`` and ``1`` are the number of the first cell, row or column.
    """
    others = (_NAME_PART.sub("", name).strip(" ,;:|/()[]'\"_-") or name.startswith("-") for name in names)
    if any(others):
        return
    parts = [_NAME_PART.findall(name) for name in names]
    marked = [[at for at, item in enumerate(part) if item != "0"] for part in parts]
    is_one_hot = {*map(len, parts)} == {rules.cells} and {*map(len, marked)} == {1}
    if is_one_hot:
        yield MARKED, np.array(marked)[:, 0]
    items = [*chain(*parts)]
    bits = [str(1 << cell) for cell in range(rules.cells)]
    if {*map(len, parts)} == {1} and {*items} <= {*bits} and {*items}.intersection(bits[4:]):
        yield "bits", np.array([*map(bits.index, items)])
    if rules.cells < 10:  # "12": row 1, column 2
        parts = [[*part[0]] if len(part) == 1 and len(part[0]) == 2 else part for part in parts]
    ways = {_NAMINGS.get(tuple(item.isalpha() for item in part), ()) for part in parts}
    for words, row_part, col_part in ways.pop() if len(ways) == 1 else ():
        for first in (0, 1):
            at = np.array([[_index(item, first) for item in part] for part in parts])
            row, col, cells = at[:, row_part], at[:, col_part], at[:, 0]
            if row_part != col_part:
                if not ((col >= 0) & (col < rules.cols) & (row < rules.rows)).all():
                    continue
                cells = row * rules.cols + col
            if row.min() >= 0 and cells.max() < rules.cells and len({*cells.tolist()}) == len(names):
                yield words.format(first), cells


def _index(item: str, first: int) -> int:
    return ord(item.lower()) - ord("a") if item.isalpha() else int(item[:4]) - first
