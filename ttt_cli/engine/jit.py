"""The link to Numba: compiles the functions of a kernel together, and loads what an earlier process compiled.

All that depends on Numba's internals stands here. A new version of Numba is checked by
``tests/engine/test_kernel.py``. Compiled code lies in files of the user's cache, named by a digest of
everything it is made of. Loading it means running it, so a folder that others own or may write to is not
used.
"""

import errno
import os
import pickle
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from functools import cache
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from types import FunctionType, SimpleNamespace
from typing import Any

from ttt_cli.errors import notices

SLOW = "kernels run uncompiled, about a hundred times slower"
OPTIONS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, "_nrt": False}
"""Kernels never divide by zero, allocate nothing, and only Python calls them."""


def unavailable() -> str:
    """Why Numba cannot compile kernels; empty if it can."""
    from concurrent.futures import ThreadPoolExecutor

    try:
        with suppress(RuntimeError), ThreadPoolExecutor(1) as loader:  # where no Ctrl-C leaves it half loaded
            loader.submit(import_module, "numba").result()
        import numba
    except ImportError:
        return f"Numba is not installed: {SLOW}"
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        return f"Numba is switched off (NUMBA_DISABLE_JIT): {SLOW}"
    numba.config.DISABLE_JIT = 0  # Numba may have been loaded while it was switched off
    return ""


def compiled_kernel(
    function: FunctionType, name: str, digest: str, compiling: Callable[[], AbstractContextManager[None]]
) -> Callable[..., Any]:
    """A function for Python to call, compiled or loaded at its first call.

    :param digest: of all that the code depends on besides Numba, the processor and argument types.
    :param compiling: a context for the time in which it is compiled.
    """
    import numba
    from numba.core.compiler import CompileResult
    from numba.core.serialize import dumps

    dispatcher = numba.njit(**OPTIONS)(function)

    def load_overload(signature: Any, context: Any) -> Any:
        """The code for a signature: what is missing is compiled, and kept if possible."""
        types = [(str(kind), getattr(kind, "fields", ())) for kind in signature]
        options = f"{numba.__version__} {OPTIONS} {digest}"
        made_of = sys.version, context.codegen().magic_tuple(), options, types
        file = f"{name}-{sha256(repr(made_of).encode()).hexdigest()[:16]}"
        try:
            code = (_folder() / file).read_bytes()
            return CompileResult._rebuild(context, *pickle.loads(code))
        except Exception as error:  # a damaged file can raise anything
            notices.debug("no compiled code is loaded from %s: %r", file, error)
        with compiling():
            context.refresh()  # loads all that the compiler needs, but compiled code does not
            compiled = dispatcher._compiler.compile(signature, None)
        _keep(file, dumps(compiled._reduce()))
        return compiled

    dispatcher._cache = SimpleNamespace(load_overload=load_overload)  # all that Numba asks of it
    return dispatcher


def compiled_part(function: FunctionType) -> Any:
    """A function that only compiled code calls, compiled with the kernel that calls it."""
    import numba

    options = {**OPTIONS, "no_cpython_wrapper": True, "pipeline_class": _part_compiler()}
    dispatcher = numba.njit(**options)(function)
    template = dispatcher.get_call_template
    # A literal among the arguments would make a signature of its own.
    dispatcher.get_call_template = lambda types, named: template([*map(numba.types.unliteral, types)], named)
    return dispatcher


@cache
def _part_compiler() -> Any:
    """A compiler whose code is only linked into kernels: it is not optimised, as the whole kernel is, nor
    made into machine code, which took a fifth of the time of compiling the solver."""
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import Compiler

    class PartLibrary(JITCodeLibrary):  # type: ignore[misc]
        def _optimize_final_module(self) -> None:
            pass

        def _finalize_final_module(self) -> None:
            self._finalized = True

        @property
        def codegen(self) -> Any:
            return self

        def set_env(self, name: str, environment: Any) -> None:
            """Machine code alone has one."""

    class PartCompiler(Compiler):  # type: ignore[misc]
        def define_pipelines(self) -> Any:
            self.state.library = PartLibrary(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
            return super().define_pipelines()

    return PartCompiler


def _keep(name: str, code: bytes) -> None:
    """Keep compiled code if possible."""
    try:
        folder = _folder()
        temporary = folder / f"{name}.{os.getpid()}"
        try:
            temporary.write_bytes(code)
            temporary.replace(folder / name)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        _say_once(f"compiled code cannot be kept ({where}{error.strerror})")


@cache
def _say_once(why: str) -> None:
    notices.info("%s; NUMBA_CACHE_DIR=FOLDER names another folder", why)


def _folder() -> Path:
    """The folder ``ttt`` in NUMBA_CACHE_DIR or the user's cache; never in the working folder.

    :raises OSError: if it cannot be made, or others own it or may write to it.
    """
    user = os.path.expanduser("~/.cache")  # noqa: PTH111 (Path raises an error where there is no home)
    caches = os.environ.get("NUMBA_CACHE_DIR", ""), os.environ.get("XDG_CACHE_HOME", ""), user
    absolute = [*filter(os.path.isabs, caches)]
    if not absolute:
        raise OSError(errno.ENOENT, "HOME is not an absolute path", user)
    folder = Path(absolute[0], "ttt")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = folder.stat()
    if status.st_uid != os.geteuid() or status.st_mode & 0o022:
        raise OSError(errno.EPERM, "others own the folder, or may write there", str(folder))
    return folder
