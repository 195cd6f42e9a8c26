"""Writing files and logs.

At any instant, even after a kill or a power loss, there is the whole old file or the whole new one; a write
that fails leaves the old file and no litter. As databases do it: write a temporary file in the same folder,
fsync, ``os.replace``, fsync the folder. Mode, owner and group are kept where the system allows it, and
symbolic links are followed. Logs (JSON Lines) grow by ``append_line``.
"""

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO

from ttt_cli.errors import InvalidFileError, notices
from ttt_cli.signals import holding
from ttt_cli.store.backups import keep, newest
from ttt_cli.store.locks import give, lock, take
from ttt_cli.store.system import (
    LARGE,
    NO_WAITING,
    AnyPath,
    is_temporary_of,
    real_path,
    status,
    sync,
    temporary_beside,
    translate_os_errors,
)

STREAMS = ("/dev/std", "/dev/fd/")  # whatever they are redirected to


def write_bytes(path: AnyPath, data: bytes | Iterable[bytes], *, keep_backup: bool = False) -> None:
    """Replace the content of the file at ``path`` with bytes, or chunks of bytes, as ``writing``."""
    with writing(path, keep_backup=keep_backup) as file:
        file.writelines((data,) if isinstance(data, bytes) else announced(data, path))


def announced(chunks: Iterable[bytes], path: AnyPath) -> Iterator[bytes]:
    """The chunks of a file; a notice says so if they are many, which takes a second or more to write."""
    size = 0
    for chunk in chunks:
        if size < LARGE <= size + len(chunk):
            notices.info("writing %s, more than %.0f MB", path, LARGE / 1e6)
        size += len(chunk)
        yield chunk


@contextmanager
def writing(path: AnyPath, *, parents: bool = False, keep_backup: bool = False) -> Iterator[BinaryIO]:
    """Open a binary stream whose content replaces the file at ``path`` at once when the body ends, unless it
    raises. A device or a pipe is written to directly.

    :param parents: whether to make missing folders.
    :param keep_backup: whether to keep the previous file as ``<name>.bak``, which a notice names.
    :raises TttError: with path and remedy if the system refuses; the old file is then unchanged.
    """
    target = real_path(path)
    temporary = temporary_beside(target)
    with translate_os_errors(path):
        old = status(path)
        if old is not None and (not stat.S_ISREG(old.st_mode) or os.fspath(path).startswith(STREAMS)):
            with open(path, "ab", opener=_at_once) as stream:
                yield stream
            return
        if old is not None:
            os.close(os.open(target, os.O_WRONLY | os.O_CLOEXEC))  # fails if it is write-protected
        elif parents:
            target.parent.mkdir(parents=True, exist_ok=True)
        _remove_litter(target)

        def remove() -> None:
            with suppress(OSError):
                os.unlink(temporary)

        with holding(remove):
            private = 0o666 if old is None else stat.S_IMODE(old.st_mode) & 0o700
            fd = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, private)
            with os.fdopen(fd, "wb", 1 << 17) as file:
                take(file)
                yield file
                file.flush()
                if old is not None:
                    give(fd, old)
                    is_its_group = os.fstat(fd).st_gid == old.st_gid  # if not, it may do nothing
                    mode = stat.S_IMODE(old.st_mode) & (0o777 if is_its_group else 0o707)
                    if stat.S_IMODE(os.fstat(fd).st_mode) != mode:  # some disks have one mode for all files
                        os.fchmod(fd, mode)
                sync(fd)
            if keep_backup and old is not None:
                keep(target)
            os.replace(temporary, target)
            if keep_backup and old is not None:
                notices.info("the previous file is kept as %s", newest(Path(path)))
        _sync_folder(target.parent)


def _at_once(path: str, flags: int) -> int:
    """Open a device or a pipe without waiting for its other end; it is an error if nobody reads the pipe."""
    fd = os.open(path, flags | NO_WAITING)
    os.set_blocking(fd, True)
    return fd


def append_line(path: AnyPath, line: bytes, *, wait: float = 10.0) -> None:
    """Append a line to the log at ``path``, making missing folders, and return when it is safely on disk.

    Writers take turns by the log's lock, waiting at most ``wait`` seconds. A last line without its end, left
    by a killed process, is ended first. A call that fails leaves the log unchanged.

    :raises BusyError: if another process has not released the log in time.
    :raises InvalidFileError: if it is not a regular file.
    :raises TttError: with path and remedy if the system refuses.
    """
    real = real_path(path)
    with lock(real, "appended to", wait=wait, parents=True):
        if real.exists() and not real.is_file():
            raise InvalidFileError("is not a regular file", where=os.fspath(path))
        with translate_os_errors(path):
            fd = os.open(real, os.O_RDWR | os.O_APPEND | os.O_CREAT | NO_WAITING, 0o666)
            end = os.lseek(fd, 0, os.SEEK_END)
            try:
                is_ended = not end or os.pread(fd, 1, end - 1) == b"\n"
                unwritten = memoryview((b"" if is_ended else b"\n") + line + b"\n")
                while unwritten:
                    unwritten = unwritten[os.write(fd, unwritten) :]
                sync(fd)
            except BaseException:
                with suppress(OSError):
                    os.ftruncate(fd, end)
                    if not end:
                        os.unlink(real)
                raise
            finally:
                os.close(fd)
        _sync_folder(real.parent)


def try_writing(path: AnyPath, *, parents: bool = True) -> None:
    """Raise TttError, with path and remedy, if a file or a log could not be written.

    :param parents: whether missing folders would be made.
    """
    real = real_path(path)
    with translate_os_errors(path):
        if status(real) is not None:
            os.close(os.open(real, os.O_WRONLY | os.O_APPEND | NO_WAITING))
        folders = (folder for folder in real.parents if not parents or status(folder) is not None)
        TemporaryFile(dir=next(folders)).close()


def _sync_folder(folder: Path) -> None:
    with suppress(OSError):  # some file systems cannot do it
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            sync(fd)
        finally:
            os.close(fd)


def _remove_litter(target: Path) -> None:
    """Remove the temporary files of ``target`` that killed processes left: those that nobody has locked."""
    with suppress(OSError), os.scandir(target.parent) as entries:
        for entry in entries:
            if is_temporary_of(target, entry.name) and entry.is_file(follow_symlinks=False):
                # NFS locks for writing only; the files of others may be readable alone, or not even that.
                flags = os.O_RDWR if os.access(entry.path, os.W_OK) else os.O_RDONLY
                with suppress(OSError), open(os.open(entry.path, flags), "rb") as file:
                    if take(file):
                        os.unlink(entry.path)
