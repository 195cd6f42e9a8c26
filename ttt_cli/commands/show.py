"""``ttt show``: what is in a state; bare, what there is at all."""

from collections import Counter
from itertools import chain
from pathlib import Path
from typing import Annotated, cast

from ttt_cli.agents.levels import LEVELS, level
from ttt_cli.agents.registry import AgentType, players
from ttt_cli.documents import Document, ResultsFields, RunFields
from ttt_cli.engine.state_space import enumerated
from ttt_cli.environment import Environment
from ttt_cli.errors import InvalidFileError, UsageError, did_you_mean
from ttt_cli.evaluation.overview import overview
from ttt_cli.guests import AGENTS, plugins
from ttt_cli.learners import plugged_learners
from ttt_cli.shell.options import argument, complete_agents, flag, given_rules, player_names, stored_files
from ttt_cli.store import library
from ttt_cli.store.formats import all_formats, plugged_formats
from ttt_cli.store.formats.format import Format
from ttt_cli.store.formats.imported import Options
from ttt_cli.store.games import LOG, SoundGames, holds_games, record_against_people
from ttt_cli.store.library import Loaded
from ttt_cli.store.state import State
from ttt_cli.views.summary import BuiltIn, FormatRow, Formats, LogSummary, PlayerRecord, StateSummary, Store


def show(
    env: Environment,
    file: Annotated[str | None, argument("[FILE]", "A state, a player or any file.", complete_agents)] = None,
    formats: Annotated[bool, flag("--formats", "List the files that can be read and written.")] = False,
) -> Document:
    """What is in a state: learner, rules, games and their results, runs, sizes. Of a log of games: who
    played, and how the games ended. Bare: the states in the store with their verdicts, and the players that
    need no file.

    Examples:
      ttt show
      ttt show q
      ttt show state_store/games.jsonl
      ttt show --formats
    """
    if formats:
        if file is not None:
            raise UsageError("goes without a file", where="--formats")
        return _formats()
    if file is None:
        states = [overview(path) for path in stored_files(env.store)]
        return Store(str(env.store.absolute()), states, list(_players().values()))
    if file in (known := _players()):
        return known[file]
    rules = given_rules(env)
    log = env.store / LOG if file == LOG else Path(file)
    if log.name == LOG and not log.exists():
        raise InvalidFileError("no game has been played here yet", where=file, hint="ttt play")
    near = did_you_mean(file, [*known, *player_names(env.store)])
    if near and not library.is_path(file) and library.find(env.store, file, rules) is None:
        raise UsageError("there is no such state or player", where=file, hint=near)
    path = library.existing(env.store, str(log) if log.name == LOG else file, rules)
    if holds_games(path):
        return _log(path)
    loaded = library.load(path, Options(rules=rules))
    env.remark(loaded.remarks)
    return _summary(env, loaded)


def _players() -> dict[str, BuiltIn]:
    plugged = {one.name: one for one in plugins(AGENTS, AgentType)}
    found = {}
    for one in (players() | plugged).values():
        options = {name: option.accepts for name, option in one.options.items()}
        found[one.name] = BuiltIn(
            one.name, one.usage, "plug-in" if one.name in plugged else "built-in", one.about, options
        )
    for name in LEVELS:
        found[name] = BuiltIn(name, name, "level", f"the same as {level(name, None)}", {})
    for learner in plugged_learners():
        name = f"ttt train {learner.name}"
        found[name] = BuiltIn(name, name, "learner", f"a plug-in's learner: {learner.title}", {})
    return found


def _formats() -> Formats:
    found: dict[str, Format] = {}
    for form in chain(all_formats(), plugged_formats()):
        found.setdefault(form.name, form)
    return Formats(
        [
            FormatRow(
                form.name,
                form.learner or None,
                form.about,
                form.holds in ("table", "games"),
                form.holds in ("table", "policy", "games"),
                form.written,
            )
            for form in found.values()
        ]
    )


def _by_entries(state: State) -> bool:
    """Whether a state is described by its file's entries, rather than by the positions and moves it knows."""
    walked = enumerated(state.rules) is not None or state.seen is not None
    return not walked or (bool(state.runs) and all(run.kind == "import" for run in state.runs))


def _summary(env: Environment, loaded: Loaded) -> StateSummary:
    import numpy as np

    from ttt_cli.engine.state_space import StateSpace

    state, by_entries = loaded.state, _by_entries(loaded.state)
    if by_entries:
        positions, moves = state.entries
    else:
        is_small = enumerated(state.rules) is not None
        asked = StateSpace.of(state.rules) if is_small else state.seen
        positions, moves = state.positions, 0
        for part in asked.parts() if asked is not None else ():
            values = state.policy.values(part)
            moves += 0 if values is None else int(np.isfinite(values).sum())
    runs = [{key: value for key, value in run.to_json().items() if key != "curve"} for run in state.runs]
    return StateSummary(
        str(loaded.path),
        loaded.format,
        state.learner.name,
        state.learner.choice,
        state.rules.describe(),
        state.symmetric,
        state.games,
        positions,
        moves,
        cast("list[RunFields]", runs),
        state.learner.units if by_entries else ("position", "move"),
        record_against_people(env.store / LOG, library.display_name(env.store, loaded.path)),
    )


def _log(path: Path) -> LogSummary:
    ended, players = Counter[str](), dict[str, Counter[str]]()
    games = SoundGames(path)
    for game in games:
        ended[game.result] += 1
        for name, key in ((game.x, "x"), (game.o, "o")):
            own = "drawn" if game.result == "draw" else "won" if game.result == key else "lost"
            players.setdefault(name, Counter())[own] += 1
    rows = [PlayerRecord(name, own["won"], own["drawn"], own["lost"]) for name, own in players.items()]
    rows.sort(key=lambda row: (-row.won - row.drawn - row.lost, row.name))
    results: ResultsFields = {"x": ended["x"], "o": ended["o"], "draw": ended["draw"]}
    return LogSummary(str(path), ended.total(), results, rows, games.left_out, str(games.fault or ""))
