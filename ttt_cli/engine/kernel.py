"""Kernels: plain Python functions over arrays, compiled by Numba when they are first called.

A kernel may call functions marked as a ``Part``, global ones and those in the variables of a function around
it. A recursive part must call itself with arguments of the same types: a second version could not be cached.
Kernels allocate nothing, so that compiled code need not count references, which took half of its time.
Compiled code is cached under a digest of everything it is made of (``engine.code_cache``). Without Numba the
plain functions run, slowly, to the same bytes.
"""

import logging
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar, copy_context
from copy import copy
from dataclasses import make_dataclass
from functools import cache
from hashlib import sha256
from inspect import getclosurevars
from operator import attrgetter
from threading import Lock
from types import CellType, FunctionType
from typing import Any

import numpy as np

from ttt_cli.engine.code_cache import CodeCache

log = logging.getLogger("ttt_cli")

OPTIONS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, "_nrt": False}
"""Kernels never divide by zero, and only Python calls them."""

PART_OPTIONS = {**OPTIONS, "no_cpython_wrapper": True}
"""Only compiled code calls parts."""

PACE = 0.1
"""Seconds between two checks of the clock, and of Ctrl-C."""

UNLIMITED = 1 << 62
"""The number of nodes if there is no limit."""

CONSTANTS = int, float, tuple, np.generic
"""The types of the global constants that kernels read."""

u32 = int
"""``numpy.uint32`` in compiled code, where an index plus ``u32(1)`` keeps its type; uncompiled, Python's int
is several times as fast."""


@contextmanager
def _logged(name: str, seconds: float) -> Iterator[None]:
    log.info("compiling %s, once, about %.0f s", name, seconds)
    yield


announce: Callable[[str, float], AbstractContextManager[None]] = _logged
"""A context manager for the time in which a kernel is compiled, given its name and the estimated seconds; a
user interface replaces it."""

_uncompiled: ContextVar[bool] = ContextVar("_uncompiled", default=False)


@contextmanager
def uncompiled(wanted: bool = True) -> Iterator[None]:
    """Run kernels uncompiled within the context."""
    token = _uncompiled.set(wanted)
    try:
        yield
    finally:
        _uncompiled.reset(token)


def prefer_uncompiled() -> AbstractContextManager[None]:
    """Run kernels uncompiled unless Numba is loaded, which takes longer than learning from a few games."""
    return uncompiled("numba" not in sys.modules)


@cache
def _warn(message: str) -> None:
    log.warning(message)


class Part:
    """A decorator for a function that kernels call; called from Python it runs uncompiled."""

    inline = False

    def __init__(self, function: Callable[..., Any]) -> None:
        self.python = function
        self.__doc__ = function.__doc__

    def __call__(self, *arguments: Any) -> Any:
        return self.python(*arguments)


class Inlined(Part):
    """A part that is inlined into each function that calls it."""

    inline = True


class Kernel(Part):
    """A decorator: ``kernel(...)`` runs compiled code, ``kernel.python`` is the plain function.

    :ivar name: the name under which it is announced and cached.
    :ivar seconds: the estimated time of compiling it.
    """

    seconds = 3.0

    def __init__(self, function: Callable[..., Any], name: str = "", **constants: Any) -> None:
        """:param constants: values of global constants that it or a part reads, in place of their own."""
        super().__init__(function)
        self.name, self._constants = name or function.__name__, constants
        self._compiled: Callable[..., Any] | None = None
        self._plain: Callable[..., Any] | None = None
        self._preparing = Lock()

    def __call__(self, *arguments: Any) -> Any:
        if _uncompiled.get():
            return self.run_uncompiled(*arguments)
        return self.compiled_call(*arguments)

    def compiled_call(self, *arguments: Any) -> Any:
        """Run compiled code, even within ``uncompiled``."""
        if self._compiled is None:
            with self._preparing:
                self._compiled = self._compiled or self._prepared()
        return self._compiled(*arguments)

    def run_uncompiled(self, *arguments: Any) -> Any:
        """Run the plain function, with arrays of records as plain objects."""
        if self._plain is None:
            self._plain = self._linked()[self]
        records: list[Records] = []
        with np.errstate(over="ignore"):  # integers wrap in compiled code
            result = self._plain(*_as_records(arguments, records))
        for each in records:
            each.write_back()
        return result

    def _linked(
        self, finish: Callable[[FunctionType, Part], Any] = lambda function, _: function, **bound: Any
    ) -> dict[Part, Any]:
        """The parts it is made of, itself first, as functions that call each other, made by ``finish``."""
        linked: dict[Part, Any] = {}

        def link(part: Part) -> Any:
            if part not in linked:
                python = part.python
                known = {**python.__globals__, **self._constants, **bound}
                enclosed = tuple(CellType(cell.cell_contents) for cell in python.__closure__ or ())
                function = FunctionType(python.__code__, known, python.__name__, None, enclosed)
                linked[part] = finish(function, part)
                for name in python.__code__.co_names:
                    if isinstance(known.get(name), Part):
                        known[name] = link(known[name])
                for cell in enclosed:
                    if isinstance(cell.cell_contents, Part):
                        cell.cell_contents = link(cell.cell_contents)
            return linked[part]

        link(self)
        return linked

    def digest(self) -> str:
        """A digest of the code and the constants of all parts."""
        digest = sha256()
        for part, function in self._linked().items():
            code, read = function.__code__, getclosurevars(function)
            values = [*read.nonlocals.items(), *read.globals.items()]
            constants = [(name, value) for name, value in values if isinstance(value, CONSTANTS)]
            made_of = code.co_code, code.co_consts, code.co_names, code.co_varnames, part.inline, constants
            digest.update(repr(made_of).encode())
        return digest.hexdigest()

    def _prepared(self) -> Callable[..., Any]:
        try:
            import numba
        except ImportError:
            _warn("Numba is not installed: kernels run uncompiled, some hundred times slower")
            return self.run_uncompiled
        if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
            _warn("Numba is switched off (NUMBA_DISABLE_JIT): kernels run uncompiled, much slower")
            return self.run_uncompiled
        numba.config.DISABLE_JIT = 0  # Numba may have been loaded while it was switched off

        def finish(function: FunctionType, part: Part) -> Any:
            if part is self:
                return numba.njit(**OPTIONS)(function)
            options = {**PART_OPTIONS, "pipeline_class": _part_compiler()}
            made = numba.njit(forceinline=part.inline, **options)(function)
            called = made.get_call_template
            # A literal among the arguments would make a signature of its own.
            made.get_call_template = lambda kinds, named: called([*map(numba.types.unliteral, kinds)], named)
            return made

        compiled: Any = self._linked(finish, u32=np.uint32)[self]

        def compile_for(signature: Any, context: Any) -> Any:
            with announce(self.name, self.seconds):
                context.refresh()  # loads all that the compiler needs, but compiled code does not
                return compiled._compiler.compile(signature, None)

        made_of = f"{numba.__version__} {OPTIONS} {self.digest()}"
        compiled._cache = CodeCache(self.name, made_of, compile_for)
        return compiled


