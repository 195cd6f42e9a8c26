"""The tables that a file of unknown origin may hold: keys and values, before either is understood."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ttt_cli.engine.rules import Rules
from ttt_cli.errors import InvalidFileError
from ttt_cli.store.foreign.keys import spellings
from ttt_cli.store.foreign.values import namings
from ttt_cli.store.text import number_in, quoted

MOST_PARTS = 100
"""The most objects of a file that are tried as tables."""
_BEHIND = re.compile(r"(\S.*?)\s*(?:->|=>|[:=]|\s)\s*([^\s:=>]+|[(\[][0-9, ]+[)\]])\s*")
_NAMED = re.compile(r"[A-Ca-c][1-4]")  # a cell
_ITEM = re.compile(r"[^\s,;\[\]()]+")


@dataclass(frozen=True, eq=False)
class Candidate:
    """A table of a file: keys, values, and columns of what else is known of each key."""

    keys: list[str]
    values: list[Any]
    columns: tuple[list[str], ...] = ()

    def only(self, rows: Sequence[int]) -> "Candidate":
        """A part of the table: its rows of these numbers."""
        columns = tuple([column[row] for row in rows] for column in self.columns)
        return Candidate([self.keys[row] for row in rows], [self.values[row] for row in rows], columns)

    def without_filler(self, rules: Rules) -> tuple["Candidate", list[str]]:
        """Of a table with every board, those that do not have the most frequent value, if half of them have
        it: the others were never seen. With a note that says so."""
        values = [str(value) for value in self.values]
        ((filler, many),) = Counter(values).most_common(1)
        parts = len(set(self.columns[0])) if self.columns else 1
        if len(values) != parts * 3**rules.cells or many < len(values) / 2:
            return self, []
        seen = self.only([row for row, value in enumerate(values) if value != filler])
        return seen, [f"{many:,} rows like the most frequent one count as boards never seen"]


def tables_of_json(found: Any, rules: Rules) -> Iterator[Candidate]:
    """The tables that a JSON value may be: itself, or the objects in it, together."""
    if isinstance(found, list) and all(
        isinstance(it, list) and len(it) == 2 and isinstance(it[0], str) for it in found
    ):
        yield Candidate([key for key, _ in found], [value for _, value in found])
    found = _by_board(found, rules)
    if not isinstance(found, dict):
        return
    yield Candidate(list(found), list(found.values()))
    level = [("", found)]
    for _ in range(2):
        inner = [(name, _by_board(value, rules)) for _, part in level for name, value in part.items()]
        level = [(name, part) for name, part in inner if isinstance(part, dict) and part]
        if not level or len(level) > MOST_PARTS:
            return
        tables = [(name, part) for name, part in level if _is_table(list(part), rules)]
        if tables:
            keys = [key for _, part in tables for key in part]
            values = [value for _, part in tables for value in part.values()]
            names = [name for name, part in tables for _ in part]
            yield Candidate(keys, values, (names,) if len(tables) > 1 else ())
        elif len(largest := max((part for _, part in level), key=len)) > len(found):
            yield Candidate(list(largest), list(largest.values()))


def _by_board(found: Any, rules: Rules) -> Any:
    """A list that has a row for each board, as an object of the boards' numbers; anything else as it is."""
    every = isinstance(found, list) and len(found) == 3**rules.cells
    return {str(number): row for number, row in enumerate(found)} if every else found


def _is_table(keys: list[str], rules: Rules) -> bool:
    return len(keys) == 3**rules.cells or (not any(namings(keys, rules)) and bool(spellings(keys, rules)))


def tables_of_rows(numbered: list[tuple[int, list[str]]], where: str, rules: Rules) -> Iterator[Candidate]:
    """The tables that rows may be: with one value for each cell, or with a value or a list of them in the
    last column. A column that only counts the rows is left aside.

    :raises InvalidFileError: naming the line that is of another length.
    """
    rows = [row for _, row in numbered]
    if all(len(row) == 1 and len(row[0].split()) == rules.cells + 1 for row in rows):
        rows = [row[0].split() for row in rows]
    elif {len(row) for row in rows} in (
        {1},
        {rules.cells},
    ):  # "board:cell", "board -> cell", "board:0.5,0.1,…"
        parted = [_BEHIND.fullmatch(row[0]) for row in rows]
        if parted[0] and all(match and _value_in(match[2]) is not None for match in parted[1:]):
            rows = [[match[1], match[2], *row[1:]] for match, row in zip(parted, rows, strict=True) if match]
    if (paired := _paired(rows)) is not None:
        yield paired
        return
    for (number, _), row in zip(numbered, rows, strict=True):
        if len(row) != len(rows[0]):
            message = f"number of fields: {len(row)}, where the first row has {len(rows[0])}"
            raise InvalidFileError(message, where=f"{where}, line {number}")
    if rows and _is_number(rows[0][-1]) != _is_number(rows[-1][-1]):
        rows = rows[1:]  # a header
    if not rows or len(rows[0]) < 2:
        raise InvalidFileError("expected rows of a position and a value", where=where)
    width, counted = len(rows[0]), [str(number) for number in range(len(rows) + 1)]
    if len(rows) == 3**rules.cells and width == rules.cells:
        rows = [[number, *row] for number, row in zip(counted, rows, strict=False)]
    elif len(rows) > 1 and width > 2 and [row[0].strip() for row in rows] in (counted[:-1], counted[1:]):
        rows = [row[1:] for row in rows]
    values = [[_value_in(field) for field in row[-rules.cells :]] for row in rows]
    if len(rows[0]) > rules.cells and all(type(value) in (int, float) for row in values for value in row):
        yield Candidate(["\t".join(row[: -rules.cells]) for row in rows], values)
    for row, found in zip(rows, values, strict=True):
        if found[-1] is None:
            message = f"{quoted(row[-1])} is not a value or a cell: boards with labels are not a player"
            raise InvalidFileError(message, where=f"{where}, key {quoted(row[0])}")
    yield Candidate(["\t".join(row[:-1]) for row in rows], [found[-1] for found in values])


def _paired(rows: list[list[str]]) -> Candidate | None:
    """The table of rows of different lengths: a position, then cells and values by turns."""
    if len({len(row) for row in rows}) == 1:
        return None
    rows = [row[:-1] if len(row) % 2 == 0 and not row[-1].strip() else row for row in rows]
    numbers = [[number_in(field) for field in row[1:]] for row in rows]
    if any(len(row) % 2 or None in row for row in numbers):
        return None
    pairs = [zip(map("{:g}".format, row[::2]), row[1::2], strict=True) for row in numbers]
    return Candidate([row[0] for row in rows], [[*map(list, row)] for row in pairs])


def _value_in(field: str) -> Any:
    """The number, or the list of numbers, that a field of a CSV file is, NaN for a dash; None if it is
    neither."""
    field = field.strip()
    if field == "-":
        return math.nan
    if field.startswith(("[", "(")):
        items = [_value_in(item) for item in _ITEM.findall(field)]
        return None if None in items else items
    if field.isascii() and field.isdigit() and len(field) < 10:
        return int(field)
    return field if _NAMED.fullmatch(field) else number_in(field)


def _is_number(field: str) -> bool | type:
    value = _value_in(field)
    return isinstance(value, int | float) or type(value)
