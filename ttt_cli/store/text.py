"""Strict parsing of text, JSON and CSV.

Text is UTF-8. JSON has no duplicate keys, no NaN or infinity, no integer beyond 64 bits, no deep nesting.
``orjson`` checks most of that, but silently keeps the last of duplicate keys and rounds huge integers, so the
standard library then parses the text again.
"""

import csv
import io
import json
import math
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, NoReturn

import orjson

from ttt_cli.errors import InvalidFileError
from ttt_cli.store.system import LIMIT, scaled, too_large

_MARKS = {
    b"\x1f\x8b": "is gzip-compressed; unpack it first: gunzip <FILE >FILE.txt",
    b"PK\x03\x04": "is a zip archive; unpack it first: unzip FILE",
    **dict.fromkeys((b"x\x9c", b"x\xda"), "is zlib-compressed; save it uncompressed"),
    b"BZh": "is bzip2-compressed; unpack it first: bunzip2 FILE",
    b"\x93NUMPY": "is a NumPy array; save it as JSON or CSV",
    b"\x89HDF\r\n": "is an HDF5 file; save what it holds as JSON",
    b"MATLAB 5.0 MAT-file": "is a MATLAB file; save what it holds as CSV",
    b"\xac\xed\x00\x05": "holds Java objects; write the table as JSON",
    b"\x00\x01\x00\x00\x00\xff\xff\xff\xff": "holds .NET objects; write the table as JSON",
    b"\x7fELF": "is a program, not a table",
    b"SQLite format 3\x00": "is an SQLite database; export the table as CSV",
    b"\xff\xfe": "is UTF-16, not UTF-8; convert it: iconv -f UTF-16 -t UTF-8 FILE >FILE.txt",
    b"\xfe\xff": "is UTF-16, not UTF-8; convert it: iconv -f UTF-16 -t UTF-8 FILE >FILE.txt",
}
"""The beginnings of files that are not text, and what to do about them."""
NEWLINE = b"\n"
MEMORY = 8  # limit on the memory for the values of a JSON text, in multiples of the limit on its size

_SIZES = {b"{": 200, b"[": 60, b":": 60, b",": 32}  # bytes that a value of each kind takes, roughly
_PRINTED = (
    'python3 -c "import ast, pickle, sys; '
    'pickle.dump(ast.literal_eval(sys.stdin.read()), sys.stdout.buffer)" <FILE >FILE.pkl makes a pickle of it'
)
_CONSTANT = re.compile("NaN|Infinity")
_TOO_DEEP = "is nested too deeply"
_MESSAGES = {
    "infinity": "the number is too large",
    "depth": _TOO_DEEP,
    "unexpected end": "the file ends in the middle: it was cut off",
    "after document": "something follows the end of the JSON value",
}
"""Our messages by parts of those of ``orjson``."""
MAX_FIELDS = 8_000_000  # of a CSV file
FIRST = 4096  # characters of the first line of a CSV file that show its delimiter

_GROUPED = re.compile(r'"[^"]*"|\[[^\]]*\]|\([^)]*\)')
_NUMBER = re.compile(r"[+-]?([0-9]+(?:\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")


def decode(data: bytes, where: str, *, line: int = 1) -> str:
    """Decode strict UTF-8 without NUL.

    :param line: the number of the line on which ``data`` begins.
    :raises InvalidFileError: with line and byte; other encodings and archives by their name.
    """
    fault = next((text for mark, text in _MARKS.items() if data.startswith(mark)), "")
    zeros = [byte == 0 for byte in data[:4]]
    if not fault and zeros in ([True, False] * 2, [False, True] * 2):
        wide = "UTF-16BE" if zeros[0] else "UTF-16LE"
        fault = f"is {wide}, not UTF-8; convert it: iconv -f {wide} -t UTF-8 FILE >FILE.txt"
    if fault:
        message, _, hint = fault.partition("; ")
        raise InvalidFileError(message, where=where, hint=hint.replace("FILE", shlex.quote(where)))
    at = data.find(b"\0")
    why, hint = "holds a NUL byte, so it is not text", ""
    if at < 0:
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            at = error.start
            why, hint = f"is not UTF-8: byte 0x{data[at]:02x}", "save it as UTF-8"
    place = f"line {data.count(NEWLINE, 0, at) + line}, byte {at - data.rfind(NEWLINE, 0, at)}"
    raise InvalidFileError(why, where=f"{where}, {place}", hint=hint)


def as_text(name: str) -> str:
    """A file name as valid UTF-8, with other bytes escaped."""
    return name.encode("utf-8", "backslashreplace").decode()


def quoted(text: object, most: int = 40) -> str:
    """Quote content of a file for a message: on one line, without control characters, not too long."""
    short = str(text) if len(str(text)) <= most else str(text)[: most - 3] + "..."
    return ascii(short) if not short.isprintable() else f"'{short}'"


