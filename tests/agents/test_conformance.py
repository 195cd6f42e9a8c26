"""What every agent has to keep to, with each of its options, on every kind of board, states included."""

from pathlib import Path

import numpy as np
import pytest

from ttt_cli.agents.grammar import resolve
from ttt_cli.agents.registry import players
from ttt_cli.engine.policy import PolicyTable
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.evaluation.blunders import find_blunders
from ttt_cli.evaluation.match import Games, play_match
from ttt_cli.evaluation.verdict import judge
from ttt_cli.learners import LEARNERS
from ttt_cli.store import library
from ttt_cli.store.games import GameRecord
from ttt_cli.store.state import State, learner_of
from ttt_cli.store.teaching import teach

VALUES = {
    "ties": {"heuristic": ("random", "first"), "minimax": ("random", "first", "last", "trap")},
    "depth": {"minimax": ("1", "2", "3", "20"), "search": ("1", "2", "3", "20")},
    "nodes": {"search": ("1", "100")},
    "centre": {"heuristic": ("true", "false")},
    "speed": {"minimax": ("true", "false")},
    "opening": {"minimax": ("search", "random")},
}
"""Every value of every option of the built-in players."""

VALUED = ["q", "td", "graph", "ntuple"]
"""The learners whose values say how good a position is."""

PLAYERS = [name for name, player in players().items() if player.make is not None and not player.argument]
AGENTS = [
    *PLAYERS,
    *(f"{name}:{key}={value}" for key, of in VALUES.items() for name in of for value in of[name]),
    "minimax:depth=2,ties=last,opening=random,speed=false",
    *LEARNERS,
    *(f"{name}:{option}" for name in LEARNERS for option in ("epsilon=0.1", "side=o")),
    *(f"{name}:choice=article" for name in LEARNERS if name != "ntuple"),
    *(f"{name}:{option}" for name in VALUED for option in ("search=1", "search=3", "search=2,ties=last")),
]
BOARDS = [Rules(), Rules(2, 3, 2), Rules(1, 4, 3)]
GAMES = {Rules(): ((4, 0, 2, 6, 3, 5, 7, 1, 8), "draw"), Rules(2, 3, 2): ((0, 2, 1), "x")}


def test_every_option_is_tried() -> None:
    for name, player in players().items():
        if player.argument:  # a program: tests/commands/test_program.py
            continue
        assert set(player.options) == {key for key, of in VALUES.items() if name in of}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a state of every learner that has learned a game or two, for each of the boards."""
    store = tmp_path_factory.mktemp("store")
    for name in LEARNERS:
        for rules in BOARDS:
            state = State.empty(learner_of(name, "default"), rules)
            if rules in GAMES:
                moves, result = GAMES[rules]
                state = teach(state, [GameRecord(moves, result, name, "other", rules)], name).state
            library.save(state, library.path_in(store, library.default_name(name, rules), name))
    return store


def policy_of(text: str, store: Path, rules: Rules) -> PolicyTable:
    return resolve(text, store, rules).policy.table(StateSpace.of(rules))


@pytest.mark.parametrize("rules", BOARDS, ids=str)
@pytest.mark.parametrize("text", AGENTS)
def test_a_policy_is_a_policy(text: str, rules: Rules, store: Path) -> None:
    space = StateSpace.of(rules)
    policy = policy_of(text, store, rules)
    rows = policy.probabilities
    assert policy.space is space
    assert (rows.shape, rows.dtype) == (space.legal.shape, np.float64)
    assert (rows >= 0).all() and not rows[~space.legal].any()  # legal moves only, none when the game is over
    sums = rows.sum(axis=1)
    resigns = ~rows.any(axis=1) & ~space.terminal
    assert np.allclose(sums, np.where(space.terminal | resigns, 0, 1), rtol=0, atol=1e-12)
    assert not resigns.any() or text.startswith("menace")
    if policy.values is not None:
        assert policy.values.shape == rows.shape
        assert not np.isinf(policy.values).any()
    if policy.known is not None:
        assert (policy.known.shape, policy.known.dtype) == ((len(space),), np.bool_)
        assert not policy.known[space.terminal].any()


@pytest.mark.parametrize("text", AGENTS)
def test_the_same_seed_gives_the_same_games_and_judging_changes_nothing(text: str, store: Path) -> None:
    rules = Rules(2, 3, 2)
    policy, opponent = policy_of(text, store, rules), policy_of("random", store, rules)
    before = [
        None if part is None else part.copy() for part in (policy.probabilities, policy.values, policy.known)
    ]

    def games() -> list[list[list[int]]]:
        batches: list[Games] = []
        play_match(policy, opponent, 50, 1, batches.append)
        return [batch.moves.tolist() for batch in batches]

    first = games()
    assert judge(policy, [("random", opponent), ("itself", policy)]) == judge(
        policy_of(text, store, rules), [("random", opponent), ("itself", policy)]
    )
    find_blunders(policy, [opponent])
    assert games() == first
    for old, now in zip(before, (policy.probabilities, policy.values, policy.known), strict=True):
        assert (old is None) == (now is None)
        assert old is None or np.array_equal(old, now, equal_nan=old.dtype == np.float64)


@pytest.mark.parametrize("text", PLAYERS)
def test_turning_the_board_turns_the_play(text: str, store: Path) -> None:
    """Players without a sense of direction play symmetric positions alike."""
    space = StateSpace.of()
    rows = policy_of(text, store, Rules()).probabilities
    for image in space.rules.symmetries:
        turned = space.find(space.stones @ space.powers[list(image)])
        assert np.allclose(rows[turned][:, list(image)], rows)
