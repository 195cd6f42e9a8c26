"""The rows of tables: an index that grows is as good as one that was complete from the start."""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

from tests.learners.common import made
from ttt_cli.agents.heuristic import Heuristic
from ttt_cli.agents.uniform import Uniform
from ttt_cli.conformance import after, content, resigning
from ttt_cli.engine.arrays import Floats
from ttt_cli.engine.policy import Policy
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.learners import base, index
from ttt_cli.learners.base import FixedSides, can_answer
from ttt_cli.learners.index import COUNTED, FIRST, Index
from ttt_cli.training.runs import Plan, run
from ttt_cli.training.workers import local_workers

GROWN = ("book", "graph")
RULES = (Rules(), Rules(3, 4, 3), Rules(misere=True))


@contextmanager
def growing(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As if no board had a state space: every table starts with the empty board alone."""
    with monkeypatch.context() as patch:
        patch.setattr(index, "enumerated", lambda rules: None)
        sizes = {
            (rules, symmetric): len(StateSpace.of(rules, symmetric))
            for rules in RULES
            for symmetric in (0, 1)
        }
        patch.setattr(index, "COUNTED", sizes)  # exploration goes by the size of the game
        yield


@pytest.mark.parametrize("name", GROWN)
@pytest.mark.parametrize(
    ("preset", "symmetric", "rules"),
    [
        *(("default", False, rules) for rules in RULES),
        ("article", False, Rules()),
        ("default", True, Rules()),
    ],
    ids=str,
)
def test_a_table_that_grows_learns_the_same(
    name: str, preset: str, symmetric: bool, rules: Rules, monkeypatch: pytest.MonkeyPatch
):
    learner, space = made(name, preset), StateSpace.of(rules, symmetric or name == "menace")
    expected = after(learner, space, 700)
    with growing(monkeypatch):
        found = after(learner, space, 700)
        assert content(learner, found) == content(learner, expected)
        assert found.index.rows < expected.index.rows
        again = learner.from_entries(rules, space.symmetric, learner.to_entries(found))
        for table in (found, again):
            learner.train(table, base.Shard(700, 300, np.random.default_rng(7)))
    learner.train(expected, base.Shard(700, 300, np.random.default_rng(7)))
    assert content(learner, found) == content(learner, again) == content(learner, expected)
    positions = learner.seen(expected)
    assert np.array_equal(learner.seen(found).keys, positions.keys)
    answers = (learner.policy(table).probabilities(positions) for table in (found, expected))
    assert np.array_equal(*answers)


@pytest.mark.parametrize("kept", [1, 8])
@pytest.mark.parametrize("name", GROWN)
def test_answers_that_are_forgotten_change_nothing(name: str, kept: int, monkeypatch: pytest.MonkeyPatch):
    """A fixed side is asked again and again, in the middle of games, and one that gives up too."""
    learner, space = made(name), StateSpace.of(symmetric=name == "menace")
    opponent = resigning(space)
    games = 15 * kept  # the fewer are kept, the more often it is asked
    expected = content(learner, after(learner, space, games, opponent=opponent))
    with growing(monkeypatch):
        monkeypatch.setattr(base, "KEPT_ANSWERS", kept)
        assert content(learner, after(learner, space, games, opponent=opponent)) == expected


class Counted(Policy):
    """A policy that counts how often it is asked, and about how many positions."""

    def __init__(self, policy: Policy) -> None:
        self.rules, self._policy, self.calls, self.positions = policy.rules, policy, 0, 0

    def probabilities(self, positions: Positions) -> Floats:
        self.calls += 1
        self.positions += len(positions)
        return self._policy.probabilities(positions)


@pytest.mark.parametrize("name", GROWN)
def test_a_fixed_side_is_asked_about_many_games_at_once(name: str, monkeypatch: pytest.MonkeyPatch):
    """How many changes what is learned by nothing."""
    learner, space = made(name), StateSpace.of(symmetric=name == "menace")
    found = set()
    with growing(monkeypatch):
        for ahead in (1, 64, 1000):
            monkeypatch.setattr(base, "SCOUTED", ahead)
            opponent = Counted(resigning(space))
            found.add(content(learner, after(learner, space, 500, opponent=opponent)))
            assert 2 * opponent.calls < opponent.positions
    assert found == {content(learner, after(learner, space, 500, opponent=resigning(space)))}


@pytest.mark.parametrize("rules", RULES, ids=str)
@pytest.mark.parametrize(
    "options", [None, *({"ties": t, "centre": c} for t in ("random", "first") for c in (0, 1))]
)
def test_a_kernel_works_out_simple_policies_by_itself(options: dict[str, Any] | None, rules: Rules):
    policy: Policy = Uniform(rules) if options is None else Heuristic(rules, **options)
    whole = Index.of(rules, False)
    answers, uniforms = FixedSides(whole, policy, None).answers, np.random.default_rng(1).random(50)
    expected = answers.thresholds[0].copy()
    answers.owners[:] = 0
    rows = np.flatnonzero(whole.links.number > 0).astype(np.uint32)
    for row in rows[:: len(rows) // 500]:
        with np.errstate(over="ignore"):  # integers wrap in compiled code
            assert can_answer(answers, 0, row, row, whole.links, whole.board)
        moves = whole.links.number[row]
        drawn = [table[row, :moves] > uniforms[:, None] for table in (answers.thresholds[0], expected)]
        assert drawn[0].any(axis=1).all() and drawn[1].any(axis=1).all()
        assert np.array_equal(drawn[0].argmax(axis=1), drawn[1].argmax(axis=1))


@pytest.mark.parametrize("rules", [Rules(4, 4, 4), Rules(6, 6, 4), Rules(8, 8, 5)], ids=str)
@pytest.mark.parametrize("name", GROWN)
def test_large_boards_start_at_once(name: str, rules: Rules):
    learner = made(name)
    table = learner.empty(rules, learner.symmetric_only)
    assert table.index.rows == FIRST + 1
    games = base.Shard(0, 20, np.random.default_rng(1), opponent=Uniform(rules))
    assert learner.train(table, games).sum() == 20
    read = learner.from_entries(rules, learner.symmetric_only, learner.to_entries(table))
    assert content(learner, read) == content(learner, table)
    learner.policy(table).probabilities(learner.seen(table))


@pytest.mark.parametrize("name", GROWN)
def test_the_number_of_workers_changes_no_byte_on_a_large_board(name: str, monkeypatch: pytest.MonkeyPatch):
    learner, rules = made(name), Rules(4, 4, 4)
    monkeypatch.setattr(type(learner), "block_games", 500)
    plan, found = Plan(learner, 600, seed=1, shards=3), set()
    for count in (1, 3):
        with local_workers(count) as workers:
            *_, last = run(plan, learner.empty(rules, learner.symmetric_only), executor=workers)
        found.add(content(learner, last.table))
    assert len(found) == 1


@pytest.mark.parametrize("name", GROWN)
def test_what_a_shard_changed_is_all_that_joining_needs(name: str):
    learner, rules = made(name), Rules(4, 4, 4)
    start = learner.empty(rules, learner.symmetric_only)
    learner.train(start, base.Shard(0, 300, np.random.default_rng(9)))
    parts = [deepcopy(start) for _ in range(3)]
    for number, part in enumerate(parts):
        learner.train(part, base.Shard(300, 40 + number, np.random.default_rng(number)))
    changes = [learner.changes(start, part) for part in parts]
    joined = learner.merge(start, changes)
    assert content(learner, joined) == content(learner, learner.merge(start, parts))
    assert joined.index.rows > max(part.index.rows for part in parts)
    if name in ("q", "td", "menace"):
        assert all(change.index.rows < start.index.rows for change in changes)


@pytest.mark.long
def test_the_counts_of_boards_without_a_state_space():
    assert {key: len(StateSpace.of(*key)) for key in COUNTED} == COUNTED
