"""``ttt import``: another program's file becomes a state."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from ttt_cli.agents.grammar import file_and_reading
from ttt_cli.agents.uniform import Uniform
from ttt_cli.documents import Count, Document
from ttt_cli.environment import Environment, command_line
from ttt_cli.errors import InvalidFileError, UsageError
from ttt_cli.learners import offer_file
from ttt_cli.shell.common import locked, output_file, refuse_sources
from ttt_cli.shell.options import Out, argument, file_help, flag, given_rules, option
from ttt_cli.shell.ties import about_ties
from ttt_cli.store import library
from ttt_cli.store.formats.format import Loaded
from ttt_cli.views.numbers import table_size
from ttt_cli.views.tables import print_facts

SHOWN = 10
"""How many rejected rows the screen lists; --json lists more."""


@dataclass(frozen=True)
class Import(Document, name="import"):
    """The state made of a file, and what was repaired and left out."""

    DOCUMENT = ("file", "learner", "games", "positions", "moves", "*loaded")

    file: Path
    learner: str
    games: Count | None
    positions: Count
    moves: Count
    loaded: Loaded

    def show(self, env: Environment) -> None:
        loaded = self.loaded
        learner = loaded.state.learner
        facts = [("format", loaded.format), *(("", note) for note in loaded.notes)]
        facts.append(("holds", table_size(self.positions, self.moves, learner.units)))
        facts += [("repaired", text) for text in loaded.repaired]
        facts += [("left out", f"{fault.where}: {fault.why}") for fault in loaded.rejected[:SHOWN]]
        if more := loaded.rejected[SHOWN:]:
            facts.append(("", f"and {len(more):,} more; --json lists them"))
        facts.append(("saved", f"{self.file} ({self.learner}, choice rule {learner.choice})"))
        print_facts(env, facts)
        env.say("next:", command_line("ttt", "evaluate", self.file))


def import_(
    env: Environment,
    file: Annotated[str, argument("FILE[:OPTIONS]", "A file of another program.")],
    learner: Annotated[str | None, option("LEARNER", "The method whose table it becomes.")] = None,
    out: Out = None,
    strict: Annotated[bool, flag("--strict", "Fail if anything would be repaired or left out.")] = False,
) -> Import:
    """Turn a file that another program wrote into a state in the store.

    The format is recognised by the content (ttt show --formats lists all formats). The result says what was
    recognised, repaired and left out.

    Examples:
      ttt import q_table.json
      ttt import q_table.json:values=x,unknown=0.5,ties=last
      ttt import odd.json:spelling.first=O,spelling.cells=1
    """
    name, reading = file_and_reading(file, given_rules(env))
    source = library.existing(env.store, name, what="file")
    learner = offer_file(learner).name if learner and ":" in learner else learner
    loaded = library.load(source, replace(reading, strict=strict, learner=learner))
    if loaded.native:
        message = "is already a ttt state: there is nothing to import"
        raise InvalidFileError(message, where=str(source), hint="ttt merge merges it with others")
    state = loaded.state
    usual = env.store / f"{source.stem}{state.learner.suffix}"
    path = usual if out is None else output_file(env, out)
    refuse_sources(env, path, source)
    with locked(env, path, "imported"):
        if out is None and path.exists():
            replaces = command_line("-o", path)
            hint = f"-o FILE saves elsewhere, {replaces} replaces it; ttt merge joins files"
            raise UsageError("already exists", where=str(path), hint=hint)
        library.try_saving(state, path)
        library.save(state, path)
    ties = about_ties(loaded, reading.playing, "random", Uniform(state.rules))
    loaded = replace(loaded, notes=[*loaded.notes, *ties])
    return Import(path, state.learner.name, state.games, *state.size, loaded)


more_help = file_help