@cache
def _part_compiler() -> Any:
    """A compiler that leaves a part to be optimised where the kernel links it, and not by itself too, which
    took a fifth of the time of compiling the solver."""
    from numba.core.compiler import Compiler

    class PartCompiler(Compiler):  # type: ignore[misc]
        def define_pipelines(self) -> Any:
            library = self.state.targetctx.codegen().create_library(self.state.func_id.func_qualname)
            library._optimize_final_module = lambda: None
            self.state.library = library
            return super().define_pipelines()

    return PartCompiler


def run_until(
    kernel: Kernel, arguments: tuple[Any, ...], state: Any, looks: Callable[[], bool] = lambda: False
) -> None:
    """Run a search in another thread, so that this one hears Ctrl-C.

    :param state: a record among the arguments whose field ``stop`` ends the kernel.
    :param looks: called first, ten times a second and at the end; returns whether to stop.
    """
    state.stop = True
    kernel(*arguments)  # loads compiled code
    state.stop = looks()
    with ThreadPoolExecutor(1) as beside:
        running = beside.submit(copy_context().run, kernel, *arguments)
        try:
            while wait([running], PACE).not_done:
                state.stop = looks()
        finally:
            state.stop = True
        running.result()
    looks()


class Records(dict[int, Any]):
    """An array of records as plain objects by index, made when they are first needed."""

    def __init__(self, array: Any) -> None:
        super().__init__()
        self._array, self._names = array, array.dtype.names
        self._kind, self._values = _record(self._names), attrgetter(*self._names)

    def __missing__(self, at: int) -> Any:
        values = (item.tolist() if hasattr(item, "tolist") else item for item in self._array[at].item())
        return self.setdefault(at, self._kind(*values))

    def __setitem__(self, at: int, record: Any) -> None:
        for name in self._names:
            setattr(self[at], name, copy(getattr(record, name)))

    def __len__(self) -> int:
        return len(self._array)

    def write_back(self) -> None:
        self._array[[*self]] = [*map(self._values, self.values())]


class Shared:
    """A single record whose changes other threads see; its fields are read four times as fast as those of a
    ``numpy.record``."""

    def __init__(self, record: Any) -> None:
        self.__dict__["record"] = record.view(np.dtype((np.void, record.dtype)))

    def __getattr__(self, name: str) -> Any:
        return self.record[name]

    def __setattr__(self, name: str, value: Any) -> None:
        self.record[name] = value


def _as_records(item: Any, records: list[Records]) -> Any:
    """An argument with arrays of records, in tuples too, as ``Records``, which are added to ``records``."""
    if type(item) is tuple:
        return tuple(_as_records(part, records) for part in item)
    if getattr(item, "dtype", None) is None or item.dtype.names is None:
        return item
    if not item.shape:
        return Shared(item)
    records.append(Records(item))
    return records[-1]


@cache
def _record(names: tuple[str, ...]) -> type:
    return make_dataclass("Record", names, slots=True)
