"""Options that commands share, numbers as people write them, and what the shell offers for a word.

``argument``, ``option``, ``number`` and ``flag`` are Typer's, spelled shortly; the annotations below them are
the parameters that several commands have.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ttt_cli.agents.levels import LEVELS
from ttt_cli.agents.registry import BUILT_IN, players
from ttt_cli.environment import DEFAULT_STORE, Environment
from ttt_cli.errors import UsageError
from ttt_cli.learners import LEARNERS

if TYPE_CHECKING:
    from ttt_cli.engine.rules import Rules

_NUMBER = re.compile(
    r"([0-9]+|[0-9]{1,3}(?:[,_ ][0-9]{3})+)(?:\.([0-9]+))?(?:[eE]\+?([0-9]{1,2}))?\s*([kKmMgG]?)"
)
MOST = (1 << 63) - 1
_ZEROS = {"": 0, "k": 3, "m": 6, "g": 9}


def whole(least: int = 1, most: int = MOST) -> Callable[[Any], int]:
    """The parser of an option that takes whole numbers as people write them: ``10k``, ``1.5M``, ``1e6``,
    ``1,000,000``."""

    def number(text: Any) -> int:
        if match := _NUMBER.fullmatch(str(text).strip()):
            digits, fraction, exponent, unit = match.groups(default="")
            fraction = fraction.rstrip("0")
            zeros = int(exponent or 0) + _ZEROS[unit.lower()] - len(fraction)
            found = int(re.sub("[,_ ]", "", digits) + fraction + "0" * max(zeros, 0))
            if zeros >= 0 and least <= found <= most:
                return found
        limit = "up" if most == MOST else f"to {most:,}"
        expected = f"a whole number from {least:,} {limit}, such as 5000, 10k or 1.5M"
        raise typer.BadParameter(f"expected {expected}, not {text!r}")

    return number


def stored_files(store: Path) -> list[Path]:
    """The files of a store that may be states, by name."""
    try:
        found = [path for path in store.iterdir() if path.suffix in (".json", ".csv") and path.is_file()]
    except OSError:
        return []
    return sorted(found, key=lambda path: path.stem)


def player_names(store: Path) -> list[str]:
    """Players that need no file, and the states in a store."""
    return list(dict.fromkeys([*BUILT_IN, *LEVELS, *(path.stem for path in stored_files(store))]))


def complete_agents(context: typer.Context, incomplete: str) -> list[str]:
    """Players that need no file and their options, and states in the store; where none begins so, the shell
    offers files."""
    player, colon, _ = incomplete.partition(":")
    names = player_names(Path(context.params.get("store") or DEFAULT_STORE))
    if colon and player in BUILT_IN:
        names = [f"{player}:{option}=" for option in players()[player].options]
    # Nothing that a shell acts on: zsh evaluates what it is offered, and whoever made a file chose its name.
    return [name for name in names if name.startswith(incomplete) and re.fullmatch(r"[\w.,:=@%+/ ~-]*", name)]


def complete_states(context: typer.Context, incomplete: str) -> list[str]:
    """States in the store; where none begins so, the shell offers files."""
    stored = {path.stem for path in stored_files(Path(context.params.get("store") or DEFAULT_STORE))}
    return [name for name in complete_agents(context, incomplete) if name in stored]


def complete_learners(incomplete: str) -> list[str]:
    """The methods that are built in."""
    return [name for name in LEARNERS if name.startswith(incomplete)]


Complete = Callable[..., list[str]] | None
"""What completes a word in the shell."""


def argument(metavar: str, help: str, complete: Complete = None, **more: Any) -> Any:
    return typer.Argument(metavar=metavar, help=help, autocompletion=complete, readable=False, **more)


def option(metavar: str | None, help: str, *names: str, complete: Complete = None, **more: Any) -> Any:
    """An option with a value, called as its parameter unless ``names`` say otherwise."""
    return typer.Option(*names, metavar=metavar, help=help, autocompletion=complete, readable=False, **more)


def number(help: str, *names: str, least: int = 1, most: int = MOST, **more: Any) -> Any:
    """An option whose value is a whole number."""
    return typer.Option(*names, parser=whole(least, most), metavar="N", help=help, **more)


def flag(name: str, help: str) -> Any:
    return typer.Option(name, help=help)


AgentName = Annotated[str, argument("AGENT", "A player's name or file.", complete_agents)]
FileNames = Annotated[list[str], argument("FILE...", "States, or any files ttt reads.", complete_states)]
PositionGiven = Annotated[str, argument("POSITION", "Such as X...O....; - reads positions from stdin.")]
Games = Annotated[int | None, number("The number of games; by default the method's own.", "--games", "-n")]
Opponent = Annotated[
    str | None, option("AGENT", "By default self, or the article's opponent.", complete=complete_agents)
]
Out = Annotated[Path | None, option("FILE", "The state to write.", "--out", "-o")]
Report = Annotated[str | None, option("FILE", "The file to write; - is stdout.", "--out", "-o")]
Seed = Annotated[int | None, number("Random seed.", least=0)]
Symmetry = Annotated[bool, flag("--symmetry", "One entry for all rotations and reflections of a position.")]
Walked = Annotated[int | None, number("Visit at most N positions.", show_default="10,000,000")]


def given_rules(env: Environment) -> "Rules | None":
    """The rules that ``--board`` and ``--line`` say, ``None`` if neither is given.

    :raises UsageError: if they describe no game.
    """
    if env.board is None and env.line is None:
        return None
    from ttt_cli.engine.rules import Rules

    if env.board is not None and env.board.isdigit():
        hint = f"--board {env.board}x{env.board}"
        raise UsageError(f"{env.board!r} is not ROWSxCOLS", where="--board", hint=hint)
    return Rules.parse("3x3" if env.board is None else env.board, env.line)
