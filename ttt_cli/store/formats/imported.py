"""What a foreign file holds once it is read: the experience in native form, and what the reader did to it."""

import csv
import io
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ttt_cli.engine.position import Position
from ttt_cli.engine.rules import STANDARD, Rules
from ttt_cli.errors import InvalidFileError, NotationError
from ttt_cli.store.reading import allowed, beyond, decode

LIMIT = 64 * 2**20
"""The largest foreign file that is read whole, in bytes."""
JSON_LIMIT = 32 * 2**20
"""And of JSON: ten times what the usual board can fill."""

MOST_LINES = 1_000_000
"""The most lines of a CSV file that is read whole."""
LONGEST_LINE = 10_000
"""And the most bytes of a line."""
MOST_REJECTED = 1000
"""So many rejected rows are told one by one; of the others only the number."""

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")


@dataclass(frozen=True, order=True)
class Row:
    """A row of a book: in how many games ``move`` was played in ``position``, the games ending alike.

    :ivar position: its text.
    :ivar move: the cell, from 1.
    :ivar plies: the length of the games.
    :ivar result: ``X``, ``O`` or ``draw``.
    """

    position: str
    move: int
    plies: int
    result: str
    count: int = 1


class Rejected(NamedTuple):
    """A part of a file that cannot be from a game and was left out."""

    where: str
    why: str


@dataclass(frozen=True)
class Options:
    """What a user says outright about a foreign file.

    :ivar visits: how often each entry counts as visited where the file does not tell.
    :ivar strict: whether a part that cannot be from a game is an error instead of being left out.
    :ivar values_for: whose good the values measure: ``x``, ``o``, ``mover`` (the side to move) or ``moved``
        (the side that has just moved); None: what the data say.
    :ivar spelling: facets of the spelling of a position-keyed file, by name.
    """

    visits: int = 1
    strict: bool = False
    values_for: str | None = None
    spelling: dict[str, str] = field(default_factory=dict)


DEFAULTS = Options()


@dataclass(frozen=True)
class Imported:
    """The content of a foreign file.

    :ivar format: the name of the format.
    :ivar learner: the method whose table it becomes.
    :ivar choice: the choice rule it is played by.
    :ivar entries: as in a native file of that learner; empty for a book.
    :ivar rows: of a book.
    :ivar games: how many games the experience is from, where the file tells.
    :ivar results: how these ended: ``x``, ``o``, ``draw``.
    :ivar repaired: what was wrong and has been put right, in words.
    :ivar rejected: what was left out.
    :ivar notes: what was inferred, in words.
    :ivar positions: how many positions the file tells something about.
    :ivar moves: of how many moves; of ``td``, how many values there are.
    """

    format: str
    learner: str
    choice: str = "article"
    rules: Rules = STANDARD
    entries: dict[str, Any] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    games: int | None = None
    results: dict[str, int] | None = None
    repaired: list[str] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    positions: int = 0
    moves: int = 0


def why_not(text: str) -> str:
    """Why a board in native text is no position of the usual game."""
    try:
        Position(text)
    except NotationError as error:
        return error.message
    raise AssertionError(f"{text} is a position")


def book(format_name: str, rows: list[Row], **other: Any) -> Imported:
    """A book of these rows."""
    return Imported(
        format_name,
        "book",
        rows=rows,
        positions=len({row.position for row in rows}),
        moves=len({(row.position, row.move) for row in rows}),
        **other,
    )


def number_in(text: str) -> float | None:
    """The finite number that a text is, or None."""
    value = float(text) if _NUMBER.fullmatch(text) else math.nan
    return value if math.isfinite(value) else None


def lines(data: bytes, where: str) -> Iterator[tuple[int, str]]:
    """The lines of a text file that are not blank, numbered from 1, without their line ends."""
    for number, line in enumerate(decode(data, where, bom=True).split("\n"), 1):
        if line.strip():
            yield number, line.rstrip("\r")


def csv_rows(data: bytes, where: str) -> Iterator[tuple[int, list[str]]]:
    """The rows of a CSV file that are not blank, with their lines, whatever separates their fields.

    :raises InvalidFileError: if it is no CSV, or has too many lines to be held.
    """
    if (many := data.count(b"\n")) > (most := allowed(MOST_LINES)):
        raise beyond(f"has {many:,} lines; the limit is {most:,}", where)
    if (long := max(map(len, data.split(b"\n")))) > (longest := allowed(LONGEST_LINE)):
        raise beyond(f"has a line of {long:,} bytes; the limit is {longest:,}", where)
    text = decode(data, where, bom=True)
    first = text.lstrip("\r\n").partition("\n")[0]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=first.count), strict=True)
    try:
        for row in reader:
            if any(row):
                yield reader.line_num, row
    except csv.Error as error:
        raise InvalidFileError(f"is no CSV: {error}", where=f"{where}, line {reader.line_num}") from None


def refuse(
    rejected: list[Rejected], rows: int, strict: bool, what: str, where: str, *, count: int | None = None
) -> None:
    """Make an error of rejected rows where nothing else is left, or where the call is strict.

    :param count: how many there are, where not all are listed.
    :raises InvalidFileError: naming the first of them.
    """
    if rejected and (strict or (len(rejected) if count is None else count) == rows):
        first = rejected[0]
        if strict:
            raise InvalidFileError(first.why, where=f"{where}, {first.where}")
        raise InvalidFileError(
            f"none of the {rows:,} rows can be from {what}: {first.why}",
            where=f"{where}, {first.where}",
        )


def told(rejected: list[Rejected], count: int | None = None) -> list[Rejected]:
    """The rejected rows, so many, as they are reported: beyond the first thousand, their number."""
    more = (len(rejected) if count is None else count) - MOST_REJECTED
    return (
        rejected if more <= 0 else [*rejected[:MOST_REJECTED], Rejected("further on", f"{more:,} more rows")]
    )
