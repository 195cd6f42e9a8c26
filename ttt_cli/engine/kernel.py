"""Kernels: plain Python functions over arrays that Numba compiles when they are first needed.

A kernel may call functions that are marked as a ``Part``. Compiled code is kept in a folder named after a
digest of all the sources it is made of, so that a change to any of them is noticed. Where Numba is missing or
switched off the plain functions run instead: slower, the same bytes.
"""

import logging
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from threading import Lock
from time import perf_counter
from types import FunctionType
from typing import Any

from ttt_cli.engine.code_cache import CodeCache

log = logging.getLogger("ttt_cli")

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
        return self.compiled_call(*arguments)

    def compiled_call(self, *arguments: Any) -> Any:
        """Run compiled code even where the games are few."""
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
                compiled, cache = self._prepared()
                started = perf_counter()
                result = compiled(*arguments)
                if cache is not None and not cache.loaded:
                    name, seconds = self.python.__name__, perf_counter() - started
                    log.info("compiled the %s kernel in %.1f s; %s", name, seconds, cache.fate)
                self._compiled = compiled
                return result
        return self._compiled(*arguments)

    def _prepared(self) -> "tuple[Callable[..., Any], CodeCache | None]":
        """What to run, and where its compiled code is kept; nowhere where there is none."""
        try:
            numba = _import_numba()
        except ImportError:
            _warn("Numba is not installed: kernels run uncompiled, some hundred times slower")
            return self._as_written, None
        if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
            _warn("Numba is switched off (NUMBA_DISABLE_JIT): kernels run uncompiled, much slower")
            return self._as_written, None
        with _preparing:  # Numba's settings hold for the whole process
            numba.config.DISABLE_JIT = 0
            cache = CodeCache(self.sources())
            if cache.folder is None:
                return self.compiled(numba), cache
            numba.config.CACHE_DIR = str(cache.folder)
            try:
                compiled = self.compiled(numba, cache=True)
            except RuntimeError as error:  # Numba cannot write there
                return self.compiled(numba), cache.without(error)
            compiled._cache = cache.over(compiled._cache)
            return compiled, cache


def _import_numba() -> Any:
    """Numba, which is kept from taking settings from a file in the working folder: whoever made the folder is
    not the user. (It looks there whenever it compiles, if PyYAML is installed.)"""
    if "numba" not in sys.modules:
        yaml = sys.modules.get("yaml")
        sys.modules["yaml"] = None  # type: ignore[assignment]
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "A Numba config file is found")
                import numba
        finally:
            del sys.modules["yaml"]
            if yaml is not None:
                sys.modules["yaml"] = yaml
    import numba
    import numba.core.config

    numba.core.config._config_fname = os.devnull
    return numba
