"""Learners by name; the file of each is loaded when it is first asked for.

Besides the built-in learners there are those of plug-ins, and of Python files named in the call
(``FILE.py:CLASS``), which are known during that call.
"""

import re
from dataclasses import Field, fields, is_dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ttt_cli.errors import UsageError, did_you_mean
from ttt_cli.user_code import LEARNER_PLUGINS, load_object, plugin

if TYPE_CHECKING:
    from ttt_cli.learners.base import Learner


LEARNERS = {
    "graph": "a graph of seen positions, scored by discounted back-up",
    "td": "values of positions for each side: real-time dynamic programming; with the preset, TD learning",
    "book": "an experience book of moves and how their games ended",
    "q": "values of moves: real-time dynamic programming; with the preset, Q-learning (Watkins, 1989)",
    "menace": "matchboxes and beads (Michie, 1961)",
    "ntuple": "an n-tuple network, for boards that no table holds",
}
"""The built-in learners: their ``Learner.title`` in lower case, by the name of the learner and of its file.
Adding one takes a line here, and nothing else outside its file."""

_PLAYERS = {"random", "heuristic", "minimax", "search", "human", "exec", "py"}
RESERVED = {*_PLAYERS, "easy", "medium", "hard", "self"}
"""The names of other players, which a learner cannot have."""

OFFERED: "dict[str, type[Learner[Any]]]" = {}
"""The learners from outside that this call uses, by name."""


def learner_class(name: str) -> "type[Learner[Any]]":
    """The learner of that name: built-in, named by its file in this call, or a plug-in's.

    :raises UsageError: if there is none.
    :raises TttError: if the plug-in cannot be used.
    """
    if name in LEARNERS:
        items = vars(import_module(f"ttt_cli.learners.{name}")).values()
        return next(item for item in items if isinstance(item, type) and getattr(item, "name", None) == name)
    if name in OFFERED:
        return OFFERED[name]
    learner = plugin(LEARNER_PLUGINS, name, plugin_learner)
    if learner is None:
        near = did_you_mean(name, LEARNERS)
        built_in = f"built in: {', '.join(LEARNERS)}"
        hint = (
            near or f"{built_in}; load(FILE) reads a state, load(FILE, learner=CLASS) one of your own class"
        )
        cli_hint = near or f"{built_in}; for a learner of your own, add --learner FILE.py:CLASS"
        if name.endswith(".py") and not near:
            cli_hint = f"{name}:CLASS names a class in a file"
        raise UsageError(f"no learner is called {name!r}", hint=hint, cli_hint=cli_hint)
    return learner


def learner_of(named: "str | type[Learner[Any]]", choice: str) -> "Learner[Any]":
    """A learner by name or class, with the article's parameters if that is the choice rule.

    :raises UsageError: if there is no such learner, or it has no such choice rule.
    """
    kind = learner_class(named) if isinstance(named, str) else named
    if choice == "article" and choice not in kind.choices:
        raise UsageError(f"{kind.name} has no article preset", hint="leave it out")
    return kind.from_params(**kind.article) if choice == "article" else kind.from_params(choice=choice)


def plugin_learner(name: str, kind: Any) -> "type[Learner[Any]]":
    """The learner of a plug-in.

    :raises UsageError: if it is not a learner, or has another name.
    """
    learner = checked(kind, name)
    if learner.name != name:
        raise UsageError(f"the plug-in's learner is called {learner.name!r}", where=name)
    return learner


def checked(kind: Any, where: str = "") -> "type[Learner[Any]]":
    """A class from outside, checked to be a learner.

    :raises UsageError: if it is not one, or cannot have its name.
    """
    from ttt_cli.learners.base import Learner

    if not (isinstance(kind, type) and issubclass(kind, Learner)):
        hint = "its class is meant" if isinstance(kind, Learner) else "subclass ttt_cli.PlainLearner"
        raise UsageError("is not a Learner class", where=where, hint=hint)
    missing = sorted(getattr(kind, "__abstractmethods__", ()))
    if missing:
        raise UsageError(f"does not define {', '.join(missing)}", where=where)
    bare_fields = [name for name, value in vars(kind).items() if isinstance(value, Field)]
    if bare_fields:
        fault = f"the parameter {bare_fields[0]} needs @dataclass(frozen=True) above the class"
        raise UsageError(fault, where=where)
    declared: tuple[Field[Any], ...] = fields(kind) if is_dataclass(kind) else ()
    plain = float | int | str | None
    if other := [item.name for item in declared if not isinstance(item.default, plain)]:
        fault = f"the parameter {other[0]} needs a default: a number, true or false, a text, or None"
        raise UsageError(fault, where=where)
    name = getattr(kind, "name", None)
    if not re.fullmatch(r"[a-z][a-z0-9_-]{0,30}", str(name)) or name in RESERVED or name in LEARNERS:
        hint = "lowercase letters, digits, - and _, and not the name of another player"
        raise UsageError(f"{kind.__name__} cannot have the name {name!r}", where=where, hint=hint)
    if not (type(kind.kernel_version) is int and 1 <= kind.kernel_version < 1 << 63):
        raise UsageError(f"{kind.__name__}.kernel_version must be a positive integer", where=where)
    return kind


def offer(kind: "type[Learner[Any]]") -> "type[Learner[Any]]":
    """Make a learner known by its name from now on; returns it."""
    OFFERED[kind.name] = kind
    return kind


def offer_file(argument: str) -> "type[Learner[Any]]":
    """Run the file that ``FILE.py:CLASS`` names, once in a call, and make its learner known from then on.

    :raises UsageError: if it is not a learner, or cannot have its name, as another of this call has it.
    :raises InvalidFileError: if the file cannot be run.
    """
    earlier = next((kind for kind in OFFERED.values() if kind.given_as == argument), None)
    learner = earlier or checked(load_object(argument, "such as ./mine.py:MyLearner"), argument)
    if given_as(learner.name) not in (learner.name, argument):
        what = f"is called {learner.name}, as is {given_as(learner.name)}"
        raise UsageError(what, where=argument, hint="give one of them another name")
    learner.given_as = argument
    return offer(learner)


def given_as(name: str) -> str:
    """The ``FILE.py:CLASS`` by which a learner was named, or its name."""
    if name not in OFFERED:
        return name
    return OFFERED[name].given_as or name


def learner_options(*names: str) -> list[str]:
    """The words that name learners from files in suggested commands."""
    return [word for name in names if given_as(name) != name for word in ("--learner", given_as(name))]