def load_json(data: bytes, where: str, *, line: int = 1, limit: int = LIMIT, constants: bool = False) -> Any:
    """Parse a JSON text: dict, list, str, int (64 bits), finite float, bool or None.

    :param line: the number of the file's line on which ``data`` begins.
    :param limit: in bytes.
    :param constants: whether NaN and Infinity are numbers, as Python's ``json`` writes them.
    :raises InvalidFileError: with line and column, or the duplicate key.
    """
    limit = scaled(limit)
    if len(data) > limit:
        raise too_large(f"has {len(data):,} bytes; the limit is {limit:,}", where)
    refuse_costly(data, where, limit)

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            ((twice, _),) = Counter(key for key, _ in pairs).most_common(1)
            raise InvalidFileError("the key is repeated", where=f"{where}, key {quoted(twice)}")
        return found

    def integer(digits: str) -> int:
        if len(digits) >= 19 and not (len(digits) <= 20 and -(1 << 63) <= int(digits) < 1 << 64):
            raise InvalidFileError(f"the integer {quoted(digits)} does not fit into 64 bits", where=where)
        return int(digits)

    try:
        orjson.loads(data)
    except orjson.JSONDecodeError as error:
        if not (constants and _CONSTANT.match(error.doc, error.pos)):
            _refuse_syntax(data, where, line, error)
    try:
        value = json.loads(data, object_pairs_hook=members, parse_int=integer)
        orjson.dumps(value)  # what stands behind a NaN has not been checked
    except json.JSONDecodeError as error:
        _refuse_syntax(data, where, line, error)
    except (RecursionError, TypeError) as error:
        why = "holds half a surrogate pair" if "surrogate" in str(error) else _TOO_DEEP
        raise InvalidFileError(why, where=where) from None
    return value


def refuse_costly(data: bytes, where: str, limit: int) -> None:
    """Raise InvalidFileError if the values of a JSON text would take too much memory.

    :param limit: on the size of the text, in bytes.
    """
    most = MEMORY * limit
    if len(data) * max(_SIZES.values()) > most:  # else it cannot hold too much
        needed = sum(data.count(mark) * size for mark, size in _SIZES.items())
        if needed > most:
            raise too_large(f"its values would take {needed:,} bytes of memory; the limit is {most:,}", where)


def _refuse_syntax(data: bytes, where: str, line: int, error: json.JSONDecodeError) -> NoReturn:
    if not data.strip():
        raise InvalidFileError("is empty", where=where) from None
    decode(data, where, line=line)
    our_texts = (text for part, text in _MESSAGES.items() if part in error.msg)
    message = next(our_texts, f"is not valid JSON: {error.msg}")
    hint = ""
    if constant := _CONSTANT.match(error.doc, error.pos):
        message = f"{constant[0]} is not a JSON number"
    if data.lstrip()[:2] in (b"{'", b"{("):
        message, hint = "is a printed Python dict, not JSON", _PRINTED.replace("FILE", shlex.quote(where))
    place = f"{where}, line {error.lineno + line - 1}, column {error.colno}"
    raise InvalidFileError(message, where=place, hint=hint) from None


def number_in(text: str) -> float | None:
    """The finite number that a text denotes, or None."""
    value = float(text) if _NUMBER.fullmatch(text) else math.nan
    return value if math.isfinite(value) else None


def csv_rows(data: bytes, where: str) -> Iterator[tuple[int, list[str]]]:
    """The rows of a CSV file that are not blank, with their line numbers; commas, semicolons or tabs separate
    fields.

    :raises InvalidFileError: if it is not valid CSV, or has too many fields.
    """
    many = sum(map(data.count, (b"\n", b"\r", b",", b";", b"\t"))) - data.count(b"\r\n")
    most = scaled(MAX_FIELDS)
    if many > most:
        raise too_large(f"has about {many:,} fields; the limit is {most:,}", where)
    text = decode(data, where)
    first = _GROUPED.sub("", text.lstrip("\r\n").partition("\n")[0][:FIRST])
    marks = [mark for mark in ";\t," if mark in first] or [","]  # with as many commas: decimal ones
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(marks, key=first.count), strict=True)
    try:
        for row in reader:
            if any(row):
                yield reader.line_num, row
    except csv.Error as error:
        line = f"{where}, line {reader.line_num}"
        raise InvalidFileError(f"is not valid CSV: {error}", where=line) from None


def columns_in(line: str) -> list[str]:
    """The names in the first line of a CSV file; none if it is not one."""
    try:
        return next(csv_rows(line.encode(), ""), (1, list[str]()))[1]
    except InvalidFileError:
        return []


def to_csv(rows: Iterable[Iterable[Any]]) -> Iterator[bytes]:
    """Rows, of which there may be millions, as chunks of CSV, quoted where necessary."""
    remaining = iter(rows)
    while chunk := list(islice(remaining, 1 << 13)):
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(chunk)
        yield text.getvalue().encode()
