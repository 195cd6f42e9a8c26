"""``ttt show``: what a state holds, the states and players there are, and the file formats."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal, cast

from rich.text import Text

from ttt_cli.agents.grammar import checked_player, file_and_reading, resolve
from ttt_cli.agents.registry import ALIASES, BUILT_IN, ON_LARGE_BOARDS, AgentType, players
from ttt_cli.documents import Count, Document, Error, Share, aside, optional
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import enumerated
from ttt_cli.environment import Environment, store_option
from ttt_cli.errors import TttError, UsageError
from ttt_cli.evaluation.verdict import is_unbeatable, judge
from ttt_cli.learners import learner_of, plugin_learner
from ttt_cli.shell.options import flag, given_rules, named
from ttt_cli.store import library
from ttt_cli.store.formats import all_formats, checked_format
from ttt_cli.store.formats.format import FileOptions, Loaded
from ttt_cli.store.plays import PlayRule
from ttt_cli.store.runs import Run, differing
from ttt_cli.store.system import LARGE
from ttt_cli.user_code import AGENT_PLUGINS, FORMAT_PLUGINS, LEARNER_PLUGINS, plugins
from ttt_cli.views.numbers import counted, percent
from ttt_cli.views.tables import draw_table, print_facts, table

MAX_RUNS = 10
"""How many runs are listed; ``--json`` lists all."""

VERDICTS = {True: ("unbeatable", "green"), False: ("beatable", "red"), None: ("not known", "dim")}


@dataclass(frozen=True)
class StateSummary(Document, name="state-summary"):
    """What a state holds; ``plays`` is how the program that made an imported table plays by it."""

    file: str
    format: str
    learner: str
    choice: str
    rules: Rules
    symmetry: bool
    games: Count | None
    positions: Count
    moves: Count
    runs: list[Run]
    plays: PlayRule | None = optional()
    units: tuple[str, str] = aside()

    def show(self, env: Environment) -> None:
        facts = {
            "file": f"{self.file} ({self.format})",
            "learner": f"{self.learner}, choice rule {self.choice}",
            "rules": self.rules.describe() + ("; one entry for symmetric boards" if self.symmetry else ""),
            "games": "unknown" if self.games is None else f"{self.games:,}",
            f"{self.units[0]}s": f"{self.positions:,}",
            f"{self.units[1]}s": f"{self.moves:,}",
        }
        if self.plays:
            facts["plays by"] = str(self.plays)
        usual = learner_of(self.learner, self.choice).parameters()
        print_facts(env, [*facts.items(), *(("run", text) for text in _describe_runs(self.runs, usual))])


def _describe_runs(runs: Sequence[Run], usual: Mapping[str, Any]) -> Iterator[str]:
    """Describe the runs with most games, and count the others.

    :param usual: the method's own parameters, which are not mentioned.
    """
    longest = sorted(runs, key=lambda run: (-(run["games"] or 0), run["id"]))
    for run in longest[:MAX_RUNS]:
        yield _describe_run(run, usual)
    if others := longest[MAX_RUNS:]:
        games = sum(run["games"] or 0 for run in others)
        yield f"and {len(others):,} more, {games:,} games; --json lists them"


def _describe_run(run: Run, usual: Mapping[str, Any]) -> str:
    text = f"{run['id'][:12]} {run['kind']:<7} {counted(run['games'], 'game')}"
    if run["kind"] == "train":
        text += f" against {run['opponent']}, seed {run['seed']}"
        for name, (_, value) in differing([usual, run["params"]]).items():
            text += f", {name} {value}"
        text += ", not reproducible: the opponent is a program" if run.get("reproducible") is False else ""
        if (run["games"] or 0) < run["planned"]:
            text += f", stopped before {run['planned']:,}"
    if results := run["results"]:
        text += f": X won {results['x']:,}, O won {results['o']:,}, {results['draw']:,} drawn"
    return text


@dataclass(frozen=True)
class PlayerSummary(Document, name="player"):
    """A player that needs no file, and its options with the values they take."""

    name: str
    usage: str
    kind: Literal["built-in", "alias", "plug-in", "learner"]
    about: str
    options: dict[str, str]

    @classmethod
    def of(cls, agent: AgentType, kind: Literal["built-in", "plug-in"]) -> "PlayerSummary":
        options = {key: option.accepts for key, option in agent.options.items()}
        return cls(agent.name, agent.usage, kind, agent.about, options)

    def show(self, env: Environment) -> None:
        options = (("option", f"{name}={values}") for name, values in self.options.items())
        print_facts(env, [("player", self.usage), ("plays", self.about), *options])


@dataclass(frozen=True)
class StoredState:
    """A state in the store, with null for what is not known, and why it cannot be read (``fault``).

    :ivar worst_case: ``as_x`` and ``as_o``: the highest probability of losing that any opponent can force.
    """

    name: str
    learner: str
    rules: Rules | None
    games: Count | None
    unbeatable: bool | None
    worst_case: dict[str, Share] | None
    written: str
    fault: str

    @classmethod
    def of(cls, path: Path) -> "StoredState":
        status = path.stat() if path.exists() else path.lstat()
        written = datetime.fromtimestamp(status.st_mtime).astimezone().isoformat(timespec="seconds")
        try:
            state = library.load(path, FileOptions(table=False)).state
            unbeatable = worst = None
            if enumerated(state.rules) is not None:
                verdict = judge(library.load(path).state.policy)
                unbeatable = verdict.unbeatable
                worst = {"as_x": verdict.as_x.loss, "as_o": verdict.as_o.loss}
            elif status.st_size <= LARGE:  # others take seconds to read
                unbeatable = is_unbeatable(library.load(path).state.policy, budget=20_000)
        except TttError as error:
            return cls(path.stem, "", None, None, None, None, written, fault=str(Error.of(error)))
        return cls(
            name=path.stem,
            learner=state.learner.name,
            rules=state.rules,
            games=state.games,
            unbeatable=unbeatable,
            worst_case=worst,
            written=written,
            fault="",
        )

    def row(self) -> list[str | Text]:
        written = datetime.fromisoformat(self.written).strftime("%Y-%m-%d %H:%M")
        if self.fault:
            return [self.name, "", Text("cannot be read", "dim"), "", "", written]
        games = "" if self.games is None else f"{self.games:,}"
        losses = [percent(loss, 1) for loss in (self.worst_case or {}).values()] or ["", ""]
        return [self.name, games, Text(*VERDICTS[self.unbeatable]), *losses, written]


@dataclass(frozen=True)
class Store(Document, name="store"):
    """The states in the store, and the players that need no file."""

    store: str
    states: list[StoredState]
    players: list[PlayerSummary]

    def show(self, env: Environment) -> None:
        if self.states:
            headings = ["state", ">games", "verdict", ">lose as X", ">lose as O", "last written"]
            draw_table(env, headings, [state.row() for state in self.states], lead=1)
            for state in self.states:
                if state.fault:
                    env.out(f"{state.name}: {state.fault}", indent=2)
            env.out("", f"in {self.store}", "")
            if any(state.unbeatable is None and not state.fault for state in self.states):
                env.say("not known: ttt evaluate judges it; this list looks briefly, at files up to 8 MB")
        else:
            game = f" for {rules.describe()}" if (rules := given_rules(env)) else ""
            env.out(f"no states{game} in {self.store}", "")
        env.draw(table(["player", "plays"], [[player.usage, player.about] for player in self.players]))
        if not self.states:
            env.say("next:", library.StateName("q", rules=given_rules(env)).command(*store_option(env.store)))


@dataclass(frozen=True)
class FormatRow:
    """A file format: whether it can be read, played and written, and the learner whose table it holds."""

    name: str
    learner: str | None
    about: str
    reads: bool
    plays: bool
    writes: bool


@dataclass(frozen=True)
class Formats(Document, name="formats"):
    """The formats that can be read and written."""

    formats: list[FormatRow]

    def show(self, env: Environment) -> None:
        uses = {True: "yes", False: ""}
        rows = [
            [row.name, uses[row.reads], uses[row.plays], uses[row.writes], row.learner or "", row.about]
            for row in self.formats
        ]
        draw_table(env, ["format", "reads", "plays", "writes", "learner", "what it is"], rows, lead=1)


def show(
    env: Environment,
    file: Annotated[str | None, named("[FILE]", "A state, a player, or a table of another program.")] = None,
    formats: Annotated[bool, flag("--formats", "List the formats that can be read and written.")] = False,
) -> Document:
    """Show what a state holds: learner, rules, games, runs and their results, sizes.

    Without FILE: the states in the store with their verdicts, and the players that need no file.

    Examples:
      ttt show
      ttt show q
      ttt show --formats
    """
    if formats and file is not None:
        raise UsageError("takes no file", where="--formats")
    if formats:
        return _formats()
    rules = given_rules(env)
    if file is None:
        paths = library.stored_files(env.store)
        states = []
        with env.progress(len(paths), title="judge", unit="states") as tick:
            for done, path in enumerate(paths):
                tick(done)
                states.append(StoredState.of(path))
        states = [state for state in states if rules in (None, state.rules)]
        return Store(str(env.store.absolute()), states, [*_players()])
    name = re.split("[:,]", file)[0]
    is_file = name not in BUILT_IN and any(library.find(env.store, text, rules) for text in (file, name))
    player = None if is_file else next((each for each in _players() if each.name == name), None)
    if player is not None:
        if file != name:
            resolve(file, env.store, rules)  # raises UsageError for an unknown option
        return player
    file, reading = file_and_reading(file, rules)
    if not library.is_path(file) and library.find(env.store, file, rules) is None:
        resolve(file, env.store, rules)  # raises UsageError with similar names
    loaded = library.load(library.existing(env.store, file, rules), reading)
    env.remark(loaded.remarks)
    return _summary(loaded)


def _players() -> Iterator[PlayerSummary]:
    """Describe the players that need no file: those of plug-ins last, so that the others are found without
    loading any."""
    yield from (PlayerSummary.of(agent, "built-in") for agent in players().values())
    for name, meant in ALIASES.items():
        same = meant.replace(":", " with ").replace(",", " and ")
        if name in ON_LARGE_BOARDS:
            same += f"; on large boards, as {ON_LARGE_BOARDS[name]}"
        yield PlayerSummary(name, name, "alias", f"the same as {same}", {})
    yield from (PlayerSummary.of(agent, "plug-in") for agent in plugins(AGENT_PLUGINS, checked_player))
    for learner in plugins(LEARNER_PLUGINS, plugin_learner):
        name = f"ttt train {learner.name}"
        yield PlayerSummary(name, name, "learner", f"a plug-in's learner: {learner.title}", {})


def _formats() -> Formats:
    rows: dict[str, FormatRow] = {}
    for form in chain(all_formats(), plugins(FORMAT_PLUGINS, checked_format)):
        plays = form.holds in ("table", "policy")
        writes = form.written or form.holds in ("games", "measures")  # by other means than export
        row = FormatRow(form.name, form.learner or None, form.about, bool(form.holds), plays, writes)
        rows.setdefault(form.name, row)
    return Formats(list(rows.values()))


def _summary(loaded: Loaded) -> StateSummary:
    state = loaded.state
    positions, moves = state.size
    runs = [{key: value for key, value in run.items() if key != "curve"} for run in state.runs]
    return StateSummary(
        file=str(loaded.path),
        format=loaded.format,
        learner=state.learner.name,
        choice=state.learner.choice,
        rules=state.rules,
        symmetry=state.symmetric,
        games=state.games,
        positions=positions,
        moves=moves,
        runs=cast("list[Run]", runs),
        plays=state.plays,
        units=state.learner.units,
    )
