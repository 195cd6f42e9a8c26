"""Reading files in bounded space: sizes are limited before anything is read, and devices are refused."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import islice
from pathlib import Path
from typing import BinaryIO, NoReturn

from ttt_cli.errors import InvalidFileError
from ttt_cli.store.system import NO_WAITING, AnyPath, translate_os_errors
from ttt_cli.store.text import decode

LIMIT = 256 * 2**20
"""The largest file that is read, in bytes, unless the caller says otherwise; 5,478 entries take some 1 MB."""
LARGE = 16 * 2**20
"""From here on a file is read in parts where its format allows it."""
LONGEST_LINE = 2**20
"""The longest line of a log, in bytes."""
LONGEST_HEAD = LIMIT
"""The longest line of a file that is read in blocks: a state's runs, with the games learned, stand on one."""

_times: ContextVar[int] = ContextVar("_times", default=1)
_CANNOT = "cannot be read"


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
    fd = _open(path)
    try:
        with translate_os_errors(path, _CANNOT, InvalidFileError):
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


def read_lines(path: AnyPath, longest: int = LONGEST_LINE, *, cut: bool = False) -> Iterator[bytes]:
    """The lines of the file at ``path``, each with its end, however many there are: one at a time is held.

    :param cut: whether of a line that is too long the beginning is good enough.

    :raises InvalidFileError: as ``read_bytes``, and for a line of more than ``longest`` bytes.
    """
    longest = allowed(longest)
    with _opened(path) as file:
        number = 0
        while line := file.readline(longest + 1):
            number += 1
            if len(line) > longest:
                if not cut:
                    place = f"{os.fspath(path)}, line {number}"
                    raise beyond(f"the line is longer than {longest:,} bytes", place)
                rest = line
                while rest and not rest.endswith(b"\n"):
                    rest = file.readline(longest)
                line = line[:longest] + b"\n"
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
            if len(rest) > (longest := allowed(LONGEST_HEAD)):
                raise beyond(f"has a line of more than {longest:,} bytes", path)
        if rest:
            yield rest


def read_text(path: AnyPath, limit: int = LIMIT, *, bom: bool = False) -> str:
    """Return the file's text; see ``read_bytes`` and ``decode``."""
    return decode(read_bytes(path, limit), path, bom=bom)


@contextmanager
def _opened(path: AnyPath) -> Iterator[BinaryIO]:
    """A file to be read in parts; errors meanwhile name it."""
    fd = _open(path)
    with translate_os_errors(path, _CANNOT, InvalidFileError), os.fdopen(fd, "rb") as file:
        if not stat.S_ISREG(mode := os.fstat(fd).st_mode):
            _no_file(path, mode)
        yield file


def _open(path: AnyPath) -> int:
    try:
        return os.open(path, os.O_RDONLY | NO_WAITING)
    except FileNotFoundError:
        _missing(path)
    except IsADirectoryError:
        _no_file(path, stat.S_IFDIR)
    except OSError as error:
        if error.errno == errno.ENXIO:  # a socket
            _no_file(path, stat.S_IFSOCK)
        with translate_os_errors(path, _CANNOT, InvalidFileError):
            if os.path.isdir(path):
                _no_file(path, stat.S_IFDIR)  # Windows says: permission denied
            raise


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
