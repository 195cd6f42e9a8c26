"""What every learner has to keep to, whatever its method."""

import math
import pickle
import sys
from copy import deepcopy
from itertools import permutations
from statistics import median
from typing import Any

import numpy as np
import orjson
import pytest

from tests.benchmarks.until import games_until_unbeatable
from tests.learners.common import (
    NAMES,
    after,
    agent,
    block,
    content,
    empty_table,
    exploitability,
    game_on,
    is_unbeatable,
    made,
    policy_of,
    read_table,
    resigning,
    space_for,
    trained,
)
from ttt_cli.engine.game import Game
from ttt_cli.engine.kernel import Kernel
from ttt_cli.engine.policy import PolicyTable
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.errors import InvalidFileError
from ttt_cli.learners.base import Learner
from ttt_cli.training.runs import Plan, run

PERFECT = [name for name in ("q", "td", "graph", "ntuple") if name in NAMES]
"""The methods that have to become unbeatable."""


def check_policy(policy: PolicyTable, *, resigns: bool) -> None:
    """Each row is a distribution over legal cells, or resigns where that is allowed."""
    space, rows = policy.space, policy.probabilities
    assert rows.shape == space.legal.shape
    assert (rows >= 0).all()
    assert (rows[~space.legal] == 0).all()
    sums = rows[~space.terminal].sum(axis=1)
    assert (np.isclose(sums, 1, rtol=0, atol=1e-12) | (resigns & (sums == 0))).all()
    if policy.values is not None:
        assert policy.values.shape == rows.shape
        assert not np.isinf(policy.values).any()
        assert np.isnan(policy.values[~space.legal]).all()
    if policy.known is not None:
        assert policy.known.shape == (len(space),)
        assert not policy.known[space.terminal].any()


def same(found: Any, expected: Any, tolerance: float = 0.0) -> bool:
    """Whether entries are equal, values up to a tolerance."""
    if isinstance(expected, dict):
        return found.keys() == expected.keys() and all(same(found[k], expected[k], tolerance) for k in found)
    if isinstance(expected, list):
        return len(found) == len(expected) and all(
            same(mine, theirs, tolerance) for mine, theirs in zip(found, expected, strict=True)
        )
    if isinstance(expected, float):
        return math.isclose(found, expected, rel_tol=0, abs_tol=tolerance)
    return found == expected


def uncompiled(monkeypatch: pytest.MonkeyPatch, learner: Learner) -> None:
    """Let the learner's kernels run as written."""
    kernels = [
        item for item in vars(sys.modules[type(learner).__module__]).values() if isinstance(item, Kernel)
    ]
    assert kernels
    for kernel in kernels:
        monkeypatch.setattr(kernel, "_compiled", kernel._as_written)


# Policies


def test_an_empty_table_knows_nothing_and_plays_legal_moves(learner: Learner):
    policy = policy_of(learner, empty_table(learner, space_for(learner.name)))
    check_policy(policy, resigns=False)
    assert policy.known is not None
    assert not policy.known.any()


def test_a_trained_table_knows_something_and_plays_legal_moves(learner: Learner):
    policy = policy_of(learner, after(learner, space_for(learner.name), 2000))
    check_policy(policy, resigns=learner.learns_resigned)
    assert policy.known.any()


def test_choosing_changes_no_table(learner: Learner):
    table = after(learner, space_for(learner.name), 500)
    before = pickle.dumps(table)
    policy_of(learner, table)
    assert pickle.dumps(table) == before


# Training


