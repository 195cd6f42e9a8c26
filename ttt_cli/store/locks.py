"""The one lock: held by one process while it reads, changes and writes a file again; readers never wait.

The lock is the operating system's, on a separate file (``.locks/q.json.lock`` in the state's folder), so it
dies with its process however that ends. While it is held, the file names its holder; then it is removed, and
what a killed process left is taken over. Owner and mode are those of the folder, so that whoever may write
there may lock. Our own few lines rather than ``filelock``: importing that adds 45 ms to each command that
writes, a third of a bare typer start, and the record of who holds the lock, half of this file, would be ours
all the same.
"""

import errno
import os
import stat
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

import orjson

from ttt_cli.errors import BusyError, InvalidFileError, TttError
from ttt_cli.store.system import (
    BINARY,
    NO_LINK,
    NO_WAITING,
    AnyPath,
    fault,
    make_folders,
    status,
    translate_os_errors,
    write_all,
)

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_HELD_ELSEWHERE = (errno.EAGAIN, errno.EACCES, errno.EDEADLK)
_FAR = 0x7FFF_FFF0  # Windows locks bytes, and nobody else may read them: lock one far behind the record
_FLAGS = NO_LINK | NO_WAITING | BINARY
FOLDER = ".locks"
_held: "set[Lock]" = set()


class Lock:
    """A lock that is held; ``release`` it, or use it as a context manager.

    :ivar path: the file that is locked, links followed.
    :ivar seen: what the file was when the lock was taken, or when its holder last wrote it (see ``stamp``).
    """

    def __init__(self, fd: int, path: Path) -> None:
        self._fd = fd
        self.path = path
        self.seen = stamp(path)
        _held.add(self)

    def release(self) -> None:
        """Let the next process in; does nothing the second time, nor in a forked child."""
        _held.discard(self)
        fd, self._fd = self._fd, -1
        if fd >= 0:
            place = lock_path(self.path)
            try:
                with suppress(OSError):
                    if _is_current(fd, place):
                        os.unlink(place)
            finally:
                _close(fd)
            with suppress(OSError):
                os.rmdir(place.parent)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def _forget(self) -> None:
        """Close a forked child's copy, without unlocking: else the lock would outlive a killed parent."""
        fd, self._fd = self._fd, -1
        with suppress(OSError):
            os.close(fd)


def release_all() -> None:
    """Release every lock of this process, which is about to end."""
    for held in [*_held]:
        held.release()


def _forget_all() -> None:
    for held in _held:
        held._forget()
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)


def lock_path(path: AnyPath) -> Path:
    """Return the path of the lock file of ``path``; two names of one file (symbolic links) share it."""
    real = Path(os.path.realpath(path))
    return real.parent / FOLDER / f"{real.name}.lock"


def held_lock(path: AnyPath) -> Lock | None:
    """The lock of ``path`` that this process holds."""
    real = Path(os.path.realpath(path))
    return next((held for held in _held if held.path == real), None)


def stamp(path: AnyPath) -> tuple[int, ...] | None:
    """What distinguishes one version of a file from the next; None if there is no file."""
    known = status(path)
    return None if known is None else (known.st_dev, known.st_ino, known.st_size, known.st_mtime_ns)


def lock(
    path: AnyPath,
    doing: str = "written",
    *,
    wait: float = 0.0,
    remedy: str = "write beside it with -o other.json and merge later",
    parents: bool = False,
) -> Lock:
    """Lock ``path`` for a read-modify-write, waiting at most ``wait`` seconds for another holder.

    ``doing`` is what others are told while it is held ("trained": q.json is being trained by process 4711);
    ``remedy`` is what this call's user can do if another process holds it; ``parents`` makes missing folders.

    :raises BusyError: another holder, in this process or another, has not let go in time.
    :raises TttError: the lock file cannot be made (its folder is missing or read-only).
    """
    if parents:
        with translate_os_errors(path):
            make_folders(Path(os.path.realpath(path)).parent)
    until = time.monotonic() + wait
    pause = 0.005
    while (held := try_lock(path, doing)) is None:
        if time.monotonic() >= until:
            raise BusyError(f"busy: {Path(path).name} is being {_holder(lock_path(path))}; {remedy}")
        time.sleep(min(pause, max(0.0, until - time.monotonic())))
        pause = min(2 * pause, 0.1)
    return held


