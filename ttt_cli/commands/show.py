"""``ttt show``: what is in a state."""

from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NotRequired, TypedDict, cast

import typer

from ttt_cli.documents import Count, MoveFields, PositionText, ResultsFields, RunFields
from ttt_cli.environment import Environment, command_line, printable
from ttt_cli.errors import InvalidFileError
from ttt_cli.shell.completion import complete_states

if TYPE_CHECKING:
    from ttt_cli.store.library import Loaded
    from ttt_cli.store.state import State

HEADING = "Move experience between files"


class Inside(TypedDict):
    """What a state knows of one position."""

    position: PositionText
    to_move: str
    known: bool
    moves: list[MoveFields]


class StateSummary(TypedDict):
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
    position: NotRequired[Inside]


class PlayerRecord(TypedDict):
    """How the games of a player in a log ended, from its side."""

    name: str
    won: Count
    drawn: Count
    lost: Count


class LogSummary(TypedDict):
    """What ``ttt show`` finds in a log of games; lines that cannot be read are counted as ``unreadable``."""

    file: str
    games: Count
    results: ResultsFields
    players: list[PlayerRecord]
    unreadable: Count


DOCUMENTS = {"state-summary": StateSummary, "log-summary": LogSummary}


def show(
    env: Environment,
    file: Annotated[
        str, typer.Argument(help="A state's name, or any file ttt reads.", autocompletion=complete_states)
    ],
    position: Annotated[
        str | None,
        typer.Option("--position", "-p", metavar="POSITION", help="What it knows about a position."),
    ] = None,
) -> None:
    """What is in a state: learner, rules, games and their results, runs, sizes. Of a log of games: who
    played, and how the games ended.

    Examples:
      ttt show q
      ttt show q --position X...O....
      ttt show state_store/games.jsonl
    """
    from ttt_cli.shell.options import given_rules
    from ttt_cli.store import library
    from ttt_cli.store.games import LOG, holds_games

    rules = given_rules(env)
    log = env.store / LOG if file == LOG else Path(file)
    if log.name == LOG and not log.exists():
        raise InvalidFileError("no game has been played here yet", where=file, hint="ttt play")
    path = library.existing(env.store, str(log) if log.name == LOG else file, rules)
    if holds_games(path):
        _show_log(env, path)
        return
    loaded = library.load(path, rules)
    env.remark(loaded.remarks)
    summary = _summary(loaded)
    units = loaded.state.learner.units if _by_entries(loaded.state) else ("position", "move")
    if position is not None:
        summary["position"] = _inside(loaded, position)
    if env.json:
        env.document("ttt-state-summary", summary)
    else:
        _print(env, summary, units)


def _by_entries(state: "State") -> bool:
    """Whether a state is described by its file's entries, rather than by the positions and moves it knows."""
    from ttt_cli.engine.state_space import enumerated

    told = enumerated(state.rules) is not None or state.seen is not None
    return not told or (bool(state.runs) and all(run.kind == "import" for run in state.runs))


def _summary(loaded: "Loaded") -> StateSummary:
    import numpy as np

    from ttt_cli.engine.state_space import enumerated

    state = loaded.state
    if _by_entries(state):
        positions, moves = state.entries
    else:
        space = enumerated(state.rules)
        asked = state.seen if space is None else space.positions
        positions, moves = state.positions, 0
        for part in asked.parts() if asked is not None else ():
            values = state.policy.values(part)
            moves += 0 if values is None else int(np.isfinite(values).sum())
    return {
        "file": str(loaded.path),
        "format": loaded.format,
        "learner": state.learner.name,
        "choice": state.learner.choice,
        "rules": state.rules.describe(),
        "symmetry": state.symmetric,
        "games": state.games,
        "positions": positions,
        "moves": moves,
        "runs": [cast("RunFields", _without_curve(run.to_json())) for run in state.runs],
    }


def _show_log(env: Environment, path: Path) -> None:
    from collections import Counter

    from ttt_cli.store.games import GameRecord, each_record
    from ttt_cli.views.numbers import counted

    ended, results, names = Counter[str](), Counter[tuple[str, str]](), Counter[str]()
    left_out, first = 0, None
    for game in each_record(path):
        if not isinstance(game, GameRecord):
            left_out, first = left_out + 1, first or game
            continue
        ended[game.result] += 1
        names.update({game.x, game.o})
        for name, key in ((game.x, "x"), (game.o, "o")):
            own = "drawn" if game.result == "draw" else "won" if game.result == key else "lost"
            results[name, own] += 1
    summary: LogSummary = {
        "file": str(path),
        "games": ended.total(),
        "results": {"x": ended["x"], "o": ended["o"], "draw": ended["draw"]},
        "players": [
            {
                "name": name,
                "won": results[name, "won"],
                "drawn": results[name, "drawn"],
                "lost": results[name, "lost"],
            }
            for name in sorted(names, key=lambda name: (-names[name], name))
        ],
        "unreadable": left_out,
    }
    if env.json:
        env.document("ttt-log-summary", summary)
        return
    env.out(f"file      {printable(str(path))} (game records)", indent=10)
    env.out(
        f"games     {ended.total():,}: X won {ended['x']:,}, O won {ended['o']:,}, {ended['draw']:,} drawn",
        indent=10,
    )
    if first:
        unread = counted(left_out, "line")
        env.out(f"faults    {unread} cannot be read, the first: {printable(str(first))}", indent=10)
    for one in summary["players"][:MOST_PLAYERS]:
        text = f"{one['name']} won {one['won']:,}, drew {one['drawn']:,}, lost {one['lost']:,}"
        env.out(f"player    {printable(text)}", indent=10)
    if more := summary["players"][MOST_PLAYERS:]:
        env.out(f"          and {len(more):,} more; --json lists them")
    env.say("next:", command_line("ttt", "review", path))


