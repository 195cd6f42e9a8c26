"""The one reader: any bytes become a value or one InvalidFileError with its place, in bounded time and space.

Nothing in a file is trusted and nothing executed. Sizes are limited before anything is read, and JSON is
taken strictly: UTF-8 only, no duplicate keys, no NaN or infinity, no integer beyond 64 bits, no deep nesting.
``orjson`` checks most of that, but keeps the last of duplicate keys without a word and rounds huge integers.
Whether a text holds either is asked of cheap counts first, which can err towards suspicion only, and where
they suspect is settled by an exact, slower reading.
"""

import errno
import json
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import orjson

from ttt_cli.errors import InvalidFileError
from ttt_cli.store.system import BINARY, NO_WAITING, AnyPath, naming

LIMIT = 256 * 2**20
"""The largest file that is read, in bytes, unless the caller says otherwise; 5,478 entries take some 1 MB."""
LARGE = 16 * 2**20
"""From here on a file is read in parts where its format allows it."""
LONGEST_LINE = 2**20
"""The longest line of a log, in bytes."""
MEMORY = 8
"""What the values of a JSON text may take in memory, in multiples of the limit."""

_times: ContextVar[int] = ContextVar("_times", default=1)
_CANNOT = "cannot be read"
_MARKS = (
    (b"\x1f\x8b", "gzip-compressed", "unpack it first: gunzip FILE"),
    (b"PK\x03\x04", "a zip archive", "unpack it first: unzip FILE"),
    (b"PK\x05\x06", "an empty zip archive", ""),
    (b"BZh", "bzip2-compressed", "unpack it first: bunzip2 FILE"),
    (b"\xfd7zXZ\x00", "xz-compressed", "unpack it first: unxz FILE"),
    (b"\x28\xb5\x2f\xfd", "zstandard-compressed", "unpack it first: unzstd FILE"),
    (b"\x93NUMPY", "a NumPy array", "save it as JSON or CSV, or as .npz where that is a format of its own"),
    (b"\x89HDF\r\n", "an HDF5 file", "save what it holds as JSON"),
    (b"SQLite format 3\x00", "an SQLite database", "export the table as CSV"),
    (b"\x89PNG", "a picture", ""),
    (b"%PDF", "a PDF document", ""),
)
_WIDE = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)
BOM = b"\xef\xbb\xbf"
_ZEROS = bytes(48 if 48 <= code <= 57 else 0 for code in range(256))
_LONG = b"0" * 19  # no integer of fewer digits leaves 64 bits
_SIZES = ((b"{", 200), (b"[", 60), (b":", 60), (b",", 32))  # bytes that a value of each kind takes, roughly
_CONSTANT = re.compile("NaN|Infinity")
_DIGITS = re.compile(rb"[0-9]+")


def scale_limits(times: int) -> None:
    """From here on in this context every limit on the size of what is read is so many times the usual one."""
    _times.set(times)


def allowed(usual: int) -> int:
    """A limit as far as it has been raised."""
    return usual * _times.get()


def beyond(message: str, where: AnyPath) -> InvalidFileError:
    """The error for what is larger than a limit."""
    return InvalidFileError(
        message, where=os.fspath(where), hint="--limits 10 reads what is ten times as large"
    )


def read_bytes(path: AnyPath, limit: int = LIMIT) -> bytes:
    """Return the content of the file at ``path``; a device or a pipe is refused without waiting for it.

    :raises InvalidFileError: missing (with neighbours of like names), a folder, not permitted, above
        ``limit`` bytes.
    """
    limit = allowed(limit)
    fd = _open(path)
    try:
        with naming(path, _CANNOT, InvalidFileError):
            known = os.fstat(fd)
            if not stat.S_ISREG(known.st_mode):
                _no_file(path, known.st_mode)
            chunks, left = [], limit + 1
            if known.st_size <= limit:
                while left > 0 and (chunk := os.read(fd, min(left, max(known.st_size + 1, 1 << 16)))):
                    chunks.append(chunk)
                    left -= len(chunk)
            if known.st_size > limit or left <= 0:
                size = max(known.st_size, limit + 1)
                raise beyond(f"has {size:,} bytes; the limit is {limit:,}", path)
    finally:
        os.close(fd)
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def read_lines(path: AnyPath, longest: int = LONGEST_LINE) -> Iterator[bytes]:
    """The lines of the file at ``path``, each with its end, however many there are: one at a time is held.

    :raises InvalidFileError: as ``read_bytes``, and for a line of more than ``longest`` bytes.
    """
    longest = allowed(longest)
    with _opened(path) as file:
        number = 0
        while line := file.readline(longest + 1):
            number += 1
            if len(line) > longest:
                place = f"{os.fspath(path)}, line {number}"
                raise beyond(f"the line is longer than {longest:,} bytes", place)
            yield line


def is_large(path: AnyPath) -> bool:
    """Whether there is a file of more than ``LARGE`` bytes."""
    return os.path.isfile(path) and os.path.getsize(path) > LARGE


