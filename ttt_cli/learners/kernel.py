"""Kernels: plain Python functions over arrays that Numba compiles when they are first needed.

A kernel calls no other function of ours, so that Numba's file cache, which watches one file, always notices
a change. Where Numba is missing or switched off the plain function runs instead: slower, the same bytes.
"""

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property
from time import perf_counter

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


class Kernel:
    """A decorator: ``kernel(...)`` runs compiled code, ``kernel.python(...)`` the function as written."""

    def __init__(self, function: Callable[..., None]) -> None:
        self.python = function
        self.__doc__ = function.__doc__

    def __call__(self, *arguments: object) -> None:
        (self.python if _few.get() else self._compiled)(*arguments)

    @cached_property
    def _compiled(self) -> Callable[..., None]:
        try:
            import numba
        except ImportError:
            log.warning("Numba is not installed: training runs uncompiled, some hundred times slower")
            return self.python
        if numba.config.DISABLE_JIT:
            log.warning("Numba is switched off (NUMBA_DISABLE_JIT): training runs uncompiled, much slower")
            return self.python
        # Kernels divide by nothing that can be zero: no need to check.
        kept = "later runs find it in a cache"
        try:
            compiled = numba.njit(cache=True, nogil=True, error_model="numpy")(self.python)
        except RuntimeError:  # neither this folder nor the user's cache can be written to
            compiled = numba.njit(nogil=True, error_model="numpy")(self.python)
            kept = "it cannot be kept: NUMBA_CACHE_DIR can name a folder for it"

        def first_call(*arguments: object) -> None:
            started = perf_counter()
            compiled(*arguments)
            if compiled.stats.cache_misses:
                seconds = perf_counter() - started
                log.info("compiled the training kernel in %.1f s; %s", seconds, kept)
            self.__dict__["_compiled"] = compiled

        return first_call