def try_lock(path: AnyPath, doing: str = "written") -> Lock | None:
    """Return the lock of ``path``, or at once None if it is held, in this process or another.

    A device or a pipe needs none.

    :raises TttError: the lock file cannot be made.
    """
    real = Path(os.path.realpath(path))
    with translate_os_errors(path, "cannot be locked"):
        known = status(path)
        if known is not None and stat.S_ISDIR(known.st_mode):
            raise fault(OSError(errno.EISDIR, "folder"), path, "cannot be locked", InvalidFileError)
        if known is not None and not stat.S_ISREG(known.st_mode):
            return Lock(-1, real)
        place = lock_path(path)
        while True:
            fd = _opened(place)
            if fd < 0:
                continue
            try:
                if not stat.S_ISREG(os.fstat(fd).st_mode):
                    raise fault(OSError(0, "not a plain file"), place, "cannot be used as a lock")
                taken = take(fd)
                if taken and _is_current(fd, place):
                    if not _writable(fd):
                        _remove_others(place)
                        continue
                    _record(fd, doing)
                    held = Lock(fd, real)
                    fd = -1
                    return held
            finally:
                if fd >= 0:
                    os.close(fd)
            if not taken:
                return None


def _opened(place: Path) -> int:
    """Open the lock file, for reading alone where it is another user's; -1: try again."""
    try:
        return os.open(place, os.O_RDWR | _FLAGS)
    except FileNotFoundError:
        pass
    except PermissionError as error:
        try:
            return os.open(place, os.O_RDONLY | _FLAGS)
        except PermissionError:
            raise _anothers(place, error) from None
    folder = os.stat(place.parent.parent)
    mode = stat.S_IMODE(folder.st_mode)
    with suppress(FileExistsError):
        os.mkdir(place.parent, mode)
        _as_in(folder, place.parent, mode)
    try:
        fd = os.open(place, os.O_RDWR | os.O_CREAT | os.O_EXCL | _FLAGS, mode & 0o666)
    except FileExistsError:
        if os.path.islink(place):
            raise
        return -1
    except FileNotFoundError:
        return -1  # whoever released a lock removed the folder
    _as_in(folder, place, mode & 0o666)
    return fd


def _as_in(folder: os.stat_result, place: Path, mode: int) -> None:
    """Give what is new in a folder the folder's owner, group and mode, as far as that is allowed."""
    if sys.platform == "win32":
        return
    for owner, group in ((folder.st_uid, -1), (-1, folder.st_gid)):
        with suppress(OSError):
            os.chown(place, owner, group, follow_symlinks=False)
    with suppress(OSError):
        os.chmod(place, mode)


def _writable(fd: int) -> bool:
    return sys.platform == "win32" or fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDWR


def _remove_others(place: Path) -> None:
    """Remove the lock file that a process of another user left when it was killed."""
    try:
        os.unlink(place)
    except OSError as error:
        raise _anothers(place, error) from None


def _anothers(place: Path, error: OSError) -> TttError:
    found = fault(error, place, "is a lock that another user left")
    found.hint = "it can be removed when none of that user's commands runs"
    return found


def take(fd: int) -> bool:
    """Lock the open file ``fd`` itself until it is closed; at once False if it is locked already."""
    try:
        if sys.platform == "win32":
            os.lseek(fd, _FAR, os.SEEK_SET)
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _HELD_ELSEWHERE:
            return False
        raise
    return True


def alive(pid: int) -> bool:
    """Tell whether a process of this machine has the id; where that cannot be asked harmlessly, True."""
    if sys.platform == "win32":
        return True  # os.kill would end it
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


def _close(fd: int) -> None:
    try:
        with suppress(OSError):  # unlock first: a child forked this very moment may still have the file open
            if sys.platform == "win32":
                os.lseek(fd, _FAR, os.SEEK_SET)
                msvcrt.locking(fd, msvcrt.LK_UNLCK, 1)
            else:
                fcntl.flock(fd, fcntl.LOCK_UN)
    finally:
        with suppress(OSError):
            os.close(fd)


def _is_current(fd: int, place: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(fd), os.stat(place))
    except FileNotFoundError:
        return False


def _host() -> str:
    return os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")


def _record(fd: int, doing: str) -> None:
    """Write who holds the lock; a full disk must not keep anybody from locking."""
    with suppress(OSError):
        os.ftruncate(fd, 0)
        os.lseek(fd, 0, os.SEEK_SET)
        write_all(fd, orjson.dumps({"pid": os.getpid(), "host": _host(), "doing": doing}) + b"\n")


def _holder(place: Path) -> str:
    """Say who holds the lock and what they do ("trained by process 4711"), as far as it can be known."""
    for _ in range(10):  # a new holder needs a moment to write its name over a dead one's
        try:
            with place.open("rb") as file:
                record = orjson.loads(file.read(1000))
            pid, host, doing = int(record["pid"]), str(record["host"]), str(record["doing"])
        except (OSError, ValueError, KeyError, TypeError):
            time.sleep(0.005)
            continue
        doing = doing if doing.isprintable() and len(doing) <= 40 else "written"
        if host != _host():
            return f"{doing} by process {pid} on {host if host.isprintable() else 'another machine'}"
        if pid == os.getpid():
            return f"{doing} by this process"
        if alive(pid):
            return f"{doing} by process {pid}"
        time.sleep(0.005)
    return "written by another process"
