"""The rules, proved by counting: positions, moves and classes."""

import pytest

from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.engine.symmetry import classes
from ttt_cli.errors import UsageError

SPACE = StateSpace.of()


def test_positions_of_the_usual_game():
    assert len(SPACE) == 5478
    assert [layer.stop - layer.start for layer in SPACE.layers] == [
        1, 9, 72, 252, 756, 1260, 1520, 1140, 390, 78,
    ]  # fmt: skip
    assert SPACE.terminal.sum() == 958
    assert (SPACE.results == 1).sum() == 626
    assert (SPACE.results == -1).sum() == 316
    assert (SPACE.terminal & (SPACE.results == 0)).sum() == 16
    assert SPACE.legal.sum() == 16167
    own = classes(SPACE).positions.distinct()
    assert (len(own), own.terminal.sum()) == (765, 138)


@pytest.mark.parametrize(("line", "positions"), [(3, 111_973), (4, 142_231)])
def test_positions_of_a_3x4_board(line: int, positions: int):
    assert len(StateSpace.of(Rules(3, 4, line))) == positions


def test_symmetries_are_the_boards_own():
    for rules, count in ((Rules(), 8), (Rules(3, 4), 4), (Rules(1, 3), 2)):
        assert len(rules.symmetries) == count
        lines = {frozenset(line) for line in rules.lines}
        for image in rules.symmetries:
            assert sorted(image) == list(range(rules.cells))
            assert {frozenset(image[cell] for cell in line) for line in lines} == lines


@pytest.mark.parametrize("numbers", [(0, 3, 3), (3, 3, 0), (3, 3, 4), (9, 8, 3), (3, 3, True), (3, 3.0, 3)])
def test_impossible_rules_are_refused(numbers: tuple[int, int, int]):
    with pytest.raises(UsageError):
        Rules(*numbers)


@pytest.mark.parametrize("text", ["", "3", "3x", "3x3x3", "ax3", "-3x3", "³x3"])
def test_impossible_boards_are_refused(text: str):
    with pytest.raises(UsageError, match="not a board"):
        Rules.parse(text)
