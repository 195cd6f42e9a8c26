"""Writing files and logs, and the backups of files.

At any instant, even after a kill or a power loss, there is the whole old file or the whole new one; a write
that fails leaves the old file and no litter. As databases do it: write a temporary file in the same folder,
fsync, ``os.replace``, fsync the folder. Mode, owner and group are kept where the system allows it, and
symbolic links are followed. Logs (JSON Lines) grow by ``append_line``.

A backup is a file that was replaced although it held experience which the new one lacks. The newest is
``q.json.bak``; older ones are ``q.json.1.bak``, ``q.json.2.bak`` and so on, the oldest first. The newest
``KEPT`` are kept, and the one with the most games.
"""

import fcntl
import os
import re
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from math import inf
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO

from ttt_cli.errors import InvalidFileError, TttError, notices
from ttt_cli.signals import holding
from ttt_cli.store.locks import copy_owner, lock, try_lock
from ttt_cli.store.source import Source
from ttt_cli.store.system import LARGE, NO_WAITING, AnyPath, real_path, translate_os_errors

STREAMS = ("/dev/std", "/dev/fd/")  # written to directly, also where redirected to a file
KEPT = 5  # backups of a file

_GAMES = re.compile(rb'"games": ?(\d+|null)')
_ENDING = r"(?:\.([0-9]+))?\.bak"
_NAME = re.compile("(?s:(.+?))" + _ENDING)


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
    with translate_os_errors(path):
        old = _status(path)
        if old is not None and (not stat.S_ISREG(old.st_mode) or os.fspath(path).startswith(STREAMS)):
            fd = os.open(path, os.O_WRONLY | os.O_APPEND | NO_WAITING)  # fails if nobody reads the pipe
            os.set_blocking(fd, True)
            with os.fdopen(fd, "ab") as stream:
                yield stream
            return
        if old is not None:
            os.close(os.open(target, os.O_WRONLY))  # fails if it is write-protected
        elif parents:
            target.parent.mkdir(parents=True, exist_ok=True)
        _remove_litter(target)
        keep_backup = keep_backup and old is not None
        with _replacing(target, old, keep_backup=keep_backup) as file:
            yield file
        if keep_backup:
            notices.info("the previous file is kept as %s", _newest(Path(path)))
        _sync_folder(target.parent)


@contextmanager
def _replacing(target: Path, like: os.stat_result | None, *, keep_backup: bool = False) -> Iterator[BinaryIO]:
    """Open a temporary file that replaces ``target`` when the body ends.

    :param like: the status of a file whose owner, group and mode it gets.
    """
    # A long name leaves no room for all of it.
    temporary = target.parent / f".{target.name[:50]}.{os.getpid()}-{os.urandom(6).hex()}.ttt-tmp"

    def remove() -> None:
        with suppress(OSError):
            os.unlink(temporary)

    with holding(remove):
        first_mode = 0o666 if like is None else stat.S_IMODE(like.st_mode) & 0o700
        fd = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, first_mode)
        with os.fdopen(fd, "wb", 1 << 17) as file:
            try_lock(file)  # so that _remove_litter leaves it alone
            yield file
            file.flush()
            if like is not None:
                copy_owner(fd, like)
                has_its_group = os.fstat(fd).st_gid == like.st_gid
                # Without the right group, grant the group nothing.
                mode = stat.S_IMODE(like.st_mode) & (0o777 if has_its_group else 0o707)
                if stat.S_IMODE(os.fstat(fd).st_mode) != mode:  # some disks have one mode for all files
                    os.fchmod(fd, mode)
            _sync(fd)
        if keep_backup:
            _keep(target)
        os.replace(temporary, target)


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
                _sync(fd)
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
        if _status(real) is not None:
            os.close(os.open(real, os.O_WRONLY | os.O_APPEND | NO_WAITING))
        folders = (folder for folder in real.parents if not parents or _status(folder) is not None)
        TemporaryFile(dir=next(folders)).close()


