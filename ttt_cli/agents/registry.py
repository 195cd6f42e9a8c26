"""The players that need no file; a module of this package describes each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ttt_cli.engine.rules import STANDARD, Rules

if TYPE_CHECKING:
    from ttt_cli.engine.policy import Policy

BUILT_IN = {
    "random": "uniform",
    "heuristic": "heuristic",
    "minimax": "minimax",
    "search": "search",
    "human": "human",
    "exec": "program",
    "py": "python_object",
}
"""The module of each player, by the player's name."""

LEVELS = {"easy": "minimax:depth=1", "medium": "minimax:depth=2", "hard": "minimax"}
"""``easy`` takes a win, ``medium`` also blocks one, ``hard`` plays perfectly."""

ALIASES = {**LEVELS, "minimax.article": "minimax:speed=false,ties=last"}
"""Names of players with options: the levels, and the article's minimax."""

OPPONENTS = ("random", "heuristic", "minimax")
"""The opponents of an evaluation, by default."""


@dataclass(frozen=True)
class Option:
    """An option: the values that it accepts, in words, and a parser that raises ValueError for others."""

    accepts: str
    read: Callable[[str], Any]


@dataclass(frozen=True)
class AgentType:
    """A kind of agent.

    :ivar about: a description of a few words.
    :ivar make: makes its policy from the rules and the options by name; None for the built-in person.
    :ivar options: the options that it accepts after the colon, by name.
    :ivar argument: of built-in players alone: the name of an argument after the colon, passed to ``make`` as
        ``argument``; options then precede the colon. Such a player must be typed by the user: one that a file
        names is not run.
    :ivar example: an example of the argument.
    :ivar fingerprint: returns a digest of the code that the argument names.
    """

    name: str
    about: str
    make: "Callable[..., Policy] | None"
    options: Mapping[str, Option] = field(default_factory=dict)
    argument: str = ""
    example: str = ""
    fingerprint: Callable[[str], str] | None = None

    @property
    def usage(self) -> str:
        """Its form on the command line."""
        return f"{self.name}:{self.argument}" if self.argument else self.name


@lru_cache(maxsize=1)
def players() -> dict[str, AgentType]:
    """Return the built-in players by name."""
    return {name: import_module(f"ttt_cli.agents.{module}").AGENT for name, module in BUILT_IN.items()}


def usual_opponents(rules: Rules) -> tuple[str, ...]:
    """Return those of ``OPPONENTS`` that answer at once: without a state space, all but perfect play."""
    from ttt_cli.engine.state_space import enumerated  # the names alone load nothing

    return OPPONENTS if enumerated(rules) is not None else OPPONENTS[:2]


def meaning(name: str, rules: Rules | None) -> str | None:
    """Return the AGENT that an alias stands for, None if there is no such alias. Where perfect play takes
    proofs, ``hard`` is a search."""
    agent = ALIASES.get(name)
    proves = agent == "minimax" and agent not in usual_opponents(rules or STANDARD)
    return "search" if proves else agent


def one_of(*values: str) -> Option:
    """Return an option that accepts these values.

    >>> one_of("first", "last").accepts
    'first|last'
    """
    return Option("|".join(values), lambda text: values[values.index(text)])


FLAG = Option("true|false", lambda text: ("false", "true").index(text) == 1)


def number(accepts: str, kind: Callable[[str], Any], least: float, most: float = 1e9) -> Option:
    """Return an option that accepts numbers within bounds."""

    def read(text: str) -> Any:
        found = kind(text)
        if not least <= found <= most:
            raise ValueError
        return found

    return Option(accepts, read)


WHOLE = number("N (from 1)", int, 1)

PROBABILITY = number("PROBABILITY (from 0 to 1)", float, 0, 1)
