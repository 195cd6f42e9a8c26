"""Arrays in NumPy's files, ``.npy`` and ``.npz``, read without unpickling."""

import io
import warnings
from typing import Any

import numpy as np

from ttt_cli.errors import InvalidFileError
from ttt_cli.store.pickles import Array, Document, elements, read_pickle
from ttt_cli.store.source import Source
from ttt_cli.store.text import quoted

MAGIC = b"\x93NUMPY"


def array_in(source: Source, name: str) -> Array:
    """Read an array of numbers or texts from an archive.

    :raises InvalidFileError: if it is damaged or holds Python objects.
    """
    where = f"{source.where}, array {name}"
    value, _ = load_npy(source.arrays[name], where)
    if not isinstance(value, np.ndarray):
        raise InvalidFileError("holds Python objects", where=where)
    return value


def load_npz(source: Source) -> Document:
    """Read the arrays of an archive by their names, or its only one.

    :raises InvalidFileError: if one is damaged, or holds other than plain data.
    """
    listed = dict[str, Any]()
    objects = dict[str, None]()  # an ordered set
    for name, data in source.arrays.items():
        value, own = load_npy(data, f"{source.where}, array {quoted(name)}")
        if len(source.arrays) == 1:
            return value, own
        listed[name] = value.tolist() if isinstance(value, np.ndarray) else value
        objects |= dict.fromkeys(own)
    return listed, tuple(objects)


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
        elements(array.tobytes(), array.dtype)  # raises an error for invalid characters
    except Exception:  # the header is parsed as a Python literal, which may fail in any way
        raise InvalidFileError("is a damaged .npy file", where=where) from None
    if array.dtype.kind not in "biufSU" or not array.size:
        raise InvalidFileError(f"holds an array of {array.dtype} of shape {array.shape}", where=where)
    return array, ()
