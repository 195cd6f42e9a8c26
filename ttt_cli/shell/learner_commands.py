"""The subcommands of ``ttt train``, one for each learner: those built in, those of plug-ins by their names,
and those of Python files as ``FILE.py:CLASS``."""

import re
from collections.abc import Callable, Sequence
from typing import Any

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
)
from ttt_cli.shell.frame import LazyGroup, make_command

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


class LearnerCommands(LazyGroup):
    """A command's family.

    :ivar function: takes ``learner``, its name, and ``given``, those of its parameters that were given.
    """

    function: Callable[..., Any]

    @property
    def listed(self) -> dict[str, tuple[str, str]]:
        """The methods that are built in."""
        return {name: (learner.about, "Methods") for name, learner in LEARNERS.items()}

    def load(self, name: str, arguments: Sequence[str], runs: bool) -> Any:
        """Make the subcommand of a learner; nothing from outside is run for help and completion.

        :raises TttError: if it is known what is wrong with the name.
        """
        if name in LEARNERS:
            return self._made(name, Typed(learner_class(name)))
        is_file, argument = ":" in name, name if ":" in name else _learner_in(arguments)
        if not (is_file or is_learner(name) or argument):
            if runs:
                _refuse(name, "--resume" in arguments)
            return None
        if not runs:
            doc = UNREAD.format(name=name)
            command = make_command(name, self.function, fixed={"learner": name}, doc=doc)
            command.context_settings["ignore_unknown_options"] = True
            return command
        typed = Typed(learner_class(name)) if is_learner(name) and not is_file else from_file(argument)
        return self._made(name, typed) if is_file or typed.kind.name == name else None

    def _made(self, name: str, typed: Typed) -> Any:
        kind = typed.kind
        title = f"{kind.title[0].upper()}{kind.title[1:]}"
        called = typed.argument or kind.name
        doc = HELP.format(title=title, games=kind.default_games, name=called, suffix=kind.suffix)
        return make_command(name, self.function, fixed={"learner": kind.name}, learner=typed, doc=doc)


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
        raise UsageError(
            "is a state, not a method", where=name, hint=f"ttt train {' '.join(words)} trains it"
        )


def _learner_in(arguments: Sequence[str]) -> str:
    """What ``--learner`` is given among arguments."""
    for word, following in zip(arguments, [*arguments[1:], ""], strict=False):
        if word.startswith("--learner="):
            return word.partition("=")[2]
        if word == "--learner":
            return following
    return ""
