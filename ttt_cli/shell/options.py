"""Arguments and options that commands share, and the numbers people may write."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ttt_cli.agents.registry import ALIASES, BUILT_IN
from ttt_cli.environment import Environment
from ttt_cli.errors import UsageError

if TYPE_CHECKING:
    from ttt_cli.engine.rules import Rules

_NUMBER = re.compile(
    r"([0-9]+|[0-9]{1,3}(?:[,_ ][0-9]{3})+)(?:\.([0-9]+))?(?:[eE]\+?([0-9]{1,2}))?\s*([kKmMgG]?)"
)
MOST = (1 << 63) - 1
_ZEROS = {"": 0, "k": 3, "m": 6, "g": 9}


def whole(least: int = 1, most: int = MOST) -> Callable[[Any], int]:
    """Return a parser for whole numbers such as ``10k``, ``1.5M``, ``1e6`` or ``1,000,000``."""

    def number(text: Any) -> int:
        if match := _NUMBER.fullmatch(str(text).strip()):
            digits, fraction, exponent, unit = match.groups(default="")
            fraction = fraction.rstrip("0")
            zeros = int(exponent or 0) + _ZEROS[unit.lower()] - len(fraction)
            found = int(re.sub("[,_ ]", "", digits) + fraction + "0" * max(zeros, 0))
            if zeros >= 0 and least <= found <= most:
                return found
            if found > most:
                raise typer.BadParameter(f"{text} is too large: at most {most:,}")
        limit = "up, such as 5000, 10k or 1.5M" if most == MOST else f"to {most:,}"
        raise typer.BadParameter(f"expected a whole number from {least:,} {limit}, not {text!r}")

    return number


def stored_files(store: Path) -> list[Path]:
    """Return the files of a store that may be states, sorted by name."""
    try:
        found = [path for path in store.iterdir() if path.suffix in (".json", ".csv") and path.is_file()]
    except OSError:
        return []
    return sorted(found, key=lambda path: path.stem)


def player_names(store: Path) -> list[str]:
    """Return the names of the built-in players and of the states in a store."""
    return list(dict.fromkeys([*BUILT_IN, *ALIASES, *(path.stem for path in stored_files(store))]))


def argument(metavar: str, help: str, **more: Any) -> Any:
    return typer.Argument(metavar=metavar, help=help, readable=False, **more)


def option(metavar: str | None, help: str, *names: str, **more: Any) -> Any:
    """Return an option with a value, named after its parameter unless ``names`` are given."""
    return typer.Option(*names, metavar=metavar, help=help, readable=False, **more)


def number(help: str, *names: str, least: int = 1, most: int = MOST, **more: Any) -> Any:
    return typer.Option(*names, parser=whole(least, most), metavar="N", help=help, **more)


def flag(name: str, help: str) -> Any:
    return typer.Option(name, help=help)


AgentName = Annotated[str, argument("AGENT", "A player: a name, a file or a program.")]
FileNames = Annotated[list[str], argument("FILE...", "States, or any files that ttt reads.")]
PositionGiven = Annotated[str, argument("POSITION", "Such as X...O....; - reads positions from stdin.")]
Games = Annotated[int | None, number("Number of games; by default the method's own.", "--games", "-n")]
Opponent = Annotated[str | None, option("AGENT", "By default itself, or the article's opponent.")]
Out = Annotated[Path | None, option("FILE", "The state to write.", "--out", "-o")]
Report = Annotated[str, option("FILE", "The file to write; - is stdout.", "--out", "-o")]
Seed = Annotated[int | None, number("Random seed.", least=0)]
Symmetry = Annotated[bool, flag("--symmetry", "Rotations and reflections of a position share an entry.")]
Walked = Annotated[int | None, number("Visit at most N positions; by default 10,000,000.")]


FILE_HELP = """\
What a file leaves open can be stated after a colon (q_table.json:values=x):
  values=x|o|mover    whose wins large values mean: one side's, the mover's,
    |moved|owner      those of the last to move, or of the player in the key
  unknown=NUMBER      the value of a move that is not in the file; random:
    |random           such a move is made only where none is known
  wins=known|unknown  whether the program finds winning moves by itself
  ties=random|first   which of exactly equal moves the program makes;
    |last|            first-learned: the first, but any where all are 0
    first-learned
  choice=draw|most    whether it draws a bead or takes the most frequent
  visits=N            the visits of an entry that has no count
  spelling.NAME=...   how positions are spelled; NAME is first, second, mine,
                      theirs, turn, empty, cells, board, order, player-x or
                      symmetry
"""
"""The help on options of foreign files."""


def file_help(arguments: Sequence[str]) -> str:
    """The ``more_help`` of the commands that list these options."""
    return FILE_HELP


def given_rules(env: Environment) -> "Rules | None":
    """Return the rules that ``--board`` and ``--line`` describe, None if neither is given.

    :raises UsageError: if they make no sense.
    """
    if env.board is None and env.line is None:
        return None
    from ttt_cli.engine.rules import Rules

    if env.board is not None and env.board.isdigit():
        hint = f"--board {env.board}x{env.board}"
        raise UsageError(f"{env.board!r} is not ROWSxCOLS", where="--board", hint=hint)
    return Rules.parse("3x3" if env.board is None else env.board, env.line)
