"""Provenance: what the records of runs may say, and what contradicts itself."""

from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from tests.store.conftest import continued, edited
from ttt_cli.engine.rules import STANDARD
from ttt_cli.errors import InvalidFileError
from ttt_cli.learners import LEARNERS, learner_class
from ttt_cli.store import library
from ttt_cli.store.games import GameRecord
from ttt_cli.store.state import State, learner_of
from ttt_cli.store.teaching import teach

GAMES = [GameRecord((1, 4, 2, 5, 3), "x", "human", "q", id=f"game {number}") for number in range(4)]


def record(content: bytes) -> dict:
    return orjson.loads(content)["runs"][0]


@pytest.mark.parametrize("learner", LEARNERS)
def test_the_id_of_a_run_is_the_digest_of_its_record(trained, learner):
    state = trained(learner, 100, symmetric=learner_class(learner).symmetric_only)
    assert state.runs[0].details["kernel_version"] == state.learner.kernel_version


def test_a_run_that_starts_elsewhere_is_another_run():
    empty = State.empty(learner_of("q", "default"), STANDARD)
    *_, there = continued(continued(empty, 20, 1), 20, 2).runs
    assert there.id != continued(empty, 20, 2).runs[0].id


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"results": {"x": 500, "o": 500, "draw": 500}}, "add up to 1,500, not to 300 games"),
        ({"planned": 1}, "300 games, and 1 were planned"),
        ({"games": None, "results": None}, "None games, and 300 were planned"),
        ({"seed": 2}, "is not the digest of what decides the run"),
        ({"id": "0" * 24}, "is not the digest of what decides the run"),
        ({"kernel_version": 1}, "is not the digest of what decides the run"),
        ({"opponent": "random"}, "is not the digest of what decides the run"),
    ],
)
def test_a_record_that_contradicts_itself_is_refused(trained, changes, why):
    content = library.content(trained("q"))
    run = {**record(content), **changes}
    with pytest.raises(InvalidFileError, match=why):
        library.parse(edited(content, runs=[run], games=run["games"]), "q.json", trust_edits=True)


@pytest.mark.parametrize("params", [{"alpha": 5.0}, {"alpha": "0.5"}, {"gamma": 2}])
def test_parameters_are_in_their_range(trained, params):
    content = library.content(trained("q"))
    run = record(content)
    changed = {**run, "params": {**run["params"], **params}}
    with pytest.raises(InvalidFileError, match=next(iter(params))):
        library.parse(edited(content, runs=[changed]), "q.json")


def test_what_does_not_say_its_version_is_not_recomputed(trained):
    """As earlier versions wrote it."""
    content = library.content(trained("q"))
    run = {key: value for key, value in record(content).items() if key != "kernel_version"}
    assert library.parse(edited(content, runs=[{**run, "id": "0" * 24}]), "q.json").games == 300


def test_another_choice_rule_does_not_change_the_run(trained):
    state = trained("graph", choice="article").choosing("default")
    assert library.parse(library.content(state), "graph.json").runs == state.runs


@pytest.mark.parametrize("learner", ["q", "book"])
def test_each_game_counts_once(learner):
    first = teach(State.empty(learner_of(learner, "default"), STANDARD), [GAMES[0], GAMES[0], GAMES[1]])
    assert (first.learnt, first.repeated, first.state.games) == (2, 1, 2)
    again = teach(first.state, GAMES[1::-1])
    assert (again.learnt, again.repeated, again.state.games) == (0, 2, 2)


@pytest.mark.parametrize("ids", [["a", "b"], ["a", "a"]])
def test_a_game_is_in_one_run(ids):
    state = State.empty(learner_of("q", "default"), STANDARD)
    for name in ids:
        state = teach(state, [replace(GAMES[0], id=name)]).state
    content = library.content(state)
    if len(state.runs) == 2:
        runs = [{**run, "game_ids": ["a"]} for run in orjson.loads(content)["runs"]]
        with pytest.raises(InvalidFileError, match="record 2: game 'a' was learned already"):
            library.parse(edited(content, runs=runs), "q.json")
    else:
        runs = [{**run, "games": 2, "game_ids": ["a", "a"], "results": None} for run in [record(content)]]
        with pytest.raises(InvalidFileError, match="game 'a' was learned already"):
            library.parse(edited(content, runs=runs, games=2), "q.json")


def test_accept_and_verify_refuse_it(ttt):
    state = continued(State.empty(learner_of("q", "default"), STANDARD), 300, 1)
    content = library.content(state)
    run = {**record(content), "results": {"x": 300, "o": 300, "draw": 300}}
    Path("q.json").write_bytes(edited(content, runs=[run]))
    for options in ((), ("--accept",)):
        found = ttt("verify", "./q.json", *options)
        assert found.code == 3 and "record 1" in found.out + found.err
        assert "its results add up to 900, not to 300 games" in found.out + found.err


def test_curves_and_studies_are_verified(ttt):
    """A wrong number is found in its line."""
    assert ttt("train", "q", "--games", 600, "--seed", 1, "--curve", "curve.csv").code == 0
    assert ttt("study", "q", "--seeds", 2, "--games", 300, "-o", "study.csv").code == 0
    for name, held in (("curve", "1 training"), ("study", "2 trainings")):
        path = Path(f"{name}.csv")
        sound = ttt("verify", path)
        assert sound.code == 0 and f"{name}, {held}" in sound.out and "valid" in sound.out
        lines = path.read_text().splitlines()
        at = lines[0].split(",").index("x_win")
        lines[2] = ",".join(
            "1.5" if column == at else text for column, text in enumerate(lines[2].split(","))
        )
        path.write_text("\n".join(lines) + "\n")
        broken = ttt("verify", path)
        assert (
            broken.code == 3 and "line 3: \"x_win\": expected a number from 0 to 1, found '1.5'" in broken.out
        )
        assert ", not a player" in ttt("evaluate", f"./{path}", "random").err


@pytest.mark.parametrize(
    ("learner", "wrong"), [("q", [5.0, 3]), ("td", [7.0, 3]), ("ntuple", [0.1, 3, 2.0, 1.0])]
)
def test_values_that_learning_cannot_lead_to_are_refused(trained, learner, wrong):
    content = library.content(trained(learner, 100))
    entries = orjson.loads(content)["entries"]
    text = next(iter(entries))
    entries[text] = wrong if learner == "ntuple" else {next(iter(entries[text])): wrong}
    with pytest.raises(InvalidFileError) as refused:
        library.parse(edited(content, entries=entries), "edited.json", trust_edits=True)
    assert text in str(refused.value.where)
