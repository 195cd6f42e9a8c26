"""The subcommands of ``ttt train`` and ``ttt study``, one for each learner: those built in, those of plug-ins
by their names, and those of Python files as ``FILE.py:CLASS``."""

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ttt_cli.errors import InvalidFileError, UsageError
from ttt_cli.learners import (
    EXAMPLE,
    LEARNERS,
    REMEDY,
    Typed,
    from_file,
    is_learner,
    is_name,
    learner_class,
    offer,
)
from ttt_cli.shell.frame import Subcommands
from ttt_cli.shell.options import Spread, spread, with_options, with_parameters, with_value

if TYPE_CHECKING:
    from ttt_cli.learners.base import Learner

UNREAD = """A learner that is not built in.

Nothing of it is loaded for this help. Besides these options it has its own: the fields of its class.

Examples:
  ttt {command} {name}
"""


def learner_commands(
    command: str,
    doc: str,
    function: Callable[..., Any],
    options: type,
    help_of: "Callable[[type[Learner[Any]], str], str]",
) -> Subcommands:
    """The family of a command.

    :param function: takes ``learner``, its name; ``given``, those of its parameters that were given; and
        ``options``, the dataclass of the others.
    :param help_of: the help of a learner, given how it is called.
    """
    shared = with_options(function, "options", options)

    def made(typed: Typed) -> Spread:
        kind = typed.kind
        named = spread(shared, "learner", (), lambda values: offer(typed))
        return with_parameters(named, kind, "given", doc=help_of(kind, typed.argument or kind.name))

    def others(name: str, arguments: Sequence[str], runs: bool) -> Spread | None:
        is_file = ":" in name
        argument = name if is_file else _typed_in(arguments)
        if runs and name.endswith(".py"):
            raise UsageError("does not say which class in the file", where=name, hint=EXAMPLE)
        if not (is_file or is_learner(name) or argument):
            if runs and "--resume" in arguments and is_name(name):
                raise InvalidFileError(f"there is no learner {name} to go on with", where=name, hint=REMEDY)
            if runs and (options := _as_options(name)):
                hint = f"ttt {command} {options} trains it"
                raise UsageError("is a state, not a method", where=name, hint=hint)
            return None
        if not runs:
            doc = UNREAD.format(command=command, name=name)
            return spread(with_value(shared, "learner", name), "given", (), lambda values: {}, doc=doc)
        if is_file or not is_learner(name):
            typed = from_file(argument)
            return made(typed) if is_file or typed.kind.name == name else None
        return made(Typed(learner_class(name)))

    return Subcommands(
        doc,
        {name: listed.about for name, listed in LEARNERS.items()},
        lambda name: made(Typed(learner_class(name))),
        others,
    )


def _as_options(name: str) -> str:
    """What trains the state called ``name``: ``q --preset article`` for ``q.article``; else empty."""
    learner, *suffixes = name.split(".")
    if learner not in LEARNERS or not suffixes:
        return ""
    words = [learner]
    for suffix in suffixes:
        if suffix == "article":
            words += ["--preset", "article"]
        elif board := re.fullmatch(r"(\d+x\d+)-(\d+)", suffix):
            words += ["--board", board[1], "--line", board[2]]
        else:
            return ""
    return " ".join(words)


def _typed_in(arguments: Sequence[str]) -> str:
    """What ``--learner`` is given among arguments."""
    for number, word in enumerate(arguments):
        if word.startswith("--learner="):
            return word.partition("=")[2]
        if word == "--learner" and number + 1 < len(arguments):
            return arguments[number + 1]
    return ""
