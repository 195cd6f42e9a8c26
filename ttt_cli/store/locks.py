"""Locking a file while a process reads, changes and writes it; readers never wait.

The lock is the operating system's, on a separate file (``.locks/q.json.lock`` in the state's folder) that is
never removed, so it dies with its process. While it is held, the file says by whom.
"""

import errno
import fcntl
import os
import stat
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import BinaryIO

from ttt_cli.errors import BusyError, InvalidFileError, notices
from ttt_cli.store.system import NO_WAITING, AnyPath, real_path, translate_os_errors

FOLDER = ".locks"


def lock_path(path: AnyPath) -> Path:
    """The path of the lock file of ``path``, shared by all symbolic links to it."""
    real = real_path(path)
    return real.parent / FOLDER / f"{real.name}.lock"


def lock(
    path: AnyPath,
    doing: str = "written",
    *,
    wait: float = 0.0,
    remedy: str = "try again when it is free",
    parents: bool = False,
) -> ExitStack:
    """Lock ``path`` for a read-modify-write, until what this returns is closed; a device needs none.

    :param doing: completes the message to others: "q.json is being trained by process 4711".
    :param wait: how long to wait for another holder, in seconds; more than one is announced.
    :param remedy: what the user can do if another process holds it.
    :param parents: whether to make missing folders.
    :raises BusyError: if another holder, in this process or another, has not released it in time.
    :raises TttError: if the lock file cannot be made (its folder is missing or read-only).
    """
    real = real_path(path)
    lock_file = lock_path(path)
    with translate_os_errors(path), ExitStack() as resources:
        if parents:
            real.parent.mkdir(parents=True, exist_ok=True)
        if real.is_dir():
            raise IsADirectoryError(errno.EISDIR, "")
        if os.path.exists(path) and not os.path.isfile(path):
            return ExitStack()
        folder = os.stat(real.parent)
        flags = os.O_RDONLY | os.O_NOFOLLOW | NO_WAITING
        with suppress(FileExistsError):
            os.mkdir(lock_file.parent)
            _share(os.open(lock_file.parent, flags | os.O_DIRECTORY), folder, 0o7777)
        # Not by its path: whoever may write to the folder may make it a link to another one. It need not be
        # readable where the system has O_PATH.
        folder_fd = os.open(lock_file.parent, flags | os.O_DIRECTORY | getattr(os, "O_PATH", 0))
        resources.callback(os.close, folder_fd)
        with suppress(FileExistsError):
            new_fd = os.open(lock_file.name, flags | os.O_CREAT | os.O_EXCL, 0o666, dir_fd=folder_fd)
            _share(new_fd, folder, 0o666)
        try:
            fd = os.open(lock_file.name, flags | os.O_RDWR, dir_fd=folder_fd)  # NFS locks nothing else
        except PermissionError:  # all users who share the folder may lock it
            fd = os.open(lock_file.name, flags, dir_fd=folder_fd)
        file = resources.enter_context(open(fd, "rb", 0))
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise InvalidFileError("is not a regular file", where=str(lock_file))
        if not _lock_within(wait, file, path):
            holder = file.read(100).decode(errors="ignore")
            holder = holder if holder.isprintable() and holder else "written by another process"
            raise BusyError(f"busy: {real.name} is being {holder}; {remedy}")
        with suppress(OSError):  # opened for reading only, or on a full disk
            os.ftruncate(fd, 0)
            os.pwrite(fd, f"{doing} by process {os.getpid()}".encode(), 0)
        resources.callback(fcntl.flock, file, fcntl.LOCK_UN)  # a forked child may still have it open
        return resources.pop_all()


def copy_owner(fd: int, like: os.stat_result) -> None:
    """Give an open file the owner and the group of another one, or the group alone, if that is allowed."""
    for owner in (-1, like.st_uid):
        with suppress(OSError):
            os.fchown(fd, owner, like.st_gid)


def _share(fd: int, folder: os.stat_result, mode: int) -> None:
    """Let those who may write to a folder use a new file in it; close the file.

    :param mode: the bits to copy from the folder's.
    """
    copy_owner(fd, folder)
    with suppress(OSError):  # on some file systems
        os.fchmod(fd, folder.st_mode & mode)
    os.close(fd)


def _lock_within(seconds: float, file: BinaryIO, path: AnyPath) -> bool:
    """Lock an open file, announcing a wait of more than a second; return whether that succeeded in time."""
    start = time.monotonic()
    is_announced = False
    while not try_lock(file):
        waited = time.monotonic() - start
        if waited >= seconds:
            return False
        if waited > 1 and not is_announced:
            is_announced = True
            notices.info("%s is being written by another process; waiting up to %g s", path, seconds)
        time.sleep(0.01)
    return True


def try_lock(file: BinaryIO) -> bool:
    """Lock an open file until it is closed; return False at once if it is locked already."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