def _status(path: AnyPath) -> os.stat_result | None:
    """The status of a file, links followed; None if there is no file."""
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _sync(fd: int) -> None:
    """Return when what was written to a file is safe; on macOS ``fsync`` leaves it in the drive's cache."""
    try:
        fcntl.fcntl(fd, fcntl.F_FULLFSYNC)  # type: ignore[attr-defined]
    except (AttributeError, OSError):
        os.fsync(fd)


def _sync_folder(folder: Path) -> None:
    with suppress(OSError):  # some file systems cannot do it
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            _sync(fd)
        finally:
            os.close(fd)


def _remove_litter(target: Path) -> None:
    """Remove the temporary files of ``target`` that killed processes left: those that nobody has locked."""
    pattern = re.compile(re.escape(f".{target.name[:50]}.") + r"\d{1,10}-[0-9a-f]{12}\.ttt-tmp")
    with suppress(OSError), os.scandir(target.parent) as entries:
        for entry in entries:
            if pattern.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                # NFS locks only what is open for writing; the files of others may be read-only or unreadable.
                flags = os.O_RDWR if os.access(entry.path, os.W_OK) else os.O_RDONLY
                with suppress(OSError), open(os.open(entry.path, flags), "rb") as file:
                    if try_lock(file):
                        os.unlink(entry.path)


@dataclass(frozen=True)
class Backup:
    """A backup of a file, and the number of games in it; None if it does not say."""

    file: Path
    games: int | None


def backups(path: Path) -> list[Backup]:
    """The backups of a file, the newest first."""
    files = (file for _, file in reversed(_numbered(_newest(path))))
    return [Backup(file, _games(file)) for file in files if not os.path.isdir(file)]


def original(path: Path) -> Path | None:
    """The file that a path is a backup of, by its name; None if it is not a backup."""
    match = _NAME.fullmatch(path.name)
    if match is None:
        return None
    longer = path.with_suffix("")  # run.1.bak may be that of run.1, or of run
    return longer if longer.exists() else path.with_name(match[1])


def _newest(path: Path) -> Path:
    """The path of the newest backup of a file, whether it exists or not."""
    target = Path(os.path.realpath(path)) if path.is_symlink() else path
    return target.parent / f"{target.name}.bak"


def _keep(target: Path) -> None:
    """Make the file at ``target`` its own newest backup, number the previous one, and remove old ones."""
    backup = _newest(target)
    if os.path.lexists(backup):  # even a link to nothing, which copying would follow
        if backup.exists() and backup.samefile(target):
            return
        highest = max((number for number, _ in _numbered(backup)[:-1]), default=0)
        backup.replace(target.with_name(f"{target.name}.{highest + 1}.bak"))
    try:
        os.link(target, backup)
    except OSError:  # no hard links here
        _remove_litter(backup)
        with target.open("rb") as file, _replacing(backup, os.fstat(file.fileno())) as copy:
            shutil.copyfileobj(file, copy)
    newest_first = backups(target)
    most_games = max(newest_first, key=lambda kept: kept.games or 0)
    for old in newest_first[KEPT:]:
        if old is not most_games:
            old.file.unlink(missing_ok=True)


def _numbered(newest: Path) -> list[tuple[float, Path]]:
    """The backups of a file with their numbers, ascending; the newest, without a number, is last."""
    pattern = re.compile(re.escape(newest.stem) + _ENDING)
    names = os.listdir(newest.parent) if newest.parent.is_dir() else []  # an error where that is forbidden
    matches = filter(None, map(pattern.fullmatch, names))
    return sorted((int(match[1]) if match[1] else inf, newest.with_name(match[0])) for match in matches)


def _games(path: Path) -> int | None:
    try:
        match = _GAMES.search(Source(path).start)
    except TttError:
        return None
    return int(match[1]) if match and match[1] != b"null" else None
