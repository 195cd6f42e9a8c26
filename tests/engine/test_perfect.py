"""What positions are worth, by the state space or by proof."""

import numpy as np
import pytest

from tests.engine.test_positions import sample
from ttt_cli import Positions, Rules
from ttt_cli.engine.perfect import UNPROVEN, game_value, move_values_of, values_of


@pytest.mark.compiled
@pytest.mark.parametrize("rules", [Rules(), Rules(4, 4, 4), Rules(5, 5, 4)], ids=str)
def test_a_proved_position_is_worth_its_best_move(rules: Rules):
    positions = Positions.batch(sample(rules, 2), rules)
    positions = positions[~positions.terminal]
    values, moves = values_of(positions), move_values_of(positions)
    assert (moves[~positions.legal] == UNPROVEN).all()
    proved = (values != UNPROVEN) & ~((moves == UNPROVEN) & positions.legal).any(axis=1)
    assert proved.mean() > 0.9
    assert (np.where(positions.legal, moves, -1).max(axis=1) == values)[proved].all()


@pytest.mark.compiled
@pytest.mark.parametrize(("rules", "value"), [(Rules(), 0), (Rules(4, 4, 3), 1)])
def test_the_value_of_a_game(rules: Rules, value: int):
    assert game_value(rules) == value
