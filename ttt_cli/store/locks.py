"""The one lock: held by one process while it reads, changes and writes a file again; readers never wait.

The lock is the operating system's, on a separate file (``.locks/q.json.lock`` in the state's folder) that is
never removed, so it dies with its process however that ends. While it is held, the file names its holder.
Our own few lines rather than ``filelock``: importing that adds 45 ms to each command that writes, and the
record of who holds the lock would be ours all the same.
"""

import errno
import fcntl
import os
import stat
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

import orjson

from ttt_cli.errors import BusyError, InvalidFileError
from ttt_cli.store.system import (
    NO_WAITING,
    AnyPath,
    fault,
    make_folders,
    status,
    translate_os_errors,
    write_all,
)

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
        fd = self._fd
        self._forget()
        if fd >= 0:
            with suppress(OSError):
                fcntl.flock(fd, fcntl.LOCK_UN)  # a child forked this very moment may still have the file open
            os.close(fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def _forget(self) -> None:
        _held.discard(self)
        self._fd = -1


def _close_copies() -> None:
    """In a forked child: close its copies, without unlocking, else locks would outlive a killed parent."""
    for held in [*_held]:
        with suppress(OSError):
            os.close(held._fd)
        held._forget()


os.register_at_fork(after_in_child=_close_copies)


def lock_path(path: AnyPath) -> Path:
    """Return the path of the lock file of ``path``; two names of one file (symbolic links) share it."""
    real = Path(os.path.realpath(path))
    return real.parent / FOLDER / f"{real.name}.lock"


def held_lock(path: AnyPath) -> Lock | None:
    """The lock of ``path`` that this process holds."""
    real = Path(os.path.realpath(path))
    return next((held for held in _held if held.path == real), None)


def stamp(path: AnyPath) -> tuple[int, ...] | None:
    """The marks that distinguish one version of a file from the next; None if there is no file."""
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
    real, place = Path(os.path.realpath(path)), lock_path(path)
    with translate_os_errors(path, "cannot be locked"):
        known = status(path)
        if known is not None and stat.S_ISDIR(known.st_mode):
            raise fault(OSError(errno.EISDIR, "folder"), path, "cannot be locked", InvalidFileError)
        if known is not None and not stat.S_ISREG(known.st_mode):
            return Lock(-1, real)
        fd = _opened(place)
        try:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise fault(OSError(0, "not a plain file"), place, "cannot be used as a lock")
            if not take(fd):
                return None
            _record(fd, doing)
            held, fd = Lock(fd, real), -1
            return held
        finally:
            if fd >= 0:
                os.close(fd)


def _opened(place: Path) -> int:
    """Open the lock file, for reading alone where it is another user's. Whoever may write in the folder may
    lock there: what is new has the folder's mode."""
    mode = stat.S_IMODE(os.stat(place.parent.parent).st_mode)
    with suppress(FileExistsError):
        os.mkdir(place.parent)
        os.chmod(place.parent, mode)
    flags = os.O_NOFOLLOW | NO_WAITING
    try:
        fd = os.open(place, os.O_RDWR | os.O_CREAT | os.O_EXCL | flags)
    except FileExistsError:
        try:
            return os.open(place, os.O_RDWR | flags)
        except PermissionError:
            return os.open(place, os.O_RDONLY | flags)
    with suppress(OSError):
        os.fchmod(fd, mode & 0o666)
    return fd


def take(fd: int) -> bool:
    """Lock the open file ``fd`` itself until it is closed; at once False if it is locked already."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


def _record(fd: int, doing: str) -> None:
    """Write who holds the lock; a full disk must not keep anybody from locking."""
    with suppress(OSError):
        os.ftruncate(fd, 0)
        os.lseek(fd, 0, os.SEEK_SET)
        write_all(fd, orjson.dumps({"pid": os.getpid(), "host": os.uname().nodename, "doing": doing}) + b"\n")


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
        if host != os.uname().nodename:
            return f"{doing} by process {pid} on {host if host.isprintable() else 'another machine'}"
        if pid == os.getpid():
            return f"{doing} by this process"
        if _alive(pid):
            return f"{doing} by process {pid}"
        time.sleep(0.005)
    return "written by another process"
