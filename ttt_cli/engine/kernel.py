"""Kernels: plain Python functions over arrays, compiled by Numba when they are first called.

A kernel may call functions marked as a ``Part``, and can be composed with other parts in their place. A
recursive part must call itself with arguments of the same types: a second version could not be cached.
Kernels allocate nothing, so that compiled code need not count references, which took half of its time.
Compiled code is cached under a digest of everything it is made of (``engine.code_cache``). Without Numba the
plain functions run, slowly, to the same bytes.
"""

import logging
import os
import pickle
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar, copy_context
from copy import copy
from dataclasses import make_dataclass
from functools import cache
from hashlib import sha256
from operator import attrgetter, methodcaller
from threading import Lock
from types import FunctionType
from typing import Any, Self

from ttt_cli.engine import code_cache

log = logging.getLogger("ttt_cli")

OPTIONS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, "_nrt": False}
"""Kernels never divide by zero, and only Python calls them."""

PART_OPTIONS = {**OPTIONS, "no_cpython_wrapper": True}
"""Only compiled code calls parts."""

PACE = 0.1
"""Seconds between two checks of the clock, and of Ctrl-C."""

UNLIMITED = 1 << 62
"""The number of nodes if there is no limit."""

FEW_NODES = 20_000
"""Nodes of a search that is not worth interrupting: some hundredths of a second."""

NEIGHBOURS = 8
"""Records that are made plain objects at once: several times as fast as one by one."""

u32 = int
"""``numpy.uint32`` in compiled code; uncompiled, Python's int is several times as fast."""


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

    def __init__(self, function: Callable[..., Any], **bound: Any) -> None:
        super().__init__(function)
        self.name, self._bound = function.__name__, bound
        self._compiled: Callable[..., Any] | None = None
        self._plain: Callable[..., Any] | None = None
        self._preparing = Lock()

    def composed(self, name: str, **bound: Any) -> Self:
        """The same kernel with other parts and constants for some global names that it or a part reads."""
        composed = type(self)(self.python, **self._bound, **bound)
        composed.name = name
        return composed

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
        import numpy as np

        if self._plain is None:
            self._plain = self._linked(self.reads(), lambda function, _: function)
        records: list[Records] = []
        with np.errstate(over="ignore"):  # integers wrap in compiled code
            result = self._plain(*_as_records(arguments, records))
        for each in records:
            each.write_back()
        return result

    def reads(self, **bound: Any) -> dict[Part, dict[str, Any]]:
        """All parts it is made of, each after those that it calls and the kernel last, with the globals that
        each reads, some of them replaced by ``bound``."""
        found: dict[Part, dict[str, Any]] = {}

        def add(part: Part) -> None:
            known = {**part.python.__globals__, **self._bound, **bound}
            names = {name: known[name] for name in part.python.__code__.co_names if name in known}
            for item in names.values():
                if isinstance(item, Part) and item not in found and item is not part:
                    add(item)
            found[part] = names

        add(self)
        return found

    def digest(self) -> str:
        """A digest of the code and the constants of all parts, without docstrings and comments."""
        digest = sha256()
        for part, names in self.reads().items():
            code = part.python.__code__
            constants = [item for item in code.co_consts if item != part.__doc__]
            values = {name: _described(item) for name, item in names.items()}
            made_of = code.co_code, constants, code.co_names, code.co_varnames, part.inline, values
            digest.update(repr(made_of).encode())
        return digest.hexdigest()

    def _linked(
        self, reads: dict[Part, dict[str, Any]], finish: Callable[[FunctionType, Part], Any]
    ) -> Callable[..., Any]:
        """The kernel as a function that calls its parts, each of them made by ``finish``."""
        made: dict[Part, Any] = {}
        for part, names in reads.items():
            python = part.python
            known = {**python.__globals__, **names}
            function = FunctionType(python.__code__, known, python.__name__, None, python.__closure__)
            made[part] = finish(function, part)
            known.update((name, made[item]) for name, item in names.items() if isinstance(item, Part))
        compiled: Callable[..., Any] = made[self]
        return compiled

    def _prepared(self) -> Callable[..., Any]:
        try:
            import numba
        except ImportError:
            _warn("Numba is not installed: kernels run uncompiled, some hundred times slower")
            return self.run_uncompiled
        if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
            _warn("Numba is switched off (NUMBA_DISABLE_JIT): kernels run uncompiled, much slower")
            return self.run_uncompiled
        import numpy as np

        numba.config.DISABLE_JIT = 0  # Numba may have been loaded while it was switched off

        def finish(function: FunctionType, part: Part) -> Any:
            options = OPTIONS if part is self else {**PART_OPTIONS, "pipeline_class": _part_compiler()}
            return numba.njit(forceinline=part.inline, **options)(function)

        compiled: Any = self._linked(self.reads(u32=np.uint32), finish)
        compiled._cache = _Kept(self, compiled, f"{numba.__version__} {OPTIONS} {self.digest()}")
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
    kernel: Kernel,
    arguments: tuple[Any, ...],
    state: Any,
    nodes: float,
    looks: Callable[[], bool] = lambda: False,
) -> None:
    """Run a search; if it may take long in another thread, so that this one hears Ctrl-C.

    :param state: a record among the arguments whose field ``stop`` ends the kernel.
    :param nodes: the most that it visits.
    :param looks: called first, ten times a second and at the end of a long search; returns whether to stop.
    """
    if nodes <= FEW_NODES:
        kernel(*arguments)
        return
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


