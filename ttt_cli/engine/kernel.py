"""Kernels: plain Python functions over arrays that Numba compiles when they are first needed.

A kernel may call functions that are marked as a ``Part``. Compiled code is kept in a folder named after a
digest of all the sources it is made of, so that a change to any of them is noticed. Where Numba is missing or
switched off the plain functions run instead: slower, the same bytes.
"""

import hashlib
import logging
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from threading import Lock
from time import perf_counter, time
from types import FunctionType
from typing import Any

log = logging.getLogger("ttt_cli")

KEPT_DAYS = 30
"""Compiled code that nobody has used for so long is deleted."""

OPTIONS = {"nogil": True, "error_model": "numpy"}
"""Kernels divide by nothing that can be zero: no need to check."""

_few: ContextVar[bool] = ContextVar("_few", default=False)
_preparing = Lock()


@contextmanager
def few_games() -> Iterator[None]:
    """Run kernels as they are written meanwhile, unless Numba is there already: loading it takes longer than
    learning from a few games."""
    token = _few.set("numba" not in sys.modules)
    try:
        yield
    finally:
        _few.reset(token)


@cache
def _warn(message: str) -> None:
    """Say it once."""
    log.warning(message)


class Part:
    """A decorator for a function that kernels call; called from elsewhere it runs as written."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.python = function
        self.__doc__ = function.__doc__
        self._dispatcher: Any = None

    def __call__(self, *arguments: Any) -> Any:
        return self.python(*arguments)

    def parts(self) -> dict[str, "Part"]:
        """The parts it calls, by the names it has for them."""
        names, known = self.python.__code__.co_names, self.python.__globals__
        return {name: known[name] for name in names if isinstance(known.get(name), Part)}

    def sources(self) -> set[str]:
        """The files that it and its parts are in."""
        return {self.python.__code__.co_filename}.union(*(part.sources() for part in self.parts().values()))

    def compiled(self, numba: Any, **options: Any) -> Any:
        """What Numba makes of it."""
        if self._dispatcher is None:
            function = self.python
            parts = {name: part.compiled(numba) for name, part in self.parts().items()}
            linked = FunctionType(function.__code__, {**function.__globals__, **parts}, function.__name__)
            linked.__module__, linked.__qualname__ = function.__module__, function.__qualname__
            self._dispatcher = numba.njit(**OPTIONS, **options)(linked)
        return self._dispatcher


class Kernel(Part):
    """A decorator: ``kernel(...)`` runs compiled code, ``kernel.python`` is the function as written."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._compiled: Callable[..., Any] | None = None
        self._compiling = Lock()

    def __call__(self, *arguments: Any) -> Any:
        if _few.get():
            return self._as_written(*arguments)
        if self._compiled is not None:
            return self._compiled(*arguments)
        return self._first_call(*arguments)

    def _as_written(self, *arguments: Any) -> Any:
        import numpy as np

        with np.errstate(over="ignore"):  # integers wrap in compiled code
            return self.python(*arguments)

    def _first_call(self, *arguments: Any) -> Any:
        """Compile or load, and run; of several threads one does it, and the others wait."""
        with self._compiling:
            if self._compiled is None:
                compiled, kept = self._prepared()
                started = perf_counter()
                result = compiled(*arguments)
                if kept and compiled.stats.cache_misses:
                    name = self.python.__name__
                    log.info("compiled the %s kernel in %.1f s; %s", name, perf_counter() - started, kept)
                self._compiled = compiled
                return result
        return self._compiled(*arguments)

    def _prepared(self) -> tuple[Any, str]:
        """What to run, and what becomes of its compiled code; nothing does where there is none."""
        try:
            import numba
        except ImportError:
            _warn("Numba is not installed: kernels run uncompiled, some hundred times slower")
            return self._as_written, ""
        if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
            _warn("Numba is switched off (NUMBA_DISABLE_JIT): kernels run uncompiled, much slower")
            return self._as_written, ""
        with _preparing:  # Numba's settings hold for the whole process
            numba.config.DISABLE_JIT = 0
            folder = _cache_folder(self.sources())
            if folder is None:
                kept = "it cannot be kept: NUMBA_CACHE_DIR can name a folder for it"
                return self.compiled(numba), kept
            numba.config.CACHE_DIR = str(folder)
            return self.compiled(numba, cache=True), "later runs find it in a cache"


def _cache_folder(sources: set[str]) -> Path | None:
    """The folder for the compiled code of these files; None where nothing can be written."""
    digest = hashlib.sha256()
    for source in sorted(sources):
        digest.update(Path(source).read_bytes())
    root = _cache_root()
    folder = root / digest.hexdigest()[:16]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            os.utime(folder)
    except OSError:
        return None
    for other in root.iterdir():
        with suppress(OSError):
            if other.is_dir() and time() - other.stat().st_mtime > KEPT_DAYS * 86_400:
                shutil.rmtree(other)
    return folder


def _cache_root() -> Path:
    """Where compiled code is kept: a folder of ours in the user's cache, or what NUMBA_CACHE_DIR names."""
    if named := os.environ.get("NUMBA_CACHE_DIR"):
        return Path(named) / "ttt"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "ttt" / "kernels"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "ttt" / "kernels"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ttt" / "kernels"
