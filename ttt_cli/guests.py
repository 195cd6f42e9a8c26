"""Other people's code in this process: plug-ins, and players and learners in files that the user names.

Plug-ins name players, formats and learners by entry points. They are looked for only where nothing built in
goes by a name or reads a file, and in what ``ttt show`` lists. Of files only what was typed is run,
``PATH.py:NAME``: nothing that a state, a log or any other file says comes here. What such code prints goes to
stderr, and whatever it raises is one line, ``sys.exit`` included.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from ttt_cli.errors import InvalidFileError, Stopped, TttError, UsageError, did_you_mean

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

AGENTS = "ttt_cli.agents"
"""The group of players: each an ``AgentType``, under the name it goes by."""
FORMATS = "ttt_cli.formats"
"""The group of formats: each a ``Format``."""
LEARNERS = "ttt_cli.learners"
"""The group of learners: each a subclass of ``Learner``, under its own name."""

T = TypeVar("T")

_files: set[str] = set()
"""The files, and the folders of packages, that such code is in: an error from there is not ours."""


def is_ours(found: object) -> bool:
    """Whether an object is of a class of this package."""
    return type(found).__module__.startswith("ttt_cli.")


def at_fault(error: BaseException) -> Path | None:
    """The file of other people's code that an error went through last."""
    from traceback import extract_tb

    files = [Path(frame.filename) for frame in extract_tb(error.__traceback__)]
    known = (path for path in reversed(files) if not _files.isdisjoint({str(path), *map(str, path.parents)}))
    return next(known, None)


def described(error: BaseException, path: Path | None = None) -> str:
    """An error in one line, with the line of the file at ``path`` that it comes from."""
    from traceback import extract_tb

    try:
        text = " ".join(str(error).split())
    except Exception:  # it is other people's code too
        text = ""
    lines = [frame.lineno for frame in extract_tb(error.__traceback__) if frame.filename == str(path)]
    if isinstance(error, SyntaxError) and error.filename == str(path):
        lines, text = [error.lineno], error.msg
    place = f" in line {lines[-1]} of {path}" if lines else ""
    return f"{type(error).__name__}{': ' * bool(text)}{text}{place}"


@contextmanager
def guest(
    where: str, failed: str, kind: type[TttError] = TttError, path: Path | None = None
) -> Iterator[None]:
    """Run other people's code. A process that it forks ends with it, and does nothing of ours twice.

    :param failed: what has happened, if it raises an error, whose description follows.
    :param path: of its file, whose line the message is to give.
    :raises TttError: of this ``kind``.
    """
    process = os.getpid()
    try:
        with redirect_stdout(sys.stderr):
            yield
    except (Stopped, TttError):  # the user's wish to end, and what is one line already
        raise
    except BaseException as error:
        raise kind(f"{failed}{described(error, path or at_fault(error))}", where=where) from error
    finally:
        if os.getpid() != process:
            os._exit(1)


def plugin(group: str, name: str, kind: type[T]) -> T | None:
    """What some distribution offers under a name, None if there is nothing.

    :raises TttError: if it cannot be loaded, or is of another kind.
    """
    for point in _offered(group, tuple(sys.path)):
        if point.name != name:
            continue
        with guest(name, f"the plug-in {point.value} cannot be loaded: "):
            found = point.load()
        if not point.module.startswith("ttt_cli."):
            whole = getattr(sys.modules.get(point.module.partition(".")[0]), "__file__", None)
            _files.add(str(whole or point.module).removesuffix(f"{os.sep}__init__.py"))
        if not isinstance(found, kind):
            kinds = f"{type(found).__name__}, not {kind.__name__}"
            raise TttError(f"the plug-in {point.value} is {kinds}", where=name, hint=f"see {group}")
        return found
    return None


def plugins(group: str, kind: type[T]) -> Iterator[T]:
    """Everything of a kind that can be loaded, by name."""
    for name in plugin_names(group):
        with suppress(TttError):
            found = plugin(group, name, kind)
            if found is not None:
                yield found


def plugin_names(group: str) -> list[str]:
    """What distributions offer, by name; nothing of it is loaded."""
    return sorted({point.name for point in _offered(group, tuple(sys.path))})


@cache
def _offered(group: str, path: tuple[str, ...]) -> "tuple[EntryPoint, ...]":
    """What distributions on Python's path offer: asking them all takes milliseconds."""
    from importlib.metadata import entry_points

    return tuple(entry_points(group=group))


def split(argument: str, example: str = "") -> tuple[Path, str]:
    """The path and the name in ``PATH.py:NAME``.

    :raises UsageError: if one is missing.
    """
    path, colon, name = argument.rpartition(":")
    if not (colon and path and name.isidentifier()):
        raise UsageError(f"{argument!r} does not say which file and what in it", hint=example)
    return Path(path), name


def named_in(argument: str, example: str = "") -> tuple[Any, Path]:
    """What ``PATH.py:NAME`` names, and the path. The file is run anew; beside it nothing is written.

    :raises UsageError: if the argument names nothing.
    :raises InvalidFileError: if the file cannot be run.
    """
    path, name = split(argument, example)
    try:
        source = path.read_bytes()
    except OSError as error:
        raise InvalidFileError(error.strerror or "cannot be read", where=str(path), hint=example) from None
    module = ModuleType(f"ttt_player_{path.stem}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module  # dataclasses and pickle look there
    _files.add(str(path))
    folder = str(path.parent.resolve())
    sys.path.insert(0, folder)  # as for a script: it may import what lies beside it
    try:
        with guest(str(path), "", InvalidFileError, path):
            exec(compile(source, str(path), "exec"), module.__dict__)
    finally:
        sys.path.remove(folder)
    with guest(argument, "raised ", path=path):
        if hasattr(module, name):
            return getattr(module, name), path
    known = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
    hint = did_you_mean(name, known) or (f"it has {', '.join(known)}" if known else "")
    raise UsageError(f"has no {name!r}", where=str(path), hint=hint)
