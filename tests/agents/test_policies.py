"""What every policy has to keep to: a pure function of rules and position, on small boards and large ones."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from ttt_cli.agents.grammar import resolve
from ttt_cli.engine.policy import Policy
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.learners import LEARNERS
from ttt_cli.store import library
from ttt_cli.store.games import GameRecord
from ttt_cli.store.state import State, learner_of
from ttt_cli.store.teaching import teach

ANYWHERE = [
    "random",
    "heuristic",
    "heuristic:ties=first",
    "heuristic:centre=true",
    "minimax:depth=1",
    "minimax:depth=2,ties=first",
    "minimax:depth=2,opening=random",
    "search:depth=2",
    "search:nodes=50",
]
SMALL = [
    "minimax",
    "minimax:depth=3,speed=false,ties=last",
    "minimax:ties=first",
    "minimax:ties=trap",
    "minimax:speed=false",
    "search:depth=5",
    "search",
]
STATES = [
    "q:search=2",
    "td:search=3",
    "graph:search=2",
    "ntuple:search=3",
    *LEARNERS,
    *(f"{name}:{option}" for name in LEARNERS for option in ("epsilon=0.25", "side=x")),
]
BOARDS = [Rules(), Rules(3, 4, 3), Rules(4, 4, 4), Rules(5, 5, 4), Rules(8, 8, 5)]
CASES = [
    (text, rules)
    for rules in BOARDS
    for text in (*ANYWHERE, *(SMALL if rules.cells <= 12 else ()), *(STATES if rules.cells == 9 else ()))
]
GAME = (4, 0, 2, 6, 3, 5, 7, 1, 8)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a state of every learner that has learned one game."""
    store = tmp_path_factory.mktemp("store")
    for name in LEARNERS:
        state = State.empty(learner_of(name, "default"), Rules())
        taught = teach(state, [GameRecord(GAME, "draw", name, "other")], name).state
        library.save(taught, library.path_in(store, name, name))
    return store


@cache
def sample(rules: Rules) -> Positions:
    """The positions of some random games, the ended ones too."""
    rng = np.random.default_rng(1)
    games = 12 if rules.cells <= 16 else 2
    parts = []
    positions = Positions.concatenate([Positions.start(rules)] * games)
    while len(positions):
        parts.append(positions)
        positions = positions[~positions.terminal]
        if len(positions):
            cells = np.array([rng.choice(np.flatnonzero(row)) for row in positions.legal])
            positions = positions.play(np.arange(len(positions)), cells)
    return Positions.concatenate(parts).distinct()


def answers(policy: Policy, positions: Positions) -> list[np.ndarray | None]:
    return [policy.probabilities(positions), policy.values(positions), policy.known(positions)]


def same(one: list[np.ndarray | None], other: list[np.ndarray | None]) -> bool:
    return all(
        (a is None and b is None) or (a is not None and b is not None and a.tobytes() == b.tobytes())
        for a, b in zip(one, other, strict=True)
    )


@pytest.mark.parametrize(("text", "rules"), CASES, ids=str)
def test_a_policy_is_a_pure_function_of_the_position(text: str, rules: Rules, store: Path) -> None:
    policy, positions = resolve(text, store, rules).policy, sample(rules)
    whole = answers(policy, positions)
    plays_legal_moves(text, positions, *whole)
    reverse = slice(None, None, -1)
    backwards = [
        None if part is None else part[reverse].copy() for part in answers(policy, positions[reverse])
    ]
    assert same(whole, backwards)  # in another order, and after other questions
    fresh = resolve(text, store, rules).policy
    for row in range(0, len(positions), 7):  # one at a time, from one that has been asked nothing else
        single = answers(fresh, positions[row : row + 1])
        assert same(single, [None if part is None else part[row : row + 1] for part in whole])
    assert [len(part) for part in answers(policy, positions[:0]) if part is not None] == [
        0 for part in whole if part is not None
    ]


def plays_legal_moves(text: str, positions: Positions, probabilities, values, known) -> None:
    assert probabilities is not None
    assert (probabilities.shape, probabilities.dtype) == (positions.legal.shape, np.float64)
    assert (probabilities >= 0).all() and not probabilities[~positions.legal].any()
    resigns = ~probabilities.any(axis=1) & ~positions.terminal
    assert np.allclose(probabilities.sum(axis=1), ~(positions.terminal | resigns), rtol=0, atol=1e-12)
    assert not resigns.any() or text.startswith("menace")
    assert values is None or (values.shape == probabilities.shape and not np.isinf(values).any())
    assert known is None or not known[positions.terminal].any()
