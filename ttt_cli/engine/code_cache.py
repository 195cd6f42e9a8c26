"""Where compiled code is kept: a folder for each set of sources, in a folder that is the user's own.

Whoever can write compiled code can run it, so folders that others own or may write to are not used. Each
folder lists the digests of its files, so that damage (a full disk, a crash, a flipped bit) is noticed before
anything is loaded.
"""

import errno
import hashlib
import logging
import os
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from time import time
from typing import Any

log = logging.getLogger("ttt_cli")

KEPT_DAYS = 30
"""Compiled code that nobody has used for so long is deleted."""

SEAL = "sha256sums"
"""The file that lists the digests of the others in its folder."""


class CodeCache:
    """The compiled code of the kernels that these source files make.

    :ivar folder: where it is kept, with nothing in it but sound files; None where it cannot be kept.
    :ivar fate: what becomes of code that is compiled now.
    :ivar loaded: whether it was there.
    """

    def __init__(self, sources: set[str]) -> None:
        self.folder: Path | None = None
        self.fate = "later runs find it in a cache"
        self.loaded = False
        self._numba: Any = None
        try:
            self.folder = _folder(sources)
        except (OSError, RuntimeError) as error:  # the latter: there is no home
            self.without(error)

    def over(self, numba_cache: Any) -> "CodeCache":
        """Take the place of a Numba dispatcher's own cache, and work by it."""
        self._numba = numba_cache
        return self

    def __getattr__(self, name: str) -> Any:
        return getattr(self._numba, name)

    def load_overload(self, signature: Any, context: Any) -> Any:
        """The code that is kept for a signature; None if there is none, or it cannot be used."""
        try:
            found = self._numba.load_overload(signature, context)
        except Exception:  # whatever unpickling makes of another version's files
            assert self.folder is not None
            _discard(self.folder)
            return None
        self.loaded = found is not None
        return found

    def save_overload(self, signature: Any, data: Any) -> None:
        """Keep the code that was compiled for a signature, if that can be done."""
        assert self.folder is not None
        try:
            self._numba.save_overload(signature, data)
            _seal(self.folder)
        except OSError as error:
            _clear(self.folder)
            self.without(error)

    def without(self, error: Exception) -> "CodeCache":
        """Say why the code is not kept."""
        place = getattr(error, "filename", None) or self.folder
        reason = getattr(error, "strerror", None) or error
        self.fate = f"it cannot be kept ({place}: {reason}); NUMBA_CACHE_DIR can name another folder"
        return self


def _folder(sources: set[str]) -> Path:
    """The folder for the compiled code of these source files, with nothing in it but sound files.

    :raises OSError: if there can be none, or it is somebody else's.
    """
    digest = hashlib.sha256()
    for source in sorted(sources):
        digest.update(Path(source).read_bytes())
    root = _root()
    root.parent.mkdir(parents=True, exist_ok=True)
    folder = root / digest.hexdigest()[:16]
    for place in (root, folder):
        _own(place)
    os.utime(folder)
    for other in root.iterdir():
        with suppress(OSError):
            if other.is_dir() and time() - other.stat().st_mtime > KEPT_DAYS * 86_400:
                shutil.rmtree(other)
    if _sums(folder) != _sealed(folder):
        _discard(folder)
    return folder


def _discard(folder: Path) -> None:
    log.warning("compiled code in %s is damaged, and compiled anew", folder)
    _clear(folder)


def _seal(folder: Path) -> None:
    """List the digests of what is in the folder by now."""
    with NamedTemporaryFile(dir=folder, prefix=SEAL, delete=False) as file:
        file.write("".join(f"{digest}  {name}\n" for name, digest in _sums(folder).items()).encode())
    Path(file.name).replace(folder / SEAL)


def _clear(found: Path) -> None:
    """Remove what is in a folder."""
    for entry in found.iterdir():
        with suppress(OSError):
            shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()


def _sums(found: Path) -> dict[str, str]:
    """The digests of the files of compiled code in a folder, by their names in it."""
    return {
        str(path.relative_to(found)): hashlib.sha256(path.read_bytes()).hexdigest() for path in _code(found)
    }


def _code(found: Path) -> Iterator[Path]:
    return (path for path in sorted(found.rglob("*")) if path.suffix in (".nbi", ".nbc"))


def _sealed(found: Path) -> dict[str, str]:
    """What the folder lists."""
    try:
        lines = (found / SEAL).read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return {}
    return {name: digest for digest, _, name in (line.partition("  ") for line in lines)}


def _own(place: Path) -> None:
    """Make a folder that is the user's alone, if it is not there.

    :raises OSError: if somebody else's is there.
    """
    with suppress(FileExistsError):
        place.mkdir(mode=0o700)
    if sys.platform == "win32":
        return
    known = place.lstat()
    if not stat.S_ISDIR(known.st_mode):
        raise OSError(errno.ENOTDIR, "not a folder", str(place))
    if known.st_uid != os.geteuid():
        raise OSError(errno.EPERM, "the folder belongs to another user", str(place))
    if known.st_mode & 0o022:
        _clear(place)  # what is there may be anybody's
        place.chmod(0o700)


def _root() -> Path:
    """A folder of ours in the user's cache, or in what NUMBA_CACHE_DIR names; never in the working folder."""
    named = os.environ.get("NUMBA_CACHE_DIR", "")
    if Path(named).is_absolute():
        return Path(named) / "ttt"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "ttt" / "kernels"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "ttt" / "kernels"
    cache = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(cache) if Path(cache).is_absolute() else Path.home() / ".cache") / "ttt" / "kernels"
