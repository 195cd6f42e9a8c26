"""Drawing from a policy's probabilities; whose positions it answers for."""

import numpy as np

from ttt_cli.engine.policy import drawn, thresholds


def test_rounding_picks_no_impossible_cell_and_leaves_none_out() -> None:
    short = np.array([[0.1] * 9 + [0.1 - 1e-12, 0.0]])
    assert drawn(thresholds(short), np.array([1 - 2.0**-53])).tolist() == [9]
    assert thresholds(short)[0, 9:].tolist() == [2.0, 2.0]
