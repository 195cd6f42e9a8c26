"""Reading files in bounded space: sizes are limited before anything is read, and devices are refused."""

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
"""The largest file that is read, in bytes, unless the caller says otherwise; 5,478 entries take some 1 MB. It
is the longest line of a file that is read in blocks: a state's runs, with the games learned, are on one."""
LARGE = 16 * 2**20
"""From here on a file is read in parts where its format allows it."""

_times: ContextVar[int] = ContextVar("_times", default=1)


def scale_limits(times: int) -> None:
    """Multiply every limit on the size of inputs in this context."""
    _times.set(times)


def allowed(usual: int) -> int:
    """A limit as far as it has been raised."""
    return usual * _times.get()


def beyond(message: str, where: AnyPath) -> InvalidFileError:
    """The error for what is larger than a limit."""
    return InvalidFileError(message, where=os.fspath(where), hint="TTT_LIMITS=10 raises the limits tenfold")


def read_bytes(path: AnyPath, limit: int = LIMIT) -> bytes:
    """Return the content of the file at ``path``; a device or a pipe is refused without waiting for it.

    :raises InvalidFileError: missing (with neighbours of like names), a folder, not permitted, above
        ``limit`` bytes.
    """
    limit = allowed(limit)
    with _opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        data = file.read() if size <= limit else b""
    if max(size, len(data)) > limit:
        raise beyond(f"has {max(size, len(data)):,} bytes; the limit is {limit:,}", path)
    return data


def read_lines(path: AnyPath) -> Iterator[bytes]:
    """The lines of the file at ``path``, each with its end, however many there are; raises as
    ``read_blocks``."""
    for block in read_blocks(path):
        yield from BytesIO(block)


def peek(path: AnyPath) -> tuple[int, bytes]:
    """The size of the file at ``path`` in bytes, and its first 4,096; raises as ``read_blocks``."""
    with _opened(path) as file:
        return os.fstat(file.fileno()).st_size, file.read(4096)


def read_blocks(path: AnyPath, size: int = 2**20) -> Iterator[bytes]:
    """The content of the file at ``path``, however long, in blocks of whole lines of some ``size`` bytes.

    :raises InvalidFileError: as ``read_bytes``, and for a line that is longer than that limit.
    """
    with _opened(path) as file:
        rest = b""
        while chunk := file.read(size):
            whole, end, chunk = chunk.rpartition(b"\n")
            if end:
                yield rest + whole + end
                rest = b""
            rest += chunk
            if len(rest) > (longest := allowed(LIMIT)):
                raise beyond(f"has a line of more than {longest:,} bytes", path)
        if rest:
            yield rest


@contextmanager
def _opened(path: AnyPath) -> Iterator[BinaryIO]:
    """A file to be read; errors meanwhile name it."""
    name, kind = os.fspath(path), "a device"
    try:
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | NO_WAITING)) as file:
            mode = os.fstat(file.fileno()).st_mode
            if stat.S_ISREG(mode):
                yield file
                return
            kind = "a pipe" if stat.S_ISFIFO(mode) else kind
    except FileNotFoundError:
        beside: list[str] = []
        with suppress(OSError):
            beside = [one.name for one in Path(path).parent.iterdir() if one.is_file() and one.name[0] != "."]
        hint = did_you_mean(Path(path).name, beside)
        raise InvalidFileError("there is no such file", where=name, hint=hint) from None
    except OSError as error:
        if error.errno != errno.ENXIO:
            raise fault(error, path, "cannot be read", InvalidFileError) from None
        kind = "a socket"
    raise InvalidFileError(f"is {kind}, not a file", where=name, hint="write its content into a file first")