def test_the_seed_fixes_the_bytes(learner: Learner):
    space = space_for(learner.name)
    first, again, other = (content(learner, after(learner, space, 1000, seed)) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_results_are_counted(learner: Learner):
    space = space_for(learner.name)
    journal: list[np.ndarray] = []
    counted = learner.train(empty_table(learner, space), block(learner, space, 1000, journal=journal))
    games = [game_of(space, row) for row in np.concatenate(journal)]
    assert counted.tolist() == [sum(game.result == result for game in games) for result in (-1, 0, 1)]


def game_of(space: StateSpace, row: np.ndarray) -> Game:
    """A game from a line of the journal."""
    moves = row[row >= 0].tolist()
    return game_on(space, moves, resigned=not space.terminal[space.path(moves)[-1]])


@pytest.mark.parametrize("opponent", ["own", "self", "random", "resigning"])
def test_replaying_a_block_through_learn_gives_the_same_bytes(learner: Learner, opponent: str):
    space = space_for(learner.name)
    changes: dict[str, Any] = {"journal": []}
    if opponent != "own":
        policy = resigning(space) if opponent == "resigning" else agent(opponent, space)
        changes |= {"opponent": policy, "behaviour": None}
    trained, replayed = empty_table(learner, space), empty_table(learner, space)
    games = block(learner, space, 400, **changes)
    learner.train(trained, games)
    for number, row in enumerate(np.concatenate(games.journal)):
        game = game_of(space, row)
        if learner.learns_resigned or not game.resigned:
            learner.learn(replayed, game, games.sides(number))
    assert content(learner, replayed) == content(learner, trained)


def test_the_kernel_as_written_gives_the_same_bytes(learner: Learner, monkeypatch: pytest.MonkeyPatch):
    space = space_for(learner.name)
    cases = [{}, {"opponent": resigning(space), "behaviour": None}]
    compiled = [content(learner, after(learner, space, 150, **case)) for case in cases]
    uncompiled(monkeypatch, learner)
    assert [content(learner, after(learner, space, 150, **case)) for case in cases] == compiled


def test_a_shard_in_another_process_would_train_the_same(learner: Learner):
    space = space_for(learner.name)
    sent = pickle.loads(pickle.dumps((learner, empty_table(learner, space), block(learner, space, 500))))
    sent[0].train(sent[1], sent[2])
    assert content(sent[0], sent[1]) == content(learner, after(learner, space, 500))


def test_three_shards_a_block(learner: Learner):
    space = space_for(learner.name)
    sides = block(learner, space, 1)
    plan = Plan(learner, 3001, 1, sides.opponent, sides.behaviour, shards=3)
    ends = []
    for _ in range(2):
        *_, last = run(plan, empty_table(learner, space))
        assert (last.games, last.results.sum()) == (3001, 3001)
        ends.append(content(learner, last.table))
    assert ends[0] == ends[1]


# Entries


def test_entries_round_trip_to_the_byte(learner: Learner):
    table = after(learner, space_for(learner.name), 1000)
    entries = orjson.loads(content(learner, table))
    read = read_table(learner, space_for(learner.name), entries)
    assert content(learner, read) == content(learner, table)
    chosen, chosen_after = policy_of(learner, table), policy_of(learner, read)
    assert (chosen.probabilities == chosen_after.probabilities).all()
    assert (chosen.known == chosen_after.known).all()


def test_no_entries_are_the_empty_table(learner: Learner):
    empty = empty_table(learner, space_for(learner.name))
    assert dict(learner.to_entries(empty)) == {}
    read = read_table(learner, space_for(learner.name), {})
    assert (policy_of(learner, read).probabilities == policy_of(learner, empty).probabilities).all()


def test_training_goes_on_from_a_file_as_if_it_had_not_been_written(learner: Learner):
    space = space_for(learner.name)
    journal: list[np.ndarray] = []
    table = after(learner, space, 500, journal=journal)
    read = read_table(learner, space, orjson.loads(content(learner, table)))
    played = next(game for row in journal[0] if not (game := game_of(space, row)).resigned)
    for each in (table, read):
        learner.learn(each, played)
        learner.train(each, block(learner, space, 500, seed=2))
    assert content(learner, read) == content(learner, table)


@pytest.mark.parametrize("key", ["XXXXXXXXX", "X", "X.......?", "x........", "X........ ", ""])
def test_an_entry_of_no_position_is_refused(learner: Learner, key: str):
    space = space_for(learner.name)
    entries = dict(learner.to_entries(after(learner, space, 50)))
    entries[key] = next(iter(entries.values()))
    with pytest.raises(InvalidFileError) as refused:
        read_table(learner, space, entries)
    assert repr(key) in refused.value.where


def broken(value: Any) -> list[Any]:
    """The value with one thing wrong in it, in every way that is wrong in every entry."""
    wrong = [None, True, math.nan, math.inf, [[]], {"?": {}}]
    if not isinstance(value, str):
        wrong.append("?")
    if isinstance(value, dict):
        inside = [{**value, key: item} for key in value for item in broken(value[key])]
        return [*wrong, [], {**value, "0": next(iter(value.values()))}, *inside]
    if isinstance(value, list):
        inside = [
            [*value[:at], item, *value[at + 1 :]] for at in range(len(value)) for item in broken(value[at])
        ]
        return [*wrong, *inside]
    return [*wrong, 2**70] if isinstance(value, int) else wrong


def test_broken_entries_are_refused_by_name(learner: Learner):
    space = space_for(learner.name)
    entries = orjson.loads(content(learner, after(learner, space, 20)))
    key = next(key for key in entries if key.count(".") == 5)
    for value in broken(entries[key]):
        with pytest.raises(InvalidFileError) as refused:
            read_table(learner, space, {**entries, key: value})
        assert repr(key) in refused.value.where, value


# Merging


@pytest.fixture
def parts(learner: Learner) -> list[Any]:
    space = space_for(learner.name)
    return [after(learner, space, games, seed) for seed, games in ((1, 150), (2, 200), (3, 250))]


def test_the_empty_table_is_the_identity(learner: Learner, parts: list[Any]):
    empty = empty_table(learner, space_for(learner.name))
    for inputs in ([parts[0]], [parts[0], empty], [empty, parts[0], empty]):
        assert content(learner, learner.merge(empty, inputs)) == content(learner, parts[0])


def test_the_order_of_the_parts_does_not_matter(learner: Learner, parts: list[Any]):
    empty = empty_table(learner, space_for(learner.name))
    merged = {content(learner, learner.merge(empty, order)) for order in permutations(parts)}
    assert len(merged) == 1


def test_nested_merges_agree(learner: Learner, parts: list[Any]):
    empty = empty_table(learner, space_for(learner.name))
    at_once = dict(learner.to_entries(learner.merge(empty, parts)))
    nested = learner.merge(empty, [learner.merge(empty, parts[:2]), parts[2]])
    tolerance = 1e-9 if learner.name == "ntuple" else 1e-12  # weights are no values: they are not within 1
    assert same(dict(learner.to_entries(nested)), at_once, tolerance)


def test_only_what_is_new_since_the_base_counts(learner: Learner):
    space = space_for(learner.name)
    base = after(learner, space, 200)
    grown = [deepcopy(base, {id(space): space}) for _ in range(3)]
    for seed, table in enumerate(grown[:2], 2):
        learner.train(table, block(learner, space, 200, seed))
    before = [content(learner, table) for table in (base, *grown)]
    assert content(learner, learner.merge(base, grown[:1])) == before[1]
    assert content(learner, learner.merge(base, grown[2:])) == before[0]
    both = content(learner, learner.merge(base, grown))
    assert both == content(learner, learner.merge(base, grown[:2]))
    assert both not in before
    assert [content(learner, table) for table in (base, *grown)] == before


# Other games


@pytest.mark.parametrize("rules", [Rules(1, 1, 1), Rules(1, 3, 3), Rules(2, 2, 2), Rules(3, 4, 3)], ids=str)
def test_other_boards(learner: Learner, rules: Rules):
    space = space_for(learner.name, rules)
    table = after(learner, space, 100)
    check_policy(policy_of(learner, table), resigns=learner.learns_resigned)
    read = read_table(learner, space, orjson.loads(content(learner, table)))
    assert content(learner, read) == content(learner, table)


@pytest.mark.parametrize("name", NAMES)
def test_symmetric_training(name: str):
    learner = made(name)
    policy = policy_of(learner, after(learner, StateSpace.of(symmetric=True), 2000))
    check_policy(policy, resigns=learner.learns_resigned)


# Strength


@pytest.mark.compiled
@pytest.mark.parametrize("turned", [False, True], ids=["usual", "exchanged"])
@pytest.mark.parametrize("name", PERFECT)
def test_unbeatable(name: str, turned: bool):
    assert is_unbeatable(trained(name, 1, turned=turned))


@pytest.mark.compiled
@pytest.mark.parametrize("name", PERFECT)
def test_unbeatable_by_symmetry(name: str):
    assert is_unbeatable(trained(name, 1, symmetric=True))


@pytest.mark.compiled
@pytest.mark.parametrize("name", [name for name in NAMES if name not in PERFECT])
def test_nothing_is_made_for_the_usual_winner(name: str):
    usual, turned = (exploitability(trained(name, 1, turned=turned)) for turned in (False, True))
    assert turned <= 1.5 * usual + 1e-12


@pytest.mark.long
@pytest.mark.parametrize("turned", [False, True], ids=["usual", "exchanged"])
@pytest.mark.parametrize("name", PERFECT)
def test_unbeatable_for_every_seed(name: str, turned: bool, sized: Any):
    seeds = range(1, sized(10, 100) + 1)
    assert [seed for seed in seeds if not is_unbeatable(trained(name, seed, turned=turned))] == []


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in NAMES if name not in PERFECT])
def test_nothing_is_made_for_the_usual_winner_in_the_mean_of_seeds(name: str, sized: Any):
    seeds = range(1, sized(5, 20) + 1)
    usual, turned = (
        np.mean([exploitability(trained(name, seed, turned=turned)) for seed in seeds])
        for turned in (False, True)
    )
    assert turned <= 1.5 * usual + 1e-12


@pytest.mark.long
@pytest.mark.parametrize("symmetric", [False, True], ids=["plain", "symmetric"])
@pytest.mark.parametrize("name", PERFECT)
def test_few_games_are_enough(name: str, symmetric: bool, sized: Any):
    """In the median of the seeds, and to stay; without directed exploration it takes three times as many."""
    seeds = range(1, sized(5, 20) + 1)
    found = [games_until_unbeatable(made(name), seed, symmetric=symmetric, most=50_000) for seed in seeds]
    assert median(games or 100_000 for games in found) <= (2_048 if symmetric else 11_586)