def read_start(path: AnyPath) -> bytes:
    """The first 4,096 bytes of the file at ``path``; raises as ``read_lines``."""
    with _opened(path) as file:
        return file.read(4096)


def read_blocks(path: AnyPath, size: int = 2**20) -> Iterator[bytes]:
    """The content of the file at ``path``, however long, in blocks of whole lines of some ``size`` bytes.

    :raises InvalidFileError: as ``read_lines``.
    """
    with _opened(path) as file:
        rest = b""
        while chunk := file.read(size):
            end = chunk.rfind(b"\n") + 1
            if end:
                yield rest + chunk[:end]
                rest = chunk[end:]
            else:
                rest += chunk
            if len(rest) > (longest := allowed(LONGEST_LINE)):
                raise beyond(f"has a line of more than {longest:,} bytes", path)
        if rest:
            yield rest


def read_text(path: AnyPath, limit: int = LIMIT, *, bom: bool = False) -> str:
    """Return the file's text; see ``read_bytes`` and ``decode``."""
    return decode(read_bytes(path, limit), path, bom=bom)


def read_json(path: AnyPath, limit: int = LIMIT) -> Any:
    """Return the file's JSON value; see ``read_bytes`` and ``load_json``."""
    return load_json(read_bytes(path, limit), path, limit=limit)


def decode(data: bytes, where: AnyPath, *, bom: bool = False, line: int = 1) -> str:
    """Return ``data`` as text: strict UTF-8 without NUL; a byte order mark is dropped if ``bom`` allows it.

    ``line`` is the one of the file on which ``data`` begins.

    :raises InvalidFileError: with line and byte; other encodings and archives by their name.
    """
    name = os.fspath(where)
    refuse_binary(data, where)
    if data.startswith(BOM):
        if not bom:
            raise InvalidFileError(
                "begins with a byte order mark (BOM)", where=name, hint="save it as UTF-8 without one"
            )
        data = data[len(BOM) :]
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        place = _line_and_byte(data, error.start, line)
        raise InvalidFileError(
            f"is not UTF-8: byte 0x{data[error.start]:02x}", where=f"{name}, {place}", hint="save it as UTF-8"
        ) from None
    if (at := data.find(b"\0")) >= 0:
        raise InvalidFileError(
            "holds a NUL byte, so it is no text", where=f"{name}, {_line_and_byte(data, at, line)}"
        )
    return text


def refuse_binary(data: bytes, where: AnyPath) -> None:
    """Raise InvalidFileError if ``data`` is an archive, UTF-16 or anything known but UTF-8 text."""
    name = os.fspath(where)
    for mark, what, remedy in _MARKS:
        if data.startswith(mark):
            raise InvalidFileError(f"is {what}", where=name, hint=remedy.replace("FILE", name))
    wide = next((encoding for mark, encoding in _WIDE if data.startswith(mark)), None)
    if wide is None and len(data) >= 4 and (data[:4:2] == b"\0\0") != (data[1:4:2] == b"\0\0"):
        wide = "UTF-16BE" if data[0] == 0 else "UTF-16LE"
    if wide is not None:
        raise InvalidFileError(
            f"is {wide}, not UTF-8", where=name, hint=f"convert it: iconv -f {wide} -t UTF-8 {name}"
        )


def load_json(data: bytes, where: AnyPath, *, line: int = 1, limit: int = LIMIT) -> Any:
    """Return the value of a JSON text: dict, list, str, int (64 bits), finite float, bool or None.

    ``where`` names the file in errors, ``line`` the line of it on which ``data`` begins; ``limit`` is in
    bytes.

    :raises InvalidFileError: with line and column, or the duplicate key.
    """
    limit = allowed(limit)
    if len(data) > limit:
        raise beyond(f"has {len(data):,} bytes; the limit is {limit:,}", where)
    needed = sum(data.count(mark) * size for mark, size in _SIZES) if len(data) > limit // 64 else 0
    if needed > MEMORY * limit:
        message = f"its values would take some {needed:,} bytes of memory; the limit is {MEMORY * limit:,}"
        raise beyond(message, where)
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        _refuse_syntax(data, where, line, error)
    try:
        again = orjson.dumps(value)
    except TypeError:
        raise InvalidFileError("is nested too deeply; the limit is 254", where=os.fspath(where)) from None
    # Each member of an object has one colon outside strings, and orjson never escapes a colon. So a text
    # without escaped colons has as many of them as its value written anew, unless members were dropped:
    # duplicate keys.
    clear = again.count(b":") == data.count(b":") and b"\\u003a" not in data and b"\\u003A" not in data
    if not clear or _may_hold_huge_integer(data):
        del again
        _settle(data, where)
    return value


def quoted(text: object, most: int = 40) -> str:
    """Return content of a file as it may stand in a message: on one line, no control characters, not long."""
    short = str(text) if len(str(text)) <= most else str(text)[: most - 3] + "..."
    return ascii(short) if not short.isprintable() else f"'{short}'"


