"""Bytes as text: strict UTF-8, anything else refused by its name; and pieces of it as messages quote them."""

import os

from ttt_cli.errors import InvalidFileError
from ttt_cli.store.system import AnyPath

_MARKS = {
    b"\x1f\x8b": "is gzip-compressed; unpack it first: gunzip FILE",
    b"PK\x03\x04": "is a zip archive; unpack it first: unzip FILE",
    b"BZh": "is bzip2-compressed; unpack it first: bunzip2 FILE",
    b"\xfd7zXZ\x00": "is xz-compressed; unpack it first: unxz FILE",
    b"\x28\xb5\x2f\xfd": "is zstandard-compressed; unpack it first: unzstd FILE",
    b"\x93NUMPY": "is a NumPy array; save it as JSON or CSV",
    b"\x89HDF\r\n": "is an HDF5 file; save what it holds as JSON",
    b"SQLite format 3\x00": "is an SQLite database; export the table as CSV",
    b"\x89PNG": "is a picture",
    b"%PDF": "is a PDF document",
    b"\xff\xfe\x00\x00": "is UTF-32, not UTF-8; convert it: iconv -f UTF-32 -t UTF-8 FILE",
    b"\x00\x00\xfe\xff": "is UTF-32, not UTF-8; convert it: iconv -f UTF-32 -t UTF-8 FILE",
    b"\xff\xfe": "is UTF-16, not UTF-8; convert it: iconv -f UTF-16 -t UTF-8 FILE",
    b"\xfe\xff": "is UTF-16, not UTF-8; convert it: iconv -f UTF-16 -t UTF-8 FILE",
}
"""How files begin that are not text, and what there is to do about them."""
BOM = b"\xef\xbb\xbf"
NEWLINE = b"\n"


def decode(data: bytes, where: AnyPath, *, bom: bool = False, line: int = 1) -> str:
    """Return ``data`` as text: strict UTF-8 without NUL; a byte order mark is dropped if ``bom`` allows it.

    ``line`` is the one of the file on which ``data`` begins.

    :raises InvalidFileError: with line and byte; other encodings and archives by their name.
    """
    refuse_binary(data, where)
    if data.startswith(BOM):
        if not bom:
            hint = "save it as UTF-8 without one"
            raise InvalidFileError("begins with a byte order mark (BOM)", where=os.fspath(where), hint=hint)
        data = data[len(BOM) :]
    try:
        text, at = data.decode(), data.find(b"\0")
        if at < 0:
            return text
        why, hint = "holds a NUL byte, so it is not text", ""
    except UnicodeDecodeError as error:
        at, hint = error.start, "save it as UTF-8"
        why = f"is not UTF-8: byte 0x{data[at]:02x}"
    place = f"line {data.count(NEWLINE, 0, at) + line}, byte {at - data.rfind(NEWLINE, 0, at)}"
    raise InvalidFileError(why, where=f"{os.fspath(where)}, {place}", hint=hint)


def refuse_binary(data: bytes, where: AnyPath) -> None:
    """Raise InvalidFileError if ``data`` is an archive, UTF-16 or anything known but UTF-8 text."""
    said = next((text for mark, text in _MARKS.items() if data.startswith(mark)), "")
    if not said and len(data) >= 4 and (data[:4:2] == b"\0\0") != (data[1:4:2] == b"\0\0"):
        wide = "UTF-16BE" if data[0] == 0 else "UTF-16LE"
        said = f"is {wide}, not UTF-8; convert it: iconv -f {wide} -t UTF-8 FILE"
    if said:
        message, _, hint = said.partition("; ")
        name = os.fspath(where)
        raise InvalidFileError(message, where=name, hint=hint.replace("FILE", name))


def quoted(text: object, most: int = 40) -> str:
    """Return content of a file as it may stand in a message: on one line, no control characters, not long."""
    short = str(text) if len(str(text)) <= most else str(text)[: most - 3] + "..."
    return ascii(short) if not short.isprintable() else f"'{short}'"
