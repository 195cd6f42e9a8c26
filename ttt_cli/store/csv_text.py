"""CSV: reading what other programs wrote, its lines, its rows, its numbers; and writing."""

import csv
import io
import math
import re
from collections.abc import Iterable, Iterator
from typing import Any

from ttt_cli.errors import InvalidFileError
from ttt_cli.store.reading import allowed, beyond
from ttt_cli.store.text import decode

MOST_FIELDS = 8_000_000
"""The most fields of a CSV file that is read whole."""

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")


def number_in(text: str) -> float | None:
    """The finite number that a text is, or None."""
    value = float(text) if _NUMBER.fullmatch(text) else math.nan
    return value if math.isfinite(value) else None


def csv_rows(data: bytes, where: str) -> Iterator[tuple[int, list[str]]]:
    """The rows of a CSV file that are not blank, with their lines, whatever separates their fields.

    :raises InvalidFileError: if it is not valid CSV, or has too many fields to be held.
    """
    many, most = sum(map(data.count, (b"\n", b",", b";", b"\t"))), allowed(MOST_FIELDS)
    if many > most:
        raise beyond(f"has some {many:,} fields; the limit is {most:,}", where)
    text = decode(data, where, bom=True)
    first = text.lstrip("\r\n").partition("\n")[0]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=first.count), strict=True)
    try:
        for row in reader:
            if any(row):
                yield reader.line_num, row
    except csv.Error as error:
        line = f"{where}, line {reader.line_num}"
        raise InvalidFileError(f"is not valid CSV: {error}", where=line) from None


def to_csv(rows: Iterable[Iterable[Any]]) -> bytes:
    """Rows as CSV, quoted where they have to be."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()
