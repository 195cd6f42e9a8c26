"""Tables: one that grows is as good as a complete one. And the numbers that games are played with."""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy

import numpy as np
import pytest

from tests.ttt import some
from ttt_cli.agents.uniform import Uniform
from ttt_cli.conformance import content, empty_table, shard, trained_table
from ttt_cli.engine.game import Game
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.engine.symmetry import classes
from ttt_cli.learners import growth, learner_class, learner_of, loop, table as table_module
from ttt_cli.learners.base import Shard
from ttt_cli.learners.book import Book
from ttt_cli.learners.graph import Graph
from ttt_cli.learners.q import Q
from ttt_cli.learners.table_learner import TableLearner
from ttt_cli.store.plays import BreakingTies

GROWN = ("q", "td", "menace")
RULES = (Rules(), Rules(2, 5, 3), Rules(misere=True))


@contextmanager
def growing(complete: table_module.Table, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As if no board had a state space: every table starts with the empty board alone."""
    counted = {(complete.rules, complete.symmetric): complete.game_size}  # exploration goes by it
    with monkeypatch.context() as patch:
        patch.setattr(table_module, "enumerated", lambda rules: None)
        patch.setattr(table_module, "KNOWN_SIZES", counted)
        patch.setattr(table_module, "IN_PLACE", 0)
        yield


GROWING = [
    *(("default", False, rules) for rules in RULES),
    *(("article", False, Rules()), ("default", True, Rules())),
]


@pytest.mark.parametrize("name", GROWN)
@pytest.mark.parametrize("case", some(GROWING), ids=str)
def test_a_table_that_grows_learns_the_same(
    name: str, case: tuple[str, bool, Rules], monkeypatch: pytest.MonkeyPatch
):
    preset, symmetric, rules = case
    learner = learner_of(name, preset)
    symmetric |= learner.symmetric_only
    expected = learner.empty(rules, symmetric)
    learner.train(expected, shard(learner, 60, rules=rules))
    with growing(expected, monkeypatch):
        found = learner.empty(rules, symmetric)
        learner.train(found, shard(learner, 60, rules=rules))
        assert content(learner, found) == content(learner, expected)
        assert len(found.rows) < len(expected.rows)
        again = learner.from_entries(rules, symmetric, learner.to_entries(found))
        seen = found.rows, found.moves  # while somebody looks at its arrays, they cannot grow in place
        for table in (found, again):
            learner.train(table, Shard(60, 40, np.random.default_rng(7)))
    learner.train(expected, Shard(60, 40, np.random.default_rng(7)))
    assert content(learner, found) == content(learner, again) == content(learner, expected)
    assert len(seen[0]) < len(found.rows)
    positions = learner.seen(expected)
    assert np.array_equal(learner.seen(found).distinct().keys, positions.distinct().keys)
    assert np.array_equal(*(learner.policy(table).probabilities(positions) for table in (found, expected)))


@pytest.mark.parametrize(("name", "preset"), [("q", "default"), ("ntuple", "default"), ("book", "article")])
def test_the_opponent_is_asked_on_its_own_turns(name: str, preset: str, monkeypatch: pytest.MonkeyPatch):
    """Which are all turns if the learner only watches."""
    learner, rules, played = learner_of(name, preset), Rules(), list[Game]()
    opponent = BreakingTies(Uniform(rules), "first")
    with growing(learner_of("q", "default").empty(rules), monkeypatch):
        games = Shard(0, 40, np.random.default_rng(1), opponent, played)
        learner.train(learner.empty(rules), games)
    own = set[bool]()
    for number, each in enumerate(played):
        for ply, (board, cell) in enumerate(zip(each.texts(), each.moves, strict=False)):
            if ply % 2 == number % 2:
                own.add(cell == board.index("."))
            else:
                assert cell == board.index(".")
    assert own == ({True} if learner.watches else {True, False})


@pytest.mark.parametrize(
    ("name", "rules"),
    [("q", Rules(8, 8, 5)), *((name, Rules(5, 5, 4)) for name in ("td", "menace", "book", "graph"))],
    ids=str,
)
def test_large_boards_start_at_once(name: str, rules: Rules):
    learner = learner_of(name, "default")
    table = learner.empty(rules, learner.symmetric_only)
    assert len(table.rows) == growth.FIRST + 1
    games = Shard(0, 20, np.random.default_rng(1), opponent=Uniform(rules))
    assert learner.train(table, games).sum() == 20
    read = learner.from_entries(rules, learner.symmetric_only, learner.to_entries(table))
    assert content(learner, read) == content(learner, table)
    learner.policy(table).probabilities(learner.seen(table))


DERIVING = [
    *(Q(), Q.from_params(**Q.article), Q.from_params(alpha=1.0, pace=1.0, gamma=1.0, slips=0.0)),
    *(Graph(), Graph.from_params(**Graph.article), Book()),
]
"""Methods with columns that follow from others; without discount and slips many values are equal."""


@pytest.mark.parametrize(
    ("learner", "rules"),
    [*((each, Rules()) for each in DERIVING), *((each, Rules(4, 4, 4)) for each in (Q(), Graph(), Book()))],
    ids=str,
)
def test_training_keeps_derived_columns_up_to_date(learner: TableLearner, rules: Rules):
    table = trained_table(learner, 300, rules=rules)
    learner.train(table, shard(learner, 1000, seed=2, rules=rules))
    afresh = deepcopy(table)
    learner.derive(afresh)
    assert np.array_equal(table.rows, afresh.rows) and np.array_equal(table.moves, afresh.moves)


@pytest.mark.parametrize("rules", [Rules(5, 5, 4), Rules(8, 8, 5)], ids=str)
def test_positions_whose_hashes_are_alike_have_rows_of_their_own(rules: Rules):
    """Stones of X on the cells from 17 on count in the upper half of a hash as those of O from 1 on do."""
    some, none = np.arange(1, 512, dtype=np.uint64), np.zeros(511, np.uint64)
    far = some << np.uint64(16)
    for x, o in ((far, ~some & np.uint64(511)), (some, none), (none, far)):
        table = table_module.Table(rules)
        expected, rows = table.include(Positions(rules, x, o)), table.rows.view(np.recarray)
        with np.errstate(over="ignore"):  # hashes are sums modulo 2^64
            found = [growth.find(rows, table.growth, *stones) for stones in zip(x, o, strict=True)]
        assert found == expected.tolist()


@pytest.mark.parametrize("name", GROWN)
def test_merging_needs_only_what_shards_changed(name: str):
    learner, rules = learner_of(name, "default"), Rules(4, 4, 4)
    start = learner.empty(rules, learner.symmetric_only)
    learner.train(start, Shard(0, 300, np.random.default_rng(9)))
    parts = [deepcopy(start) for _ in range(3)]
    for number, part in enumerate(parts):
        learner.train(part, Shard(300, 40 + number, np.random.default_rng(number)))
    changes = [learner.changes(start, part) for part in parts]
    merged = learner.merge(start, changes)
    assert content(learner, merged) == content(learner, learner.merge(start, parts))
    assert len(merged.rows) > max(len(part.rows) for part in parts)
    assert all(len(change.rows) < len(start.rows) for change in changes)


@pytest.mark.parametrize("name", GROWN)
def test_games_in_lockstep_are_learned_one_after_the_other(name: str):
    """Replaying what was played against a fixed side gives the same bytes, also of a side that gives up."""
    learner, rules, journal = learner_of(name, "default"), Rules(4, 4, 4), []
    table, replayed = (learner.empty(rules, learner.symmetric_only) for _ in range(2))
    games = Shard(0, 30, np.random.default_rng(3), Uniform(rules), journal=journal)
    assert learner.train(table, games).sum() == 30
    assert len({played.moves for played in journal}) > 24
    for number, played in enumerate(journal):
        learner.learn(replayed, played, games.sides(number))
        learner.learn(replayed, played, "")  # nobody's moves, so nothing
    assert content(learner, replayed) == content(learner, table)


@pytest.mark.parametrize("name", ["q", "td", "graph", "book", "menace"])
def test_no_uniform_number_is_too_large_to_choose_a_move(name: str):
    """Those just below epsilon, and just below 1, are stretched to all but 1."""
    for epsilon in np.linspace(0.05, 0.95, 10).tolist():
        learner = learner_class(name).from_params(epsilon=epsilon)
        table, choose = empty_table(learner), learner.kernel_parts[0]
        records = [array.view(np.recarray) for array in table.buffers]
        chance = epsilon, loop.BELOW_ONE / epsilon, loop.BELOW_ONE / (1 - epsilon)
        for number in (np.nextafter(epsilon, 0.0), np.nextafter(1.0, 0.0)):
            with np.errstate(over="ignore"):  # integers wrap in compiled code
                option, rest = choose(*records, learner.rule(table), growth.FIRST, 0, chance, number)
            assert 0 <= option < 9 and 0 <= rest < 1


@pytest.mark.long
def test_the_counts_of_boards_without_a_state_space(sized):
    for (rules, symmetric), count in list(table_module.KNOWN_SIZES.items())[: sized(1, None)]:
        positions = StateSpace.of(rules)
        assert len(classes(positions).positions.distinct() if symmetric else positions) == count
