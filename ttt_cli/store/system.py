"""Errors of the operating system as ``TttError``, real paths of files, the limits on sizes of inputs."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from unicodedata import normalize

from ttt_cli.environment import command_line
from ttt_cli.errors import InvalidFileError, TttError

AnyPath = str | os.PathLike[str]

NO_WAITING = os.O_NONBLOCK | os.O_NOCTTY
"""Flags with which opening a pipe or a device never waits for its other end."""

_PERMISSIONS = "change the permissions of the file or its folder, or use another path"
_HINTS = {
    errno.ENOSPC: "free some space, or use a path on another disk",
    errno.EDQUOT: "free some space, or use a path on another disk",
    errno.EACCES: _PERMISSIONS,
    errno.EPERM: _PERMISSIONS,
    errno.EROFS: "use a path on another disk",
    errno.EISDIR: "name a file in it",
    errno.EFBIG: "raise the limit (ulimit -f)",
    errno.EMFILE: "raise the limit (ulimit -n)",
}


def translated(
    error: OSError, path: AnyPath, failed: str = "cannot be written", kind: type[TttError] = TttError
) -> TttError:
    """The error to raise instead of ``error``: of class ``kind``, with path, reason and remedy. A folder in a
    file's place is always an ``InvalidFileError``."""
    reason = (os.strerror(error.errno) if error.errno else str(error)).lower()
    hint = _HINTS.get(error.errno or 0, "")
    folder = os.path.dirname(os.path.realpath(path))
    if error.errno == errno.ENOENT and not os.path.exists(folder):
        named = os.path.dirname(path)
        named = folder if not named or os.path.exists(named) else named  # path may be a link to elsewhere
        reason, hint = f"there is no folder {os.fspath(named)}", command_line("mkdir", "-p", named)
    kind = InvalidFileError if error.errno == errno.EISDIR else kind
    return kind(f"{failed}: {reason}", where=os.fspath(path), hint=hint)


@contextmanager
def translate_os_errors(path: AnyPath) -> Iterator[None]:
    """Raise a TttError that names ``path`` if the body raises an OSError."""
    try:
        yield
    except OSError as error:
        raise translated(error, path) from error


def real_path(path: AnyPath) -> Path:
    """The path of a file, links followed, as its folder spells it: where the system takes Q.json for q.json,
    as it usually does on macOS, both are q.json."""
    real = Path(os.path.realpath(path))
    swapped = "".join(symbol.swapcase() if symbol.isascii() else symbol for symbol in real.name)
    with suppress(OSError):
        # The folder, which may be long, is read only where both spellings are found; / has no name.
        if swapped and real.samefile(real.parent / swapped):
            names = os.listdir(real.parent)
            if real.name not in names:
                return real.with_name(next((name for name in names if _alike(name, real.name)), real.name))
    return real


def _alike(name: str, other: str) -> bool:
    return normalize("NFD", name).casefold() == normalize("NFD", other).casefold()


LARGE = 8 * 2**20
"""The size of a file, in bytes, that takes a second or more to read or write."""

LIMIT = 256 * 2**20
"""The default limit on the size of a file, in bytes; 5,478 entries take about 1 MB. In a file read in blocks
it limits each line: the runs of a state, which list the games learned, are one line."""

_limits = SimpleNamespace(factor=1)


def scale_limits(factor: int) -> None:
    """Multiply every limit on the size of inputs from now on."""
    _limits.factor = factor


def scaled(limit: int) -> int:
    """A limit multiplied by the factor of ``scale_limits``."""
    return limit * int(_limits.factor)


def too_large(message: str, where: str) -> InvalidFileError:
    """The error for an input that exceeds a limit."""
    return InvalidFileError(message, where=where, hint="TTT_LIMITS=10 raises the limits tenfold")
