"""Every agent, with each of its options, states included, is a pure function of rules and position."""

import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from tests.engine import test_positions
from tests.ttt import some
from ttt_cli import Positions, Rules, train
from ttt_cli.agents.grammar import resolve
from ttt_cli.agents.registry import players
from ttt_cli.conformance import agree, answers, check_policy
from ttt_cli.learners import LEARNERS, learner_class
from ttt_cli.store import library

ALONE = [player for player in players().values() if player.make is not None and not player.argument]
PLAYERS = [player.name for player in ALONE]
OPTIONS = [
    f"{player.name}:{key}={value}"
    for player in ALONE
    for key, option in player.options.items()
    for value in (option.accepts.split("|") if "|" in option.accepts else ("1", "3"))
]
STATES = [
    *LEARNERS,
    *(f"{name}:choice=article" for name in LEARNERS if "article" in learner_class(name).choices),
    *(f"{name}:search=2" for name in ("q", "td", "graph", "ntuple")),
    *("q:epsilon=0.25", "menace:side=o", "q:search=1,ties=last"),
]
ANYWHERE = ["random", "heuristic:ties=first", "heuristic:centre=true", "minimax:depth=1", "search:nodes=50"]
CASES = [
    *((text, Rules()) for text in (*PLAYERS, *OPTIONS, *STATES)),
    *((text, Rules(2, 5, 3)) for text in (*ANYWHERE, *LEARNERS, "minimax:depth=2,opening=random")),
    *((text, Rules(8, 8, 5)) for text in ANYWHERE),
]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a state of every learner that has learned a few games, for two boards."""
    store = tmp_path_factory.mktemp("store")
    for name in LEARNERS:
        for rules in (Rules(), Rules(2, 5, 3)):
            state = train(name, games=5, seed=1, rules=rules)
            library.save(state, library.StateName(name, rules=rules).path(store))
    return store


@cache
def sample(rules: Rules) -> Positions:
    """The positions of some random games, the ended ones too."""
    return Positions.batch(test_positions.sample(rules, 8 if rules.cells <= 16 else 1), rules).distinct()


@pytest.mark.parametrize("case", some(CASES), ids=str)
def test_a_policy_is_a_pure_function_of_the_position(case: tuple[str, Rules], store: Path) -> None:
    text, rules = case
    (policy, again), positions = (resolve(text, store, rules).policy for _ in range(2)), sample(rules)
    check_policy(policy, again, positions, resigns=text.startswith("menace"))
    assert agree(answers(policy, positions), answers(policy.tabulated(), positions))
    assert all(len(part) == 0 for part in answers(policy, positions[:0]))


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["minimax", "td"])
def test_threads_that_share_a_player_get_their_own_answers(name: str, store: Path) -> None:
    """The shards of a training ask one opponent."""
    rules, often, interval = Rules(4, 5, 4), 20, sys.getswitchinterval()
    learned = name in LEARNERS
    policy = (train(name, games=5, rules=rules) if learned else resolve(name, store, rules)).policy
    batches = [sample(rules)[first::4] for first in range(4)]
    expected = [policy.probabilities(batch) for batch in batches]
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            answered = pool.map(policy.probabilities, batches * often)
    finally:
        sys.setswitchinterval(interval)
    assert all(map(np.array_equal, answered, expected * often))
