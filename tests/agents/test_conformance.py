"""Every agent, with each of its options, states included, is a pure function of rules and position."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from ttt_cli.agents.grammar import resolve
from ttt_cli.agents.registry import players
from ttt_cli.conformance import agree, answers
from ttt_cli.engine.policy import Policy
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.learners import LEARNERS
from ttt_cli.store import library
from ttt_cli.store.games import GameRecord
from ttt_cli.store.state import State, learner_of
from ttt_cli.store.teaching import teach

ALONE = [player for player in players().values() if player.make is not None and not player.argument]
PLAYERS = [player.name for player in ALONE]
OPTIONS = [
    f"{player.name}:{key}={value}"
    for player in ALONE
    for key, option in player.options.items()
    for value in (option.accepts.split("|") if "|" in option.accepts else ("1", "2", "3", "100"))
]
STATES = [
    *LEARNERS,
    *(f"{name}:{option}" for name in LEARNERS for option in ("epsilon=0.25", "side=o")),
    *(f"{name}:choice=article" for name in LEARNERS if name != "ntuple"),
    *(f"{name}:{option}" for name in ("q", "td", "graph", "ntuple") for option in ("search=1", "search=3")),
    "q:search=2,ties=last",
]
SMALL = [*PLAYERS, *OPTIONS, "minimax:depth=2,ties=last,opening=random,speed=false"]
ANYWHERE = [
    "random",
    "heuristic:ties=first",
    "heuristic:centre=true",
    "minimax:depth=1",
    "minimax:depth=2,ties=first,opening=random",
    "search:depth=2",
    "search:nodes=50",
]
GAMES = {Rules(): ((5, 1, 3, 7, 4, 6, 8, 2, 9), "draw"), Rules(2, 3, 2): ((1, 3, 2), "x")}
CASES = [
    *((text, rules) for rules in GAMES for text in (*SMALL, *STATES)),
    *((text, rules) for rules in (Rules(2, 5, 3), Rules(4, 4, 4), Rules(8, 8, 5)) for text in ANYWHERE),
]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a state of every learner that has learned a game, for two boards."""
    store = tmp_path_factory.mktemp("store")
    for name in LEARNERS:
        for rules, (moves, result) in GAMES.items():
            state = State.empty(learner_of(name, "default"), rules)
            taught = teach(state, [GameRecord(moves, result, name, "other", rules)], name).state
            library.save(taught, library.path_in(store, library.default_name(name, rules), name))
    return store


@cache
def sample(rules: Rules) -> Positions:
    """The positions of some random games, the ended ones too."""
    rng = np.random.default_rng(1)
    games = 12 if rules.cells <= 16 else 1
    parts = []
    positions = Positions.concatenate([Positions.start(rules)] * games)
    while len(positions):
        parts.append(positions)
        positions = positions[~positions.terminal]
        if len(positions):
            cells = np.array([rng.choice(np.flatnonzero(row)) for row in positions.legal])
            positions = positions.play(np.arange(len(positions)), cells)
    return Positions.concatenate(parts).distinct()


@pytest.mark.parametrize(("text", "rules"), CASES, ids=str)
def test_a_policy_is_a_pure_function_of_the_position(text: str, rules: Rules, store: Path) -> None:
    policy, positions = resolve(text, store, rules).policy, sample(rules)
    whole = answers(policy, positions)
    plays_legal_moves(text, positions, policy)
    reverse = slice(None, None, -1)
    backwards = [part[reverse] for part in answers(policy, positions[reverse])]
    assert agree(whole, backwards)  # in another order, and after other questions
    assert agree(whole, answers(policy.tabulated(), positions))
    fresh = resolve(text, store, rules).policy
    # one at a time, from one that has been asked nothing else
    for row in range(0, len(positions), 1 + len(positions) // 12):
        assert agree(answers(fresh, positions[row : row + 1]), [part[row : row + 1] for part in whole])
    assert all(len(part) == 0 for part in answers(policy, positions[:0]))


def plays_legal_moves(text: str, positions: Positions, policy: Policy) -> None:
    probabilities, values = policy.probabilities(positions), policy.values(positions)
    known = policy.known(positions)
    assert (probabilities.shape, probabilities.dtype) == (positions.legal.shape, np.float64)
    assert (probabilities >= 0).all() and not probabilities[~positions.legal].any()
    resigns = ~probabilities.any(axis=1) & ~positions.terminal
    assert np.allclose(probabilities.sum(axis=1), ~(positions.terminal | resigns), rtol=0, atol=1e-12)
    assert not resigns.any() or text.startswith("menace")
    assert values is None or (values.shape == probabilities.shape and not np.isinf(values).any())
    assert known is None or (known.dtype == np.bool_ and not known[positions.terminal].any())


@pytest.mark.parametrize("text", PLAYERS)
def test_turning_the_board_turns_the_play(text: str, store: Path) -> None:
    """Players without a sense of direction play symmetric positions alike."""
    space = StateSpace.of()
    rows = resolve(text, store).policy.probabilities(space)
    for image in space.rules.symmetries:
        turned = space.find(space.stones @ space.powers[list(image)])
        assert np.allclose(rows[turned][:, list(image)], rows)
