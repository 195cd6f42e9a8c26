"""``ttt verify``: read files through and report every fault."""

from pathlib import Path
from typing import Annotated, TypedDict

import typer

from ttt_cli.documents import Count, RejectedFields
from ttt_cli.environment import Environment, printable
from ttt_cli.errors import ExitCode
from ttt_cli.shell.completion import complete_states

HEADING = "Move experience between files"

IGNORES = {"board", "line", "patience"}


class Check(TypedDict):
    """What ``ttt verify`` found in a file."""

    file: str
    format: str
    positions: Count
    moves: Count
    repaired: list[str]
    rejected: list[RejectedFields]


DOCUMENTS = {"verification": Check}


def verify(
    env: Environment,
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="Any files ttt reads.", autocompletion=complete_states),
    ],
) -> ExitCode:
    """Check files and report every fault and its place; nothing is changed.

    The exit code is 3 if a file cannot be used, 1 if something in one has to be repaired or left out.

    Examples:
      ttt verify q book
      ttt verify state_store/*.json
    """
    from ttt_cli.store import library
    from ttt_cli.store.verification import verify as read_through
    from ttt_cli.views.numbers import what_is_held

    worst = ExitCode.DONE
    for name in files:
        path = library.find(env.store, name) or Path(name)
        found = read_through(path)
        if found.unfit:
            worst = ExitCode.INVALID_FILE
        elif (found.faults or found.repaired) and worst is ExitCode.DONE:
            worst = ExitCode.FAILED
        if env.json:
            fields: Check = {
                "file": str(path),
                "format": found.format,
                "positions": found.positions,
                "moves": found.moves,
                "repaired": found.repaired,
                "rejected": [{"where": item.where, "why": item.why} for item in found.faults],
            }
            env.document("ttt-verification", fields)
            continue
        valid = not (found.faults or found.repaired)
        holds = f"{found.format}, {what_is_held((found.positions, found.moves), found.units)}"
        if not found.format:
            holds = "not usable"
        env.out(f"{printable(str(path))}: {holds}{', valid' if valid else ''}")
        for text in found.repaired:
            env.out(f"  can be repaired: {printable(text)}", indent=4)
        for item in found.faults:
            env.out(printable(f"  {item.where}: {item.why}"), indent=4)
    return worst
