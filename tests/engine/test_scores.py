"""Perfect play, against a plain recursion over positions; a few plies ahead, against perfect play."""

from functools import cache

import numpy as np
import pytest

from ttt_cli import Position, Positions, Rules
from ttt_cli.engine.scores import ILLEGAL, move_plies, move_scores, solve
from ttt_cli.engine.state_space import StateSpace


@cache
def searched(position: Position) -> tuple[int, int]:
    """Value for the mover and plies to the end, by the textbook recursion."""
    if position.terminal:
        return (-1 if position.winner else 0), 0
    found = [searched(position.play(cell)) for cell in position.legal]
    value = max(-after for after, _ in found)
    plies = [plies + 1 for after, plies in found if -after == value]
    return value, min(plies) if value > 0 else max(plies)


@pytest.mark.parametrize("rules", [Rules(2, 3, 2), pytest.param(Rules(), marks=pytest.mark.long)], ids=str)
def test_values_and_distances_match_a_plain_recursion(rules: Rules) -> None:
    space = StateSpace.of(rules)
    scores, plies = solve(space), move_plies(space)
    for index in range(len(space)):
        position = space.position(index)
        assert np.sign(scores[index]) == searched(position)[0]
        for cell in position.legal:
            assert plies[index, cell] == searched(position.play(cell))[1] + 1


@pytest.mark.parametrize("rules", [Rules(), Rules(3, 4, 3), Rules(misere=True)], ids=str)
@pytest.mark.parametrize("depth", [1, 2, 5])
def test_a_search_agrees_with_backward_induction(rules: Rules, depth: int):
    space = StateSpace.of(rules)
    part = space[:: 1 + len(space) // 2000]
    perfect = move_scores(part)
    seen = (move_plies(part) <= depth) | (perfect == ILLEGAL)
    assert np.array_equal(move_scores(part, depth), np.where(seen, perfect, 0))


def test_large_boards():
    text = "X" * 4 + "." * 4 + "O" * 4 + "." * 52
    ahead = move_scores(Positions.parse([text], Rules(8, 8, 5)), 2)[0]
    assert ahead[4] == 64 - 8  # completes the line
    assert ahead[12] == 0  # blocks the other line
    others = [cell for cell in range(64) if text[cell] == "." and cell not in (4, 12)]
    assert set(ahead[others].tolist()) == {-(64 - 9)}
