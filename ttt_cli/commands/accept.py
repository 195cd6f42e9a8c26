"""``ttt accept``: take on a native file that was edited by hand."""

from typing import Annotated, TypedDict

import typer

from ttt_cli.documents import Count
from ttt_cli.environment import Environment, printable
from ttt_cli.shell.completion import complete_states

HEADING = "Move experience between files"

IGNORES = {"board", "line", "patience"}


class Acceptance(TypedDict):
    """What ``ttt accept`` took on."""

    file: str
    positions: Count
    games: Count | None
    changed: bool


DOCUMENTS = {"acceptance": Acceptance}


def accept(
    env: Environment,
    file: Annotated[str, typer.Argument(help="A native state.", autocompletion=complete_states)],
) -> None:
    """Accept a native file that was edited by hand: check all of it, then seal it with a new digest.

    Examples:
      ttt accept q
      ttt accept state_store/book.csv
    """
    from ttt_cli.store import library
    from ttt_cli.store.locks import lock
    from ttt_cli.store.reading import read_bytes

    path = library.existing(env.store, file)
    with lock(path, "accepted"):
        before = read_bytes(path)
        state = library.parse(before, str(path), trust_edits=True)
        after = library.content(state)
        if after != before:
            library.save(state, path)
    if env.json:
        fields: Acceptance = {
            "file": str(path),
            "positions": state.positions,
            "games": state.games,
            "changed": after != before,
        }
        env.document("ttt-acceptance", fields)
        return
    if after == before:
        env.out(f"{printable(str(path))} is valid as it is")
        return
    env.out(
        f"{printable(str(path))}: {state.positions:,} positions and their runs are valid; "
        "sealed with a new digest"
    )
