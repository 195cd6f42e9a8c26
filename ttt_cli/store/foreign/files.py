"""The tables that a file of unknown origin may hold: keys and values, before either is understood.

``tables_of_json`` and ``tables_of_rows`` list the ``Candidate`` tables of a parsed file, the likeliest first.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, product
from typing import Any

from ttt_cli.engine.rules import Rules
from ttt_cli.errors import InvalidFileError
from ttt_cli.store.foreign.keys import FEW_BOARDS, MIN_BOARDS, spellings
from ttt_cli.store.foreign.values import (
    CELL_FIELDS,
    COUNT_FIELDS,
    NOT_PLAYED,
    POLICY_NAMES,
    VALUE_FIELDS,
    namings,
)
from ttt_cli.store.text import load_json, number_in, quoted

MAX_PARTS = 100  # objects inside a file's object that are tried as tables
_ARROWS = ("->", "=>", ":", "\t")  # between a key and its value, whatever the key holds
_SEPARATORS = (*_ARROWS, "=", ";", " ")  # the same in lines whose commas do not end in a value
_CELL = re.compile(r"[A-Da-d][1-4]|0[0-9]|[0-9] ?, ?[0-9]")
_CELLS = re.compile(r"[0-9]+(?:[ ,]+[0-9]+){2,}")
_ITEM = re.compile(r"[^\s,;\[\]()]+")
_BETWEEN = re.compile(r"\s*[,:;]\s*|\s+")
_NOTHING = re.compile("-?|nan?|none|null|[-+]?inf(inity)?", re.IGNORECASE)
_SCALAR = re.compile(r"np\.\w+\(([^()]*)\)")  # as NumPy 2 prints a number in a list or an object
_PRINTED = str.maketrans("'()", '"[]')  # as Python prints objects, into JSON
_NESTED = re.compile(r"\{|[\[(]\s*[{\[(]")  # how an object begins, or a list of objects or lists
_PRINTED_KEY = re.compile(r"(?<=[{,])\s*(\[[^\[\]]*\]|[0-9]+)\s*(?=:)")

Part = tuple[str, dict[str, Any]]  # an object in a file, with its name
RowsAndNotes = tuple[list[list[Any]], tuple[str, ...]]


@dataclass(frozen=True, eq=False)
class Candidate:
    """A table as a file spells it: keys and their values.

    :ivar keys: perhaps behind the name of a part of the table, such as a player's, and a tab.
    :ivar notes: what a user should know of how the table was found.
    :ivar called: the name of the table in its file, if it is an object inside another.
    :ivar unknown: the value of boards never seen, in a table of all boards; None: there is none, or it is no
        number.
    """

    keys: list[str]
    values: list[Any]
    notes: tuple[str, ...] = ()
    unknown: float | None = None
    called: str = ""

    def select(self, rows: Sequence[int]) -> "Candidate":
        """The table with these rows only."""
        return replace(self, keys=[self.keys[row] for row in rows], values=[self.values[row] for row in rows])

    def without_filler(self, rules: Rules) -> "Candidate":
        """A table of all boards, of one player or two, or of all their free cells, without those never seen:
        they share the commonest value, if half of the rows have it."""
        boards = 3**rules.cells
        free_cells = boards * rules.cells // 3
        if len(self.values) not in (boards, 2 * boards, free_cells):
            return self
        values = [str(value) for value in self.values]
        ((filler, many),) = Counter(values).most_common(1)
        if many < len(values) / 2 or many == len(values):
            return self
        seen = self.select([row for row, value in enumerate(values) if value != filler])
        note = f"{many:,} rows with the most frequent value count as boards never seen"
        return replace(seen, notes=(*self.notes, note), unknown=number_in(filler))


def tables_of_json(value: Any, where: str, rules: Rules) -> Iterator[Candidate]:
    """The tables that a JSON value may be: an object; the objects in it or in a list, joined; or records, by
    themselves or in an object, which are read as rows of CSV."""
    columns, records = _records(value, rules)
    table = _by_board(value, rules)
    if isinstance(table, dict):
        yield Candidate([*table], [*table.values()])
        yield from _tables_inside(table, rules)
    elif isinstance(value, list) and not records:
        yield from _tables_inside({str(number): part for number, part in enumerate(value, 1)}, rules)
    if isinstance(value, dict) and not records:
        columns, records = _records_inside(value, rules)
    if records:
        yield from tables_of_rows([*enumerate(records, 1)], where, rules, unit="record", names=columns)


def _records(value: Any, rules: Rules) -> tuple[list[str], list[list[Any]]]:
    """The names of columns, if any, and the rows of a list of records or lists, or of an object of columns,
    unless its lists have a number for each cell."""
    if isinstance(value, dict) and len(value) > 1 and {*map(type, value.values())} == {list}:
        columns = [*value.values()]
        are_values = {*map(type, chain(*columns))} <= {int, float} and len(columns[0]) == rules.cells
        rows = zip(*columns, strict=True) if len({*map(len, columns)}) == 1 and not are_values else ()
        return [*value], [[*row] for row in rows]
    if not isinstance(value, list):
        return [], []
    if {*map(type, value)} == {dict} and 0 < len(value[0]) <= len(value):
        if {*map(len, value)} == {1}:
            return [], [[*pair] for item in value for pair in item.items()]
        if all(item.keys() == value[0].keys() for item in value):
            return [*value[0]], [[item[name] for name in value[0]] for item in value]
    lists = all(isinstance(row, list) and len(row) > 1 and isinstance(row[0], str | list) for row in value)
    return [], value if lists else []


def _records_inside(value: dict[str, Any], rules: Rules) -> tuple[list[str], list[list[Any]]]:
    """As ``_records``, for those in an object; several of the same columns are joined, behind their names."""
    parts = {name: _records(part, rules) for name, part in value.items()}
    tables = {name: (columns, rows) for name, (columns, rows) in parts.items() if rows}
    if len({str(columns) for columns, _ in tables.values()}) != 1:
        return [], []
    ((columns, rows), *others) = tables.values()
    if not others:
        return columns, rows
    named_rows = [[name, *row] for name, (_, rows) in tables.items() for row in rows]
    return ["", *columns] if columns else [], named_rows


def _by_board(value: Any, rules: Rules) -> Any:
    """A list with a row for each board as an object keyed by board number, unless the rows are the boards; a
    list with an axis for each cell as an object keyed by board."""
    boards, rows, axes = 3**rules.cells, value, 1
    while (
        isinstance(rows, list)
        and len(rows) == 3**axes < boards
        and all(isinstance(row, list) and len(row) == 3 for row in rows)
    ):
        rows, axes = [*chain(*rows)], axes + 1
    if axes == rules.cells > 1:
        return dict(zip(map("".join, product("012", repeat=axes)), rows, strict=True))
    if not isinstance(value, list) or len(value) != boards:
        return value
    rows = [*map(str, value)]
    are_boards = len({*rows}) == len(rows) and len({*_ITEM.findall(" ".join(rows))}) <= 3
    return value if are_boards else {str(number): row for number, row in enumerate(value)}


def _tables_inside(value: dict[str, Any], rules: Rules) -> Iterator[Candidate]:
    """The objects in an object, joined as one table; then those one level deeper. Where none looks like a
    table, the largest, if it is larger than the whole."""
    parts: list[Part] = [("", value)]
    for _ in range(2):
        inside = [(name, _by_board(item, rules)) for _, part in parts for name, item in part.items()]
        parts = [(name, part) for name, part in inside if isinstance(part, dict) and part]
        if not parts or len(parts) > MAX_PARTS:
            return
        tables = [(name, part) for name, part in parts if _is_table(name, part, rules)]
        largest = max((part for _, part in _played(parts)), key=len)
        if tables:
            yield _joined(tables, only=len(parts) == 1)
        elif len(largest) > len(value):
            yield Candidate([*largest], [*largest.values()])


def _is_table(name: str, part: dict[str, Any], rules: Rules) -> bool:
    """Whether an object's keys are boards; those of a policy may be all that have a free cell."""
    if len(part) == 3**rules.cells:
        return True
    least = FEW_BOARDS if name.lower() in POLICY_NAMES else MIN_BOARDS
    return not any(namings([*part], rules)) and bool(spellings([*part], rules, least))


