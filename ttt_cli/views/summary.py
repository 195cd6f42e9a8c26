"""``ttt show``: what is in a state or a log; bare, all players and states there are; and the formats."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from rich.text import Text

from ttt_cli.documents import Count, Document, ResultsFields, RunFields, aside
from ttt_cli.engine.rules import STANDARD
from ttt_cli.environment import Environment, command_line
from ttt_cli.evaluation.overview import StoredState
from ttt_cli.views.numbers import counted, percent
from ttt_cli.views.tables import draw_table, table

MOST = 10
"""Runs, and players of a log, that are listed one by one; there are more under ``--json``."""

VERDICTS = {True: ("unbeatable", "green"), False: ("beatable", "red"), None: ("not known", "dim")}


@dataclass(frozen=True)
class StateSummary(Document, name="state-summary"):
    """What ``ttt show`` finds in a state."""

    file: str
    format: str
    learner: str
    choice: str
    rules: str
    symmetry: bool
    games: Count | None
    positions: Count
    moves: Count
    runs: list[RunFields]
    units: tuple[str, str] = aside()
    against_people: tuple[int, int, int] | None = aside()

    def show(self, env: Environment) -> None:
        """Print a line for each thing there is to say."""
        first, second = self.units
        facts = {
            "file": f"{self.file} ({self.format})",
            "learner": f"{self.learner}, choice rule {self.choice}",
            "rules": self.rules + (", up to symmetry" if self.symmetry else ""),
            "games": "unknown" if self.games is None else f"{self.games:,}",
            f"{first}s": f"{self.positions:,}",
            f"{second}s": f"{self.moves:,}",
        }
        lines = [*facts.items(), *(("run", text) for text in _describe_runs(self.runs))]
        if self.against_people:
            won, drawn, lost = self.against_people
            lines.append(("people", f"won {won:,} games against people, drew {drawn:,}, lost {lost:,}"))
        for name, text in lines:
            env.out(f"{name:<9} {text}", indent=10)


@dataclass(frozen=True)
class PlayerRecord:
    """How the games of a player in a log ended, from its side."""

    name: str
    won: Count
    drawn: Count
    lost: Count


@dataclass(frozen=True)
class LogSummary(Document, name="log-summary"):
    """What ``ttt show`` finds in a log of games; lines that cannot be read are counted as ``unreadable``."""

    file: str
    games: Count
    results: ResultsFields
    players: list[PlayerRecord]
    unreadable: Count
    fault: str = aside()

    def show(self, env: Environment) -> None:
        """Print the results, and those of the players with most games."""
        ends = self.results
        env.out(f"file      {self.file} (game records)", indent=10)
        won = f"X won {ends['x']:,}, O won {ends['o']:,}, {ends['draw']:,} drawn"
        env.out(f"games     {self.games:,}: {won}", indent=10)
        if self.unreadable:
            unread = counted(self.unreadable, "line")
            env.out(f"faults    {unread} cannot be read, the first: {self.fault}", indent=10)
        for one in self.players[:MOST]:
            ended = f"won {one.won:,}, drew {one.drawn:,}, lost {one.lost:,}"
            env.out(f"player    {one.name} {ended}", indent=10)
        if more := self.players[MOST:]:
            env.out(f"          and {len(more):,} more; --json lists them")
        env.say("next:", command_line("ttt", "review", self.file))


@dataclass(frozen=True)
class BuiltIn(Document, name="player"):
    """A player that needs no file, and the options behind its colon with the values they take."""

    name: str
    usage: str
    kind: Literal["built-in", "level", "plug-in", "learner"]
    about: str
    options: dict[str, str]

    def show(self, env: Environment) -> None:
        """Print what it plays and how it is named."""
        env.out(f"player    {self.usage}", f"plays     {self.about}")
        for name, values in self.options.items():
            env.out(f"option    {name}={values}", indent=10)


@dataclass(frozen=True)
class Store(Document, name="store"):
    """The states in the store and the players that need no file: what bare ``ttt show`` lists."""

    store: str
    states: list[StoredState]
    players: list[BuiltIn]

    def show(self, env: Environment) -> None:
        """Two tables."""
        if self.states:
            headings = ["state", ">games", "verdict", ">lose as X", ">lose as O", "last written"]
            draw_table(env, headings, map(_row, self.states), lead=1)
            env.out("", f"in {self.store}", "")
        else:
            env.out(f"no states in {self.store}", "")
        env.draw(table(["player", "plays"], [[one.usage, one.about] for one in self.players]), wrap=True)
        if not self.states:
            env.say("next:", "ttt train q")


def _row(state: StoredState) -> list[str | Text]:
    written = datetime.fromisoformat(state.written).strftime("%Y-%m-%d %H:%M")
    if state.fault:
        return [state.name, "", Text("not a state", "dim"), "", "", written]
    name = state.name
    if state.rules not in (None, str(STANDARD)) and str(state.rules) not in name:
        name += f" ({state.rules})"
    games = "" if state.games is None else f"{state.games:,}"
    losses = [percent(loss, 1) for loss in (state.worst_case or {}).values()] or ["", ""]
    return [name, games, Text(*VERDICTS[state.unbeatable]), *losses, written]


@dataclass(frozen=True)
class FormatRow:
    """A kind of file: the method whose table it holds, whether it is read and written, and plays as it is."""

    name: str
    learner: str | None
    about: str
    reads: bool
    plays: bool
    writes: bool


@dataclass(frozen=True)
class Formats(Document, name="formats"):
    """The files that can be read and written: ``ttt show --formats``."""

    formats: list[FormatRow]

    def show(self, env: Environment) -> None:
        """A table; on a narrow screen what a format is stands in one of its own."""
        uses = {True: "yes", False: ""}
        rows = [
            [row.name, uses[row.reads], uses[row.plays], uses[row.writes], row.learner or "", row.about]
            for row in self.formats
        ]
        draw_table(env, ["format", "reads", "plays", "writes", "learner", "what it is"], rows, lead=1)


def _describe_runs(runs: Sequence[RunFields]) -> Iterator[str]:
    """The runs, those with most games first, and all sittings of play in one line."""
    sittings = [run for run in runs if run["kind"] == "play"]
    others = sorted(
        (run for run in runs if run["kind"] != "play"), key=lambda run: (-(run["games"] or 0), run["id"])
    )
    yield from map(_describe_run, others[:MOST])
    if more := others[MOST:]:
        yield f"and {len(more):,} more, {sum(run['games'] or 0 for run in more):,} games; --json lists them"
    if len(sittings) == 1:
        yield _describe_run(sittings[0])
    elif sittings:
        games = sum(run["games"] or 0 for run in sittings)
        results = [run["results"] for run in sittings if run["results"]]
        ended = {key: sum(each[key] for each in results) for key in ("x", "o", "draw")}
        yield f"{len(sittings):,} sittings of play, {games:,} games: {_ended(ended)}"


def _describe_run(run: RunFields) -> str:
    games = "unknown games" if run["games"] is None else counted(run["games"], "game")
    text = f"{run['id'][:12]} {run['kind']:<7} {games}"
    if run["kind"] == "train":
        text += f" against {run['opponent']}, seed {run['seed']}"
        text += ", not reproducible: the opponent is a program" if run.get("reproducible") is False else ""
        if (run["games"] or 0) < run["planned"]:
            text += f", stopped before {run['planned']:,}"
    return f"{text}: {_ended(run['results'])}" if run["results"] else text


def _ended(results: Any) -> str:
    return f"X won {results['x']:,}, O won {results['o']:,}, {results['draw']:,} drawn"
