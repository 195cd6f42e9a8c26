"""The operating system as files need it: its refusals in plain words, and writes that outlast a power cut."""

import errno
import os
import re
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ttt_cli.environment import command_line
from ttt_cli.errors import TttError

if sys.platform != "win32":
    import fcntl

    _FULL_SYNC: int | None = getattr(fcntl, "F_FULLFSYNC", None)  # macOS: fsync stops at the drive's cache

AnyPath = str | os.PathLike[str]

BINARY = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
NO_WAITING = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
NO_LINK = getattr(os, "O_NOFOLLOW", 0)

_FREE_SPACE = "free some space, or use a path on another disk"
_DENIED = ("permission denied", "change the permissions of the file or its folder, or use another path")
_UNABLE = ("the file system cannot do this", "use a path on a local disk")
_REASONS: dict[int, tuple[str, str]] = {
    errno.ENOSPC: ("no space left on the device", _FREE_SPACE),
    errno.EDQUOT: ("the disk quota is used up", _FREE_SPACE),
    errno.EFBIG: (
        "the file would grow beyond the size limit",
        "raise the limit (ulimit -f), or use another path",
    ),
    errno.EACCES: _DENIED,
    errno.EPERM: _DENIED,
    errno.EROFS: ("the file system is read-only", "use a path on another disk"),
    errno.ENOENT: ("no such file or folder", "check the path"),
    errno.ENOTDIR: ("a part of the path is a file, not a folder", "check the path"),
    errno.EISDIR: ("this is a folder, not a file", "name a file in it"),
    errno.ENAMETOOLONG: ("the name is too long", "use a shorter one"),
    errno.ELOOP: ("its symbolic links go round in a circle", "remove the link"),
    errno.EIO: ("the disk reports an error", "check the disk before anything else is written to it"),
    errno.EMFILE: ("too many files are open", "raise the limit (ulimit -n)"),
    errno.ENFILE: ("too many files are open on this machine", "close some programs"),
    errno.ENOLCK: _UNABLE,
    errno.ENOSYS: _UNABLE,
    errno.EOPNOTSUPP: _UNABLE,
}
_FOLDERS_ARE_NOT_SYNCED = (
    errno.EACCES,
    errno.EPERM,
    errno.EINVAL,
    errno.EISDIR,
    errno.EOPNOTSUPP,
    errno.EBADF,
)


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


_DESCRIPTORS = re.compile(r"/dev/fd|/proc/(\d+)(/task/\d+)?/fd")


def descriptor(path: AnyPath) -> int | None:
    """The open file that a path such as /dev/stdout or /dev/fd/5 stands for; None if it is another path.

    Such a path leads to the file's name, but means the file as it is open: at its place, perhaps to be
    appended to.
    """
    place = os.fspath(path)
    for _ in range(40):
        folder, name = os.path.split(os.path.abspath(place))
        folder = os.path.realpath(folder)
        if (match := _DESCRIPTORS.fullmatch(folder)) and name.isdecimal():
            return int(name) if match[1] in (None, str(os.getpid())) else None
        if not os.path.islink(os.path.join(folder, name)):
            return None
        place = os.path.join(folder, os.readlink(os.path.join(folder, name)))
    return None


def keep_access(fd: int, like: Path) -> None:
    """Give the open file the owner, group, mode, access list and extended attributes of the one at ``like``.
    What cannot be kept is reported, and nobody gains access by it."""
    if sys.platform == "win32":
        return
    old = os.stat(like)
    lost = _keep_attributes(fd, like)
    mode = stat.S_IMODE(old.st_mode)
    new = os.fstat(fd)
    if new.st_gid != old.st_gid:
        try:
            os.fchown(fd, -1, old.st_gid)
        except PermissionError:
            lost.append("group")
            mode &= ~0o2070  # another group's members must not get the old one's rights
    if new.st_uid != old.st_uid:
        try:
            os.fchown(fd, old.st_uid, -1)
        except PermissionError:
            lost.append("owner")
            mode &= ~0o4000
    if "system.posix_acl_access" in lost:
        mode &= ~0o070  # without the list its mask would be the group's
    try:
        os.fchmod(fd, mode)
    except PermissionError:
        if stat.S_IMODE(os.fstat(fd).st_mode) != mode:
            lost.append("mode")
    if lost:
        import logging

        logging.getLogger("ttt_cli").warning("%s: could not be kept: %s", like, ", ".join(lost))


def _keep_attributes(fd: int, like: Path) -> list[str]:
    """Copy the extended attributes of the file at ``like``, the access list among them; returns the names of
    those that could not be copied."""
    lost: list[str] = []
    if sys.platform != "linux":
        return lost
    try:
        names = os.listxattr(like)
    except OSError:
        return lost
    for name in names:
        try:
            value = os.getxattr(like, name)
            try:
                same = os.getxattr(fd, name) == value
            except OSError:
                same = False
            if not same:
                os.setxattr(fd, name, value)
        except OSError:
            lost.append(name)
    return lost


def write_all(fd: int, data: bytes) -> None:
    """Write all of ``data``; ``os.write`` may stop short."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]


def sync(fd: int) -> None:
    """Return when the file's content is on the disk."""
    if sys.platform != "win32" and _FULL_SYNC is not None:
        with suppress(OSError):
            fcntl.fcntl(fd, _FULL_SYNC)
            return
    os.fsync(fd)


def sync_folder(folder: Path) -> None:
    """Return when new names in ``folder`` are on the disk, where the platform can do that."""
    if sys.platform == "win32":
        return
    fd = -1
    try:
        fd = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | BINARY)
        sync(fd)
    except OSError as error:
        if error.errno not in _FOLDERS_ARE_NOT_SYNCED:
            raise
    finally:
        if fd >= 0:
            os.close(fd)


def make_folders(folder: Path) -> list[Path]:
    """Make ``folder`` and what is missing above it; return what is new, outermost first."""
    missing = []
    while status(folder) is None:
        missing.append(folder)
        folder = folder.parent
    made = []
    try:
        for new in reversed(missing):
            with suppress(FileExistsError):
                os.mkdir(new)
                made.append(new)
                sync_folder(new.parent)
    except BaseException:
        remove_folders(missing[::-1])
        raise
    return made


def remove_folders(folders: list[Path]) -> None:
    """Remove those of the folders, outermost first, that are there and empty."""
    for folder in reversed(folders):
        with suppress(OSError):
            os.rmdir(folder)
