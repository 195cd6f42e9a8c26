"""``ttt export``: a player in another format."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np

from ttt_cli.agents.grammar import Agent
from ttt_cli.agents.uniform import Uniform
from ttt_cli.documents import Count, Document
from ttt_cli.engine.position import Position
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.state_space import StateSpace, enumerated
from ttt_cli.environment import Environment
from ttt_cli.errors import InvalidFileError, TttError, UsageError, did_you_mean, printable
from ttt_cli.evaluation.matchup import both_sides, own_play
from ttt_cli.evaluation.walk import OutgrownError
from ttt_cli.shell.common import locked, output_file, refuse_sources, resolved, try_report, write_report
from ttt_cli.shell.options import AgentName, Report, flag, number, option
from ttt_cli.store import library
from ttt_cli.store.foreign.questions import UndecidedError
from ttt_cli.store.formats import FORMATS, all_formats, checked_format
from ttt_cli.store.formats.format import DEFAULTS, FORMAT, ExportSource, Format, Loaded
from ttt_cli.store.source import Source
from ttt_cli.store.state import State
from ttt_cli.user_code import FORMAT_PLUGINS, plugin, plugins
from ttt_cli.views.numbers import percent

MAX_REACHED = 4_000_000
"""The most positions that the walk through a player's own play may visit."""

PICTURE_DEPTH = 2
"""Plies of the game tree that a picture shows by default; more would not fit on a screen."""


@dataclass(frozen=True)
class Export(Document, name="export"):
    """A file that has been exported."""

    source: str
    format: str
    file: str
    bytes: Count

    def show(self, env: Environment) -> None:
        env.out(f"saved {self.file} ({self.format}, {self.bytes:,} bytes)")


def export(
    env: Environment,
    source: AgentName,
    out: Report,
    format_name: Annotated[
        str | None, option("FORMAT", "By default, what the ending of FILE suggests.", "--format", "-f")
    ] = None,
    start: Annotated[str | None, option("POSITION", "dot, svg: start from this position.", "--from")] = None,
    depth: Annotated[int | None, number("dot, svg: at most N plies deep.", least=0)] = None,
    best: Annotated[bool, flag("--best", "moves-csv: only the moves the book would play.")] = False,
) -> Export | None:
    """Write what a player has learned, or how it plays, in another format (ttt show --formats lists them).

    The same call always writes the same bytes.

    Examples:
      ttt export minimax -o policy.csv
      ttt export q -o q_table.json --format q-table
      ttt export graph -o graph.svg --from X...O.... --depth 2
    """
    (agent,) = resolved(env, source, estimated=True)
    state = agent.loaded.state if agent.loaded else None
    if state is not None and "choice" in agent.options:
        state = state.with_choice(agent.options["choice"])
    root = None if start is None else Position.parse(start, agent.rules)
    player = ExportSource(
        name=printable(agent.name),
        state=state,
        policy=agent.policy,
        suffix=Path(out).suffix.lower(),
        start=root,
        depth=depth,
        best=best,
    )
    form = _format(player, out, format_name)
    options = {"--from": start is not None, "--depth": depth is not None, "--best": best}
    if wrong := [option for option, is_given in options.items() if is_given and option not in form.options]:
        raise UsageError(f"does not go with --format {form.name}", where=wrong[0])
    if form.name == FORMAT and state is not None:
        if lost := sorted(agent.options.keys() - {"choice", "ties"}):
            raise UsageError(f"a state does not hold {lost[0]}", where=agent.name, hint="leave it out")
        state = state.with_play(ties=agent.options.get("ties"))
        if out != "-":
            return _save_state(env, agent.name, state, out)
        player = replace(player, state=state)
    try_report(env, out)
    if form.name == "svg" and start is None and depth is None:
        env.say(f"drawn to a depth of {PICTURE_DEPTH} plies; --depth N and --from POSITION draw other parts")
        player = replace(player, depth=PICTURE_DEPTH)
    if form.holds == "policy":
        player = replace(player, reached=_reached(env, agent))
    chunks: Iterable[bytes] = _checked(form, player)
    if form.holds == "table" and form.name != FORMAT:
        chunks = [b"".join(chunks)]
        env.remark(_differences(agent, form, Source(out, chunks[0])))
    if not write_report(env, out, chunks) or not Path(out).is_file():  # a pipe has no size to report
        return None
    return Export(agent.name, form.name, out, Path(out).stat().st_size)


