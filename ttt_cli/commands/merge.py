"""``ttt merge``: one state from many."""

from pathlib import Path
from typing import Annotated, TypedDict

import typer

from ttt_cli.documents import Count
from ttt_cli.environment import Environment, printable
from ttt_cli.errors import UsageError
from ttt_cli.shell.completion import complete_states

HEADING = "Move experience between files"
KEPT = 4
"""How many tables are held; those of further files are read again when it is their turn."""


class Input(TypedDict):
    """A file that was merged; it is not used where another one contains it."""

    file: str
    games: Count | None
    used: bool


class Merge(TypedDict):
    """What ``ttt merge`` has joined.

    ``duplicates`` are the runs that several inputs hold.
    """

    inputs: list[Input]
    games: Count | None
    positions: Count | None
    duplicates: list[str]
    file: str | None


DOCUMENTS = {"merge": Merge}


def merge(
    env: Environment,
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="States, native or foreign.", autocompletion=complete_states),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Where the merged state goes.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what the merged state would hold.")
    ] = False,
    allow_overlap: Annotated[
        bool,
        typer.Option("--allow-overlap", help="Count experience twice where it cannot be separated."),
    ] = False,
) -> None:
    """Merge states into one; no experience is counted twice.

    Runs are known by id: a file whose runs another file contains adds nothing. The order of the files never
    changes a byte of the result.

    Examples:
      ttt merge q other.json -o both.json
      ttt merge a.csv b.csv -o book.csv --dry-run
    """
    from contextlib import AbstractContextManager, nullcontext

    from ttt_cli.shell.options import given_rules
    from ttt_cli.store import library
    from ttt_cli.store.formats.imported import Options
    from ttt_cli.store.locks import lock
    from ttt_cli.store.merge import merge as merge_states
    from ttt_cli.views.numbers import counted

    if out is None and not dry_run:
        raise UsageError("no output file given", where="-o", hint="-o FILE, or --dry-run to only look")
    rules = given_rules(env)
    held: AbstractContextManager[object] = nullcontext()
    if out is not None and not dry_run:
        held = lock(out, "merged", wait=30.0, parents=library.is_stored(env.store, out))
    with held:
        inputs: list[library.Loaded] = []
        for name in files:
            path, kept = library.existing(env.store, name, rules, what="file"), len(inputs) < KEPT
            loaded = library.load(path, rules, Options(table=kept))
            env.remark(loaded.remarks)
            inputs.append(loaded if kept else loaded.without_table())
        merged = merge_states(inputs, allow_overlap=allow_overlap)
        state = merged.state
        backup = None
        if not dry_run and out is not None:
            backup = library.save(state, out, keep_backup=library.would_lose_runs(out, state))
    positions = state.positions
    if env.json:
        used = set(merged.used)
        fields: Merge = {
            "inputs": [
                {"file": str(loaded.path), "games": loaded.state.games, "used": loaded in used}
                for loaded in inputs
            ],
            "games": state.games,
            "positions": positions,
            "duplicates": list(merged.duplicates),
            "file": None if dry_run else str(out),
        }
        env.document("ttt-merge", fields)
        return
    for loaded in merged.contained:
        env.say(f"{printable(str(loaded.path))} adds nothing: another input contains its runs")
    if backup:
        env.say(f"the previous file is kept as {printable(str(backup))}")
    games = "an unknown number of games" if state.games is None else counted(state.games, "game")
    goal = "would hold" if dry_run else f"saved to {printable(str(out))}:"
    env.out(f"{goal} {games} in {counted(len(state.runs), 'run')}, {counted(positions, 'position')}")
