"""Arrays in NumPy's files, ``.npy`` and ``.npz``, read without unpickling."""

import io
import warnings
import zipfile

import numpy as np

from ttt_cli.errors import InvalidFileError
from ttt_cli.store.pickles import Array, Document, elements, read_pickle
from ttt_cli.store.source import Source
from ttt_cli.store.system import scaled, too_large
from ttt_cli.store.text import quoted

MAGIC = b"\x93NUMPY"
MAX_UNPACKED = 64 * 2**20  # bytes that any archive may have when unpacked
FREE_BYTES = 16 * 2**20  # that even the smallest may have
UNPACKED_PER_BYTE = 50  # beyond these, by packed byte: a policy has 20, a bomb a thousand
MAX_ARRAYS = 100


def is_archive(data: bytes) -> bool:
    """Whether a file is a ``.npz`` archive."""
    return data.startswith(b"PK\x03\x04") and b".npy" in data


def most_unpacked(data: bytes) -> int:
    """The most bytes that packed ones may have when unpacked."""
    return scaled(min(MAX_UNPACKED, FREE_BYTES + UNPACKED_PER_BYTE * len(data)))


def names(data: bytes, where: str) -> list[str]:
    """The names of the arrays in an archive; raises InvalidFileError if it is damaged or too large."""
    most = most_unpacked(data)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            sizes = {it.filename: it.file_size for it in archive.infolist() if it.filename.endswith(".npy")}
    except Exception as error:  # zipfile promises no kind of error for an archive that lies
        raise InvalidFileError(f"is a damaged .npz archive: {error}", where=where) from None
    if sum(sizes.values()) > most:
        raise too_large(f"its arrays have more than {most:,} bytes", where)
    return [name.removesuffix(".npy") for name in sizes][:MAX_ARRAYS]


def _member(data: bytes, name: str, where: str) -> bytes:
    """Unpack an array, whose bytes ``names`` has limited to what the archive says."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return archive.read(f"{name}.npy")
    except Exception as error:
        raise InvalidFileError(f"is a damaged .npz archive: {error}", where=where) from None


def array_in(source: Source, name: str) -> Array:
    """Read an array of numbers or texts from an archive.

    :raises InvalidFileError: if it is damaged or too large, or holds Python objects.
    """
    names(source.data, source.where)
    where = f"{source.where}, array {name}"
    value = load_npy(_member(source.data, name, where), where).value
    if not isinstance(value, np.ndarray):
        raise InvalidFileError("holds Python objects", where=where)
    return value


def load_npz(data: bytes, where: str) -> Document:
    """Read the arrays of an archive by their names, or its only one.

    :raises InvalidFileError: if it is damaged, too large, or holds other than plain data.
    """
    arrays = {
        name: load_npy(_member(data, name, where), f"{where}, array {quoted(name)}")
        for name in names(data, where)
    }
    if len(arrays) == 1:
        return next(iter(arrays.values()))
    values = {name: array.value for name, array in arrays.items()}
    listed = {name: it.tolist() if isinstance(it, np.ndarray) else it for name, it in values.items()}
    return Document(listed, tuple(dict.fromkeys(name for array in arrays.values() for name in array.objects)))


def load_npy(data: bytes, where: str) -> Document:
    """Read the array of a ``.npy`` file, or the pickle in one of Python objects.

    :raises InvalidFileError: if it is damaged, or holds other than plain data.
    """
    width = 2 if data[6:7] == b"\1" else 4  # of the header's length, by version
    start = 8 + width + int.from_bytes(data[8 : 8 + width], "little")
    if b"'descr': '|O'" in data[:start] and len(data) > start:
        return read_pickle(data[start:], where)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that Python 2 wrote it
            array = np.load(io.BytesIO(data), allow_pickle=False)
        elements(array.tobytes(), array.dtype)
    except Exception:  # the header is parsed as a Python literal, which may fail in any way
        raise InvalidFileError("is a damaged .npy file", where=where) from None
    if array.dtype.kind not in "biufSU" or not array.size:
        raise InvalidFileError(f"holds an array of {array.dtype} of shape {array.shape}", where=where)
    return Document(array)
