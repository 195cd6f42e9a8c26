"""Where compiled code is kept: a folder for each kernel and all it is made of, in one that is the user's own.

Whoever can write compiled code can run it, so a folder that others own or may write to is not used.
"""

import errno
import logging
import os
import shutil
import stat
import sys
from contextlib import suppress
from pathlib import Path
from time import time

log = logging.getLogger("ttt_cli")

KEPT_DAYS = 30
"""Compiled code that nobody has used for so long is deleted."""


def code_folder(name: str) -> Path | None:
    """The folder that is called so, for compiled code; None, with a notice, if there can be none."""
    try:
        root = _root()
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        _check_owner(root)
        folder = root / name
        folder.mkdir(mode=0o700, exist_ok=True)
        os.utime(folder)
        for other in root.iterdir():
            if time() - other.stat().st_mtime > KEPT_DAYS * 86_400:
                shutil.rmtree(other, ignore_errors=True)
        return folder
    except (OSError, RuntimeError) as error:  # the latter: there is no home
        unkept(error)
        return None


def unkept(error: Exception) -> None:
    """Say why compiled code is not kept."""
    place = getattr(error, "filename", None)
    reason = getattr(error, "strerror", None) or error
    where = f"{place}: " if place else ""
    log.info(
        "compiled code cannot be kept (%s%s); NUMBA_CACHE_DIR=FOLDER names another folder", where, reason
    )


def _check_owner(root: Path) -> None:
    """Refuse a folder that others own or may write to.

    :raises OSError: if it is one.
    """
    known = root.lstat()
    if not stat.S_ISDIR(known.st_mode):
        raise OSError(errno.ENOTDIR, "not a folder", str(root))
    if sys.platform != "win32" and (known.st_uid != os.geteuid() or known.st_mode & 0o022):
        raise OSError(errno.EPERM, "others own the folder, or may write there", str(root))


def _root() -> Path:
    """A folder of ours in the user's cache, or in what NUMBA_CACHE_DIR names; never in the working folder.

    :raises OSError: if there is none.
    """
    named, cache = (Path(os.environ.get(name, "")) for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME"))
    if named.is_absolute():
        return named / "ttt"
    if not cache.is_absolute():
        cache = Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")
    if not cache.is_absolute():
        with suppress(ImportError, KeyError):
            import pwd

            cache = Path(pwd.getpwuid(os.geteuid()).pw_dir) / ".cache"
    if not cache.is_absolute():
        raise OSError(errno.ENOENT, "HOME is no absolute path", str(cache))
    return cache / "ttt" / "kernels"
