"""The one writer: whatever the program leaves on disk goes through here.

A reader sees the whole old file or the whole new one at any instant, and so does whoever looks after a kill
or a power loss; a write that fails leaves the old bytes and no litter. The recipe, as databases have it: a
temporary file in the same folder, write, flush, fsync, compare, ``os.replace``, fsync of the folder. Who may
do what with the file is kept, and symbolic links are followed. Logs (JSON Lines) grow by ``append_line``.
Every call on the system is ``os.name(...)``, so that tests can make the N-th one fail.
"""

import errno
import hashlib
import io
import os
import re
import stat
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from ttt_cli.errors import InvalidFileError
from ttt_cli.store.locks import alive, lock, take
from ttt_cli.store.system import (
    BINARY,
    NO_LINK,
    NO_WAITING,
    AnyPath,
    descriptor,
    keep_access,
    make_folders,
    remove_folders,
    status,
    sync,
    sync_folder,
    translate_os_errors,
    write_all,
)

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

BACKUP = ".bak"
TORN = ".torn"
TEMPORARY = ".ttt-tmp"

_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | BINARY
_NO_HARD_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK, errno.ENOSYS, errno.EXDEV, errno.EACCES)
_LONGEST_LINE = 2**20
_in_use: set[str] = set()  # temporary files of this process, which are not litter


class NewFile(io.BufferedWriter):
    """What ``writing`` yields: a binary stream into the new file. ``backup`` is set when it is in place."""

    backup: Path | None = None


class _Sink(io.RawIOBase):
    """A file descriptor as a stream whose errors name the file that is to be written."""

    def __init__(self, fd: int, path: AnyPath) -> None:
        self.fd = fd
        self.path = path
        self.given_up = False
        self._digest = hashlib.sha256()

    def writable(self) -> bool:
        return True

    def write(self, data: "ReadableBuffer") -> int:
        if self.given_up:
            return memoryview(data).nbytes  # what is still in the buffer of a failed write goes nowhere
        with translate_os_errors(self.path):
            written = os.write(self.fd, data)
        self._digest.update(memoryview(data).cast("B")[:written])
        return written

    def check(self) -> None:
        """Compare what lies on the disk with what was written.

        :raises OSError: if they differ.
        """
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(self.fd, 0, 0, os.POSIX_FADV_DONTNEED)  # ask the disk, not the memory
        found = hashlib.sha256()
        os.lseek(self.fd, 0, os.SEEK_SET)
        while block := os.read(self.fd, 1 << 20):
            found.update(block)
        if found.digest() != self._digest.digest():
            raise OSError(errno.EIO, "other bytes than were written")


def write_bytes(
    path: AnyPath, data: bytes | Iterable[bytes], *, parents: bool = False, keep_backup: bool = False
) -> Path | None:
    """Put ``data`` (bytes, or an iterable of chunks) in the place of the file at ``path``, in one instant.

    ``parents`` makes missing folders; ``keep_backup`` keeps the previous file as ``<name>.bak`` and returns
    its path (None if there was none).

    :raises TttError: with path and remedy if the system refuses; the old file is then as it was.
    """
    with writing(path, parents=parents, keep_backup=keep_backup) as file:
        for chunk in (data,) if isinstance(data, bytes) else data:
            file.write(chunk)
    return file.backup


@contextmanager
def writing(path: AnyPath, *, parents: bool = False, keep_backup: bool = False) -> Iterator[NewFile]:
    """Open a binary stream whose content takes the place of ``path`` when the body ends, unless it raises.

    Options and errors as ``write_bytes``; the stream's ``backup`` is set afterwards. A device or a pipe is
    written straight through.
    """
    with translate_os_errors(path):
        old = status(path)
        if old is not None and stat.S_ISDIR(old.st_mode):
            raise OSError(errno.EISDIR, "folder")
    if old is not None and (not stat.S_ISREG(old.st_mode) or descriptor(path) is not None):
        with _straight(path) as file:
            yield file
        return
    target = Path(os.path.realpath(path))
    stem = target.with_name(f".{target.name}.{os.getpid()}-{os.urandom(6).hex()}")
    temporary, spare = Path(f"{stem}{TEMPORARY}"), Path(f"{stem}b{TEMPORARY}")
    names = {str(temporary), str(spare)}
    made: list[Path] = []
    sink: _Sink | None = None
    _in_use.update(names)
    try:
        with translate_os_errors(path):
            if parents:
                made = make_folders(target.parent)
            sink = _Sink(_open_new(target, temporary, old), path)
        file = NewFile(sink, 1 << 17)
        yield file
        with translate_os_errors(path):
            file.flush()
            if old is not None:
                keep_access(sink.fd, target)
            sync(sink.fd)
            sink.check()
            fd, sink.fd = sink.fd, -1
            os.close(fd)
        if keep_backup and old is not None:
            file.backup = _keep(target, spare)
        with translate_os_errors(path):
            _replace(temporary, target)
    except BaseException:
        if sink is not None:
            sink.given_up = True
            if sink.fd >= 0:
                with suppress(OSError):
                    os.close(sink.fd)
        for name in names:
            with suppress(OSError):
                os.unlink(name)
        remove_folders(made)
        raise
    finally:
        _in_use.difference_update(names)
    with translate_os_errors(path, "is written whole, but a power loss may still bring the old file back"):
        sync_folder(target.parent)


