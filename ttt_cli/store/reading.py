"""Reading files in bounded space: sizes are checked before anything is read, and devices are refused."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from ttt_cli.errors import InvalidFileError, did_you_mean
from ttt_cli.store.system import NO_WAITING, AnyPath, fault

LIMIT = 256 * 2**20
"""The default limit on the size of a file, in bytes; 5,478 entries take some 1 MB. In a file read in blocks
it limits a line: a state's runs, which list the games learned, are on one."""
LARGE = 16 * 2**20
"""Larger files are read in blocks where their format allows it."""

_scale: ContextVar[int] = ContextVar("_scale", default=1)


def scale_limits(factor: int) -> None:
    """Multiply every limit on the size of inputs in this context."""
    _scale.set(factor)


def scaled(limit: int) -> int:
    """A limit multiplied as ``scale_limits`` says."""
    return limit * _scale.get()


def too_large(message: str, where: AnyPath) -> InvalidFileError:
    """The error for what exceeds a limit."""
    return InvalidFileError(message, where=os.fspath(where), hint="TTT_LIMITS=10 raises the limits tenfold")


def read_bytes(path: AnyPath, limit: int = LIMIT) -> bytes:
    """Return the content of a file.

    :raises InvalidFileError: if it is missing, no regular file, not readable, or above ``limit`` bytes.
    """
    limit = scaled(limit)
    with _open(path) as file:
        size = os.fstat(file.fileno()).st_size
        data = file.read() if size <= limit else b""
    if max(size, len(data)) > limit:
        raise too_large(f"has {max(size, len(data)):,} bytes; the limit is {limit:,}", path)
    return data


def read_lines(path: AnyPath) -> Iterator[bytes]:
    """The lines of a file of any length, each with its end; raises as ``read_blocks``."""
    for block in read_blocks(path):
        yield from BytesIO(block)


def peek(path: AnyPath) -> tuple[int, bytes]:
    """The size of a file in bytes, and its first 4,096; raises as ``read_blocks``."""
    with _open(path) as file:
        return os.fstat(file.fileno()).st_size, file.read(4096)


def read_blocks(path: AnyPath, size: int = 2**20) -> Iterator[bytes]:
    """The content of a file of any length, in blocks of whole lines of about ``size`` bytes.

    :raises InvalidFileError: as ``read_bytes``, but for a line instead of a file above the limit.
    """
    with _open(path) as file:
        rest = b""
        while chunk := file.read(size):
            whole, end, chunk = chunk.rpartition(b"\n")
            if end:
                yield rest + whole + end
                rest = b""
            rest += chunk
            if len(rest) > (longest := scaled(LIMIT)):
                raise too_large(f"has a line of more than {longest:,} bytes", path)
        if rest:
            yield rest


@contextmanager
def _open(path: AnyPath) -> Iterator[BinaryIO]:
    """Open a regular file for reading; never wait for a pipe or a device."""
    name, kind = os.fspath(path), "a device"
    try:
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | NO_WAITING)) as file:
            mode = os.fstat(file.fileno()).st_mode
            if stat.S_ISREG(mode):
                yield file
                return
            kind = "a pipe" if stat.S_ISFIFO(mode) else kind
    except FileNotFoundError:
        neighbours: list[str] = []
        with suppress(OSError):
            neighbours = [it.name for it in Path(path).parent.iterdir() if it.is_file() and it.name[0] != "."]
        hint = did_you_mean(Path(path).name, neighbours)
        raise InvalidFileError("there is no such file", where=name, hint=hint) from None
    except OSError as error:
        if error.errno != errno.ENXIO:
            raise fault(error, path, "cannot be read", InvalidFileError) from None
        kind = "a socket"
    raise InvalidFileError(f"is {kind}, not a file", where=name, hint="write its content into a file first")
