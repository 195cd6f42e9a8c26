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
from tests.learners.common import trained
from ttt_cli import conformance
from ttt_cli.conformance import CHECKS, content, read_table, resigning, trained_table
from ttt_cli.engine.kernel import uncompiled
from ttt_cli.engine.rules import STANDARD, Rules
from ttt_cli.engine.scores import solve
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.errors import InvalidFileError
from ttt_cli.evaluation.matchup import both_sides
from ttt_cli.evaluation.verdict import is_unbeatable, judge
from ttt_cli.learners import LEARNERS, learner_class, learner_of
from ttt_cli.learners.base import Learner, Shard

PERFECT = ("q", "td", "graph", "ntuple")
"""The methods that have to become unbeatable."""
TABLES = PERFECT[:-1]
"""Those of them that take tenths of a second."""


@pytest.fixture(
    params=[(name, choice) for name in LEARNERS for choice in learner_class(name).choices[:2]], ids="-".join
)
def learner(request: pytest.FixtureRequest) -> Learner:
    """Each learner with its own parameters, and with its author's where an article describes it."""
    return learner_of(*request.param)


@pytest.fixture(autouse=True)
def fewer_games(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(conformance, "GAMES", 15)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_every_learner_conforms(check: Callable[[Learner], None], learner: Learner):
    check(learner)
    assert learner.title.lower() == LEARNERS[learner.name].lower()  # as help and lists call it


def test_the_uncompiled_kernel_gives_the_same_bytes(learner: Learner):
    """On a growing board too, where compiled code would write beyond an array without a word."""
    cases = [{}, {"opponent": resigning()}, {"rules": Rules(4, 4, 4)}]
    compiled = [content(learner, trained_table(learner, 4, **case)) for case in cases]
    with uncompiled():
        assert [content(learner, trained_table(learner, 4, **case)) for case in cases] == compiled


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


@pytest.mark.parametrize("name", LEARNERS)
def test_broken_entries_are_refused_by_name(name: str):
    learner = learner_of(name, "default")
    rules = Rules(2, 3)
    entries = orjson.loads(content(learner, trained_table(learner, 5, rules=rules)))
    right = next(key for key in entries if key.count(".") == 2)
    wrong = ["X", "X....?", "x.....", "X..... ", ""]
    if name != "ntuple":  # its keys are patterns
        wrong.append("XXXXXX")
    cases = [*((key, entries[right]) for key in wrong), *((right, value) for value in broken(entries[right]))]
    for key, value in cases:
        with pytest.raises(InvalidFileError) as refused:
            read_table(learner, {**entries, key: value}, rules)
        assert repr(key) in refused.value.where, (key, value)


@pytest.mark.parametrize("name", TABLES)
def test_another_board_is_learned_as_well(name: str):
    rules = Rules(2, 4, 3)
    value = int(np.sign(solve(StateSpace.of(rules))[0]))
    verdict = judge(trained(name, games=6_000, rules=rules).policy)
    assert (verdict.as_x.guaranteed, verdict.as_o.guaranteed) == (value, -value)


def check_strength(name: str, seed: int) -> None:
    """Unbeatable, in the misère game and up to symmetry too; a table wins as often against random play as a
    player that never loses can."""
    for options in ({}, {"rules": Rules(misere=True)}, {"symmetry": True}):
        assert is_unbeatable(trained(name, seed, **options).policy), options
    for symmetry in (False, True) if name in TABLES else ():
        policy = trained(name, seed, symmetry=symmetry).policy
        as_x, as_o = both_sides(policy, tables.uniform(StateSpace.of()))
        assert (as_x.win, as_o.win) == pytest.approx((191 / 192, 866 / 945), abs=1e-12)


@pytest.mark.compiled
@pytest.mark.parametrize("name", TABLES)
def test_its_default_training_is_enough(name: str):
    check_strength(name, 1)


@pytest.mark.compiled
def test_a_network_is_unbeatable():
    assert is_unbeatable(trained("ntuple").policy)


@pytest.mark.long
@pytest.mark.parametrize("name", PERFECT)
def test_its_default_training_is_enough_for_every_seed(name: str, sized: Any):
    for seed in range(2, sized(2, 100) + 1):
        check_strength(name, seed)


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["menace", "book"])
def test_the_misere_game_is_learned_as_well(name: str):
    usual, misere = (
        judge(trained(name, games=50_000, rules=rules).policy) for rules in (STANDARD, Rules(misere=True))
    )
    assert misere.nash_conv <= 1.5 * usual.nash_conv


def games_until_unbeatable(learner: Learner, seed: int, symmetric: bool, most: int) -> int | None:
    """The number of games at the first look from which on the learner is unbeatable at every look; None if it
    is not at the last. Each look comes after 1.4 times as many games as the one before."""
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
    seeds = range(1, sized(1, 20) + 1)
    found = [games_until_unbeatable(learner_of(name, "default"), seed, symmetric, 50_000) for seed in seeds]
    assert median(games or 100_000 for games in found) <= (2_048 if symmetric else 11_586)