def _may_hold_huge_integer(data: bytes) -> bool:
    """Tell whether some digits look like an integer that 64 bits do not hold; in a string they may."""
    zeros = data.translate(_ZEROS)
    start = zeros.find(_LONG)
    for _ in range(10_000):
        if start < 0:
            return False
        match = _DIGITS.match(data, start)
        end = match.end() if match else start + 1
        minus = data[start - 1 : start] == b"-"
        before = data[start - 1 - minus : start - minus] if start > minus else b""
        if before in b"[,: \t\r\n" and data[end : end + 1] not in (b".", b"e", b"E"):
            number = int(data[start:end]) if end - start <= 20 else 1 << 64
            if number > (1 << 63 if minus else (1 << 64) - 1):
                return True
        start = zeros.find(_LONG, end)
    return True


def _settle(data: bytes, where: AnyPath) -> None:
    """Raise if the otherwise valid JSON text has a duplicate key or a huge integer: exact, and slower."""
    name = os.fspath(where)

    def members(pairs: list[tuple[str, Any]]) -> None:
        if len(dict(pairs)) < len(pairs):
            seen = set()
            for key, _ in pairs:
                if key in seen:
                    raise InvalidFileError("the key is there twice", where=f"{name}, key {quoted(key)}")
                seen.add(key)

    def integer(digits: str) -> None:
        if len(digits) >= 19 and not (len(digits) <= 20 and -(1 << 63) <= int(digits) < 1 << 64):
            raise InvalidFileError(f"the integer {quoted(digits)} does not fit into 64 bits", where=name)

    json.loads(data, object_pairs_hook=members, parse_int=integer, parse_float=len)


def _refuse_syntax(data: bytes, where: AnyPath, line: int, error: orjson.JSONDecodeError) -> NoReturn:
    name = os.fspath(where)
    if not data.strip():
        raise InvalidFileError("is empty", where=name) from None
    decode(data, where)
    column, at, message, hint = error.colno, error.pos, f"is no JSON: {error.msg}", ""
    if constant := _CONSTANT.match(error.doc, at):
        minus = "-" * (error.doc[max(0, at - 1) : at] == "-")
        column, message = column - len(minus), f"{minus}{constant[0]} is no JSON number"
    elif "infinity" in error.msg:
        message = "the number is too large"
    elif "depth" in error.msg:
        message = "is nested too deeply; the limit is 254"
    elif "unexpected end" in error.msg:
        message, hint = "the file ends in the middle", "it was cut off; take it from a backup"
    elif "after document" in error.msg:
        message = "something follows the end of the JSON value"
    place = f"{name}, line {error.lineno + line - 1}, column {column}"
    raise InvalidFileError(message, where=place, hint=hint) from None


@contextmanager
def _opened(path: AnyPath) -> Iterator[BinaryIO]:
    """A file to be read in parts; what goes wrong meanwhile is told with its name."""
    fd = _open(path)
    with naming(path, _CANNOT, InvalidFileError), os.fdopen(fd, "rb") as file:
        if not stat.S_ISREG(mode := os.fstat(fd).st_mode):
            _no_file(path, mode)
        yield file


def _open(path: AnyPath) -> int:
    try:
        return os.open(path, os.O_RDONLY | NO_WAITING | BINARY)
    except FileNotFoundError:
        _missing(path)
    except IsADirectoryError:
        _no_file(path, stat.S_IFDIR)
    except OSError as error:
        if error.errno == errno.ENXIO:  # a socket
            _no_file(path, stat.S_IFSOCK)
        with naming(path, _CANNOT, InvalidFileError):
            if os.path.isdir(path):
                _no_file(path, stat.S_IFDIR)  # Windows says: permission denied
            raise


def _line_and_byte(data: bytes, at: int, line: int) -> str:
    end = b"\n"
    return f"line {data.count(end, 0, at) + line}, byte {at - data.rfind(end, 0, at)}"


def _missing(path: AnyPath) -> NoReturn:
    import difflib

    wanted = Path(path)
    names: list[str] = []
    try:
        with os.scandir(wanted.parent) as entries:
            names = [entry.name for entry in islice(entries, 1000) if not entry.name.startswith(".")]
    except OSError:
        pass
    close = difflib.get_close_matches(wanted.name, names, 3, 0.6)
    hint = f"did you mean {' or '.join(str(wanted.with_name(name)) for name in close)}?" if close else ""
    raise InvalidFileError("no such file", where=os.fspath(path), hint=hint) from None


def _no_file(path: AnyPath, mode: int) -> NoReturn:
    kinds = {
        stat.S_IFDIR: ("is a folder, not a file", "name a file in it"),
        stat.S_IFIFO: ("is a pipe, not a file", "write its content into a file first"),
        stat.S_IFSOCK: ("is a socket, not a file", ""),
    }
    message, hint = kinds.get(stat.S_IFMT(mode), ("is a device, not a file", ""))
    raise InvalidFileError(message, where=os.fspath(path), hint=hint) from None
