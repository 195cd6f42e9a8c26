"""Kernels: plain Python functions over arrays that Numba compiles when they are first needed.

A kernel may call functions that are marked as a ``Part``, and can be composed with others in their place.
Compiled code is kept in a folder named after a digest of all it is made of, so that a change to any of it is
noticed. Where Numba is missing or switched off the plain functions run instead: slower, the same bytes.
"""

import logging
import os
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from functools import cache
from hashlib import sha256
from pathlib import Path
from threading import Lock
from types import FunctionType
from typing import Any, ClassVar, Self

from ttt_cli.engine.code_cache import code_folder, unkept

log = logging.getLogger("ttt_cli")

OPTIONS = {"nogil": True, "error_model": "numpy"}
"""Kernels divide by nothing that can be zero: no need to check."""

UNWRAPPED = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Only compiled code calls parts: what would make them callable from elsewhere need not be compiled."""

u32 = int
"""In compiled code ``numpy.uint32``; as written Python's own numbers do, several times as fast."""


@contextmanager
def _logged(name: str, seconds: float) -> Iterator[None]:
    log.info("compiling %s, once, about %.0f s", name, seconds)
    yield


announce: Callable[[str, float], AbstractContextManager[None]] = _logged
"""Entered before a kernel is compiled, with its name and about how many seconds that takes, and left
afterwards: a user interface replaces it by what it shows meanwhile."""

_as_written: ContextVar[bool] = ContextVar("_as_written", default=False)
_preparing = Lock()


@contextmanager
def as_written(wanted: bool = True) -> Iterator[None]:
    """Run kernels as they are written meanwhile."""
    token = _as_written.set(wanted)
    try:
        yield
    finally:
        _as_written.reset(token)


def few_games() -> AbstractContextManager[None]:
    """Run kernels as they are written meanwhile, unless Numba is there already: loading it takes longer than
    learning from a few games."""
    return as_written("numba" not in sys.modules)


@cache
def _warn(message: str) -> None:
    """Say it once."""
    log.warning(message)


class Part:
    """A decorator for a function that kernels call; called from elsewhere it runs as written."""

    inline = False

    def __init__(self, function: Callable[..., Any]) -> None:
        self.python = function
        self.__doc__ = function.__doc__

    def __call__(self, *arguments: Any) -> Any:
        return self.python(*arguments)

    def names(self, bound: dict[str, Any]) -> dict[str, Any]:
        """What it reads by a name from outside, ``bound`` in place of what its module has."""
        known = {**self.python.__globals__, **bound}
        return {name: known[name] for name in sorted(self.python.__code__.co_names) if name in known}

    def linked(self, bound: dict[str, Any], finish: "Finish", made: "dict[Part, Any]") -> Any:
        """A function as this one with other names bound, finished, and so its parts."""
        if self not in made:
            function, found = self.python, self.names(bound).items()
            parts = {name: item.linked(bound, finish, made) for name, item in found if isinstance(item, Part)}
            known = {**function.__globals__, **bound, **parts}
            made[self] = finish(
                FunctionType(function.__code__, known, function.__name__, None, function.__closure__), self
            )
        return made[self]

    def describe(self, bound: dict[str, Any], found: dict[str, str]) -> dict[str, str]:
        """All that its compiled code is made of: add to ``found`` its own code and that of its parts, and the
        constants that they read."""
        code = self.python.__code__
        name = f"{self.python.__module__}.{self.python.__qualname__}"
        if name not in found:
            constants = [item for item in code.co_consts if item != self.python.__doc__]
            values = {key: item for key, item in self.names(bound).items() if not isinstance(item, Part)}
            found[name] = repr((code.co_code, constants, code.co_names, code.co_varnames, self.inline))
            found[name] += "".join(f"\n{key} = {_described(item)}" for key, item in values.items())
            for item in self.names(bound).values():
                if isinstance(item, Part):
                    item.describe(bound, found)
        return found


class Inlined(Part):
    """A part that is written into each function that calls it: a call counts references to every array."""

    inline = True


Finish = Callable[[FunctionType, Part], Any]


