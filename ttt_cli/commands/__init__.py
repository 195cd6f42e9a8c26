"""The commands of ``ttt``, one module each, in the order and under the headings of the help."""

from importlib import import_module
from keyword import iskeyword
from types import ModuleType

HEADINGS = {
    "Play": {
        "play": "Play against a machine, or let two machines play",
        "review": "Review finished games move by move",
    },
    "Train": {
        "train": "Train a player, with one of several methods",
        "study": "Compare many trainings: seeds, parameters, methods",
        "curve": "Draw learning curves, in the terminal or as a picture",
    },
    "Judge": {
        "evaluate": "Judge a player exactly: rates, worst case, mistakes",
        "tournament": "Let everyone play everyone, exactly",
        "diff": "Show where two players choose differently",
        "analyze": "Show the perfect value of every move of a position",
        "solve": "Prove the value of a position, on any board",
        "move": "Print the cell that a player chooses",
        "explore": "Write a web page to play against a player and look inside it",
    },
    "Files": {
        "show": "Show what a state holds; without FILE, all states and players",
        "import": "Turn a file of another program into a state",
        "export": "Write a player in another format",
        "merge": "Merge the experience of several states into one",
        "verify": "Check files; --accept accepts files edited by hand",
        "restore": "List the backups of a state, or bring one back",
    },
}

IGNORED = {
    "review": ("board", "line", "learner"),
    "schema": ("store", "board", "line", "learner"),
    "solve": ("store", "learner"),
}
"""Common options that a command accepts but ignores, and therefore leaves out of its help."""

HIDDEN = ("schema",)
"""Commands that the help does not list."""

COMMANDS = [*(name for commands in HEADINGS.values() for name in commands), *HIDDEN]


def command_module(name: str) -> ModuleType:
    """The module of a command, ``import_`` where the name is a Python keyword."""
    return import_module(f"{__name__}.{name}_" if iskeyword(name) else f"{__name__}.{name}")