class _Kept:
    """The cache that Numba uses for a kernel: what is missing is compiled, and kept if possible.

    :param made_of: what the code depends on besides the types of its arguments and the processor.
    """

    def __init__(self, kernel: Kernel, compiled: Any, made_of: str) -> None:
        self._kernel, self._compiled, self._made_of = kernel, compiled, made_of

    def load_overload(self, signature: Any, context: Any) -> Any:
        from numba.core.compiler import CompileResult
        from numba.core.runtime import rtsys
        from numba.core.serialize import dumps

        types = [(str(kind), getattr(kind, "fields", ())) for kind in signature]
        made_of = sys.version, context.codegen().magic_tuple(), self._made_of, types
        name = f"{self._kernel.name}-{sha256(repr(made_of).encode()).hexdigest()[:16]}"
        kept = code_cache.read(name)
        if kept:
            try:
                rtsys.initialize(context)
                return CompileResult._rebuild(context, *pickle.loads(kept))
            except Exception as error:  # a damaged file can raise anything
                log.debug("the compiled code in %s cannot be read: %r", name, error)
        with announce(self._kernel.name, self._kernel.seconds):
            context.refresh()  # loads all that the compiler needs, but compiled code does not
            made = self._compiled._compiler.compile(signature, None)
        if kept is not None:
            code_cache.write(name, dumps(made._reduce()))
        return made

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """``load_overload`` has saved it."""


class Records(dict[int, Any]):
    """An array of records as plain objects by index, made when they or their neighbours are first needed."""

    def __init__(self, array: Any) -> None:
        super().__init__()
        self._array, self._names = array, array.dtype.names
        self._kind, self._values = _record(self._names), attrgetter(*self._names)
        listed = {name: _boards if array.dtype[name].base == "u8" else _numbers for name in self._names}
        self._columns = list(listed.items())

    def __missing__(self, at: int) -> Any:
        start = int(at) // NEIGHBOURS * NEIGHBOURS
        some = self._array[start : start + NEIGHBOURS]
        columns = [listed(some[name]) for name, listed in self._columns]
        self.update(enumerate(map(self._kind, *columns), start))
        if at not in self:
            raise IndexError(at)
        return self[at]

    def __setitem__(self, at: int, record: Any) -> None:
        for name in self._names:
            setattr(self[at], name, copy(getattr(record, name)))

    def __len__(self) -> int:
        return len(self._array)

    def write_back(self) -> None:
        self._array[[*self]] = [*map(self._values, self.values())]


def _as_records(item: Any, records: list[Records]) -> Any:
    """An argument with arrays of records, in tuples too, as ``Records``, which are added to ``records``."""
    if type(item) is tuple:
        return tuple(_as_records(part, records) for part in item)
    if not getattr(item, "shape", None) or item.dtype.names is None:  # also a single record
        return item
    records.append(Records(item))
    return records[-1]


@cache
def _record(names: tuple[str, ...]) -> type:
    return make_dataclass("Record", names, slots=True)


def _boards(column: Any) -> list[Any]:
    """Boards stay unsigned, so that a complement is not negative."""
    return list(column) if column.ndim == 1 else list(map(list, column))


_numbers = methodcaller("tolist")


def _described(item: Any) -> str:
    """A text that tells a constant, or whatever else a kernel reads, from others."""
    if hasattr(item, "tobytes"):
        return f"{item.dtype} {item.shape} {item.tobytes()!r}"
    if hasattr(item, "__qualname__"):
        return f"{item.__module__}.{item.__qualname__} {getattr(item, '_fields', '')}"
    return repr(item) if isinstance(item, (int, float, str, tuple)) else type(item).__name__
