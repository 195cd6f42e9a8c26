"""Arrays in NumPy's files, ``.npy`` and ``.npz``, read without unpickling."""

import io
import math
import warnings
import zipfile

import numpy as np
from numpy.lib import format as npy

from ttt_cli.errors import InvalidFileError
from ttt_cli.store.pickles import Array, Document, elements, read_pickle
from ttt_cli.store.source import Source
from ttt_cli.store.system import scaled, too_large
from ttt_cli.store.text import quoted

MAGIC = b"\x93NUMPY"
LONGEST_HEADER = 4000
"""In bytes; NumPy parses it as a Python literal."""
LONGEST, USUAL, RATIO = 64 * 2**20, 16 * 2**20, 50
"""The limit on the unpacked bytes of an archive, what any archive may have, and how many it may have beyond
that for each packed byte: a policy has 20, a bomb a thousand."""
MOST_ARRAYS = 100


def is_archive(data: bytes) -> bool:
    """Whether a file is a ``.npz`` archive."""
    return data.startswith(b"PK\x03\x04") and b".npy" in data


def most_unpacked(data: bytes) -> int:
    """The limit on the unpacked bytes of a file."""
    return scaled(min(LONGEST, USUAL + RATIO * len(data)))


def names(data: bytes, where: str) -> list[str]:
    """The names of the arrays in an archive; raises InvalidFileError if it is damaged."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]
    except Exception as error:  # zipfile promises no kind of error for an archive that lies
        raise InvalidFileError(f"is a damaged .npz archive: {error}", where=where) from None


def _member(data: bytes, name: str, left: int, where: str) -> bytes:
    """Unpack an array of at most ``left`` bytes."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive, archive.open(f"{name}.npy") as member:
            content = member.read(left + 1)
    except Exception as error:
        raise InvalidFileError(f"is a damaged .npz archive: {error}", where=where) from None
    if len(content) > left:
        raise too_large(f"its arrays have more than {most_unpacked(data):,} bytes", where)
    return content


def array_in(source: Source, name: str) -> Array:
    """Read an array of numbers or texts from an archive.

    :raises InvalidFileError: if it is damaged or too large, or holds Python objects.
    """
    where = f"{source.where}, array {name}"
    value = load_npy(_member(source.data, name, most_unpacked(source.data), where), where).value
    if not isinstance(value, np.ndarray):
        raise InvalidFileError("holds Python objects", where=where)
    return value


def load_npz(data: bytes, where: str) -> Document:
    """Read the arrays of an archive by their names, or its only one.

    :raises InvalidFileError: if it is damaged, too large, or holds other than plain data.
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
    listed = {name: it.tolist() if isinstance(it, np.ndarray) else it for name, it in values.items()}
    objects = dict.fromkeys(name for part in found.values() for name in part.objects)
    factories = dict.fromkeys(name for part in found.values() for name in part.factories)
    return Document(listed, tuple(objects), tuple(factories))


def load_npy(data: bytes, where: str) -> Document:
    """Read the array of a ``.npy`` file, or the pickle in one of Python objects.

    :raises InvalidFileError: if it is damaged, or holds other than plain data.
    """
    file = io.BytesIO(data)
    damaged = InvalidFileError("is a damaged .npy file", where=where)
    try:
        version = npy.read_magic(file)
        read = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}[version]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that Python 2 wrote it
            shape, by_columns, dtype = read(file, max_header_size=LONGEST_HEADER)
    except Exception:  # the header is parsed as a Python literal, which may fail in any way
        raise damaged from None
    content = data[file.tell() :]
    if dtype.kind == "O" and dtype.names is None:
        return read_pickle(content, where)
    if dtype.kind not in "biufSU" or not content or math.prod(shape) * dtype.itemsize != len(content):
        raise damaged
    try:
        return Document(elements(content, dtype).reshape(shape, order="F" if by_columns else "C"))
    except (ValueError, TypeError):  # too many axes, or a length that is none
        raise damaged from None
