"""The one lock: held by one process while it reads, changes and writes a file again; readers never wait.

The lock is the operating system's, on a separate empty file beside the state (``.q.json.lock``) that is never
deleted, so it dies with its process however that ends. While it is held, the file names its holder. Our own
few lines rather than ``filelock``: importing that adds 45 ms to each command that writes, a third of a bare
typer start, and the record of who holds the lock, half of this file, would be ours all the same.
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

from ttt_cli.errors import BusyError
from ttt_cli.store.system import (
    BINARY,
    NO_LINK,
    NO_WAITING,
    AnyPath,
    fault,
    make_folders,
    translate_os_errors,
    write_all,
)

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_HELD_ELSEWHERE = (errno.EAGAIN, errno.EACCES, errno.EDEADLK)
_FAR = 0x7FFF_FFF0  # Windows locks bytes, and nobody else may read them: lock one far behind the record
_FLAGS = os.O_RDWR | os.O_CREAT | NO_LINK | NO_WAITING | BINARY
_held: "set[Lock]" = set()


class Lock:
    """A lock that is held; ``release`` it, or use it as a context manager."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        _held.add(self)

    def release(self) -> None:
        """Let the next process in; does nothing the second time, nor in a forked child."""
        _held.discard(self)
        fd, self._fd = self._fd, -1
        if fd >= 0:
            try:
                with suppress(OSError):
                    os.ftruncate(fd, 0)
            finally:
                _close(fd)

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


def _forget_all() -> None:
    for held in _held:
        held._forget()
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)


def lock_path(path: AnyPath) -> Path:
    """Return the path of the lock file of ``path``; two names of one file (symbolic links) share it."""
    real = Path(os.path.realpath(path))
    return real.with_name(f".{real.name}.lock")


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
    ``remedy`` is what this call's user is told to do if another process holds it; ``parents`` makes missing
    folders.

    :raises BusyError: another holder, in this process or another, has not let go in time.
    :raises TttError: the lock file cannot be made (its folder is missing or read-only).
    """
    if parents:
        with translate_os_errors(path):
            make_folders(lock_path(path).parent)
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

    :raises TttError: the lock file cannot be made.
    """
    place = lock_path(path)
    with translate_os_errors(path, "cannot be locked"):
        while True:
            fd = os.open(place, _FLAGS, 0o666)
            try:
                if not stat.S_ISREG(os.fstat(fd).st_mode):
                    raise fault(OSError(0, "not a plain file"), place, "cannot be used as a lock")
                taken = take(fd)
                if taken and _is_current(fd, place):
                    _record(fd, doing)
                    held = Lock(fd)
                    fd = -1
                    return held
            finally:
                if fd >= 0:
                    os.close(fd)
            if not taken:
                return None


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
