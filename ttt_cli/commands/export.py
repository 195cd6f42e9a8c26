"""``ttt export``: a player's knowledge in other formats."""

import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ttt_cli.environment import Environment, printable
from ttt_cli.errors import UsageError, did_you_mean
from ttt_cli.shell.completion import complete_agents

if TYPE_CHECKING:
    from ttt_cli.agents.grammar import Agent
    from ttt_cli.engine.policy import PolicyTable
    from ttt_cli.store.state import State


@dataclass(frozen=True)
class Format:
    """What ``ttt export`` can write.

    :ivar about: what it is, in a few words.
    :ivar endings: how names of such files end.
    :ivar learner: the method whose states alone have this form; empty: any player; ``*``: any state.
    """

    about: str
    endings: tuple[str, ...]
    learner: str = ""

    def fits(self, state: "State | None") -> bool:
        """Whether a player that plays by this state, or by none, has this form."""
        from ttt_cli.engine.rules import STANDARD

        if not self.learner or state is None:
            return not self.learner
        if self.learner == "*":
            return True
        shaped = not (state.symmetric and self.learner == "graph")
        return state.learner.name == self.learner and state.rules == STANDARD and shaped


FORMATS = {
    "state": Format("ttt's own file of a learned state", (".json", ".csv"), "*"),
    "policy-csv": Format("each move's probability and value, a row each", (".csv",)),
    "policy-json": Format("the same as one JSON object", (".json",)),
    "npz": Format("the same as arrays for NumPy", (".npz",)),
    "dot": Format("the graph of positions, for Graphviz", (".dot", ".gv")),
    "node-link": Format("the graph of positions, JSON for networkx", (".json",)),
    "svg": Format("the graph of positions as a picture", (".svg",)),
    "state-action": Format("the graph machine's brain, JSON", (".json",), "graph"),
    "moves-csv": Format("the book's moves and how their games ended", (".csv",), "book"),
    "value-table": Format("the values of TD learning, CSV or .npz", (".csv", ".npz"), "td"),
    "q-table": Format("the table of Q-learning, JSON", (".json",), "q"),
}
"""The formats by name."""

OF_POSITIONS = ("dot", "node-link", "svg")
"""Those that draw the graph of positions."""


def export(
    env: Environment,
    source: Annotated[
        str, typer.Argument(help="A player, or any file ttt reads.", autocompletion=complete_agents)
    ],
    out: Annotated[
        str | None, typer.Option("--out", "-o", metavar="FILE", help="Where it goes; - is stdout.")
    ] = None,
    format_name: Annotated[
        str | None,
        typer.Option(
            "--format",
            "-f",
            metavar="FORMAT",
            help=f"One of {', '.join(FORMATS)}.",
            show_default="what FILE's ending says, if only one fits",
            autocompletion=lambda: list(FORMATS),
        ),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option("--from", metavar="POSITION", help="dot, node-link, svg: what follows from here."),
    ] = None,
    depth: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="dot, node-link, svg: so many plies further.")
    ] = None,
    best: Annotated[
        bool, typer.Option("--best", help="moves-csv: only the moves that the book would play.")
    ] = False,
) -> None:
    """Write what a player knows, or plays, in another format; the same call gives the same bytes.

    Examples:
      ttt export minimax -o policy.csv
      ttt export q -o q_table.json --format q-table
      ttt export graph -o graph.svg --from X...O.... --depth 2
    """
    from ttt_cli.agents.grammar import resolve
    from ttt_cli.engine.state_space import StateSpace
    from ttt_cli.shell.options import given_rules

    if out is None:
        raise UsageError("nowhere to put the result", where="-o", hint="-o FILE; -o - is stdout")
    if format_name is not None and format_name not in FORMATS:
        hint = did_you_mean(format_name, FORMATS) or f"there are {', '.join(FORMATS)}"
        raise UsageError(f"no such format {format_name!r}", where="--format", hint=hint)
    agent = resolve(source, env.store, given_rules(env))
    state = _state(agent)
    name = _chosen(agent.name, state, out, format_name)
    for option, given, formats in (
        ("--from", start is not None, OF_POSITIONS),
        ("--depth", depth is not None, OF_POSITIONS),
        ("--best", best, ("moves-csv",)),
    ):
        if given and name not in formats:
            raise UsageError(
                f"does not go with --format {name}", where=option, hint=f"it is for {', '.join(formats)}"
            )
    policy = agent.policy.table(StateSpace.of(agent.rules))
    chunks: Iterable[bytes]
    if name in OF_POSITIONS:
        chunks = _graph(name, agent, policy, start, depth)
    else:
        chunks = [_content(name, policy, state, best=best, npz=out.endswith(".npz"))]
    _write(env, out, name, agent, chunks)


