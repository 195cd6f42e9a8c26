"""Provenance: what the records of runs may say, and what contradicts itself."""

from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from tests.store.conftest import continued, edited, parse, trained
from tests.tables import empty_state
from ttt_cli.errors import InvalidFileError
from ttt_cli.store import library
from ttt_cli.store.games import GameRecord
from ttt_cli.store.teaching import teach

GAMES = [GameRecord((1, 4, 2, 5, 3), "x", "human", "q", id=f"game {number}") for number in range(4)]


def record(content: bytes) -> dict:
    return orjson.loads(content)["runs"][0]


def refused(data: bytes, why: str | None = None) -> InvalidFileError:
    with pytest.raises(InvalidFileError, match=why) as caught:
        parse(data, "q.json", trust_edits=True)
    return caught.value


def test_a_run_that_starts_elsewhere_is_another_run():
    there = continued(trained(games=20), 20, 2).runs[-1]
    assert there["id"] != trained(games=20, seed=2).runs[0]["id"]


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"results": {"x": 500, "o": 500, "draw": 500}}, "add up to 1,500, not to 300 games"),
        ({"planned": 1}, "300 games, and 1 were planned"),
        ({"games": None, "results": None}, "None games, and 300 were planned"),
        ({"results": None}, "its results are missing"),
        *(
            (changed, "does not fit its details: the record was edited")
            for changed in ({"seed": 2}, {"id": "0" * 24}, {"kernel_version": 1}, {"opponent": "random"})
        ),
    ],
)
def test_a_record_that_contradicts_itself_is_refused(changes, why):
    content = library.content(trained())
    run = {**record(content), **changes}
    refused(edited(content, runs=[run], games=run["games"]), why)


def test_a_record_that_does_not_state_its_version_has_the_one_of_its_id():
    content = library.content(trained())
    run = record(content)
    del run["kernel_version"]
    assert library.content(parse(edited(content, runs=[run]), "q.json")) == content
    refused(edited(content, runs=[{**run, "seed": 2}]), "kernel_version missing")


@pytest.mark.parametrize("params", [{"alpha": 5.0}, {"alpha": "0.5"}])
def test_parameters_are_in_their_range(params):
    content = library.content(trained())
    run = record(content)
    refused(edited(content, runs=[{**run, "params": {**run["params"], **params}}]), "alpha")


@pytest.mark.parametrize("learner", ["q", "book"])
def test_each_game_counts_once(learner):
    first = teach(empty_state(learner), [GAMES[0], GAMES[0], GAMES[1]])
    assert (first.learned, first.repeated, first.state.games) == (2, 1, 2)
    again = teach(first.state, GAMES[1::-1])
    assert (again.learned, again.repeated, again.state.games) == (0, 2, 2)


def test_a_game_belongs_to_one_run():
    state = empty_state("q")
    for name in "ab":
        state = teach(state, [replace(GAMES[0], id=name)]).state
    content = library.content(state)
    first, second = ({**run, "game_ids": ["a"]} for run in orjson.loads(content)["runs"])
    refused(edited(content, runs=[first, second]), "item 2: game 'a' was learned already")
    twice = {**first, "games": 2, "game_ids": ["a", "a"], "results": None}
    refused(edited(content, runs=[twice], games=2), "game 'a' was learned already")


@pytest.mark.parametrize(
    ("name", "held", "words"),
    [
        ("curve.csv", "1 training", "train q --games 600 --seed 1 --curve curve.csv"),
        ("study.csv", "2 trainings", "study q --seeds 2 --games 300 -o study.csv"),
    ],
)
def test_curves_and_studies_are_verified(ttt, name, held, words):
    """Whatever separates their columns; a wrong number is found in its line."""
    assert ttt(*words.split()).code == 0
    sound = ttt("verify", name)
    assert sound.code == 0 and held in sound.out and "valid" in sound.out
    drawn, commas = ttt("curve", name, "--json").json, Path(name).read_text()
    Path(name).write_text(commas.replace(",", ";"))  # as spreadsheets separate columns in half of Europe
    assert ttt("verify", name).out == sound.out and ttt("curve", name, "--json").json == drawn
    Path(name).write_text(commas)
    lines = [line.split(",") for line in Path(name).read_text().splitlines()]
    lines[2][lines[0].index("x_win")] = "1.5"
    Path(name).write_text("".join(",".join(line) + "\n" for line in lines))
    broken = ttt("verify", name)
    assert broken.code == 3 and "line 3: \"x_win\": expected a number from 0 to 1, found '1.5'" in broken.out
    assert ", not a player" in ttt("evaluate", f"./{name}", "random").err


@pytest.mark.parametrize(
    ("learner", "wrong"), [("q", [5.0, 3]), ("td", [7.0, 3]), ("ntuple", [0.1, 3, 2.0, 1.0])]
)
def test_values_that_learning_cannot_reach_are_refused(learner, wrong):
    content = library.content(trained(learner, 100))
    entries = orjson.loads(content)["entries"]
    text = next(iter(entries))
    entries[text] = wrong if learner == "ntuple" else {next(iter(entries[text])): wrong}
    assert str(refused(edited(content, entries=entries)).where).startswith(f'q.json: "entries": {text!r}')
