"""Learning curves: when a run is looked at, what a row says, and the file."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from tests import tables
from tests.tables import empty_state
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.errors import InvalidFileError, TttError
from ttt_cli.evaluation.walk import UnfinishedError
from ttt_cli.store.curves import NAMES, read, to_csv, to_record
from ttt_cli.training.curve import Curve, measure, points
from ttt_cli.training.trainer import TrainingRun, new_run

SPACE = StateSpace.of()
RANDOM, PERFECT = tables.uniform(SPACE), tables.minimax(SPACE)


def started(games: int, path: Path | None = None, rules: Rules | None = None) -> TrainingRun:
    run = new_run(Path("td.json"), empty_state("td", rules or Rules(2, 3)), games=games, seed=1)
    run.watch(path)
    return run


def looks(run: TrainingRun, block: int) -> list[int]:
    """The points of a run that is looked at, without playing, between blocks of this size."""
    for games in [*range(run.resumed_at, run.planned, block), run.planned]:
        run.record = {**run.record, "games": games}
        run.look()
    return [row.games for row in run.curve.rows]


GOOD = b"".join(to_csv([measure(0, RANDOM), measure(9, PERFECT)])).decode()


def test_a_row_is_exact():
    found = measure(5, RANDOM)
    assert (found.games, found.unbeatable) == (5, 0)
    rates = found.x_win, found.x_draw, found.o_win
    assert rates == pytest.approx((737 / 1260, 8 / 63, 121 / 420), abs=1e-15)
    assert found.exploitability == pytest.approx(1.9196593915343918 / 2, abs=1e-14)  # OpenSpiel's number
    assert found.mistakes == found.reachable > 0
    perfect = measure(0, PERFECT)
    assert (perfect.worst_x, perfect.worst_o, perfect.mistakes, perfect.exploitability) == (0, 0, 0, 0)
    assert perfect.unbeatable == 1


@given(st.integers(1, 10**12))
def test_points_are_few_and_go_from_the_start_to_the_end(games):
    found = points(games)
    assert found == sorted(set(found)) and (found[0], found[-1]) == (0, games)
    assert len(found) <= 8 * 12 + 2


def test_points_are_evenly_spaced_on_a_log_scale():
    looked = looks(started(10**5), 1000)
    assert (looked[:3], looked[-1]) == ([0, 1000, 2000], 10**5)
    late = [b / a for a, b in pairwise(looked) if a >= 10**4]
    assert all(ratio == pytest.approx(10 ** (1 / 8), rel=0.1) for ratio in late)


def test_the_file_is_written_at_every_point_and_reads_back(tmp_path):
    path = tmp_path / "folder" / "curve.csv"
    with pytest.raises(TttError, match="there is no folder"):
        started(100, path).look()
    path.parent.mkdir()
    run = started(100, path)
    for games, seen in ((0, [0]), (0, [0]), (40, [0, 40]), (100, [0, 40, 100])):
        run.record = {**run.record, "games": games}
        run.look()
        assert read(path) == run.curve.rows and [row.games for row in run.curve.rows] == seen
    assert path.read_text().startswith(",".join(NAMES) + "\n0,")


def test_a_look_can_be_stopped_and_made_up_for():
    def stop(positions: int) -> None:
        raise UnfinishedError("stopped")

    curve = Curve([0], tick=stop)
    with pytest.raises(UnfinishedError):
        curve.look(0, RANDOM)
    curve.tick = lambda positions: None
    assert curve.look(0, RANDOM) and len(curve.rows) == 1


def test_unknown_figures_read_back(tmp_path):
    rows = [replace(measure(0, RANDOM), mistakes=None, reachable=None, unbeatable=None), measure(9, RANDOM)]
    path = tmp_path / "curve.csv"
    path.write_bytes(b"".join(to_csv(rows)))
    assert read(path) == rows


def test_a_player_that_cannot_be_judged_has_no_point(tmp_path, caplog):
    run = started(100, tmp_path / "curve.csv", Rules(6, 6, 4))
    assert looks(run, 50) == []
    assert len(caplog.records) == 1 and "after 0 games" in caplog.text


def test_a_resumed_run_goes_on_with_its_curve(tmp_path):
    whole, broken = tmp_path / "whole.csv", tmp_path / "broken.csv"
    looks(started(200, whole), 10)
    looks(started(100, broken), 10)
    rest = started(200, broken)
    assert rest.curve.rows == []  # a new run starts anew
    rest.resumed_at = 70  # the checkpoint was behind the curve
    saved = [row for row in read(broken) if row.games <= 70]
    rest.record = {**rest.record, "curve": to_record(saved, 0)}
    rest.watch(broken)
    looks(rest, 10)
    assert broken.read_bytes() == whole.read_bytes()
    broken.write_text(GOOD)  # the curve of another run
    assert len(rest.watch(broken).rows) == len(whole.read_text().splitlines()) - 1


def test_no_other_file_is_overwritten(tmp_path):
    study = "\n".join(map(",".join, zip(("learner", "q", "q"), GOOD.splitlines(), strict=True)))
    path = tmp_path / "q.csv"
    for text, said in (("{}", "is not a learning curve"), (study, "is not one learning curve")):
        path.write_text(text)
        with pytest.raises(InvalidFileError, match=said):
            started(100, path)
        assert path.read_text() == text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is not a learning curve"),
        (GOOD + "10,1\n", "line 4: expected 13 fields, found 2"),
        (GOOD + GOOD.splitlines()[2] + "\n", "line 4: 9 games do not come after 9"),
        (GOOD.replace("\n9,", "\n9.5,"), 'line 3: "games": expected a whole number from 0'),
        (GOOD.replace("\n9,", "\n9,nan,0,0,0,0,0,0,0,0,0,0,0\n10,"), 'line 3: "x_win": expected a number'),
    ],
)
def test_faults_are_named_with_their_place(tmp_path, text, said):
    path = tmp_path / "curve.csv"
    path.write_text(text)
    with pytest.raises(InvalidFileError) as caught:
        read(path)
    assert said in str(caught.value)
