"""The methods of learning by name; each file is loaded when its learner is first asked for.

Besides those that are built in there are those of plug-ins, and those of Python files that were typed
(``FILE.py:CLASS``), which count for the call they were typed in.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ttt_cli.errors import TttError, UsageError, did_you_mean
from ttt_cli.guests import LEARNERS as PLUGGED
from ttt_cli.guests import named_in, plugin, plugin_names

if TYPE_CHECKING:
    from ttt_cli.learners.base import Learner


LEARNERS = {
    "graph": "a graph of seen positions, scored by discounted back-up",
    "td": "values of positions, a table for each side (TD)",
    "book": "an experience book of moves and how their games ended",
    "q": "values of moves (Q-learning)",
    "menace": "Michie's matchboxes and beads (1961)",
    "ntuple": "an n-tuple network, for boards that no table holds",
}
"""All learners: the method in a few words, by the name of the learner and of its file. Whoever adds one adds
a line here, and nothing else outside its file."""

EXAMPLE = "such as ./mine.py:MyLearner"

REMEDY = "install the plug-in that has it, or name its file: --learner FILE.py:CLASS"
"""Where a learner is not found."""

_PLAYERS = {"random", "heuristic", "minimax", "search", "human", "exec", "py"}
RESERVED = {*_PLAYERS, "easy", "medium", "hard", "self"}
"""The players without a file: a learner of such a name could not be called."""

_typed: ContextVar[Mapping[str, "type[Learner[Any]]"]] = ContextVar("_typed", default=MappingProxyType({}))


def learner_class(name: str) -> "type[Learner[Any]]":
    """The learner of that name: built in, typed in this call, or of a plug-in.

    :raises UsageError: if there is none.
    :raises TttError: if it is a plug-in's that cannot be used.
    """
    if name in LEARNERS:
        items = vars(import_module(f"ttt_cli.learners.{name}")).values()
        return next(item for item in items if isinstance(item, type) and getattr(item, "name", None) == name)
    if name in _typed.get():
        return _typed.get()[name]
    plugged = plugin(PLUGGED, name, type)
    if plugged is None:
        hint = did_you_mean(name, LEARNERS) or f"there are {', '.join(LEARNERS)}, and FILE.py:CLASS"
        raise UsageError(f"no learner is called {name!r}", hint=hint)
    found = checked(plugged, name)
    if found.name != name:
        raise UsageError(f"the plug-in's learner is called {found.name!r}", where=name)
    return found


def plugged_learners() -> "list[type[Learner[Any]]]":
    """Those of plug-ins that can be used, by name."""
    found = []
    for name in sorted({*plugin_names(PLUGGED)} - {*LEARNERS}):
        with suppress(TttError):
            found.append(learner_class(name))
    return found


def is_learner(name: str) -> bool:
    """Whether there is a learner of that name; nothing of a plug-in is loaded."""
    known = name in LEARNERS or name in _typed.get()
    return known or name in plugin_names(PLUGGED)


def is_name(name: Any) -> bool:
    """Whether a learner may be called so."""
    return isinstance(name, str) and re.fullmatch(r"[a-z][a-z0-9_-]{0,30}", name) is not None


def from_file(argument: str) -> "type[Learner[Any]]":
    """The learner that ``FILE.py:CLASS`` names.

    :raises UsageError: if it names no learner, or one that takes a name it must not.
    :raises InvalidFileError: if the file cannot be run.
    """
    found = checked(named_in(argument, EXAMPLE)[0], argument)
    found.typed = argument
    return found


def checked(found: Any, where: str = "") -> "type[Learner[Any]]":
    """A class from outside, if it is a learner.

    :raises UsageError: if it is not, or it takes a name that is taken.
    """
    from ttt_cli.learners.base import Learner

    if not (isinstance(found, type) and issubclass(found, Learner)):
        kind = "is not a Learner" if isinstance(found, type) else f"is {type(found).__name__}, not a class"
        raise UsageError(kind, where=where, hint="subclass ttt_cli.PlainLearner")
    missing = sorted(getattr(found, "__abstractmethods__", ()))
    if missing:
        raise UsageError(f"does not define {', '.join(missing)}", where=where)
    name = getattr(found, "name", None)
    if not is_name(name) or name in RESERVED or name in LEARNERS:
        taken = "is taken" if is_name(name) else "is not a name of small letters and digits"
        raise UsageError(f"the name {name!r} of {found.__name__} {taken}", where=where)
    if not isinstance(found.title, str):
        raise UsageError(f"title is {found.title!r}, not a text", where=where)
    for attribute in ("block_games", "shard_games", "default_games", "kernel_version"):
        number = getattr(found, attribute)
        if not (type(number) is int and 0 < number < 1 << 53):
            raise UsageError(f"{attribute} is {number!r}, not a whole number from 1", where=where)
    if not (isinstance(found.choices, tuple) and {"default"} <= {*found.choices}):
        raise UsageError(f"choices are {found.choices!r}, without 'default'", where=where)
    return found


def offer(kind: "type[Learner[Any]]") -> str:
    """Let a learner be found by its name for the rest of this call; returns the name."""
    _typed.set({**_typed.get(), kind.name: kind})
    return kind.name


def offer_file(argument: str) -> str:
    """Let the learner that ``FILE.py:CLASS`` names be found for the rest of this call; returns its name.

    :raises TttError: as ``from_file``; a file that was run for this call is not run again.
    """
    known = (name for name, kind in _typed.get().items() if kind.typed == argument)
    return next(known, None) or offer(from_file(argument))


@contextmanager
def offered(kind: "type[Learner[Any]] | None") -> Iterator[None]:
    """Let a learner be found by its name meanwhile."""
    token = _typed.set(_typed.get())
    try:
        if kind is not None:
            offer(kind)
        yield
    finally:
        _typed.reset(token)


def any_offered() -> bool:
    """Whether a learner from outside takes part in this call."""
    return not _typed.get().keys() <= LEARNERS.keys()


def typed_as(name: str) -> str:
    """How a learner was typed: ``FILE.py:CLASS``, or its name."""
    return (name in _typed.get() and _typed.get()[name].typed) or name
