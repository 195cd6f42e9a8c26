"""The players that need no file, each described by its own file in this room."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

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
"""The file of each player, by the name it goes by."""


MOST = 1e9
"""The largest number that an option takes."""


@dataclass(frozen=True)
class Option:
    """One option: the values it accepts, in words, and how they are read (ValueError for any other)."""

    accepts: str
    read: Callable[[str], Any]


@dataclass(frozen=True)
class AgentType:
    """A kind of agent, as its file describes it.

    :ivar about: in a few words.
    :ivar make: makes its policy, given the rules and its options by name; None for a person.
    :ivar options: what may stand behind the colon, by name.
    :ivar argument: what stands behind the first colon instead, options then standing before it, each after a
        comma; ``make`` gets it as ``argument``. Such a player counts where it is typed, never in a file.
    :ivar example: of that.
    :ivar fingerprint: a digest of everything by which such a player plays.
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
        """How it is named on the command line."""
        return f"{self.name}:{self.argument}" if self.argument else self.name


@lru_cache(maxsize=1)
def players() -> dict[str, AgentType]:
    """The players of this room by name."""
    return {name: import_module(f"ttt_cli.agents.{module}").AGENT for name, module in BUILT_IN.items()}


def one_of(*values: str) -> Option:
    """An option with these values.

    >>> one_of("first", "last").accepts
    'first|last'
    """
    return Option("|".join(values), lambda text: values[values.index(text)])


FLAG = Option("true|false", lambda text: ("false", "true").index(text) == 1)


def number(accepts: str, kind: Callable[[str], Any], least: float, most: float = MOST) -> Option:
    """An option that is a number within bounds."""

    def read(text: str) -> Any:
        found = kind(text)
        if not least <= found <= most:
            raise ValueError
        return found

    return Option(accepts, read)


WHOLE = number("N (from 1)", int, 1)

PROBABILITY = number("PROBABILITY (from 0 to 1)", float, 0, 1)
