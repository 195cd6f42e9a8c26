"""NumPy's files: ``.npy``, an array, and ``.npz``, an archive of them; arrays of objects are pickles."""

import io
import warnings
import zipfile
from typing import Any

from ttt_cli.errors import InvalidFileError
from ttt_cli.store.pickles.machine import loads
from ttt_cli.store.pickles.values import Pickle, PickledArray, PickledDict, elements
from ttt_cli.store.reading import allowed, beyond
from ttt_cli.store.text import quoted

MAGIC = b"\x93NUMPY"
LONGEST_HEADER = 4000
"""In bytes; NumPy parses it as Python's literals."""
LONGEST = 64 * 2**20
"""The most bytes of an archive's arrays together."""
USUAL = 16 * 2**20
"""So many they may have in any archive, and beyond that"""
RATIO = 50
"""so many for each byte of it: a policy has 20, what a liar has packed a thousand."""
MOST_ARRAYS = 100


def is_archive(data: bytes) -> bool:
    """Whether a file is a ``.npz`` archive."""
    return data.startswith(b"PK\x03\x04") and b".npy" in data


def most_unpacked(data: bytes) -> int:
    """The most bytes that the arrays of an archive may have."""
    return allowed(min(LONGEST, USUAL + RATIO * len(data)))


def names(data: bytes, where: str) -> list[str]:
    """The names of the arrays in an archive.

    :raises InvalidFileError: if it is damaged.
    """
    with _archive(data, where) as archive:
        return [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]


def load_npz(data: bytes, where: str) -> Pickle:
    """The arrays of an archive, by their names; if there is one, that array.

    :raises InvalidFileError: if it is damaged, too large, or holds what is no plain data.
    """
    found: list[tuple[str, Pickle]] = []
    left = most = most_unpacked(data)
    with _archive(data, where) as archive:
        for name in names(data, where)[:MOST_ARRAYS]:
            try:
                with archive.open(f"{name}.npy") as member:
                    content = member.read(left + 1)
            except Exception as error:  # zipfile promises no kind of error for an archive that lies
                raise InvalidFileError(f"is a damaged .npz archive: {error}", where=where) from None
            if (left := left - len(content)) < 0:
                raise beyond(f"its arrays have more than {most:,} bytes", where)
            found.append((name, load_npy(content, f"{where}, array {quoted(name)}")))
    objects = dict.fromkeys(name for _, pickle in found for name in pickle.objects)
    factories = dict.fromkeys(name for _, pickle in found for name in pickle.factories)
    arrays: Any = PickledDict([(name, pickle.value) for name, pickle in found])
    size = sum(pickle.size for _, pickle in found)
    return Pickle(arrays if len(found) != 1 else found[0][1].value, size, tuple(objects), tuple(factories))


def load_npy(data: bytes, where: str) -> Pickle:
    """The array of a ``.npy`` file.

    :raises InvalidFileError: if it is damaged, or holds what is no plain data.
    """
    from numpy.lib import format as npy

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
        pickle = loads(content, where)
        value = pickle.value
        if not isinstance(value, PickledArray) or not isinstance(value.values, list):
            raise damaged
        return pickle
    count = 1
    for length in shape:
        count *= length
    size = count * dtype.itemsize
    if dtype.hasobject or dtype.kind not in "biufSU" or count <= 0 or not size or size != len(content):
        raise damaged
    try:
        values = elements(content, dtype).reshape(shape, order="F" if by_columns else "C")
    except (ValueError, TypeError):  # more axes than an array can have, or what is no length
        raise damaged from None
    return Pickle(PickledArray(values, tuple(shape)), len(data))


def _archive(data: bytes, where: str) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(io.BytesIO(data))
    except Exception as error:
        raise InvalidFileError(f"is a damaged .npz archive: {error}", where=where) from None