def append_line(path: AnyPath, line: bytes, *, parents: bool = False, wait: float = 10.0) -> Path | None:
    """Add one JSON object as a line to the log at ``path`` and return when it is safely on disk.

    Writers take turns by the log's own lock, waiting at most ``wait`` seconds. A torn last line, left by a
    killed process, was never accepted: it is moved to ``<name>.torn``, whose path is returned (else None). A
    last line that lacks nothing but its line end is kept. A call that is refused leaves the log as it was.

    :raises BusyError: another process has not let go of the log in time.
    :raises InvalidFileError: the file is no log of lines.
    :raises TttError: with path and remedy if the system refuses.
    """
    if not line or b"\n" in line:
        raise ValueError("a record is one line without its end")
    real = Path(os.path.realpath(path))
    with lock(real, "appended to", wait=wait, remedy="try again in a moment", parents=parents):
        with translate_os_errors(path):
            new = status(real) is None
            fd = os.open(real, os.O_RDWR | os.O_APPEND | os.O_CREAT | NO_WAITING | BINARY, 0o666)
        try:
            with translate_os_errors(path):
                size = os.fstat(fd).st_size
                if not stat.S_ISREG(os.fstat(fd).st_mode):
                    raise InvalidFileError("is not a regular file", where=os.fspath(path))
                tail = _tail(fd, size, path)
            whole, torn = _is_record(tail), None
            if tail and not whole:
                torn = real.with_name(real.name + TORN)
                with translate_os_errors(torn):
                    _append(torn, tail + b"\n", real)
                with translate_os_errors(path):
                    os.ftruncate(fd, size := size - len(tail))
            try:
                with translate_os_errors(path):
                    write_all(fd, (b"\n" if whole else b"") + line + b"\n")
                    sync(fd)
                    if new:
                        sync_folder(real.parent)
            except BaseException:
                with suppress(OSError):
                    os.ftruncate(fd, size)
                    if new:
                        os.unlink(real)
                raise
        finally:
            with suppress(OSError):
                os.close(fd)
    return torn


def try_append(path: AnyPath) -> None:
    """Find out whether ``append_line`` could add to the log, as far as that can be known beforehand.

    Nothing is left of the attempt.

    :raises TttError: with path and remedy if the system refuses.
    """
    real = Path(os.path.realpath(path))
    made: list[Path] = []
    probe = real.with_name(f".{real.name}.{os.getpid()}-{os.urandom(6).hex()}{TEMPORARY}")
    try:
        with translate_os_errors(path):
            made = make_folders(real.parent)
            if status(real) is not None:
                os.close(os.open(real, os.O_WRONLY | os.O_APPEND | NO_WAITING | BINARY))
            _clear_litter(real)
            os.close(os.open(probe, _NEW, 0o600))  # the lock needs a new file too
    finally:
        try:
            _remove(probe)
        except KeyboardInterrupt:  # at this very instant
            _remove(probe)
            raise
        finally:
            remove_folders(made)


def _remove(path: Path) -> None:
    with suppress(OSError):
        os.unlink(path)


@contextmanager
def _straight(path: AnyPath) -> Iterator[NewFile]:
    number = descriptor(path)
    with translate_os_errors(path):
        fd = os.open(path, os.O_WRONLY | BINARY) if number is None else os.dup(number)
    sink = _Sink(fd, path)
    try:
        file = NewFile(sink)
        yield file
        file.flush()
    except BaseException:
        sink.given_up = True
        raise
    finally:
        os.close(fd)
        sink.given_up = True