def _played(parts: list[Part]) -> list[Part]:
    """The parts that are played by: those called policies, else all but counts, traces and the like, else
    all."""
    policies = [(name, part) for name, part in parts if name.lower() in POLICY_NAMES]
    return policies or [(name, part) for name, part in parts if name.lower() not in NOT_PLAYED] or parts


def _joined(tables: list[Part], *, only: bool) -> Candidate:
    """Tables as one, behind their names if there are several; without the values that led to a policy."""
    played = _played(tables)
    names = dict.fromkeys(name for name, _ in played)
    notes = [f"the table is {quoted(played[0][0])}"] if len(played) == 1 and not only else []
    unused = dict.fromkeys(name for name, _ in tables if name not in names)
    notes += [f"left out: the table {quoted(name)}" for name in unused]
    keys = [f"{name}\t{key}" if len(names) > 1 else key for name, part in played for key in part]
    called = played[0][0] if len(names) == 1 else ""
    values = [value for _, part in played for value in part.values()]
    return Candidate(keys, values, tuple(notes), called=called)


def _value_last(names: Sequence[str], rows: list[list[Any]], where: str) -> RowsAndNotes:
    """Rows with the value last: the column that is called so, or else the last one. Counts are left out,
    unless one must be the value; so are rewards beside a value.

    :raises InvalidFileError: naming the columns if several may be the value.
    """
    lowered = [name.lower() for name in names]
    values = [at for at, name in enumerate(lowered) if name in VALUE_FIELDS]
    counts = [at for at, name in enumerate(lowered) if name in COUNT_FIELDS or (values and name == "reward")]
    others = [name for at, name in enumerate(lowered) if at not in counts]
    if not values and (len(others) < 3 or others[-1] in CELL_FIELDS):  # no other can be the value
        values, counts = counts, []
    if 1 < len(values) < len(names):
        listed = ", ".join(quoted(names[at]) for at in values)
        message = f"any of the columns {listed} may be the value"
        raise InvalidFileError(message, where=where, hint="leave the others out")
    keys = [at for at in range(len(names)) if at not in (*values, *counts)]
    notes = tuple(f"left out: the column {quoted(names[at])}" for at in counts)
    if keys:
        rows = [[row[at] for at in (*keys, *values)] for row in rows]
    return rows, notes


