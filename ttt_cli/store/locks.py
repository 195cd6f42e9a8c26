"""Locking a file while a process reads, changes and writes it; readers never wait.

The lock is the operating system's, on a separate file (``.locks/q.json.lock`` in the state's folder) that is
never removed, so it dies with its process. While it is held, the file says by whom.
"""

import errno
import fcntl
import os
import stat
import time
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import BinaryIO

from ttt_cli.errors import BusyError, InvalidFileError
from ttt_cli.store.system import NO_WAITING, AnyPath, fault, translate_os_errors

FOLDER = ".locks"
_held: "dict[Path, Lock]" = {}


class Lock(AbstractContextManager["Lock", None]):
    """A held lock; ``release`` it, or use it as a context manager.

    :ivar path: the locked file, links followed.
    :ivar written: its ``stamp`` when its holder last wrote it; None: never.
    """

    def __init__(self, path: Path, file: BinaryIO | None = None) -> None:
        """:param file: the lock file, open and locked; None: there is nothing to lock."""
        self.path, self.file = path, file
        self.written: tuple[int, ...] | None = None
        if file:
            _held[path] = self

    def release(self) -> None:
        """Release the lock; do nothing the second time."""
        if self.file and not self.file.closed:
            fcntl.flock(self.file, fcntl.LOCK_UN)  # a forked child may still have it open
            self.file.close()
            del _held[self.path]

    def __exit__(self, *_: object) -> None:
        self.release()


def lock_path(path: AnyPath) -> Path:
    """The path of the lock file of ``path``, shared by all symbolic links to it."""
    real = Path(os.path.realpath(path))
    return real.parent / FOLDER / f"{real.name}.lock"


def held_lock(path: AnyPath) -> Lock | None:
    """The lock of ``path`` if this process holds it."""
    return _held.get(Path(os.path.realpath(path)))


def lock(
    path: AnyPath,
    doing: str = "written",
    *,
    wait: float = 0.0,
    remedy: str = "write beside it with -o other.json and merge later",
    parents: bool = False,
) -> Lock:
    """Lock ``path`` for a read-modify-write. A device or a pipe needs no lock.

    :param doing: completes the message to others: "q.json is being trained by process 4711".
    :param wait: how long to wait for another holder, in seconds.
    :param remedy: what the user can do if another process holds it.
    :param parents: whether to make missing folders.
    :raises BusyError: if another holder, in this process or another, has not released it in time.
    :raises TttError: if the lock file cannot be made (its folder is missing or read-only).
    """
    real, place, until = Path(os.path.realpath(path)), lock_path(path), time.monotonic() + wait
    with translate_os_errors(path, "cannot be locked"):
        if parents:
            real.parent.mkdir(parents=True, exist_ok=True)
        if real.is_dir():
            raise fault(IsADirectoryError(errno.EISDIR, ""), path, "cannot be locked", InvalidFileError)
        if real.exists() and not real.is_file():
            return Lock(real)
        mode = stat.S_IMODE(os.stat(real.parent).st_mode)
        with suppress(FileExistsError):
            os.mkdir(place.parent)
            os.chmod(place.parent, mode)
        # Opened for reading only, so that all users who share the folder may lock it.
        flags = os.O_RDONLY | os.O_CREAT | os.O_NOFOLLOW | NO_WAITING
        file = os.fdopen(os.open(place, flags, 0o666), "rb", 0)
        while not take(file):
            if time.monotonic() >= until:
                holder = file.read(100).decode(errors="ignore")
                file.close()
                holder = holder if holder.isprintable() and holder else "written by another process"
                raise BusyError(f"busy: {real.name} is being {holder}; {remedy}")
            time.sleep(0.01)
    with suppress(OSError):  # of another user, or on a full disk
        os.chmod(place, mode & 0o666)
        place.write_text(f"{doing} by process {os.getpid()}")
    return Lock(real, file)


def take(file: BinaryIO) -> bool:
    """Lock an open file until it is closed; return False at once if it is locked already."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
