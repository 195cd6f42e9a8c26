"""What every learner has to keep to, whatever its method."""

import math
from collections.abc import Callable
from itertools import pairwise, takewhile
from statistics import median
from typing import Any

import numpy as np
import orjson
import pytest

from tests import tables
from tests.conftest import COMPILED
from tests.learners.common import NAMES, exploitability, made, policy_of, space_for, table_after, trained
from ttt_cli import conformance
from ttt_cli.conformance import (
    CHECKS,
    after,
    content,
    read_table,
    resigning,
)
from ttt_cli.engine.kernel import as_written
from ttt_cli.engine.retrograde import solve
from ttt_cli.engine.rules import STANDARD, Rules
from ttt_cli.engine.side import Side
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.errors import InvalidFileError
from ttt_cli.evaluation.matchup import both_sides
from ttt_cli.evaluation.verdict import is_unbeatable
from ttt_cli.evaluation.walk import Walk
from ttt_cli.evaluation.worst_case import guaranteed_result
from ttt_cli.learners.base import Learner, Shard

PERFECT = [name for name in ("q", "td", "graph", "ntuple") if name in NAMES]
"""The methods that have to become unbeatable."""
TABLES = [name for name in PERFECT if name != "ntuple"]
"""Those of them that take tenths of a second."""


@pytest.fixture(autouse=True)
def fewer_games(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(conformance, "GAMES", 60 if COMPILED else 40)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_it_keeps_to_what_every_learner_has_to(check: Callable[[Learner], None], learner: Learner):
    check(learner)


def test_the_kernel_as_written_gives_the_same_bytes(learner: Learner):
    space = space_for(learner.name)
    cases = [{}, {"opponent": resigning(space), "behaviour": None}]
    compiled = [content(learner, after(learner, space, 150, **case)) for case in cases]
    with as_written():
        assert [content(learner, after(learner, space, 150, **case)) for case in cases] == compiled


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


# Strength


@pytest.mark.compiled
@pytest.mark.parametrize("game", [{"turned": True}, {"symmetric": True}], ids=["exchanged", "symmetric"])
@pytest.mark.parametrize("name", TABLES)
def test_unbeatable(name: str, game: dict[str, bool]):
    """At the usual game it is if it never loses to random play, see below."""
    assert is_unbeatable(trained(name, 1, **game))


@pytest.mark.compiled
def test_a_network_is_unbeatable():
    assert is_unbeatable(trained("ntuple", 1))


@pytest.mark.parametrize("name", TABLES)
def test_another_board_is_learned_as_well(name: str):
    learner, space = made(name), StateSpace.of(Rules(2, 4, 3))
    policy, value = policy_of(learner, table_after(learner, 20_000, 1, space)), int(solve(space).values[0])
    for side in Side:
        assert guaranteed_result(Walk.of(policy, side)) == (value if side is Side.X else -value)


def check_ceilings(name: str, seed: int) -> None:
    as_x, as_o = both_sides(trained(name, seed), tables.uniform(StateSpace.of()))
    assert as_x.loss == as_o.loss == 0
    assert (as_x.win, as_o.win) == (pytest.approx(191 / 192, abs=1e-12), pytest.approx(866 / 945, abs=1e-12))


@pytest.mark.compiled
@pytest.mark.parametrize("name", TABLES)
def test_it_wins_as_often_against_random_play_as_one_who_never_loses_can(name: str):
    check_ceilings(name, 1)


@pytest.mark.long
@pytest.mark.parametrize("name", TABLES)
def test_it_wins_as_often_for_every_seed(name: str, sized: Any):
    for seed in range(2, sized(4, 100) + 1):
        check_ceilings(name, seed)


@pytest.mark.compiled
@pytest.mark.parametrize("name", [name for name in NAMES if name not in PERFECT])
def test_nothing_is_made_for_the_usual_winner(name: str):
    usual, turned = (exploitability(trained(name, 1, turned=turned)) for turned in (False, True))
    assert turned <= 1.5 * usual + 1e-12


@pytest.mark.long
@pytest.mark.parametrize("name", PERFECT)
def test_unbeatable_for_every_seed(name: str, sized: Any):
    games = [{"turned": True}, *([{}, {"symmetric": True}] if name == "ntuple" else [])]
    for seed in range(2, sized(4, 100) + 1):
        assert all(is_unbeatable(trained(name, seed, **game)) for game in games), seed


def games_until_unbeatable(learner: Learner, seed: int, symmetric: bool, most: int) -> int | None:
    """The look from which the learner is unbeatable at every later one, each the square root of 2 farther
    on; None if it is not at the last one."""
    table, first = learner.empty(STANDARD, symmetric), None
    looks = takewhile(lambda games: games <= most, (int(256 * math.sqrt(2) ** step) for step in range(64)))
    for look, (before, games) in enumerate(pairwise([0, *looks])):
        rng = np.random.default_rng([seed, look])
        learner.train(table, Shard(first=before, games=games - before, rng=rng))
        first = (first or games) if is_unbeatable(learner.policy(table)) else None
    return first


@pytest.mark.long
@pytest.mark.parametrize("symmetric", [False, True], ids=["plain", "symmetric"])
@pytest.mark.parametrize("name", PERFECT)
def test_few_games_are_enough(name: str, symmetric: bool, sized: Any):
    """In the median of the seeds, and to stay; without directed exploration it takes three times as many."""
    seeds = range(1, sized(3, 20) + 1)
    found = [games_until_unbeatable(made(name), seed, symmetric, 50_000) for seed in seeds]
    assert median(games or 100_000 for games in found) <= (2_048 if symmetric else 11_586)