def tables_of_rows(
    numbered: list[tuple[int, list[Any]]],
    where: str,
    rules: Rules,
    *,
    unit: str = "line",
    names: Sequence[str] = (),
) -> Iterator[Candidate]:
    """The tables that CSV rows may be: with a value for each cell, or with a value or a list of values in the
    last column.

    :param numbered: the rows with their numbers.
    :param unit: what the numbers count; names: those of the columns, if they are not in the first row.
    :raises InvalidFileError: naming the line that has another number of fields.
    """
    rows = [row for _, row in numbered]
    if rows and not names:
        are_fields = len(rows[-1]) > 1 and _parse(rows[-1][-1]) is not None
        separators = _ARROWS if are_fields and len({*map(len, rows)}) == 1 else _SEPARATORS
        lines = [",".join(map(str, row)) for row in rows]
        rows = (
            _numpy_text(rows, rules)
            or _boards_and_numbers(lines, rules)
            or _separated(lines, separators, rules)
            or rows
        )
    for (number, _), row in zip(numbered, rows, strict=True):
        if len(row) != len(rows[0]):
            fields = "1 field" if len(row) == 1 else f"{len(row)} fields"
            message = f"has {fields}, but the first {unit} has {len(rows[0])}"
            raise InvalidFileError(message, where=f"{where}, {unit} {number}")
    rows, notes = _body(rows, where, rules, names)
    if all(re.fullmatch(rf"[0-9]{{{rules.cells}}}", str(row[-1])) for row in rows):  # a digit for each cell
        rows = [[*row[:-1], [*map(int, str(row[-1]))]] for row in rows]
    values = [[_parse(field) for field in row[-rules.cells :]] for row in rows]
    has_cells = len(rows[0]) > rules.cells
    if has_cells:
        texts = chain.from_iterable(row[-rules.cells :] for row in rows)
        words = {text for text, value in zip(texts, chain(*values), strict=True) if value is None}
        if len(words) == 1:  # written at taken cells
            values = [[math.nan if value is None else value for value in row] for row in values]
    if has_cells and all(type(value) in (int, float) for row in values for value in row):
        yield Candidate(["\t".join(row[: -rules.cells]) for row in rows], values, notes=notes)
    unread = [row for row, parsed in zip(rows, values, strict=True) if parsed[-1] is None]
    if len(unread) > len(rows) / 2:
        row = unread[-1]
        message = f"{quoted(row[-1])} is not a value or a cell"
        if row[-1].isalpha():
            message += ": labelled boards are a data set, not a player"
        raise InvalidFileError(message, where=f"{where}, key {quoted(row[0])}")
    last = [row[-1] if parsed[-1] is None else parsed[-1] for row, parsed in zip(rows, values, strict=True)]
    yield Candidate(["\t".join(row[:-1]) for row in rows], last, notes=notes)


def _numpy_text(rows: Sequence[list[Any]], rules: Rules) -> list[list[str]]:
    """The rows of an array as NumPy saves it as text, a line for each board and blanks between the numbers of
    its cells; empty if any line has another form."""
    lines = [row[0].split() if len(row) == 1 else [] for row in rows]
    return lines if len(rows) == 3**rules.cells and {*map(len, lines)} == {rules.cells} else []


