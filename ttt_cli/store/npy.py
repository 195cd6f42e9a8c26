"""Arrays in NumPy's files, ``.npy`` and ``.npz``, read without unpickling."""

import io
import math
import warnings
import zipfile

import numpy as np
from numpy.lib import format as npy

from ttt_cli.errors import InvalidFileError
from ttt_cli.store.pickles import Array, Document, elements, read_pickle
from ttt_cli.store.reading import scaled, too_large
from ttt_cli.store.source import Source
from ttt_cli.store.text import quoted

MAGIC = b"\x93NUMPY"
LONGEST_HEADER = 4000
"""In bytes; NumPy parses it as Python's literals."""
LONGEST, USUAL, RATIO = 64 * 2**20, 16 * 2**20, 50
"""The most bytes of an archive's arrays together; so many they may have in any archive, and beyond that so
many for each byte of it: a policy has 20, what a liar has packed a thousand."""
MOST_ARRAYS = 100


def is_archive(data: bytes) -> bool:
    """Whether a file is a ``.npz`` archive."""
    return data.startswith(b"PK\x03\x04") and b".npy" in data


def most_unpacked(data: bytes) -> int:
    """The most bytes that what is packed in a file may have."""
    return scaled(min(LONGEST, USUAL + RATIO * len(data)))


def names(data: bytes, where: str) -> list[str]:
    """The names of the arrays in an archive.

    :raises InvalidFileError: if it is damaged.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]
    except Exception as error:  # zipfile promises no kind of error for an archive that lies
        raise InvalidFileError(f"is a damaged .npz archive: {error}", where=where) from None


def _member(data: bytes, name: str, left: int, where: str) -> bytes:
    """The content of an array of an archive, of which ``left`` bytes may still be unpacked.

    :raises InvalidFileError: if it is damaged, or too much.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive, archive.open(f"{name}.npy") as member:
            content = member.read(left + 1)
    except Exception as error:
        raise InvalidFileError(f"is a damaged .npz archive: {error}", where=where) from None
    if len(content) > left:
        raise too_large(f"its arrays have more than {most_unpacked(data):,} bytes", where)
    return content


def array_in(source: Source, name: str) -> Array:
    """An array of numbers or texts in an archive.

    :raises InvalidFileError: if it is damaged or too large, or holds Python objects.
    """
    where = f"{source.where}, array {name}"
    value = load_npy(_member(source.data, name, most_unpacked(source.data), where), where).value
    if not isinstance(value, np.ndarray):
        raise InvalidFileError("holds Python objects", where=where)
    return value


def load_npz(data: bytes, where: str) -> Document:
    """The arrays of an archive, by their names; if there is one, that array.

    :raises InvalidFileError: if it is damaged, too large, or holds what is not plain data.
    """
    found: dict[str, Document] = {}
    left = most_unpacked(data)
    for name in names(data, where)[:MOST_ARRAYS]:
        content = _member(data, name, left, where)
        left -= len(content)
        found[name] = load_npy(content, f"{where}, array {quoted(name)}")
    if len(found) == 1:
        return next(iter(found.values()))
    values = {name: part.value for name, part in found.items()}
    return Document(
        {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in values.items()},
        tuple(dict.fromkeys(name for part in found.values() for name in part.objects)),
        tuple(dict.fromkeys(name for part in found.values() for name in part.factories)),
    )


def load_npy(data: bytes, where: str) -> Document:
    """The array of a ``.npy`` file, or what the pickle in one of Python's objects holds.

    :raises InvalidFileError: if it is damaged, or holds what is not plain data.
    """
    file = io.BytesIO(data)
    damaged = InvalidFileError("is a damaged .npy file", where=where)
    try:
        version = npy.read_magic(file)
        read = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}[version]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that Python 2 wrote it
            shape, by_columns, dtype = read(file, max_header_size=LONGEST_HEADER)
    except Exception:  # the header is parsed as Python's literals are, which may fail in any way
        raise damaged from None
    content = data[file.tell() :]
    if dtype.kind == "O" and dtype.names is None:
        return read_pickle(content, where)
    if dtype.kind not in "biufSU" or not content or math.prod(shape) * dtype.itemsize != len(content):
        raise damaged
    try:
        return Document(elements(content, dtype).reshape(shape, order="F" if by_columns else "C"))
    except (ValueError, TypeError):  # more axes than an array can have, or what is no length
        raise damaged from None
