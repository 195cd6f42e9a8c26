"""Drawing from a policy's probabilities; whose positions it answers for."""

import numpy as np
import pytest

from ttt_cli import Positions, Rules
from ttt_cli.agents.grammar import resolve_all
from ttt_cli.engine.policy import drawn, thresholds
from ttt_cli.errors import UsageError


def test_rounding_picks_no_impossible_cell_and_leaves_none_out() -> None:
    short = np.array([[0.1] * 9 + [0.1 - 1e-12, 0.0]])
    assert drawn(thresholds(short), np.array([1 - 2.0**-53])).tolist() == [9]
    assert thresholds(short)[0, 9:].tolist() == [2.0, 2.0]


def test_a_row_of_zeros_resigns() -> None:
    rows = np.array([[0.0, 0.0], [0.0, 1.0]])
    assert drawn(thresholds(rows), np.zeros(2)).tolist() == [-1, 1]


@pytest.mark.parametrize("other", [Rules(2, 4), Rules(3, 3, 2), Rules(misere=True)], ids=str)
@pytest.mark.parametrize("name", ["random", "minimax", "search", "q"])
def test_positions_of_another_game_are_refused(tmp_path, name: str, other: Rules) -> None:
    policy = resolve_all([name], tmp_path, fresh=True)[0].policy
    with pytest.raises(UsageError, match="plays 3x3, 3 in a row, not "):
        policy.probabilities(Positions.start(other))