def _boards_and_numbers(lines: Sequence[str], rules: Rules) -> list[list[Any]]:
    """The keys and values of lines of a board and numbers: one for each cell, or cells and their values by
    turns; empty if any line has another form."""
    keys, values = list[str](), list[list[Any]]()
    starts = [line.partition(" ")[0] for line in lines]
    are_numbers = all(map(str.isdecimal, starts))  # other boards may hold blanks
    for line, start in zip(lines, starts, strict=True):
        end = len(start) if are_numbers else rules.cells
        before, *fields = _BETWEEN.split(line[end:].rstrip().removesuffix(","))
        keys.append(line[:end])
        values.append([*map(_parse, fields)])
        if before or not {*map(type, values[-1])} <= {int, float}:
            return []
    lengths = {*map(len, values)}
    if len(lengths) > 1 and not any(length % 2 for length in lengths):
        pairs = [zip(map("{:g}".format, row[::2]), row[1::2], strict=True) for row in values]
        values = [[*map(list, row)] for row in pairs]
    elif lengths != {rules.cells}:
        return []
    return [[*row] for row in zip(keys, values, strict=True)]


def _separated(lines: Sequence[str], separators: Sequence[str], rules: Rules) -> list[list[str]]:
    """The keys and values of lines such as ``board -> (row, column)``, with one of these separators between
    them; empty if any line but a header has another form."""
    for separator in separators:
        parts = [_halves(line.rstrip(), separator) for line in lines]
        if any(_CELLS.fullmatch(value.strip()) for *_, value in parts):  # several best cells
            parts = [(key, mark, f"[{value}]") for key, mark, value in parts]
        if all(mark for _, mark, _ in parts) and not any(_parse(value) is None for *_, value in parts[1:]):
            # A board may begin and end with empty cells.
            keys = [key.strip() if key[rules.cells :].strip() else key[: rules.cells] for key, *_ in parts]
            return [[key, value] for key, (*_, value) in zip(keys, parts, strict=True)]
    return []


def _halves(line: str, separator: str) -> tuple[str, str, str]:
    """What is before and after the last separator, which may be in an object at the end as well."""
    end = line.rindex("{") if line.endswith("}") and "{" in line else len(line)
    before, mark, after = line[:end].rpartition(separator)
    return before, mark, after + line[end:]


def _body(rows: list[list[Any]], where: str, rules: Rules, names: Sequence[str]) -> RowsAndNotes:
    """Rows without their header, with the value last, and without a column that only counts them; numbered by
    board if they are those of all boards; raises InvalidFileError if there are no keys."""
    if not names and rows and isinstance(rows[0][-1], str) and _is_heading([*map(str, rows[0])], rules):
        names = [str(name).strip() for name in rows[0]]
        rows = rows[1:]
    rows, notes = _value_last(names, rows, where)
    rows = [[*map(str, row[:-1]), row[-1]] for row in rows]
    numbers = [str(number) for number in range(len(rows) + 1)]
    if rows and len(rows[0]) > 2 and [row[0].strip() for row in rows] in (numbers[:-1], numbers[1:]):
        rows = [row[1:] for row in rows]
    if len(rows) == 3**rules.cells and len(rows[0]) in (1, rules.cells):
        rows = [[number, *row] for number, row in zip(numbers, rows, strict=False)]
    if not rows or len(rows[0]) < 2:
        raise InvalidFileError("expected rows of a position and a value", where=where)
    distinct = [*{str(row): row for row in rows}.values()]
    repeated = len(rows) - len(distinct)
    if repeated:
        notes = (*notes, f"repeated rows count once: {repeated:,}")
    return distinct, notes


def _is_heading(row: Sequence[str], rules: Rules) -> bool:
    """Whether a row of different fields begins with an empty one, as a header of pandas does, or a row ends
    with the names of all cells, or with a word that is not a value."""
    names_cells = len(row) > rules.cells and any(namings(row[-rules.cells :], rules))
    return (not row[0] and len({*row}) == len(row)) or names_cells or _parse(row[-1]) is None


def _parse(field: Any) -> Any:
    """The number, cell, list of numbers or object in a field, NaN for nothing; None if it is none of them."""
    if not isinstance(field, str):
        return math.nan if field is None else field
    field = _SCALAR.sub(r"\1", field.strip())
    if _NESTED.match(field):
        try:
            return load_json(_PRINTED_KEY.sub(r'"\1"', field.translate(_PRINTED)).encode(), "")
        except InvalidFileError:
            if "{" in field:
                return None  # else lists as NumPy prints them
    if field.startswith(("[", "(")):
        items = [_parse(item) for item in _ITEM.findall(field)]
        return None if None in items else items
    if _NOTHING.fullmatch(field):
        return math.nan
    if _CELL.fullmatch(field):
        return field
    return int(field) if field.isascii() and field.isdigit() and len(field) < 10 else number_in(field)
