"""The cache of compiled code: files named by a digest of everything the code is made of, in the user's cache.

Writing compiled code means running it, so a folder that others own or may write to is not used.
"""

import errno
import logging
import os
import stat
import sys
from pathlib import Path
from tempfile import NamedTemporaryFile
from time import time

log = logging.getLogger("ttt_cli")

KEPT_DAYS = 30
"""Days after which unused code is deleted."""


def read(name: str) -> bytes | None:
    """The compiled code under a name, empty if there is none; None, with a notice, if none can be kept."""
    try:
        path = _folder() / name
        if not path.exists():
            return b""
        os.utime(path)
        return path.read_bytes()
    except OSError as error:
        _log_why(error)
        return None


def write(name: str, code: bytes) -> None:
    """Keep compiled code under a name, and delete code that has not been used for long."""
    try:
        folder = _folder()
        for other in folder.iterdir():
            if other.is_file() and time() - other.stat().st_mtime > KEPT_DAYS * 86_400:
                other.unlink()
        with NamedTemporaryFile(dir=folder, delete=False) as file:
            temporary = Path(file.name)
            try:
                file.write(code)
                file.close()
                temporary.replace(folder / name)
            finally:
                temporary.unlink(missing_ok=True)
    except OSError as error:
        _log_why(error)


def _log_why(error: OSError) -> None:
    message = "compiled code cannot be kept (%s: %s); NUMBA_CACHE_DIR=FOLDER names another folder"
    log.info(message, error.filename, error.strerror)


def _folder() -> Path:
    """The folder ``ttt`` in NUMBA_CACHE_DIR or the user's cache; never in the working folder.

    :raises OSError: if it cannot be made, or others own it or may write to it.
    """
    user = os.path.expanduser(  # noqa: PTH111 (it raises no error where there is no home)
        "~/Library/Caches" if sys.platform == "darwin" else "~/.cache"
    )
    caches = os.environ.get("NUMBA_CACHE_DIR", ""), os.environ.get("XDG_CACHE_HOME", ""), user
    folder = Path(next(filter(os.path.isabs, caches), ""), "ttt")
    if not folder.is_absolute():
        raise OSError(errno.ENOENT, "HOME is not an absolute path", user)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    known = folder.lstat()
    if not stat.S_ISDIR(known.st_mode):
        raise OSError(errno.ENOTDIR, "not a folder", str(folder))
    if known.st_uid != os.geteuid() or known.st_mode & 0o022:
        raise OSError(errno.EPERM, "others own the folder, or may write there", str(folder))
    return folder
