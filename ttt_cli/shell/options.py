"""Arguments and options that commands share, the numbers people may write, and shell completion."""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

import typer

from ttt_cli.agents.registry import ALIASES, BUILT_IN, usages
from ttt_cli.engine.rules import Rules
from ttt_cli.environment import DEFAULT_STORE, Environment
from ttt_cli.errors import TttError

_NUMBER = re.compile(r"([0-9]+(?:\.[0-9]+)?(?:e\+?[0-9]{1,2})?)\s*([kmg]?)", re.IGNORECASE)
_BETWEEN_THOUSANDS = re.compile(r"(?<=[0-9])[,_ ](?=[0-9]{3}(?![0-9]))")
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}
MAX_WHOLE = (1 << 63) - 1


def whole(least: int, most: int) -> Callable[[Any], int]:
    """Return a parser for whole numbers such as ``10k``, ``1.5M``, ``1e6`` or ``1,000,000``."""

    def number(text: Any) -> int:
        if match := _NUMBER.fullmatch(_BETWEEN_THOUSANDS.sub("", str(text).strip())):
            value = Decimal(match[1]) * _UNITS[match[2].lower()]
            if value == int(value) and least <= value <= most:
                return int(value)
            if value > most:
                raise typer.BadParameter(f"{text} is too large: at most {most:,}")
        limit = "up, such as 5000, 10k or 1.5M" if most == MAX_WHOLE else f"to {most:,}"
        raise typer.BadParameter(f"expected a whole number from {least:,} {limit}, not {text!r}")

    return number


def complete(context: typer.Context, incomplete: str) -> list[str]:
    """Complete the name of a player or a state; if none fits, the shell completes file names."""
    built_in = [name for name in (*BUILT_IN, *ALIASES) if name.startswith(incomplete)]
    return [*dict.fromkeys(built_in + complete_state(context, incomplete))]


def complete_state(context: typer.Context, incomplete: str) -> list[str]:
    """The same for the name of a state."""
    from ttt_cli.store.library import stored_files

    stored = list[Path]()
    with suppress(TttError):
        stored = stored_files(Path(context.params.get("store") or DEFAULT_STORE))
    names = [path.stem for path in stored if path.stem.startswith(incomplete)]
    # Others may have named the files, and zsh evaluates what it is offered.
    return [name for name in names if re.fullmatch(r"[\w.,:=@%+/ ~-]*", name)]


def argument(metavar: str, help: str, **more: Any) -> Any:
    return typer.Argument(metavar=metavar, help=help, readable=False, **more)


def named(metavar: str, help: str, completes: Any = complete) -> Any:
    """Return an argument that names players or states, which the shell completes."""
    return argument(metavar, help, autocompletion=completes)


def option(metavar: str | None, help: str, *names: str, **more: Any) -> Any:
    """Return an option with a value, named after its parameter unless ``names`` are given. The shell
    completes an ``AGENT``."""
    completes = complete if metavar == "AGENT" else None
    return typer.Option(*names, metavar=metavar, help=help, readable=False, autocompletion=completes, **more)


def number(help: str, *names: str, least: int = 1, most: int = MAX_WHOLE) -> Any:
    return typer.Option(*names, parser=whole(least, most), metavar="N", help=help)


def flag(name: str, help: str) -> Any:
    return typer.Option(name, help=help)


AgentName = Annotated[str, named("AGENT", "A player: a name, a file or a program.")]
FileNames = Annotated[list[str], named("FILE...", "States, or any files that ttt reads.", complete_state)]
PositionGiven = Annotated[
    str, argument("POSITION", "Such as X...O....; - reads stdin; put -- before a leading dash.")
]
Games = Annotated[int | None, number("Number of games; by default the method's own.", "--games", "-n")]
Opponent = Annotated[
    str | None, option("AGENT", "Train against AGENT; by default itself, or the article's opponent.")
]
Out = Annotated[str | None, option("FILE", "The state to write.", "--out", "-o")]
Report = Annotated[str, option("FILE", "The file to write; - is stdout.", "--out", "-o")]
Seed = Annotated[int | None, number("Random seed.", least=0)]
Symmetry = Annotated[bool, flag("--symmetry", "Rotations and reflections of a position share an entry.")]
MaxPositions = Annotated[int | None, number("Visit at most N positions; by default 10,000,000.")]


def file_help(arguments: Sequence[str]) -> str:
    """The ``more_help`` of commands that read other programs' files: options that say how to read them."""
    from ttt_cli.agents.state_player import FILE_OPTIONS, STATE_OPTIONS
    from ttt_cli.store.foreign.questions import FACETS, KEY_FACETS

    options = {**FILE_OPTIONS, "ties": STATE_OPTIONS["ties"]}
    spelling = {"spelling.": options.pop("spelling.")}
    lines = [*usages(options), "choice=draw|most, for counts of beads", *usages(spelling)]
    lines.append(f"  NAME is {', '.join(KEY_FACETS)},")
    lines.append(f"    {', '.join(FACETS[len(KEY_FACETS) :])}")
    head = "What a file leaves open can be stated after a colon (FILE:values=x):"
    return "\n".join([head, *(f"  {line}" for line in lines)])


def given_rules(env: Environment) -> Rules | None:
    """Return the rules that ``--board`` and ``--line`` describe, None if neither is given.

    :raises UsageError: if they make no sense.
    """
    if env.board is None and env.line is None:
        return None
    return Rules.parse("3x3" if env.board is None else env.board, env.line)
