"""``ttt merge``: one state from many."""

from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from ttt_cli.agents.grammar import file_and_reading
from ttt_cli.documents import Count, Document, aside
from ttt_cli.environment import Environment, command_line, store_option
from ttt_cli.errors import UsageError
from ttt_cli.learners import learner_options
from ttt_cli.shell.common import locked, output_file
from ttt_cli.shell.options import FileNames, Out, flag, given_rules
from ttt_cli.store import library
from ttt_cli.store.formats.format import Loaded
from ttt_cli.store.merge import merge as merge_states
from ttt_cli.views.numbers import counted


@dataclass(frozen=True)
class Input:
    """An input file; one that another input contains is not used."""

    file: Path
    games: Count | None
    used: bool


@dataclass(frozen=True)
class Merge(Document, name="merge"):
    """A merged state; ``duplicates`` are the runs that several inputs hold."""

    inputs: list[Input]
    games: Count | None
    positions: Count | None
    duplicates: list[str]
    file: Path | None
    learner: str = aside()
    size: str = aside()

    def show(self, env: Environment) -> None:
        for file in self.inputs:
            if not file.used:
                env.say(f"{file.file} adds nothing: all that it has learned is in another input")
        outcome = "would hold" if self.file is None else f"saved to {self.file}:"
        env.out(f"{outcome} {counted(self.games, 'game')} in {self.size}")
        if self.file is not None:
            words = [library.display_name(env.store, self.file), *store_option(env.store)]
            env.say("next:", command_line("ttt", "evaluate", *words, *learner_options(self.learner)))


def merge(
    env: Environment,
    files: FileNames,
    out: Out = None,
    dry_run: Annotated[bool, flag("--dry-run", "Only report what the state would hold.")] = False,
    allow_overlap: Annotated[bool, flag("--allow-overlap", "Count inseparable experience twice.")] = False,
) -> Merge:
    """Merge states into one without counting any experience twice.

    Runs are identified by their ids: a file whose runs are all in another file adds nothing. The order of the
    files does not change a byte of the result.

    Examples:
      ttt merge q other.json -o both.json
      ttt merge a.csv b.csv -o book.csv --dry-run
    """
    if out is None and not dry_run:
        raise UsageError("no output file given", where="-o", hint="-o FILE, or --dry-run")
    rules = given_rules(env)
    named = None if out is None else output_file(env, out)  # checked in a dry run too
    target = None if dry_run else named
    with nullcontext() if target is None else locked(env, target, "merged", wait=30.0):
        loaded: list[Loaded] = []
        for text in files:
            name, reading = file_and_reading(text, rules)
            path = library.existing(env.store, name, rules, what="file")
            in_memory = len(loaded) < 4  # the tables of further files are read again when they are merged
            file = library.load(path, replace(reading, table=in_memory))
            env.remark(file.remarks)
            loaded.append(file if in_memory else replace(file, state=replace(file.state, table=None)))
        merged = merge_states(loaded, allow_overlap=allow_overlap)
        env.remark(merged.remarks)
        inputs = [Input(file.path, file.state.games, file not in merged.contained) for file in loaded]
        state = merged.state
        duplicates = list(merged.duplicates)
        del loaded, merged  # releases their tables before the state is written
        if target is not None:
            library.try_saving(state, target)
            library.save(state, target)
    size = f"{counted(len(state.runs), 'run')}, {counted(state.size[0], state.learner.units[0])}"
    return Merge(inputs, state.games, state.size[0], duplicates, target, state.learner.name, size)
