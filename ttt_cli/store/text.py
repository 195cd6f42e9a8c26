"""Bytes as text: strict UTF-8, anything else refused by its name; and pieces of it as messages quote them."""

import os

from ttt_cli.errors import InvalidFileError
from ttt_cli.store.system import AnyPath

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
            "holds a NUL byte, so it is not text", where=f"{name}, {_line_and_byte(data, at, line)}"
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


def quoted(text: object, most: int = 40) -> str:
    """Return content of a file as it may stand in a message: on one line, no control characters, not long."""
    short = str(text) if len(str(text)) <= most else str(text)[: most - 3] + "..."
    return ascii(short) if not short.isprintable() else f"'{short}'"


def _line_and_byte(data: bytes, at: int, line: int) -> str:
    end = b"\n"
    return f"line {data.count(end, 0, at) + line}, byte {at - data.rfind(end, 0, at)}"