def _without_curve(run: dict[str, object]) -> dict[str, object]:
    """A run's record without its learning curve, for which there is ``ttt curve``."""
    return {key: value for key, value in run.items() if key != "curve"}


def _inside(loaded: "Loaded", text: str) -> Inside:
    """What the state knows of one position: each move's probability and value."""
    from ttt_cli.engine.position import Position
    from ttt_cli.engine.positions import Positions

    state = loaded.state
    position = Position.parse(text, state.rules)
    asked = Positions.of([position], state.rules)
    (probabilities,), values = state.policy.probabilities(asked), state.policy.values(asked)
    moves: list[MoveFields] = []
    for cell in position.legal:
        value = None if values is None else float(values[0, cell])
        moves.append(
            {
                "cell": cell + 1,
                "probability": float(probabilities[cell]),
                "value": None if value is None or isnan(value) else value,
            }
        )
    known = state.policy.known(asked)
    return {
        "position": position.text,
        "to_move": position.mover,
        "known": known is not None and bool(known[0]),
        "moves": moves,
    }


def _print(env: Environment, summary: StateSummary, units: tuple[str, str]) -> None:
    from ttt_cli.store import library
    from ttt_cli.store.games import LOG, record_against_people
    from ttt_cli.views.numbers import percent

    games = summary["games"]
    lines = {
        "file": f"{summary['file']} ({summary['format']})",
        "learner": f"{summary['learner']}, choice rule {summary['choice']}",
        "rules": summary["rules"] + (", up to symmetry" if summary["symmetry"] else ""),
        "games": "unknown" if games is None else f"{games:,}",
        f"{units[0]}s": f"{summary['positions']:,}",
        f"{units[1]}s": f"{summary['moves']:,}",
    }
    for name, text in lines.items():
        env.out(f"{name:<10}{printable(text)}", indent=10)
    for line in _describe_runs(summary["runs"]):
        env.out(printable("run       " + line), indent=10)
    path = Path(summary["file"])
    if found := record_against_people(env.store / LOG, library.display_name(env.store, path)):
        won, drawn, lost = found
        env.out(f"people    won {won:,} games against people, drew {drawn:,}, lost {lost:,}")
    inside = summary.get("position")
    if inside:
        env.out("")
        known = "" if inside["known"] else " (nothing learned here)"
        env.out(f"{inside['position']}, {inside['to_move']} to move{known}")
        for move in inside["moves"]:
            value = "" if move["value"] is None else f"  value {move['value']:+.4f}"
            env.out(f"  cell {move['cell']:>2}  played {percent(move['probability']):>8}{value}")


MOST_RUNS = MOST_PLAYERS = 10
"""Runs, and players of a log, that are listed one by one; there are more under ``--json``."""


def _describe_runs(runs: list[RunFields]) -> list[str]:
    """The runs, those with most games first, and all sittings of play in one line."""
    sittings = [run for run in runs if run["kind"] == "play"]
    others = sorted(
        (run for run in runs if run["kind"] != "play"), key=lambda run: (-(run["games"] or 0), run["id"])
    )
    lines = [_describe_run(run) for run in others[:MOST_RUNS]]
    if more := others[MOST_RUNS:]:
        games = sum(run["games"] or 0 for run in more)
        lines.append(f"and {len(more):,} more, {games:,} games; --json lists them")
    if len(sittings) == 1:
        lines.append(_describe_run(sittings[0]))
    elif sittings:
        games = sum(run["games"] or 0 for run in sittings)
        results = [run["results"] for run in sittings if run["results"]]
        x, o = sum(ends["x"] for ends in results), sum(ends["o"] for ends in results)
        drawn = sum(ends["draw"] for ends in results)
        lines.append(
            f"{len(sittings):,} sittings of play, {games:,} games: X won {x:,}, O won {o:,}, {drawn:,} drawn"
        )
    return lines


def _describe_run(run: RunFields) -> str:
    games = "unknown games" if run["games"] is None else f"{run['games']:,} game{'s'[: run['games'] != 1]}"
    text = f"{run['id'][:12]} {run['kind']:<7} {games}"
    if run["kind"] == "train":
        text += f" against {run['opponent']}, seed {run['seed']}"
        text += ", not reproducible: the opponent is a program" if run.get("reproducible") is False else ""
        if (run["games"] or 0) < run["planned"]:
            text += f", stopped before {run['planned']:,}"
    if run["results"]:
        results = run["results"]
        text += f": X won {results['x']:,}, O won {results['o']:,}, {results['draw']:,} drawn"
    return text
