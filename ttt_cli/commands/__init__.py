"""The commands of ``ttt``, a module each, under the headings of the help and in its order."""

from importlib import import_module
from keyword import iskeyword
from types import ModuleType

HEADINGS = {
    "Play": {
        "play": "Play against a machine, or let two machines play",
        "review": "What each move of a finished game was worth",
    },
    "Train": {
        "train": "Train a player: a subcommand for each method",
        "study": "Many trainings at once, compared",
        "curve": "Learning curves in the terminal or as a picture",
    },
    "Judge": {
        "evaluate": "How strong a player is: exact rates, worst case, mistakes",
        "tournament": "Everyone against everyone, exact",
        "diff": "Where two players choose differently, and what it is worth",
        "analyze": "The perfect value of every move of a position",
        "solve": "Prove what a position is worth, on any board up to 64 cells",
        "move": "The cell that a player plays in a position",
        "explore": "One page to play against a player and to look into its mind",
    },
    "Files": {
        "show": "What is in a state; bare: all states and players there are",
        "import": "Turn a file of another program into a state",
        "export": "Write what a player knows in another format",
        "merge": "Join the experience of several states into one",
        "verify": "Check files; --accept takes on one that was edited by hand",
        "restore": "List the backups of a state, or bring one back",
    },
}

IGNORED = {
    "store": ("schema", "solve"),
    **dict.fromkeys(["board", "line"], ("curve", "restore", "review", "schema", "verify")),
    "learner": ("review", "schema", "solve"),
}
"""Common options with the commands in which they change nothing: accepted, and left out of their help."""

HIDDEN = ("schema",)
"""Commands for scripts, which the help does not list."""

COMMANDS = [*(name for commands in HEADINGS.values() for name in commands), *HIDDEN]

MEANT = {
    "list": "ttt show",
    "ls": "ttt show",
    "agents": "ttt show",
    "formats": "ttt show --formats",
    "accept": "ttt verify --accept",
    "replay": "ttt review",
    "version": "ttt --version",
}
"""Words that people try, and what they mean by them."""


def command_module(name: str) -> ModuleType:
    """The module of a command, ``import_`` where the name is a Python keyword."""
    return import_module(f"{__name__}.{name}{'_' * iskeyword(name)}")
