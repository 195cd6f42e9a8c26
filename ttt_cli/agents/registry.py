"""The built-in players, each an ``AgentType`` in a module of this package; and the options of players."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ttt_cli.engine.rules import Rules
from ttt_cli.errors import UsageError, did_you_mean

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
"""The module of each built-in player, by the player's name."""

ALIASES = {
    "easy": "minimax:depth=1",
    "medium": "minimax:depth=2",
    "hard": "minimax",
    "minimax.article": "minimax:speed=false,ties=last",
}
"""Names of players with options: the levels (``easy`` takes a win, ``medium`` also blocks one, ``hard`` plays
perfectly), and the article's minimax."""

ON_LARGE_BOARDS = {"hard": "search"}
"""What an alias means instead on boards without a state space, where perfect play takes proofs."""

OPPONENTS = ("random", "heuristic", "minimax")
"""The opponents of an evaluation by default; ``default_opponents`` leaves out minimax on some boards."""


@dataclass(frozen=True)
class Option:
    """An option: the values that it accepts, in words, and a parser that raises ValueError for others."""

    accepts: str
    read: Callable[[str], Any]


@dataclass(frozen=True)
class AgentType:
    """A kind of player.

    :ivar make: makes its policy from the rules and the options by name; None for the built-in person.
    :ivar argument: the name of what follows the colon, for ``exec`` and ``py`` only: options then precede the
        colon, and ``make`` gets the text as ``argument``. Such a player must be typed by the user: one that a
        file names is not run.
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
        return f"{self.name}:{self.argument}" if self.argument else self.name


@lru_cache(maxsize=1)
def players() -> dict[str, AgentType]:
    return {name: import_module(f"ttt_cli.agents.{module}").AGENT for name, module in BUILT_IN.items()}


def by_size(alias: str, rules: Rules) -> "Policy":
    """The policy of an alias in ``ON_LARGE_BOARDS``, which names a player without options."""
    from ttt_cli.engine.state_space import enumerated  # the names alone load nothing

    player = players()[(ON_LARGE_BOARDS if enumerated(rules) is None else ALIASES)[alias]]
    assert player.make
    return player.make(rules)


def default_opponents(rules: Rules) -> tuple[str, ...]:
    """The names of the opponents by default: without minimax on boards where its play takes proofs."""
    from ttt_cli.engine.state_space import enumerated

    return tuple(name for name in OPPONENTS if name != "minimax" or enumerated(rules) is not None)


def one_of(*values: str) -> Option:
    """Return an option that accepts these values.

    >>> one_of("first", "last").accepts
    'first|last'
    """
    return Option("|".join(values), lambda text: values[values.index(text)])


def read_flag(text: str) -> bool:
    """Read ``true`` or ``false``.

    :raises ValueError: if the text is neither.
    """
    if text not in ("true", "false"):
        raise ValueError
    return text == "true"


FLAG = Option("true|false", read_flag)


def number(accepts: str, kind: Callable[[str], Any], least: float, most: float = 1e9) -> Option:
    def read(text: str) -> Any:
        value = kind(text)
        if not least <= value <= most:
            raise ValueError
        return value

    return Option(accepts, read)


WHOLE = number("N (from 1)", int, 1)

PROBABILITY = number("PROBABILITY (from 0 to 1)", float, 0, 1)


def parse_options(
    text: str, name: str, options: str | None, accepted: Mapping[str, Option]
) -> dict[str, Any]:
    """Parse ``option=value,option=value``.

    :param text: the whole argument, for errors.
    :param name: what takes the options, for errors.
    :param options: None if there are none.
    :raises UsageError: naming the option that is unknown, repeated or has a value it does not accept.
    """
    values: dict[str, Any] = {}
    usage = f"{name} takes {', '.join(usages(accepted)) or 'no options'}"

    def refused(why: str, near: str = "") -> UsageError:
        return UsageError(why, where=text, hint=near or usage)

    for part in [] if options is None else options.split(","):
        key, equals, value = (word.strip() for word in part.partition("="))
        option = accepted.get("spelling." if key.startswith("spelling.") else key)
        if option is None:
            raise refused(f"{name} has no option {key!r}", did_you_mean(key, accepted))
        if key in values:
            raise refused(f"the option {key!r} is given twice")
        if not equals:
            raise refused(f"{key} takes {option.accepts}, and has no value here")
        try:
            values[key] = option.read(value)
        except ValueError:
            words = filter(str.islower, option.accepts.split("|"))  # without what stands for a value
            near = did_you_mean(value, words)
            raise refused(f"{key} takes {option.accepts}, not {value!r}", near) from None
    return values


def usages(options: Mapping[str, Option]) -> list[str]:
    """Return options as they are typed, with the values that each accepts."""
    return [f"{key}{'NAME' if key.endswith('.') else ''}={option.accepts}" for key, option in options.items()]
