"""The cache of compiled code: files named by a digest of everything the code is made of, in the user's cache.

Loading compiled code means running it, so a folder that others own or may write to is not used.
"""

import errno
import logging
import os
import pickle
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from time import time
from typing import Any

log = logging.getLogger("ttt_cli")

KEPT_SECONDS = 30 * 86_400
"""After this time, code that was not used is deleted."""


class CodeCache:
    """The cache that Numba asks for a kernel's code: what is missing is compiled, and kept if possible.

    :param made_of: what the code depends on besides the types of its arguments and the processor.
    :param compile: compiles it for some types of arguments, given Numba's context.
    """

    def __init__(self, name: str, made_of: str, compile: Callable[[Any, Any], Any]) -> None:
        self._name, self._made_of, self._compile = name, made_of, compile

    def load_overload(self, signature: Any, context: Any) -> Any:
        from numba.core.compiler import CompileResult
        from numba.core.serialize import dumps

        types = [(str(kind), getattr(kind, "fields", ())) for kind in signature]
        made_of = sys.version, context.codegen().magic_tuple(), self._made_of, types
        name = f"{self._name}-{sha256(repr(made_of).encode()).hexdigest()[:16]}"
        path = None
        try:
            path = _folder() / name
            if path.exists():
                os.utime(path)
                return CompileResult._rebuild(context, *pickle.loads(path.read_bytes()))
        except OSError as error:
            _log_why(error)
        except Exception as error:  # a damaged file can raise anything
            log.debug("the compiled code in %s cannot be read: %r", path, error)
        compiled = self._compile(signature, context)
        if path is not None:
            _write(path, dumps(compiled._reduce()))
        return compiled

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """``load_overload`` has saved it."""


def _write(path: Path, code: bytes) -> None:
    """Keep compiled code, and delete code that has not been used for long."""
    try:
        temporary = path.with_name(f"{path.name}.{os.getpid()}")
        temporary.write_bytes(code)
        temporary.replace(path)
        for other in path.parent.iterdir():
            if other.is_file() and time() - other.stat().st_mtime > KEPT_SECONDS:
                other.unlink()
    except OSError as error:
        _log_why(error)


def _log_why(error: OSError) -> None:
    message = "compiled code cannot be kept (%s: %s); NUMBA_CACHE_DIR=FOLDER names another folder"
    log.info(message, error.filename, error.strerror)


def _folder() -> Path:
    """The folder ``ttt`` in NUMBA_CACHE_DIR or the user's cache; never in the working folder.

    :raises OSError: if it cannot be made, or others own it or may write to it.
    """
    user = os.path.expanduser("~/.cache")  # noqa: PTH111 (it raises no error where there is no home)
    caches = os.environ.get("NUMBA_CACHE_DIR", ""), os.environ.get("XDG_CACHE_HOME", ""), user
    absolute = [*filter(os.path.isabs, caches)]
    if not absolute:
        raise OSError(errno.ENOENT, "HOME is not an absolute path", user)
    folder = Path(absolute[0], "ttt")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    known = folder.stat()
    if known.st_uid != os.geteuid() or known.st_mode & 0o022:
        raise OSError(errno.EPERM, "others own the folder, or may write there", str(folder))
    return folder
