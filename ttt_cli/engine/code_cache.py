"""The cache of compiled code: files named by a digest of everything the code is made of, in the user's cache.

Loading compiled code means running it, so a folder that others own or may write to is not used.
"""

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from time import time

from ttt_cli.errors import notices

FLAGS = os.O_NOFOLLOW | os.O_CLOEXEC

_NAME = re.compile(r"[\w.' ]+-[0-9a-f]{16}(\.[0-9]+)?")
"""The names of files of the cache."""


def read(name: str) -> bytes | None:
    """The compiled code in a file of the cache; None if it cannot be read."""
    try:
        with _folder() as folder, open(os.open(name, os.O_RDONLY | FLAGS, dir_fd=folder), "rb") as file:
            with suppress(OSError):  # where nothing can be written
                os.utime(file.fileno())  # it is in use
            return file.read()
    except OSError:
        return None


def write(name: str, code: bytes) -> None:
    """Keep compiled code if possible, and delete code that has not been used for 30 days."""
    temporary, flags = f"{name}.{os.getpid()}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | FLAGS
    try:
        with _folder() as folder:
            try:
                with open(os.open(temporary, flags, 0o666, dir_fd=folder), "wb") as file:
                    file.write(code)
                os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
            finally:
                with suppress(FileNotFoundError):
                    os.unlink(temporary, dir_fd=folder)
            for other in filter(_NAME.fullmatch, os.listdir(folder)):
                with suppress(FileNotFoundError):  # another process may have renamed or deleted it
                    if time() - os.stat(other, dir_fd=folder).st_mtime > 30 * 86_400:
                        os.unlink(other, dir_fd=folder)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        _say_once(f"compiled code cannot be kept ({where}{error.strerror})")


@cache
def _say_once(why: str) -> None:
    notices.info("%s; NUMBA_CACHE_DIR=FOLDER names another folder", why)


@contextmanager
def _folder() -> Iterator[int]:
    """Open the folder ``ttt`` in NUMBA_CACHE_DIR or the user's cache; never in the working folder. What is
    done by its descriptor is done in the folder that was checked, whatever takes its place.

    :raises OSError: if it cannot be made, or others own it or may write to it.
    """
    user = os.path.expanduser("~/.cache")  # which raises no error where there is no home
    caches = os.environ.get("NUMBA_CACHE_DIR", ""), os.environ.get("XDG_CACHE_HOME", ""), user
    absolute = [*filter(os.path.isabs, caches)]
    if not absolute:
        raise OSError(errno.ENOENT, "HOME is not an absolute path", user)
    folder = Path(absolute[0], "ttt")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        status = os.fstat(opened)
        if status.st_uid != os.geteuid() or status.st_mode & 0o022:
            raise OSError(errno.EPERM, "others own the folder, or may write there", str(folder))
        yield opened
    finally:
        os.close(opened)
