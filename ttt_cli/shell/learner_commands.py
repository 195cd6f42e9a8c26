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
        given = re.search(r"(?:^|\0)--learner[=\0]([^\0]*)", "\0".join(arguments))
        argument = name if ":" in name else given[1] if given else ""
        if not (is_learner(name) or argument):
            if runs:
                _refuse(name, "--resume" in arguments)
            return None
        if name not in LEARNERS and not runs:
            doc = UNREAD.format(name=name)
            command = make_command(name, self.function, fixed={"learner": name}, doc=doc)
            command.context_settings["ignore_unknown_options"] = True
            return command
        typed = Typed(learner_class(name)) if is_learner(name) else from_file(argument)
        kind = typed.kind
        if name not in (kind.name, argument):
            return None
        title, called = f"{kind.title[0].upper()}{kind.title[1:]}", typed.argument or kind.name
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
        hint = f"ttt train {' '.join(words)} trains it"
        raise UsageError("is a state, not a method", where=name, hint=hint)
