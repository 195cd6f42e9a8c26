"""The cache of compiled code: files named by a digest of everything the code is made of, in the user's cache.

Loading compiled code means running it, so a folder that others own or may write to is not used.
"""

import errno
import os
import re
from contextlib import suppress
from functools import cache
from pathlib import Path
from time import time

from ttt_cli.errors import notices

_NAME = re.compile(r"[\w.' ]+-[0-9a-f]{16}(\.[0-9]+)?")
"""The names of files of the cache."""


def read(name: str) -> bytes | None:
    """The compiled code in a file of the cache; None if it cannot be read."""
    try:
        path = _folder() / name
        with suppress(OSError):  # where nothing can be written
            os.utime(path)  # it is in use
        return path.read_bytes()
    except OSError:
        return None


def write(name: str, code: bytes) -> None:
    """Keep compiled code if possible, and delete code that has not been used for 30 days."""
    try:
        folder = _folder()
        temporary = folder / f"{name}.{os.getpid()}"
        try:
            temporary.write_bytes(code)
            temporary.replace(folder / name)
        finally:
            temporary.unlink(missing_ok=True)
        for other in folder.iterdir():
            with suppress(FileNotFoundError):  # another process may have renamed or deleted it
                if _NAME.fullmatch(other.name) and time() - other.stat().st_mtime > 30 * 86_400:
                    other.unlink()
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        _say_once(f"compiled code cannot be kept ({where}{error.strerror})")


@cache
def _say_once(why: str) -> None:
    notices.info("%s; NUMBA_CACHE_DIR=FOLDER names another folder", why)


def _folder() -> Path:
    """The folder ``ttt`` in NUMBA_CACHE_DIR or the user's cache; never in the working folder.

    :raises OSError: if it cannot be made, or others own it or may write to it.
    """
    user = os.path.expanduser("~/.cache")  # noqa: PTH111 (Path raises an error where there is no home)
    caches = os.environ.get("NUMBA_CACHE_DIR", ""), os.environ.get("XDG_CACHE_HOME", ""), user
    absolute = [*filter(os.path.isabs, caches)]
    if not absolute:
        raise OSError(errno.ENOENT, "HOME is not an absolute path", user)
    folder = Path(absolute[0], "ttt")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = folder.stat()
    if status.st_uid != os.geteuid() or status.st_mode & 0o022:
        raise OSError(errno.EPERM, "others own the folder, or may write there", str(folder))
    return folder
