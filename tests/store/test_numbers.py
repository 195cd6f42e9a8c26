"""Nothing is written that could not be read back: no count overflows, and every value is finite."""

import numpy as np
import pytest

from tests.store.conftest import loaded, trained
from ttt_cli.engine.rules import STANDARD
from ttt_cli.errors import InvalidFileError, TttError
from ttt_cli.learners import learner_of
from ttt_cli.learners.entries import MAX_COUNT, MAX_VALUE
from ttt_cli.learners.q import Q
from ttt_cli.store import library
from ttt_cli.store.merge import merge
from ttt_cli.store.state import State

START = "." * 9
RUN = {"kind": "import", "games": None, "results": None}


def state_of(name: str, value: float, visits: int) -> State:
    learner = learner_of("q", "default")
    table = learner.from_entries(STANDARD, False, [(START, {"5": [value, visits]})])
    return State(learner, STANDARD, False, table, ({**RUN, "id": name},))


def test_large_numbers_are_merged_as_they_should_be():
    parts = (("a", MAX_VALUE), ("b", -MAX_VALUE / 2))
    both = merge([loaded(state_of(name, value, MAX_COUNT // 2), name) for name, value in parts]).state
    entries = dict(Q().to_entries(loaded(both).state.table))
    assert entries == {START: {"5": [pytest.approx(MAX_VALUE / 4), MAX_COUNT // 2 * 2]}}


def test_a_count_that_has_grown_too_large_is_not_saved(path, tmp_path):
    library.save(state_of("a", 0.5, 1), path)
    before = path.read_bytes()
    both = merge([loaded(state_of(name, 0.5, MAX_COUNT), name) for name in "bc"]).state
    with pytest.raises(TttError, match="exceeds 53-bit"):
        library.save(both, path)
    assert path.read_bytes() == before and [*tmp_path.iterdir()] == [path]


@pytest.mark.parametrize("wrong", [np.nan, -np.inf])
def test_a_value_that_is_not_finite_is_not_saved(tmp_path, wrong):
    state = trained(games=20)
    values = state.table.moves["value"]
    values[values != 0] = wrong
    with pytest.raises(TttError, match="is not finite"):
        library.save(state, tmp_path / "q.json")
    assert list(tmp_path.iterdir()) == []


def test_more_games_than_can_be_counted_are_not_saved(tmp_path):
    state = state_of("a", 0.5, 1)
    runs = tuple({**RUN, "id": name, "games": 2**63 - 1} for name in "ab")
    with pytest.raises(TttError, match="more games than can be counted"):
        library.save(State(state.learner, STANDARD, False, state.table, runs), tmp_path / "q.json")


@pytest.mark.parametrize("run", ["=HYPERLINK(0)", "+1", "@x"])
def test_a_spreadsheet_formula_cannot_name_a_run(tmp_path, run):
    path = tmp_path / "book.csv"
    path.write_text(f"position,move,plies,result,run,count\n....X....,1,9,draw,{run},17\n", encoding="utf-8")
    with pytest.raises(InvalidFileError, match="is not a valid id"):
        library.load(path)