class Kernel(Part):
    """A decorator: ``kernel(...)`` runs compiled code, ``kernel.python`` is the function as written.

    :ivar name: what it is called where it is said that it is compiled.
    :ivar seconds: about how long that takes.
    """

    seconds = 3.0
    options: ClassVar[dict[str, Any]] = OPTIONS

    def __init__(self, function: Callable[..., Any], **bound: Any) -> None:
        super().__init__(function)
        self.name, self._bound = function.__name__, bound
        self._compiled: Callable[..., Any] | None = None
        self._plain: Callable[..., Any] | None = None
        self._compiling = Lock()

    def composed(self, name: str, **bound: Any) -> Self:
        """The same kernel with other parts and constants for some of the names that it, or a part, reads.

        :param name: what it is called; no other composition may have that name.
        """
        composed = type(self)(self.python, **self._bound, **bound)
        composed.name = name
        return composed

    def __call__(self, *arguments: Any) -> Any:
        if _as_written.get():
            return self.run_as_written(*arguments)
        return self.compiled_call(*arguments)

    def compiled_call(self, *arguments: Any) -> Any:
        """Run compiled code even where the games are few."""
        if self._compiled is None:
            return self._first_call(*arguments)
        return self._compiled(*arguments)

    def run_as_written(self, *arguments: Any) -> Any:
        """Run the plain function; it sees arrays of records as plain objects."""
        import numpy as np

        if self._plain is None:
            self._plain = self.linked(self._bound, lambda function, _: function, {})
        records = [
            Records(item) if isinstance(item, np.ndarray) and item.dtype.names else item for item in arguments
        ]
        with np.errstate(over="ignore"):  # integers wrap in compiled code
            result = self._plain(*records)
        for item in records:
            if isinstance(item, Records):
                item.write_back()
        return result

    def _first_call(self, *arguments: Any) -> Any:
        """Compile or load, and run; of several threads one does it, and the others wait."""
        with self._compiling:
            if self._compiled is None:
                compiled = self._prepared()
                kept = getattr(compiled, "_cache", None)
                try:
                    result = compiled(*arguments)
                finally:
                    if kept is not None:
                        kept.done()
                self._compiled = compiled
                return result
        return self._compiled(*arguments)

    def _prepared(self) -> Callable[..., Any]:
        """What to run."""
        try:
            numba = _import_numba()
        except ImportError:
            _warn("Numba is not installed: kernels run uncompiled, some hundred times slower")
            return self.run_as_written
        if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
            _warn("Numba is switched off (NUMBA_DISABLE_JIT): kernels run uncompiled, much slower")
            return self.run_as_written
        import numpy as np

        bound = {**self._bound, "u32": np.uint32}
        found = sorted(self.describe(bound, {}).items())
        digest = sha256(repr((numba.__version__, sorted(self.options.items()), found)).encode()).hexdigest()
        with _preparing:  # Numba's settings hold for the whole process
            numba.config.DISABLE_JIT = 0
            folder = code_folder(f"{self.name}-{digest[:16]}")
            if folder is not None:
                numba.config.CACHE_DIR = str(folder)

            def finish(function: FunctionType, part: Part) -> Any:
                if part is not self:
                    return numba.njit(forceinline=part.inline, **UNWRAPPED, **self.options)(function)
                function.__name__ = function.__qualname__ = self.name
                function.__module__ = self.python.__module__
                try:
                    return numba.njit(cache=folder is not None, no_cfunc_wrapper=True, **self.options)(
                        function
                    )
                except RuntimeError as error:  # Numba cannot write there
                    unkept(error)
                    return numba.njit(no_cfunc_wrapper=True, **self.options)(function)

            compiled = self.linked(bound, finish, {})
            compiled._cache = _Kept(compiled._cache, folder, lambda: announce(self.name, self.seconds))
        return compiled


class AllocatesNothing(Kernel):
    """A kernel that allocates nothing: references to arrays are not counted, which took half of its time."""

    options: ClassVar[dict[str, Any]] = {**OPTIONS, "_nrt": False}


class _Kept:
    """Numba's store of one kernel's compiled code, which a damaged file does not stop, nor a full disk."""

    def __init__(
        self, inner: Any, folder: Path | None, begin: Callable[[], AbstractContextManager[None]]
    ) -> None:
        self._inner, self._folder, self._begin = inner, folder, begin
        self._shown: AbstractContextManager[None] | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def load_overload(self, signature: Any, context: Any) -> Any:
        """The code that is kept for a signature; None, once it has been said, if it is to be compiled."""
        try:
            found = self._inner.load_overload(signature, context)
        except Exception:  # whatever unpickling makes of a damaged file
            shutil.rmtree(self._folder or "", ignore_errors=True)
            found = None
        if found is None:
            self._shown = self._begin()
            self._shown.__enter__()
        return found

    def save_overload(self, signature: Any, data: Any) -> None:
        """Keep the code that was compiled for a signature, if that can be done."""
        try:
            self._inner.save_overload(signature, data)
        except OSError as error:
            unkept(error)
        self.done()

    def done(self) -> None:
        """It is compiled, or will not be."""
        shown, self._shown = self._shown, None
        if shown is not None:
            shown.__exit__(None, None, None)


class Records(dict[int, Any]):
    """Those records of an array that have been needed, as plain objects, by their numbers."""

    def __init__(self, array: Any) -> None:
        super().__init__()
        self._array, self._names = array, array.dtype.names
        self._kind = type("Record", (), {"__slots__": self._names})
        bases = [(name, array.dtype[name].base) for name in self._names]
        self._bits = {name: base.type for name, base in bases if base.str.endswith("u8")}

    def __missing__(self, at: int) -> Any:
        return self._put(at, self._array[at].tolist())

    def __setitem__(self, at: int, record: Any) -> None:
        self._put(at, [getattr(record, name) for name in self._names])

    def _put(self, at: int, values: Any) -> Any:
        record = self._kind()
        for name, value in zip(self._names, values, strict=True):
            pair = not isinstance(value, (int, float)) and not hasattr(value, "dtype")
            found = value.tolist() if hasattr(value, "tolist") else [*value] if pair else value
            if bits := self._bits.get(name):  # whose complement is no negative number
                found = [bits(part) for part in found] if isinstance(found, list) else bits(found)
            setattr(record, name, found)
        super().__setitem__(at, record)
        return record

    def __len__(self) -> int:
        return len(self._array)

    def write_back(self) -> None:
        """Put them into the array."""
        for at, record in self.items():
            self._array[at] = tuple(getattr(record, name) for name in self._names)


def _described(item: Any) -> str:
    """A constant, or what else a kernel reads, so that another is described differently."""
    fields = getattr(item, "_fields", None)
    if isinstance(item, type) or callable(item):
        return (
            f"{item.__module__}.{item.__qualname__} {fields}" if hasattr(item, "__qualname__") else repr(item)
        )
    if hasattr(item, "tobytes"):
        return f"{item.dtype} {item.shape} {item.tobytes()!r}"
    return repr(item) if isinstance(item, (int, float, str, tuple)) else type(item).__name__


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
