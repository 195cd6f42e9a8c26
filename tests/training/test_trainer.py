"""The trainer by itself: what it leaves in the file, when it stops, how it goes on."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.tables import empty_state
from ttt_cli.engine.kernel import prefer_uncompiled
from ttt_cli.engine.rules import Rules
from ttt_cli.errors import InvalidFileError
from ttt_cli.store import library
from ttt_cli.store.games import GameRecord, record_game
from ttt_cli.store.state import State
from ttt_cli.training.curve import measure
from ttt_cli.training.trainer import TrainingRun, advance, finish, new_run, resumed_run


@pytest.fixture(autouse=True)
def uncompiled():
    with prefer_uncompiled():
        yield


def empty() -> State:
    return empty_state("td", Rules(2, 3))


def started(path: Path, games: int = 600) -> TrainingRun:
    return new_run(path, empty(), games=games, seed=1)


def execute(run: TrainingRun, *, stopped: bool = False, enough: bool = False, store=None) -> None:
    """Carry out a run, to its end or for one block."""
    for _ in advance(run):
        if stopped or enough:
            run.goal_reached = enough
            break
    finish(run, store)


def test_a_run_that_is_stopped_and_resumed_writes_the_same_bytes(tmp_path: Path):
    whole = started(tmp_path / "whole.json")
    execute(whole)
    state = library.load(whole.path).state
    (record,) = state.runs
    assert (record["games"], record["planned"], record["results"]) == (600, 600, whole.results)
    assert whole.finished and state.unfinished is None
    stopped = started(tmp_path / "parts.json")
    execute(stopped, stopped=True)
    assert (stopped.finished, stopped.games) == (False, 256)
    between = library.load(stopped.path).state
    changed = replace(between, runs=({**between.runs[0], "games": 257},))
    with pytest.raises(InvalidFileError, match=r"parts\.json: the run cannot have stopped after 257 games"):
        resumed_run(stopped.path, changed, tmp_path)
    rest = resumed_run(stopped.path, between, tmp_path)
    execute(rest)
    assert rest.games == 600 - 256 == sum(rest.results.values())
    assert stopped.path.read_bytes() == whole.path.read_bytes()


def test_a_curve_is_kept_with_its_run_and_changes_nothing_else(tmp_path: Path):
    plain, whole, parts = (started(tmp_path / f"{name}.json") for name in ("plain", "whole", "parts"))
    execute(plain)
    for run in (whole, parts):
        run.watch(closely=False)
        execute(run, stopped=run is parts)
    rest = resumed_run(parts.path, library.load(parts.path).state, tmp_path)
    rest.watch(closely=False)
    execute(rest)
    assert parts.path.read_bytes() == whole.path.read_bytes() != plain.path.read_bytes()
    (curve,) = library.load(whole.path).state.curves
    assert [row.games for row in curve] == [0, 256, 600]
    assert curve[0].x_win == round(measure(0, empty().policy).x_win, 6)
    assert library.load(whole.path).digest == library.load(plain.path).digest == library.digest(whole.state)
    more = new_run(whole.path, whole.state, games=100, seed=2)
    assert more.record["id"] == new_run(plain.path, plain.state, games=100, seed=2).record["id"]
    more.watch(closely=False)
    execute(more)
    (curve,) = library.load(more.path).state.curves
    assert [row.games for row in curve] == [0, 256, 600, 700]


def test_the_seconds_of_a_run_cover_only_its_games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    clock = [0.0]
    monkeypatch.setattr("ttt_cli.training.trainer.monotonic", lambda: clock[0])

    def spread(work, shards):
        clock[0] += 1
        return map(work, shards)

    run = started(tmp_path / "td.json")
    for _ in advance(run, spread):
        clock[0] += 100
    assert clock[0] >= 202 and run.seconds == clock[0] % 100


def test_waiting_games_are_learned_at_the_end(tmp_path: Path):
    record_game(tmp_path, GameRecord((1, 4, 2, 5, 3), "x", "a", "b", Rules(2, 3), teaches=("td.json",)))
    execute(started(tmp_path / "td.json"), store=tmp_path)
    assert library.load(tmp_path / "td.json").state.games == 601


def test_who_has_seen_enough_can_end_a_run(tmp_path: Path):
    """And what was seen is saved, without the games that wait for the state."""
    run = started(tmp_path / "td.json")
    record_game(tmp_path, GameRecord((1, 4, 2, 5, 3), "x", "a", "b", Rules(2, 3), teaches=("td.json",)))
    execute(run, enough=True, store=tmp_path)
    assert (run.finished, library.load(run.path).state.games) == (True, 256)
    with pytest.raises(InvalidFileError, match="no unfinished run"):
        resumed_run(run.path, library.load(run.path).state, tmp_path)
