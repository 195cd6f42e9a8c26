"""The n-tuple network: its sets, its arithmetic, its files, and what it proves on a board without tables."""

from typing import Any

import numpy as np
import pytest

from tests.engine import test_positions
from ttt_cli import Game, Positions, Rules, Side, train
from ttt_cli.conformance import trained_table
from ttt_cli.engine.alpha_beta import Search
from ttt_cli.errors import InvalidFileError
from ttt_cli.evaluation.walk import layers_of
from ttt_cli.evaluation.worst_case import worst_case
from ttt_cli.learners.ntuple import NTuple, sets_of, shape_of

LARGE = Rules(4, 4, 4)


@pytest.mark.parametrize("rules", [Rules(1, 1, 1), Rules(2, 3, 2), Rules(5, 5, 5), Rules(1, 20, 12)], ids=str)
def test_sets_of_any_board_are_few_enough_cells_and_symmetric(rules: Rules):
    sets = sets_of(rules)
    assert all(0 < len(one) <= 10 for one in sets)
    assert not any(one < other for one in sets for other in sets)
    for image in rules.symmetries:
        assert {frozenset(image[cell] for cell in one) for one in sets} == set(sets)


def test_on_3x3_it_is_a_table_of_classes():
    assert sets_of(Rules()) == [frozenset(range(9))]
    assert len(shape_of(Rules()).keys) == 2862  # of 3^9 fillings, by Burnside's lemma


def test_one_game_by_hand():
    """X 1, O 5, X 2, O 9, X 3 wins: from the back, O's last move is found to lose, X's before it to win."""
    rules = Rules()
    learner, table = NTuple(alpha=0.5), NTuple().empty(rules)
    learner.learn(table, Game.of(rules, (0, 4, 1, 8, 2)))
    weights = dict(learner.to_entries(table))
    # O's move 9 leaves X a win: the target is -1, the step one half of the error.
    last = next(entry for key, entry in weights.items() if key.count("X") == 2 and key.count("O") == 2)
    assert last == [-0.5, 1, -1.0, 1.0]
    # Before it, O's best reply was another one, worth 0: nothing is learned of X's move.
    before = next(entry for key, entry in weights.items() if key.count("X") == 2 and key.count("O") == 1)
    assert before == [0.0, 1, 0.0, 0.0]


def test_symmetric_positions_are_worth_the_same_to_the_last_bit():
    table = trained_table(NTuple(), 2000, rules=LARGE)
    policy = NTuple().policy(table)
    positions = Positions.batch(test_positions.sample(LARGE, 5), LARGE)
    greedy = Search(LARGE, depth=1, network=table.network)
    for image in map(list, LARGE.symmetries):
        texts = np.array([list(text) for text in positions.texts()])
        turned_texts = np.empty_like(texts)
        turned_texts[:, image] = texts
        turned = Positions.parse(["".join(text) for text in turned_texts.tolist()], LARGE)
        for player in (policy, greedy):
            assert np.array_equal(player.values(turned)[:, image], player.values(positions), equal_nan=True)


@pytest.mark.parametrize(
    ("key", "says"),
    [
        ("X.......", "stones on a set of cells"),
        ("X...............", "stones on a set of cells"),
        ("X..-X..-X..-----", "the first of symmetric ones"),
    ],
)
def test_impossible_keys_are_refused(key: str, says: str):
    with pytest.raises(InvalidFileError, match=says) as refused:
        NTuple().from_entries(LARGE, True, [(key, [0.5, 1, 1.0, 1.0])])
    assert key in refused.value.where


@pytest.mark.long
def test_4x4_is_proven_for_x(sized: Any):
    for seed in range(1, sized(1, 10) + 1):
        policy = train("ntuple", games=sized(100_000, 200_000), seed=seed, rules=LARGE).policy
        assert worst_case(layers_of(policy, Side.X), Side.X).guaranteed == 0