def _checked(form: Format, player: ExportSource) -> Iterator[bytes]:
    """Yield what a format writes, which may be that of a plug-in."""
    for chunk in form.write(player):
        if not isinstance(chunk, bytes | bytearray | memoryview):
            raise TttError(f"the format's write yields {type(chunk).__name__}, not bytes", where=form.name)
        yield bytes(chunk)


def _reached(env: Environment, agent: Agent) -> Positions | None:
    """Return the positions that a player's own play can reach, if these are the ones to write: for a program,
    and on a board without a state space for any player that keeps no positions. Say which ones are written.

    :raises UsageError: if there are too many.
    """
    keeps_positions = agent.loaded is not None and agent.loaded.state.seen is not None
    if not agent.policy.external:
        if enumerated(agent.rules) is not None:
            return None
        if keeps_positions:
            env.say(f"{agent.name}: only the positions that it has seen; the file has no move for any other")
            return None
    try:
        with env.progress(None, title="visiting", unit=f"positions, at most {MAX_REACHED:,}") as tick:
            reached = own_play(agent.policy, budget=MAX_REACHED, tick=tick)[0]
    except OutgrownError as error:
        what = f"has a {agent.rules.describe()} policy too large for a file: {error.message}"
        hint = "of a trained table, only the positions it has seen are written"
        raise UsageError(what, where=agent.name, hint=hint) from None
    env.say(f"{agent.name}: only the {len(reached):,} open positions that its own play can reach")
    return reached


def _differences(agent: Agent, form: Format, written: Source) -> Iterator[str]:
    """Remark if what was written cannot be read back without questions, or then plays differently."""
    try:
        loaded = form.load(written, DEFAULTS)
    except UndecidedError:
        yield f"so little was learned that a {form.name} file leaves open how it is meant"
        return
    except InvalidFileError:  # an empty table
        return
    assert isinstance(loaded, Loaded)
    again = loaded.state.policy
    positions = StateSpace.of(agent.rules)
    difference = again.probabilities(positions) - agent.policy.probabilities(positions)
    if np.abs(difference).max() > 1e-9:
        rates = [both_sides(policy, Uniform(agent.rules)) for policy in (agent.policy, again)]
        before, after = (f"{percent(x.win)} as X and {percent(o.win)} as O" for x, o in rates)
        what = f"a {form.name} file plays differently from {agent.name}"
        if before == after:
            yield f"{what}, but wins as often against random: {after}"
        else:
            yield f"{what}: read back, it wins {after} against random; {agent.name} wins {before}"


def _save_state(env: Environment, name: str, state: State, out: str) -> Export:
    """Write a state as every command does that saves one: locked, and with a backup."""
    refuse_sources(env, out)
    path = output_file(env, out)
    with locked(env, path, "exported to"):
        library.try_saving(state, path)
        library.save(state, path)
    return Export(name, FORMAT, out, path.stat().st_size)


def _format(player: ExportSource, out: str, name: str | None) -> Format:
    """Return the format asked for, or the one that the ending of the file's name means. Plug-ins are loaded
    only if it is none of the built-in ones.

    :raises UsageError: if there is none, or several.
    """

    def is_meant(form: Format) -> bool:
        return player.suffix in form.suffixes if name is None else form.name in (name, f"ttt-{name}")

    forms = sorted(_fitting(player, all_formats()), key=lambda form: not form.learner)  # of one method first
    meant = [*filter(is_meant, forms)]
    if not meant and name not in FORMATS:
        own = plugins(FORMAT_PLUGINS, checked_format)
        forms += _fitting(player, own if name is None else [plugin(FORMAT_PLUGINS, name, checked_format)])
        meant = [*filter(is_meant, forms)]
    if len(meant) == 1:
        return meant[0]
    names = ", ".join(dict.fromkeys(form.name for form in meant or forms))
    if name is None:
        what = "could be several formats" if meant else "cannot tell the format from the file's name"
        hint = f"--format with one of {names}; ttt show --formats describes them"
        raise UsageError(what, where=out, hint=hint)
    near = "" if name in (*FORMATS, "state") else did_you_mean(name, [form.name for form in forms])
    raise UsageError(f"{player.name} has no {name} form", where="--format", hint=near or f"it has {names}")


def _fitting(player: ExportSource, forms: Iterable[Format | None]) -> list[Format]:
    """Return the formats in which this player can be written."""
    return [form for form in forms if form and form.written and form.fits(player.state)]
