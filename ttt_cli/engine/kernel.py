"""Kernels: plain Python functions over arrays, compiled by Numba (``engine.jit``) when they are first called.

A kernel may call functions marked as a ``Part``, whether global or in a variable of an enclosing function. A
recursive part must call itself with arguments of the same types: a second version could not be cached.
Kernels allocate nothing, so that compiled code need not count references, which took half of its time.
Compiled code is cached under a digest of everything it is made of. Without Numba the plain functions run,
slowly, to the same bytes.
"""

import sys
from collections.abc import Callable, Iterable, Iterator
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

from ttt_cli.engine import jit
from ttt_cli.errors import COMPILING, notices

UNLIMITED = 1 << 62
"""The limit of nodes of an unlimited search."""

u32 = int
"""``numpy.uint32`` in compiled code, where an index plus ``u32(1)`` keeps its type. Uncompiled code uses
Python's int, which is several times as fast."""


@contextmanager
def _logged(name: str) -> Iterator[None]:
    notices.info(COMPILING, name)
    yield


announce: Callable[[str], AbstractContextManager[None]] = _logged
"""A context manager for the time in which a kernel of this name is compiled; user interfaces replace it."""

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
    """Run kernels uncompiled unless Numba is loaded; loading it takes longer than learning a few games."""
    return uncompiled("numba" not in sys.modules)


@cache
def _warn(message: str) -> None:
    notices.warning(message)


class Part:
    """A decorator for a function that kernels call; called from Python it runs uncompiled."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.python = function
        self.__doc__ = function.__doc__

    def __call__(self, *arguments: Any) -> Any:
        return self.python(*arguments)


class Kernel(Part):
    """A decorator: ``kernel(...)`` runs compiled code, ``kernel.python`` is the function itself.

    :ivar name: the name under which it is announced and cached.
    """

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        super().__init__(function)
        self.name = name
        self._compiled: Callable[..., Any] | None = None
        self._preparing = Lock()

    def __call__(self, *arguments: Any) -> Any:
        if _uncompiled.get():
            return self.run_uncompiled(*arguments)
        if self._compiled is None:
            with self._preparing:
                self._compiled = self._compiled or self._prepared()
        return self._compiled(*arguments)

    def run_uncompiled(self, *arguments: Any) -> Any:
        """Run the plain function, with arrays of records as plain objects."""
        copied: list[Records] = []
        with np.errstate(over="ignore"):  # integers wrap in compiled code
            result = self.python(*_as_records(arguments, copied))
        for records in copied:
            records.write_back()
        return result

    def _linked(self) -> dict[Part, Any]:
        """The kernel and all parts that it needs, itself first, as functions to compile."""
        linked: dict[Part, Any] = {}

        def link(part: Part) -> Any:
            if part not in linked:
                python = part.python
                names = {**python.__globals__, "u32": np.uint32}
                closure = tuple(CellType(cell.cell_contents) for cell in python.__closure__ or ())
                function = FunctionType(python.__code__, names, python.__name__, None, closure)
                linked[part] = function if part is self else jit.compiled_part(function)
                for name in python.__code__.co_names:
                    if isinstance(names.get(name), Part):
                        names[name] = link(names[name])
                for cell in closure:
                    if isinstance(cell.cell_contents, Part):
                        cell.cell_contents = link(cell.cell_contents)
            return linked[part]

        link(self)
        return linked

    def _prepared(self) -> Callable[..., Any]:
        """The compiled code; without Numba, what runs uncompiled."""
        if reason := jit.unavailable():
            _warn(reason)
            return self.run_uncompiled
        linked = self._linked()
        return jit.compiled_kernel(linked[self], self.name, _digest(linked), lambda: announce(self.name))


def _digest(parts: Iterable[Part]) -> str:
    """A digest of the code and the constants of all parts."""
    digest = sha256()
    for part in parts:
        code = part.python.__code__
        variables = getclosurevars(part.python)
        values = [*variables.nonlocals.items(), *variables.globals.items()]
        constants = [item for item in values if isinstance(item[1], int | float | tuple | np.generic)]
        source = code.co_code, code.co_consts, code.co_names, code.co_varnames, constants
        digest.update(repr(source).encode())
    return digest.hexdigest()


def run_until(
    kernel: Kernel, arguments: tuple[Any, ...], state: Any, poll: Callable[[], bool] = lambda: False
) -> None:
    """Run a search in another thread, so that this one hears Ctrl-C.

    :param state: a record among the arguments whose field ``stop`` ends the kernel.
    :param poll: called first, ten times a second and at the end; returns whether to stop.
    """
    state.stop = True
    kernel(*arguments)  # compiles or loads it in this thread; returns almost at once, as ``stop`` is set
    state.stop = poll()
    with ThreadPoolExecutor(1) as executor:
        search = executor.submit(copy_context().run, kernel, *arguments)
        try:
            while wait([search], timeout=0.1).not_done:
                state.stop = poll()
        finally:
            state.stop = True
        search.result()
    poll()


class Records(dict[int, Any]):
    """An array of records as plain objects by index, each copied from the array when it is first needed."""

    def __init__(self, array: Any) -> None:
        super().__init__()
        self._array = array
        self._names = array.dtype.names
        self._type = _record_type(self._names)
        self._values = attrgetter(*self._names)

    def __missing__(self, index: int) -> Any:
        fields = self._array[index].item()
        values = (field.tolist() if hasattr(field, "tolist") else field for field in fields)
        return self.setdefault(index, self._type(*values))

    def __setitem__(self, index: int, record: Any) -> None:
        for name in self._names:
            setattr(self[index], name, copy(getattr(record, name)))

    def __len__(self) -> int:
        return len(self._array)

    def write_back(self) -> None:
        self._array[[*self]] = [*map(self._values, self.values())]


def _as_records(argument: Any, copied: list[Records]) -> Any:
    """An argument with its arrays of records, in tuples too, as ``Records``, added to ``copied``."""
    if type(argument) is tuple:
        return tuple(_as_records(part, copied) for part in argument)
    if getattr(argument, "dtype", None) is None or argument.dtype.names is None or not argument.shape:
        return argument  # a single record too, whose changes other threads see
    copied.append(Records(argument))
    return copied[-1]


@cache
def _record_type(names: tuple[str, ...]) -> type:
    return make_dataclass("Record", names, slots=True)
