"""The operating system as files need it: its refusals in plain words, and writes that outlast a power cut."""

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ttt_cli.environment import command_line
from ttt_cli.errors import TttError

AnyPath = str | os.PathLike[str]

NO_WAITING = os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
"""So that opening a pipe or a device never waits for its other end."""

_FREE_SPACE = "free some space, or use a path on another disk"
_DENIED = ("permission denied", "change the permissions of the file or its folder, or use another path")
_REASONS: dict[int, tuple[str, str]] = {
    errno.ENOSPC: ("no space left on the device", _FREE_SPACE),
    errno.EDQUOT: ("the disk quota is used up", _FREE_SPACE),
    errno.EFBIG: ("the file would grow beyond the size limit", "raise the limit (ulimit -f)"),
    errno.EACCES: _DENIED,
    errno.EPERM: _DENIED,
    errno.EROFS: ("the file system is read-only", "use a path on another disk"),
    errno.ENOENT: ("no such file or folder", "check the path"),
    errno.ENOTDIR: ("a part of the path is a file, not a folder", "check the path"),
    errno.EISDIR: ("this is a folder, not a file", "name a file in it"),
    errno.ENAMETOOLONG: ("the name is too long", "use a shorter one"),
    errno.ELOOP: ("it is a symlink loop", "remove the link"),
    errno.EIO: ("the disk reports an error", "check the disk before anything else is written to it"),
    errno.EMFILE: ("too many files are open", "raise the limit (ulimit -n)"),
}
_FOLDERS_ARE_NOT_SYNCED = (errno.EACCES, errno.EPERM, errno.EINVAL, errno.EOPNOTSUPP, errno.EBADF)


def fault(
    error: OSError, path: AnyPath, failed: str = "cannot be written", kind: type[TttError] = TttError
) -> TttError:
    """Return the error to raise for ``error`` at ``path``: a ``kind`` that names path, reason and remedy."""
    reason, remedy = _REASONS.get(error.errno or 0, (error.strerror or str(error) or "unknown error", ""))
    folder = os.path.dirname(os.path.realpath(path))
    if error.errno == errno.ENOENT and not os.path.exists(folder):
        named = os.path.dirname(path) or folder
        reason, remedy = f"there is no folder {os.fspath(named)}", command_line("mkdir", "-p", named)
    return kind(f"{failed}: {reason}", where=os.fspath(path), hint=remedy)


@contextmanager
def translate_os_errors(
    path: AnyPath, failed: str = "cannot be written", kind: type[TttError] = TttError
) -> Iterator[None]:
    """Turn an OSError of the body into its ``fault`` at ``path``."""
    try:
        yield
    except OSError as error:
        raise fault(error, path, failed, kind) from error


def status(path: AnyPath) -> os.stat_result | None:
    """Return what the system knows of the file, links followed; None if there is none."""
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def sync(fd: int) -> None:
    """Return when the file's content is on the disk."""
    if sys.platform == "darwin":
        import fcntl

        with suppress(OSError):
            fcntl.fcntl(fd, fcntl.F_FULLFSYNC)  # there fsync stops at the drive's cache
            return
    os.fsync(fd)


def sync_folder(folder: Path) -> None:
    """Return when new names in ``folder`` are on the disk, where the file system can do that."""
    try:
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            sync(fd)
        finally:
            os.close(fd)
    except OSError as error:
        if error.errno not in _FOLDERS_ARE_NOT_SYNCED:
            raise


def make_folders(folder: Path) -> None:
    """Make ``folder`` and what is missing above it."""
    if status(folder) is None:
        make_folders(folder.parent)
        with suppress(FileExistsError):
            os.mkdir(folder)
        sync_folder(folder.parent)