def _state(agent: "Agent") -> "State | None":
    """What the player has learned, under the choice rule that was asked for."""
    if agent.loaded is None:
        return None
    state = agent.loaded.state
    return state.choosing(agent.options["choice"]) if "choice" in agent.options else state


def _chosen(source: str, state: "State | None", out: str, asked: str | None) -> str:
    """The format asked for, or the one that the name of the file means.

    :raises UsageError: naming the formats that fit.
    """

    fitting = [name for name, form in FORMATS.items() if form.fits(state)]
    if asked is not None:
        if asked not in fitting:
            raise UsageError(
                f"{printable(source)} has no {asked} form",
                where="--format",
                hint=f"it has {', '.join(fitting)}",
            )
        return asked
    ending = Path(out).suffix.lower()
    meant = [name for name in fitting if out != "-" and ending in FORMATS[name].endings]
    if "state" in meant and state and state.learner.suffix != ending:
        meant.remove("state")
    if len(meant) != 1:
        what = f"{printable(ending)} may mean several formats" if meant else "which format is meant?"
        raise UsageError(what, where="--format", hint=f"one of {', '.join(meant or fitting)}")
    return meant[0]


def _content(name: str, policy: "PolicyTable", state: "State | None", *, best: bool, npz: bool) -> bytes:
    """The file in a format that needs no more than this."""
    from ttt_cli.store import export as export_state
    from ttt_cli.store import library, policy_files

    if name == "policy-csv":
        return policy_files.policy_csv(policy)
    if name == "policy-json":
        return policy_files.policy_json(policy)
    if name == "npz":
        return policy_files.policy_npz(policy)
    assert state is not None
    if name == "state":
        return library.content(state)
    if name == "moves-csv":
        return export_state.moves_csv(state, best=best)
    if name == "value-table":
        return export_state.value_table_npz(state) if npz else export_state.value_table_csv(state)
    if name == "q-table":
        return export_state.q_table_json(state)
    return export_state.state_action_json(state)


def _graph(
    name: str, agent: "Agent", policy: "PolicyTable", start: str | None, depth: int | None
) -> Iterator[bytes]:
    from ttt_cli.engine.position import Position
    from ttt_cli.views.graph_files import PositionGraph, dot, node_link, scores_of
    from ttt_cli.views.graph_picture import svg

    position = None if start is None else Position.parse(start, agent.rules)
    graph = PositionGraph.of(policy, scores_of(policy, _state(agent)), position, depth)
    write = {"dot": dot, "node-link": node_link, "svg": svg}[name]
    return write(graph, printable(agent.name))


def _write(env: Environment, out: str, name: str, agent: "Agent", chunks: Iterable[bytes]) -> None:
    """To stdout, or to a file: the same bytes."""
    if out == "-":
        if name == "npz" and env.stdout.isatty():
            raise UsageError("NumPy's arrays are nothing for a terminal", where="-o", hint="-o FILE")
        env.out_bytes(chunks)
        return
    from ttt_cli.store.files import write_bytes
    from ttt_cli.store.library import holds_state

    path = Path(out)
    if agent.source is not None and path.exists() and path.samefile(agent.source):
        raise UsageError("is the very file that is to be exported", where=out, hint="-o another file")
    backup = write_bytes(path, chunks, parents=True, keep_backup=holds_state(path))
    if backup:
        env.say(f"the previous file, a learned state, is kept as {printable(str(backup))}")
    if env.json:
        env.document(
            "ttt-export", {"source": agent.name, "format": name, "file": out, "bytes": path.stat().st_size}
        )
        return
    env.out(f"saved {printable(out)} ({name}, {path.stat().st_size:,} bytes)")
    if name == "dot":
        env.say(f"next: dot -Tsvg {shlex.quote(out)} -o graph.svg")
