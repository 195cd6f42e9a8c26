"""Perfect play, against a plain recursion over positions."""

from functools import cache

import numpy as np
import pytest

from ttt_cli import Position, Rules
from ttt_cli.engine.retrograde import solve
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.engine.symmetry import classes


@cache
def searched(position: Position) -> tuple[int, int]:
    """Value for the mover and plies to the end, by the textbook recursion."""
    if position.terminal:
        return (-1 if position.winner else 0), 0
    found = [searched(position.play(cell)) for cell in position.legal]
    value = max(-after for after, _ in found)
    plies = [plies + 1 for after, plies in found if -after == value]
    return value, min(plies) if value > 0 else max(plies)


@pytest.mark.parametrize("rules", [Rules(), Rules(2, 3, 2)], ids=str)
def test_values_and_distances_are_those_of_a_plain_recursion(rules: Rules) -> None:
    space = StateSpace.of(rules)
    solution = solve(space)
    expected = [searched(space.position(index)) for index in range(len(space))]
    assert list(zip(solution.values.tolist(), solution.plies.tolist(), strict=True)) == expected


@pytest.mark.parametrize(
    ("size", "value", "plies"), [((3, 3, 3), 0, 9), ((3, 4, 3), 1, 7), ((3, 4, 4), 0, 12)]
)
def test_what_the_empty_board_is_worth(size: tuple[int, int, int], value: int, plies: int) -> None:
    solution = solve(StateSpace.of(Rules(*size)))
    assert (solution.values[0], solution.plies[0]) == (value, plies)


def test_the_classes_of_positions_are_worth_what_their_members_are() -> None:
    full, small = StateSpace.of(), StateSpace.of(symmetric=True)
    members = small.rows(classes(full).positions)
    assert np.array_equal(solve(small).scores[members], solve(full).scores)
