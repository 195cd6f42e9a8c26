"""``ttt merge``: one state from many."""

from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from ttt_cli.documents import Count, Document, aside
from ttt_cli.environment import Environment
from ttt_cli.errors import UsageError
from ttt_cli.shell.completion import complete_states
from ttt_cli.shell.options import given_rules
from ttt_cli.store import library
from ttt_cli.store.formats.imported import Options
from ttt_cli.store.locks import lock
from ttt_cli.store.merge import merge as merge_states
from ttt_cli.views.numbers import counted

KEPT = 4
"""How many tables are held; those of further files are read again when it is their turn."""


@dataclass(frozen=True)
class Input:
    """A file that was merged; it is not used where another one contains it."""

    file: str
    games: Count | None
    used: bool


@dataclass(frozen=True)
class Merge(Document, name="merge"):
    """What ``ttt merge`` has joined. ``duplicates`` are the runs that several inputs hold."""

    inputs: list[Input]
    games: Count | None
    positions: Count | None
    duplicates: list[str]
    file: str | None
    runs: int = aside()
    backup: Path | None = aside()

    def show(self, env: Environment) -> None:
        """Print what the merged state holds, and which inputs add nothing."""
        for one in self.inputs:
            if not one.used:
                env.say(f"{one.file} adds nothing: another input contains its runs")
        if self.backup:
            env.say(f"the previous file is kept as {self.backup}")
        games = "an unknown number of games" if self.games is None else counted(self.games, "game")
        goal = "would hold" if self.file is None else f"saved to {self.file}:"
        positions = counted(self.positions or 0, "position")
        env.out(f"{goal} {games} in {counted(self.runs, 'run')}, {positions}")


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
) -> Merge:
    """Merge states into one; no experience is counted twice.

    Runs are known by id: a file whose runs another file contains adds nothing. The order of the files never
    changes a byte of the result.

    Examples:
      ttt merge q other.json -o both.json
      ttt merge a.csv b.csv -o book.csv --dry-run
    """
    if out is None and not dry_run:
        raise UsageError("no output file given", where="-o", hint="-o FILE, or --dry-run to only look")
    rules, target, backup = given_rules(env), None if dry_run else out, None
    parents = target is not None and library.is_stored(env.store, target)
    with lock(target, "merged", wait=30.0, parents=parents) if target else nullcontext():
        inputs: list[library.Loaded] = []
        for name in files:
            path, kept = library.existing(env.store, name, rules, what="file"), len(inputs) < KEPT
            loaded = library.load(path, rules, Options(table=kept))
            env.remark(loaded.remarks)
            inputs.append(loaded if kept else loaded.without_table())
        merged = merge_states(inputs, allow_overlap=allow_overlap)
        state = merged.state
        if target is not None:
            backup = library.save(state, target, keep_backup=library.would_lose_runs(target, state))
    used = set(merged.used)
    return Merge(
        [Input(str(loaded.path), loaded.state.games, loaded in used) for loaded in inputs],
        state.games,
        state.positions,
        list(merged.duplicates),
        None if target is None else str(target),
        len(state.runs),
        backup,
    )