def _open_new(target: Path, temporary: Path, old: os.stat_result | None) -> int:
    """Create the temporary file for ``target`` and clear away what killed processes left beside it."""
    mode = 0o666
    if old is not None:
        os.close(os.open(target, os.O_WRONLY | BINARY))  # a file that its owner has write-protected stays
        mode = stat.S_IMODE(old.st_mode) & 0o700  # nobody else before group and rights are the old ones
    _clear_litter(target)
    fd = os.open(temporary, _NEW, mode)
    with suppress(OSError):
        take(fd)
    return fd


def _clear_litter(target: Path) -> None:
    """Remove temporary files of ``target`` whose process is gone: its id is dead and its lock free."""
    ours = re.compile(re.escape(f".{target.name}.") + r"(\d{1,10})-[0-9a-f]{12}b?" + re.escape(TEMPORARY))
    with suppress(OSError), os.scandir(target.parent) as entries:
        for entry in entries:
            if (match := ours.fullmatch(entry.name)) is None:
                continue
            pid, litter = int(match[1]), str(target.with_name(entry.name))
            if litter in _in_use or (pid != os.getpid() and sys.platform != "win32" and alive(pid)):
                continue
            with suppress(OSError):
                fd = os.open(litter, os.O_RDONLY | NO_LINK | NO_WAITING)
                try:
                    free = take(fd)
                finally:
                    os.close(fd)
                if free:
                    os.unlink(litter)


def _keep(target: Path, spare: Path) -> Path:
    """Make ``<name>.bak`` the file that ``target`` is now, while both names always exist; return its path.

    The former one goes on as ``<name>.N.bak``, N being one more than the highest there is.
    """
    backup = target.with_name(target.name + BACKUP)
    with translate_os_errors(backup):
        if (former := status(backup)) is not None and not os.path.samestat(former, os.stat(target)):
            numbers = [number for number, _ in numbered_backups(target)]
            _duplicate(backup, target.with_name(f"{target.name}.{max(numbers, default=0) + 1}{BACKUP}"))
        _duplicate(target, spare)
        _replace(spare, backup)
    with suppress(OSError):
        os.unlink(spare)  # renaming does nothing where both names are one file already
    return backup


def numbered_backups(target: Path) -> list[tuple[int, Path]]:
    """The older backups of a file, ``<name>.N.bak``, by their numbers; the newest is ``<name>.bak``."""
    ours = re.compile(re.escape(f"{target.name}.") + "([0-9]+)" + re.escape(BACKUP))
    found = []
    with suppress(OSError), os.scandir(target.parent) as entries:
        for entry in entries:
            if match := ours.fullmatch(entry.name):
                found.append((int(match[1]), target.with_name(entry.name)))
    return sorted(found)


def _duplicate(source: Path, goal: Path) -> None:
    """Give the file a second name, or where that cannot be, make a copy."""
    try:
        os.link(source, goal)
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
        _copy(source, goal)


def _copy(source: Path, goal: Path) -> None:
    reading = os.open(source, os.O_RDONLY | BINARY)
    try:
        old = os.fstat(reading)
        fd = os.open(goal, _NEW, stat.S_IMODE(old.st_mode) & 0o700)
        try:
            while chunk := os.read(reading, 1 << 20):
                write_all(fd, chunk)
            keep_access(fd, source)
            sync(fd)
        finally:
            os.close(fd)
    finally:
        os.close(reading)


def _append(path: Path, data: bytes, like: Path) -> None:
    new = status(path) is None
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | NO_LINK | BINARY, 0o600)
    try:
        if new:
            keep_access(fd, like)
        write_all(fd, data)
        sync(fd)
    finally:
        os.close(fd)


def _tail(fd: int, size: int, path: AnyPath) -> bytes:
    """Return what stands behind the last line end of the open log."""
    start = max(0, size - _LONGEST_LINE)
    tail = b""
    for step in (1, 4096, _LONGEST_LINE):  # nearly always one byte is enough
        os.lseek(fd, max(start, size - step), os.SEEK_SET)
        tail = os.read(fd, step)
        if b"\n" in tail:
            return tail[tail.rindex(b"\n") + 1 :]
    if start > 0:
        raise InvalidFileError("is not a log of JSON lines: its last line never ends", where=os.fspath(path))
    return tail


def _is_record(tail: bytes) -> bool:
    try:
        return isinstance(orjson.loads(tail), dict)
    except orjson.JSONDecodeError:
        return False


def _replace(source: Path, goal: Path) -> None:
    for _ in range(50 if sys.platform == "win32" else 0):  # Windows refuses while a reader has the goal open
        try:
            return os.replace(source, goal)
        except PermissionError:
            time.sleep(0.02)
    os.replace(source, goal)
    return None
