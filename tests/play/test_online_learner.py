"""States that learn from the games they are in: files, locks, what waits, what is learned once."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.store.conftest import parse
from tests.tables import empty_state
from ttt_cli.agents.grammar import resolve_all
from ttt_cli.agents.uniform import Uniform
from ttt_cli.engine.rules import STANDARD, Rules
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.learners.td import Td
from ttt_cli.play.online_learner import OnlineLearner
from ttt_cli.play.session import players_of
from ttt_cli.store import library
from ttt_cli.store.games import GameRecord, record_game, waiting_games
from ttt_cli.store.runs import train_run
from ttt_cli.store.teaching import teach


def pupil(store: Path) -> OnlineLearner:
    return OnlineLearner(store, store / "td.json", "td", empty_state("td"))


def record(**fields: Any) -> GameRecord:
    return GameRecord((1, 4, 2, 5, 3), "x", "human", "td", **fields)


def test_a_training_run_lets_games_wait(tmp_path):
    state = empty_state("td")
    run = train_run(state.learner, state.rules, state.symmetric, seed=1, planned=100, opponent="self")
    library.save(state.with_run(run, state.table), tmp_path / "td.json")
    record_game(tmp_path, record(teaches=("td.json",)))
    assert "training run" in pupil(tmp_path).catch_up().waits
    finished = {**run, "games": 100, "results": {"x": 50, "o": 50, "draw": 0}}
    library.save(state.with_run(finished, state.table), tmp_path / "td.json")
    assert pupil(tmp_path).catch_up().games == 1


def test_games_of_other_boards_teach_nothing(tmp_path):
    wide = GameRecord((1, 5, 2, 6, 3), "x", "human", "td", Rules(3, 4, 3), teaches=("td.json",))
    record_game(tmp_path, wide)
    assert pupil(tmp_path).catch_up().games == 0


@pytest.mark.parametrize("name", ["td", 'Eine "Überraschung" \\'])
def test_waiting_games_are_found_by_any_path_to_the_state(tmp_path, name):
    state = empty_state("td")
    for teaches in ((name,), (), ("other", name)):
        record_game(tmp_path, record(teaches=teaches))
    with (tmp_path / "games.jsonl").open("ab") as log:  # another program may escape what need not be
        escaped = "".join(f"\\u{ord(char):04x}" for char in name).encode()
        log.write(record(teaches=("NAME",)).to_line().replace(b"NAME", escaped) + b"\n")
    waiting = list(waiting_games(tmp_path, name, state))
    assert [one.teaches for one in waiting] == [(name,), ("other", name), (name,)]
    lesson = teach(state, waiting[:2], name)
    assert list(waiting_games(tmp_path, name, lesson.state)) == waiting[2:]


@pytest.mark.parametrize(
    "x, o, sides",
    [("human", "td:epsilon=1", [False, True]), ("td2", "td", [False, True]), ("a", "b", [True, True])],
)
def test_some_articles_learn_only_from_their_own_moves(monkeypatch, x, o, sides):
    monkeypatch.setattr(Td, "learns_both_sides", False)
    table = teach(empty_state("td"), [GameRecord((1, 4, 2, 5, 3), "x", x, o)], "td").state.table
    assert table.rows["visits"].any(axis=0).tolist() == sides


@pytest.mark.parametrize(
    ("text", "epsilon"), [("td.article", 0.1), ("td.article:epsilon=0", 0.0), ("graph.article", 0.0)]
)
def test_an_article_that_explores_does_so_in_play_unless_asked_not_to(tmp_path, text, epsilon):
    (agent,) = resolve_all([text], tmp_path, fresh=True)
    space, (player,) = StateSpace.of(), players_of([agent], tmp_path, learn=True)
    greedy, anything = agent.policy.probabilities(space), Uniform(STANDARD).probabilities(space)
    assert np.allclose(player.policy.probabilities(space), (1 - epsilon) * greedy + epsilon * anything)


def test_a_run_is_not_continued_in_a_restored_file(tmp_path):
    """Else two different lessons would have one name, and merging would believe that one holds the other."""
    td, path = pupil(tmp_path), tmp_path / "td.json"
    saved = []
    for _ in range(3):
        if len(saved) == 2:
            path.write_bytes(saved[0])
        record_game(tmp_path, record(teaches=("td.json",)))
        td.catch_up()
        saved.append(path.read_bytes())
    (long,) = parse(saved[1], "td").runs
    runs = library.load(path).state.runs
    assert long["games"] == 2 and sorted(run["games"] for run in runs) == [1, 2]
    assert all(run["games"] == 1 for run in runs if run["id"] == long["id"])
