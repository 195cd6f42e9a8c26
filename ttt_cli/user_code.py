"""Other people's code in this process: plug-ins, and players and learners in files that the user names.

Plug-ins register players, formats and learners as entry points. They are loaded only if nothing built in has
the name or reads the file, and for the lists of ``ttt show``. A file is run only if the user has typed
``PATH.py:NAME``, never because another file names it. What such code prints while it is loaded goes to
stderr, and whatever it raises, ``sys.exit`` included, becomes a message of one line.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from functools import cache
from pathlib import Path
from threading import RLock
from types import ModuleType
from typing import Any, TypeVar

from ttt_cli.errors import InvalidFileError, TttError, UsageError, did_you_mean

AGENT_PLUGINS = "ttt_cli.agents"
"""The entry points of players, of type ``AgentType``."""
FORMAT_PLUGINS = "ttt_cli.formats"
"""The entry points of formats, of type ``Format``."""
LEARNER_PLUGINS = "ttt_cli.learners"
"""The entry points of learners, subclasses of ``Learner``."""

T = TypeVar("T")

_loading = RLock()
"""Held while stdout is redirected, which threads share."""

_files: set[Path] = set()
"""The files and package folders of such code, to tell whose fault an error is."""

_neighbours: set[str] = set()
"""The modules that such files import from their own folders; other folders may have the same names."""


def is_ours(value: object) -> bool:
    """Whether the class of an object belongs to this package."""
    return type(value).__module__.startswith("ttt_cli.")


def place_at_fault(error: BaseException) -> tuple[Path, int | None] | None:
    """Return the last place, a file and a line, of an error's traceback in other people's code."""
    from traceback import extract_tb

    places = [(Path(frame.filename), frame.lineno) for frame in extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError):
        places.append((Path(error.filename or ""), error.lineno))
    for path, line in reversed(places):
        if not _files.isdisjoint({path, *path.parents}):
            return path, line
    return None


def describe_error(error: BaseException) -> str:
    """Describe an error in one line, with its place in other people's code."""
    if isinstance(error.__cause__, StopIteration):  # of a ``next`` that found nothing, inside our generator
        error = error.__cause__
    try:
        text = " ".join(str(error.msg if isinstance(error, SyntaxError) else error).split())
    except Exception:  # __str__ is other people's code too
        text = ""
    place = place_at_fault(error)
    where = f" in line {place[1]} of {place[0]}" if place else ""
    return f"{type(error).__name__}{': ' if text else ''}{text}{where}"


@contextmanager
def guarded(where: str, failed: str, kind: type[TttError] = TttError) -> Iterator[None]:
    """Run other people's code.

    :param failed: what precedes the description of an error in the message.
    :raises TttError: of this ``kind``, if the code raises anything but a TttError or KeyboardInterrupt.
    """
    try:
        yield
    except (TttError, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise kind(f"{failed}{describe_error(error)}", where=where) from error


@cache
def installed() -> Any:
    """All entry points, of every package, as they are when they are first asked for: searching is slow."""
    from importlib.metadata import entry_points

    return entry_points()


def plugin(group: str, name: str, convert: Callable[[str, Any], T]) -> T | None:
    """The entry point with this name; None if there is none.

    :param convert: turns the name and the loaded object into the result; raises TttError if it is unsuitable.
    :raises TttError: also if it cannot be loaded.
    """
    if (point := next(iter(installed().select(group=group, name=name)), None)) is None:
        return None
    failed = f"the plug-in {point.value} cannot be loaded: "
    with _loading, guarded(name, failed), redirect_stdout(sys.stderr):
        loaded = point.load()
    if not point.module.startswith("ttt_cli."):
        package = getattr(sys.modules.get(point.module.partition(".")[0]), "__file__", None)
        _files.add(Path(str(package or point.module).removesuffix("__init__.py")))
    return convert(name, loaded)


def plugins(group: str, convert: Callable[[str, Any], T]) -> Iterator[T]:
    """All entry points of a group by their names, without those that fail."""
    for name in sorted(installed().select(group=group).names):
        with suppress(TttError):
            if (member := plugin(group, name, convert)) is not None:
                yield member


def split_name(argument: str, example: str) -> tuple[Path, str]:
    """Split ``PATH.py:NAME``.

    :raises UsageError: if a part is missing.
    """
    path, colon, name = argument.rpartition(":")
    if not (colon and path and name.isidentifier()):
        raise UsageError(f"{argument!r} is not PATH.py:NAME", hint=example)
    return Path(path), name


def load_object(argument: str, example: str) -> Any:
    """Run a file and return the object that ``PATH.py:NAME`` names.

    :raises UsageError: if there is no such name.
    :raises InvalidFileError: if the file cannot be run.
    """
    path, name = split_name(argument, example)
    try:
        if path.exists() and not path.is_file():  # a pipe or a device may have no end
            raise InvalidFileError("is not a regular file", where=str(path), hint=example)
        source = path.read_bytes()
    except OSError as error:
        raise InvalidFileError(str(error.strerror).lower(), where=str(path), hint=example) from None
    module = ModuleType(f"ttt_player_{path.stem}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module  # dataclasses and pickle need it there
    _files.add(path)
    folder = str(path.parent.resolve())
    with _loading:
        for neighbour in _neighbours:
            sys.modules.pop(neighbour, None)
        before = {*sys.modules}
        sys.path.insert(0, folder)  # as for a script
        try:
            with guarded(str(path), "", InvalidFileError), redirect_stdout(sys.stderr):
                exec(compile(source, str(path), "exec"), module.__dict__)
        finally:
            with suppress(ValueError):  # the file may have removed it itself
                sys.path.remove(folder)
            with suppress(OSError):  # the folder cannot be listed
                stems = {neighbour.stem for neighbour in Path(folder).iterdir()}
                imported = {*sys.modules} - before
                _neighbours.update(each for each in imported if each.partition(".")[0] in stems)
    with guarded(argument, "raised "):
        if hasattr(module, name):
            return getattr(module, name)
        public = [key for key in vars(module) if not key.startswith("_")]
    raise UsageError(f"has no {name!r}", where=str(path), hint=did_you_mean(name, public))
