"""Drawing from a policy's probabilities."""

import numpy as np

from ttt_cli.engine.policy import sample, thresholds


def test_cells_are_drawn_by_their_probability() -> None:
    probabilities = np.tile([0.0, 0.25, 0.0, 0.75, 0.0], (2000, 1))
    drawn = sample(probabilities, np.random.default_rng(1).random(2000))
    assert set(drawn) == {1, 3}
    assert 0.7 < drawn.count(3) / 2000 < 0.8


def test_rounding_picks_no_impossible_cell_and_leaves_none_out() -> None:
    short = np.array([[0.1] * 9 + [0.1 - 1e-12, 0.0]])
    assert sample(short, np.array([1 - 2.0**-53])) == [9]
    assert thresholds(short)[0, 9:].tolist() == [2.0, 2.0]


def test_a_row_of_zeros_resigns() -> None:
    assert sample(np.array([[0.0, 0.0], [0.0, 1.0]]), np.array([0.0, 0.0])) == [None, 1]
