"""Merging: what each input has beyond the others, once, whatever the order."""

from dataclasses import replace
from itertools import permutations

import orjson
import pytest

from tests.store.conftest import continued, edited, loaded, parse, trained
from tests.tables import empty_state
from ttt_cli.engine.rules import STANDARD, Rules
from ttt_cli.errors import InvalidFileError, UsageError
from ttt_cli.learners import learner_of
from ttt_cli.store import library
from ttt_cli.store.formats.format import FileOptions
from ttt_cli.store.games import GameRecord
from ttt_cli.store.library import Loaded
from ttt_cli.store.merge import merge
from ttt_cli.store.state import State
from ttt_cli.store.teaching import teach

SMALL = Rules(2, 4, 3)


@pytest.fixture(params=["q", "ntuple", "book"])
def three(request: pytest.FixtureRequest) -> list[Loaded]:
    """Three states of one learner with different runs."""
    return [loaded(trained(request.param, seed=seed, rules=SMALL), f"{seed}") for seed in (1, 2, 3)]


def content(merged) -> bytes:
    return library.content(merged.state)


def test_an_input_contained_in_another_adds_nothing(three):
    both = loaded(merge(three[:2]).state, "both")
    merged = merge([three[1], both, three[0]])
    assert content(merged) == library.content(both.state)
    assert sorted(str(item.path) for item in merged.contained) == ["1", "2"]
    assert len(merged.duplicates) == 2


def test_the_longer_of_two_stages_of_a_run_wins():
    """Whichever input comes first; only a book can tell the runs of its rows apart."""
    start = empty_state("book", SMALL)
    planned = 600
    early = loaded(continued(start, 0, 7, planned=planned), "early")
    full = loaded(trained("book", planned, 7, rules=SMALL), "full")
    others = [loaded(trained("book", seed=seed, rules=SMALL), f"{seed}") for seed in (1, 2)]
    for one, other in permutations(others):
        parts = [loaded(merge(pair).state, f"{at}") for at, pair in enumerate([[early, one], [full, other]])]
        assert content(merge(parts)) == content(merge([full, one, other]))


def test_files_that_disagree_about_a_run_are_refused(three):
    """Whichever order they come in, with the position that proves it."""
    state = three[0].state
    changed = replace(state, table=three[1].state.table)
    edited = replace(three[0], state=changed, digest=library.digest(changed))
    for inputs in ([three[0], edited], [edited, three[0]]):
        with pytest.raises(InvalidFileError, match="contradict each other: the same runs") as refused:
            merge(inputs)
        text = refused.value.where.removeprefix("position ")
        entries = [dict(state.learner.to_entries(item.state.table)).get(text) for item in inputs]
        assert entries[0] != entries[1]


def test_the_smallest_edit_is_a_contradiction():
    content = library.content(trained())
    entries = orjson.loads(content)["entries"]
    next(iter(entries["." * 9].values()))[0] += 1e-6
    with pytest.raises(InvalidFileError, match="contradict each other"):
        merge([loaded(trained()), loaded(parse(edited(content, entries=entries)), "edited.json")])


def test_a_file_that_another_program_writes_meanwhile_is_not_merged(path):
    """Of many inputs the tables are read when it is their turn."""
    library.save(trained(), path)
    header = library.load(path, FileOptions(table=False))
    assert content(merge([header])) == path.read_bytes()
    library.save(trained(seed=2), path)
    with pytest.raises(InvalidFileError, match="another program has written this file meanwhile"):
        merge([header])


def test_how_a_file_is_to_be_played_holds_also_where_only_its_header_is_read(path):
    library.save(trained(), path)
    played = FileOptions(playing={"ties": "first"})
    header = library.load(path, replace(played, table=False))
    assert content(merge([header])) == content(merge([library.load(path, played)]))


def test_partial_overlap_is_refused_by_name_unless_allowed(three):
    one = loaded(merge([three[0], three[1]]).state, "one")
    other = loaded(merge([three[1], three[2]]).state, "other")
    if one.state.learner.keeps_runs_apart:
        assert content(merge([one, other])) == content(merge(three))
        return
    with pytest.raises(InvalidFileError, match=three[1].state.runs[0]["id"]):
        merge([one, other])
    forced = merge([one, other], allow_overlap=True)
    assert [run["kind"] for run in forced.state.runs] == ["overlap"]
    assert forced.state.games == 1200
    assert content(forced) == content(merge([other, one], allow_overlap=True))
    # it was allowed once, not for ever
    with pytest.raises(InvalidFileError, match=three[2].state.runs[0]["id"]):
        merge([loaded(forced.state, "forced"), three[2]])


@pytest.mark.parametrize("learner", ["book", "q"])
def test_a_game_counts_once_whatever_run_holds_it(learner):
    """Copies of a state in the middle of a run of play: one goes on with it, one learns its games anew."""
    games = [GameRecord((1, 4, 2, 5, 3), "x", "human", learner, id=f"game {number}") for number in range(4)]
    first = teach(empty_state(learner), games[:1])
    whole = teach(first.state, games[1:3], continued=first.run).state
    again = teach(first.state, games[2:]).state
    inputs = [loaded(whole, "whole"), loaded(again, "again")]
    with pytest.raises(InvalidFileError, match="both hold game game 2, each with other experience"):
        merge(inputs)
    forced = merge(inputs, allow_overlap=True)
    assert [run["kind"] for run in forced.state.runs] == ["overlap"] and forced.state.games == 6
    assert parse(content(forced), "file").games == 6
    assert content(forced) == content(merge(inputs[::-1], allow_overlap=True))
    assert content(merge([loaded(forced.state, "forced"), inputs[0]])) == content(forced)  # it adds nothing
    turned = [teach(first.state, order).state for order in (games[1:], games[:0:-1])]
    assert merge([loaded(state) for state in turned]).state.games == 4  # their order is no contradiction
    entry = dict(forced.state.learner.to_entries(forced.state.table))["." * 9]
    assert entry == [[1, 5, "X", forced.state.runs[0]["id"], 6]] if learner == "book" else entry["1"][1] == 6


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"learner": "td"}, "learner"),
        ({"rules": Rules(2, 3, 2)}, "game"),
        ({"symmetric": True}, "symmetry"),
        ({"choice": "article"}, "choice rule"),
    ],
)
def test_states_of_different_kinds_are_refused(options, what):
    with pytest.raises(InvalidFileError, match=what) as refused:
        merge([loaded(trained()), loaded(trained(**options))])
    assert ":choice=default reads it by that rule" in refused.value.cli_hint or "choice" not in options


def test_runs_that_begin_with_the_same_games_or_have_other_parameters_are_remarked():
    short, long = (loaded(trained("q", games), f"{games}") for games in (300, 600))
    (remark,) = merge([long, short]).remarks
    assert "begin with the same games, of seed 1, which count twice" in remark
    slow = State.empty(learner_of("q", "default").with_params(alpha=0.5), STANDARD)
    (remark,) = merge([short, loaded(continued(slow, 300, 3))]).remarks
    assert remark == "their runs differ in alpha (0.1, 0.5)"


def test_only_a_table_of_single_positions_takes_another_programs_rule():
    """A file of any other, with such a rule, could not be read."""
    learner = learner_of("q", "default")
    with pytest.raises(UsageError, match="ties are for tables of single positions"):
        State.empty(learner, Rules(), symmetric=True).with_play(ties="first")
    assert State.empty(learner, Rules(5, 5, 4)).with_play(ties="first").plays
