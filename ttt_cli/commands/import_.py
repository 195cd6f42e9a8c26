"""``ttt import``: a file that another program wrote becomes a state."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

import typer

from ttt_cli.agents.registry import finite
from ttt_cli.documents import Count, Document, RejectedFields, aside
from ttt_cli.environment import Environment, command_line
from ttt_cli.errors import UsageError
from ttt_cli.learners import offer_file
from ttt_cli.shell.options import given_rules, whole
from ttt_cli.store import library
from ttt_cli.store.formats.imported import Options
from ttt_cli.store.library import Loaded
from ttt_cli.store.locks import lock
from ttt_cli.views.numbers import what_is_held

SHOWN = 10
"""The most rejected rows listed on screen; --json lists more."""


@dataclass(frozen=True)
class Import(Document, name="import"):
    """What ``ttt import`` made of a file, put right and left out."""

    file: str
    format: str
    learner: str
    games: Count | None
    positions: Count
    moves: Count
    repaired: list[str]
    rejected: list[RejectedFields]
    notes: list[str]
    units: tuple[str, str] = aside()
    choice: str = aside()

    @classmethod
    def of(cls, loaded: Loaded, path: Path) -> "Import":
        """What came of reading a file, now a state at ``path``."""
        state, found = loaded.state, loaded.imported
        assert found is not None
        return cls(
            str(path),
            found.format,
            state.learner.name,
            state.games,
            *state.entries,
            repaired=found.repaired,
            rejected=[RejectedFields(one.where, one.why) for one in found.rejected],
            notes=found.notes,
            units=state.learner.units,
            choice=state.learner.choice,
        )

    def show(self, env: Environment) -> None:
        """Print what was recognised, put right and left out."""
        lines = [("format", self.format), *(("", note) for note in self.notes)]
        lines.append(("holds", what_is_held((self.positions, self.moves), self.units)))
        lines += [("repaired", text) for text in self.repaired]
        lines += [("left out", f"{one.where}: {one.why}") for one in self.rejected[:SHOWN]]
        if more := self.rejected[SHOWN:]:
            lines.append(("", f"and {len(more):,} more; --json lists them"))
        lines.append(("saved", f"{self.file} ({self.learner}, choice rule {self.choice})"))
        for name, text in lines:
            env.out(f"{name:<9} {text}", indent=10)
        env.say("next:", command_line("ttt", "evaluate", self.file))


def import_(
    env: Environment,
    file: Annotated[Path, typer.Argument(help="A file in any format that ttt show --formats lists.")],
    learner: Annotated[
        str | None, typer.Option(metavar="LEARNER", help="The method whose table it becomes.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Where the state goes.", show_default="the store"),
    ] = None,
    visits: Annotated[
        int,
        typer.Option(
            parser=whole(1, 2**31), metavar="N", help="Visits to assume for an entry without a count."
        ),
    ] = 1,
    strict: Annotated[bool, typer.Option("--strict", help="Fail instead of leaving anything out.")] = False,
    values_for: Annotated[
        Literal["x", "o", "mover", "moved", "owner"] | None,
        typer.Option(
            "--values-for",
            help="Whose perspective the values use: a side's, the mover's, or that of who has just moved.",
            show_default="what the values say",
        ),
    ] = None,
    spelling: Annotated[
        list[str] | None,
        typer.Option(
            "--spelling",
            metavar="NAME=VALUE",
            help="How positions are written: first, second, empty, cells, board, order, …",
        ),
    ] = None,
    unknown: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER|random",
            help="What a move counts as that is not in the file; random: only made where none is.",
            show_default="0",
        ),
    ] = None,
    wins: Annotated[
        Literal["known", "unknown"] | None,
        typer.Option(help="Whether a winning move that is not in the file is seen.", show_default="unknown"),
    ] = None,
    ties: Annotated[
        Literal["random", "first", "last", "first-learned"] | None,
        typer.Option(
            help="Which of exactly equal moves is played; first-learned: the first, but any where all are 0.",
            show_default="random",
        ),
    ] = None,
    choice: Annotated[
        Literal["draw", "most"] | None,
        typer.Option(
            help="Draw a bead, or play the move with most beads.",
            show_default="draw where the file counts beads",
        ),
    ] = None,
) -> Import:
    """Import a file that another program wrote into the store.

    The format is recognised by the content (ttt show --formats). Says what was recognised, repaired and
    left out.

    Examples:
      ttt import q_table.json
      ttt import stranger.json --values-for x
      ttt import odd.json --spelling first=O --spelling cells=1
      ttt import values.json --unknown 0.5 --ties first
    """
    options = Options(
        visits=visits,
        strict=strict,
        values_for=values_for,
        spelling=_facets(spelling or []),
        unknown=_unknown(unknown),
        wins=wins,
        rules=given_rules(env),
    )
    learner = offer_file(learner) if learner and ":" in learner else learner
    loaded = library.import_file(file, options, learner)
    loaded = replace(loaded, state=loaded.state.playing(choice, ties))
    path = out or library.path_in(env.store, file.stem, loaded.state.learner.name)
    if path.exists() and path.samefile(file):
        raise UsageError("would overwrite the file being imported", where=str(path), hint="-o another file")
    with lock(path, "imported", parents=library.is_stored(env.store, path)):
        if out is None and path.exists():
            both = f"{command_line('ttt', 'merge', file, path)} -o FILE"
            hint = f"-o FILE saves elsewhere; {both} joins both"
            raise UsageError("already exists", where=str(path), hint=hint)
        backup = library.save(loaded.state, path, keep_backup=library.would_lose_runs(path, loaded.state))
    if backup:
        env.say(f"the previous file is kept as {backup}")
    return Import.of(loaded, path)


def _unknown(said: str | None) -> float | str | None:
    """The number of ``--unknown``, or ``random``.

    :raises UsageError: if it is neither.
    """
    try:
        return said if said in (None, "random") else finite(said)
    except ValueError:
        raise UsageError(f"NUMBER or random, not {said!r}", where="--unknown") from None


def _facets(said: list[str]) -> dict[str, str]:
    """The facets of ``NAME=VALUE`` each.

    :raises UsageError: if one is not of that form.
    """
    found = {}
    for item in said:
        name, equals, value = item.partition("=")
        if not equals:
            raise UsageError(f"{item!r} is not NAME=VALUE", where="--spelling")
        found[name] = value
    return found
