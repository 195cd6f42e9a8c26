"""Looking a few plies ahead, against the same over a whole state space."""

import numpy as np
import pytest

from ttt_cli import Positions, Rules
from ttt_cli.engine.look_ahead import look_ahead
from ttt_cli.engine.retrograde import ILLEGAL, plies_left, solve
from ttt_cli.engine.state_space import StateSpace


@pytest.mark.parametrize("rules", [Rules(), Rules(3, 4, 3), Rules(misere=True)], ids=str)
@pytest.mark.parametrize("depth", [1, 2, 5])
def test_a_search_finds_what_working_backwards_finds(rules: Rules, depth: int):
    space = StateSpace.of(rules)
    rows = np.arange(len(space))[:: 1 + len(space) // 2000]
    perfect = solve(space).move_scores(rows)
    near = plies_left(space, perfect, space.plies[rows, None]) <= depth  # its end is seen
    expected = np.where(near | (perfect == ILLEGAL), perfect, 0)
    assert np.array_equal(look_ahead(space[rows], depth), expected)


def test_large_boards():
    text = "X" * 4 + "." * 4 + "O" * 4 + "." * 52
    ahead = look_ahead(Positions.parse([text], Rules(8, 8, 5)), 2)[0]
    assert ahead[4] == 64 - 8  # completes the line
    assert ahead[12] == 0  # blocks the other line
    others = [cell for cell in range(64) if text[cell] == "." and cell not in (4, 12)]
    assert set(ahead[others].tolist()) == {-(64 - 9)}
