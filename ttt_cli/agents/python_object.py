"""``py:PATH.py:NAME``: a Python function or object as a player, run in this process.

A function takes the text of a position and returns a cell from 1, or ``"resign"``. An object with a method
``probabilities(positions)`` answers for many open ``Positions`` at once: float64[k, cells], with rows that
sum to 1, or are all zeros to resign. A class is instantiated. Output goes to stderr, and errors are reported
with the line of the file.
"""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any

from ttt_cli.agents.asked import Asked
from ttt_cli.agents.registry import WHOLE, AgentType
from ttt_cli.engine.checked import Checked
from ttt_cli.engine.policy import Policy
from ttt_cli.engine.rules import Rules
from ttt_cli.errors import UsageError
from ttt_cli.user_code import guarded, is_ours, load_object, split_name

EXAMPLE = "such as py:my_bot.py:choose"


def player_of(player: Any, rules: Rules, name: str, *, samples: int | None = None) -> Policy:
    """Return a function, an object with ``probabilities`` or a class of such objects as a policy.

    :raises UsageError: if it is something else.
    """
    if isinstance(player, Policy) and is_ours(player):
        return player
    if isinstance(player, type):
        with guarded(name, f"{player.__name__}() raised "):
            player = player()
    with guarded(name, "raised "):  # attributes may be properties, which run the user's code
        has_probabilities = callable(getattr(player, "probabilities", None))
        own_rules = getattr(player, "rules", rules)
    if has_probabilities:
        if not isinstance(own_rules, Rules):
            raise UsageError(
                f"its rules are {own_rules!r}, not Rules", where=name, hint="such as Rules(3, 3, 3)"
            )
        return Checked(own_rules, name, player)
    if not callable(player):
        hint = "a function from a position's text to a cell, or an object with probabilities(positions)"
        raise UsageError(f"is of type {type(player).__name__}, not a player", where=name, hint=hint)

    def ask(texts: Sequence[str]) -> Iterator[Any]:
        return (player(text) for text in texts)

    return Asked(rules, name, (ask, ask), samples)


def make(rules: Rules, *, argument: str, samples: int | None = None) -> Policy:
    """Return the player in a file as a policy.

    :raises UsageError: if ``argument`` names no player.
    :raises InvalidFileError: if the file cannot be run.
    """
    return player_of(load_object(argument, EXAMPLE), rules, f"{AGENT.name}:{argument}", samples=samples)


def fingerprint(argument: str) -> str:
    """Return a digest of the file and the name."""
    path, name = split_name(argument, EXAMPLE)
    return f"sha256:{sha256(path.read_bytes() + name.encode()).hexdigest()}"


AGENT = AgentType(
    "py",
    "a Python function, from a position's text to a cell",
    make,
    {"samples": WHOLE},
    argument="PATH.py:NAME",
    example=EXAMPLE,
    fingerprint=fingerprint,
)
