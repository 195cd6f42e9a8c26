"""Kernels: plain Python functions over arrays that Numba compiles when they are first needed.

A kernel calls no other function of ours, so that Numba's file cache, which watches one file, always notices
a change. Where Numba is missing or switched off the plain function runs instead: slower, the same bytes.
"""

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from threading import Lock
from time import perf_counter
from typing import Any

log = logging.getLogger("ttt_cli")

_few: ContextVar[bool] = ContextVar("_few", default=False)


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


class Kernel:
    """A decorator: ``kernel(...)`` runs compiled code, ``kernel.python`` is the function as written."""

    def __init__(self, function: Callable[..., None]) -> None:
        self.python = function
        self.__doc__ = function.__doc__
        self._compiled: Callable[..., None] | None = None
        self._compiling = Lock()

    def __call__(self, *arguments: object) -> None:
        if _few.get():
            self._as_written(*arguments)
        elif self._compiled is not None:
            self._compiled(*arguments)
        else:
            self._first_call(*arguments)

    def _as_written(self, *arguments: object) -> None:
        import numpy as np

        with np.errstate(over="ignore"):  # integers wrap in compiled code
            self.python(*arguments)

    def _first_call(self, *arguments: object) -> None:
        """Compile or load, and run; of several threads one does it, and the others wait."""
        with self._compiling:
            if self._compiled is None:
                compiled, kept = self._prepared()
                started = perf_counter()
                compiled(*arguments)
                if kept and compiled.stats.cache_misses:
                    log.info("compiled the training kernel in %.1f s; %s", perf_counter() - started, kept)
                self._compiled = compiled
                return
        self._compiled(*arguments)

    def _prepared(self) -> tuple[Any, str]:
        """What to run, and what becomes of its compiled code; nothing does where there is none."""
        try:
            import numba
        except ImportError:
            _warn("Numba is not installed: training runs uncompiled, some hundred times slower")
            return self._as_written, ""
        if numba.config.DISABLE_JIT:
            _warn("Numba is switched off (NUMBA_DISABLE_JIT): training runs uncompiled, much slower")
            return self._as_written, ""
        # Kernels divide by nothing that can be zero: no need to check.
        options = {"nogil": True, "error_model": "numpy"}
        try:
            return numba.njit(cache=True, **options)(self.python), "later runs find it in a cache"
        except RuntimeError:  # neither this folder nor the user's cache can be written to
            kept = "it cannot be kept: NUMBA_CACHE_DIR can name a folder for it"
            return numba.njit(**options)(self.python), kept
