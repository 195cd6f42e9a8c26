"""The subcommands of ``ttt train``, one for each learner: those built in, those of plug-ins by their names,
and those of Python files as ``FILE.py:CLASS``."""

import re
from collections.abc import Callable
from typing import Any

from typer.core import TyperCommand, TyperGroup

from ttt_cli.errors import InvalidFileError, UsageError
from ttt_cli.learners import (
    EXAMPLE,
    LEARNERS,
    REMEDY,
    is_learner,
    is_name,
    learner_class,
    offer,
    offer_file,
    typed_as,
)
from ttt_cli.shell.frame import make_command, split_examples

HELP = """{title}.

Continues from the file that is there; --fresh starts over. Without --games: {games:,} games.

Examples:
  ttt train {name}
  ttt train {name} --games 50000 --seed 1 -o mine{suffix}
"""

UNREAD = """A learner that is not built in.

Nothing of it is loaded for this help. Besides these options it has its own: the fields of its class.

Examples:
  ttt train {name}
"""


GROUP = """Train a player: a subcommand for each method of learning.

Examples:
  ttt train q
  ttt train q --games 50000 --opponent random --seed 1
  ttt train ./mine.py:MyLearner
"""


def learner_command(
    function: Callable[..., Any], arguments: list[str], runs: bool
) -> tuple[str, Any, list[str]]:
    """The subcommand of ``ttt train`` that some arguments call; without a learner's name all of them, as its
    help lists them. Nothing from outside is run for help and completion.

    :param function: takes ``learner``, its name, and ``given``, those of its parameters that were given.
    :raises TttError: if there is no such learner.
    """
    name, rest = arguments[0] if arguments else "", arguments[1:]
    given = re.search(r"(?:^|\0)--learner[=\0]([^\0]*)", "\0".join(rest))
    argument = name if ":" in name else given[1] if given else ""
    listed = not name or name.startswith("-")
    if listed or not (runs or argument or is_learner(name)):
        text, examples = split_examples(GROUP)
        methods: Any = {
            key: TyperCommand(key, help=about, rich_help_panel="Methods") for key, about in LEARNERS.items()
        }
        group = TyperGroup(name="train", commands=methods, help=text, epilog=examples)
        return "train", group, arguments or ["--help"]
    if name not in LEARNERS and not runs:
        command = make_command(name, function, fixed={"learner": name}, doc=UNREAD.format(name=name))
        command.context_settings["ignore_unknown_options"] = True
        return f"train {name}", command, rest
    if not (argument or is_learner(name)):
        _refuse(name, "--resume" in rest)
    called = offer_file(argument) if argument and not is_learner(name) else offer(learner_class(name))
    if name not in (called, argument):
        raise UsageError(f"{argument} is called {called!r}", where=name)
    kind = learner_class(called)
    title = f"{kind.title[0].upper()}{kind.title[1:]}"
    text = HELP.format(title=title, games=kind.default_games, name=typed_as(called), suffix=kind.suffix)
    command = make_command(name, function, fixed={"learner": called}, learner=kind, doc=text)
    return f"train {name}", command, rest


def _refuse(name: str, resumes: bool) -> None:
    """Say what a name in a learner's place is, where it is something else."""
    if name.endswith(".py"):
        raise UsageError("does not say which class in the file", where=name, hint=EXAMPLE)
    if resumes and is_name(name):
        raise InvalidFileError(f"there is no learner {name} to go on with", where=name, hint=REMEDY)
    learner, *suffixes = name.split(".")
    words = [learner]
    for suffix in suffixes if learner in LEARNERS else ():
        board = re.fullmatch(r"(\d+x\d+)-(\d+)", suffix)
        if suffix != "article" and not board:
            return
        words += ["--board", board[1], "--line", board[2]] if board else ["--preset", "article"]
    if len(words) > 1:
        hint = f"ttt train {' '.join(words)} trains it"
        raise UsageError("is a state, not a method", where=name, hint=hint)
