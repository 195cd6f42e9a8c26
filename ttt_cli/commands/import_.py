"""``ttt import``: a file that another program wrote becomes a state."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypedDict

import typer

from ttt_cli.documents import Count, RejectedFields
from ttt_cli.environment import Environment, command_line, printable
from ttt_cli.errors import UsageError

if TYPE_CHECKING:
    from ttt_cli.store.library import Loaded

HEADING = "Move experience between files"


class Import(TypedDict):
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


DOCUMENTS = {"import": Import}


SHOWN = 10
"""The most rejected rows listed on screen; --json lists more."""


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
        typer.Option(min=1, max=2**31, metavar="N", help="Visits to assume for an entry without a count."),
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
) -> None:
    """Import a file that another program wrote into the store.

    The format is recognised by the content (ttt show --formats). Says what was recognised, repaired and
    left out.

    Examples:
      ttt import q_table.json
      ttt import stranger.json --values-for x
      ttt import odd.json --spelling first=O --spelling cells=1
      ttt import values.json --unknown 0.5 --ties first
    """
    from contextlib import ExitStack
    from dataclasses import replace

    from ttt_cli.learners import offer_file
    from ttt_cli.shell.options import given_rules
    from ttt_cli.store import library
    from ttt_cli.store.formats.imported import Options
    from ttt_cli.store.locks import lock

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
    backup = None
    with ExitStack() as held:
        held.enter_context(lock(path, "imported", parents=library.is_stored(env.store, path)))
        if out is None and path.exists():
            both = f"{command_line('ttt', 'merge', file, path)} -o FILE"
            hint = f"-o FILE saves elsewhere; {both} joins both"
            raise UsageError("already exists", where=str(path), hint=hint)
        backup = library.save(loaded.state, path, keep_backup=library.would_lose_runs(path, loaded.state))
    if backup:
        env.say(f"the previous file is kept as {printable(str(backup))}")
    _report(env, loaded, path)


def _unknown(said: str | None) -> float | str | None:
    """The number of ``--unknown``, or ``random``.

    :raises UsageError: if it is neither.
    """
    from ttt_cli.agents.registry import finite

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


def _report(env: Environment, loaded: "Loaded", path: Path) -> None:
    from ttt_cli.views.numbers import what_is_held

    state, found = loaded.state, loaded.imported
    assert found is not None
    if env.json:
        fields: Import = {
            "file": str(path),
            "format": found.format,
            "learner": state.learner.name,
            "games": state.games,
            "positions": state.entries[0],
            "moves": state.entries[1],
            "repaired": found.repaired,
            "rejected": [{"where": item.where, "why": item.why} for item in found.rejected],
            "notes": found.notes,
        }
        env.document("ttt-import", fields)
        return
    env.out(f"format    {found.format}")
    for note in found.notes:
        env.out(f"          {printable(note)}", indent=10)
    env.out(f"holds     {what_is_held(state.entries, state.learner.units)}")
    for text in found.repaired:
        env.out(f"repaired  {printable(text)}", indent=10)
    for item in found.rejected[:SHOWN]:
        env.out(f"left out  {printable(f'{item.where}: {item.why}')}", indent=10)
    if len(found.rejected) > SHOWN:
        env.out(f"          and {len(found.rejected) - SHOWN:,} more; --json lists them")
    saved = f"{printable(str(path))} ({state.learner.name}, choice rule {state.learner.choice})"
    env.out(f"saved     {saved}", indent=10)
    env.say("next:", command_line("ttt", "evaluate", path))
