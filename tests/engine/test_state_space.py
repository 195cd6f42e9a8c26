"""Spaces, and the classes of positions up to symmetry."""

import numpy as np
import pytest

from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.engine.symmetry import classes

SPACE = StateSpace.of()
BOARDS = [Rules(), Rules(2, 5, 4), Rules(1, 4, 2)]


def test_positions_are_looked_up():
    assert np.array_equal(SPACE.rows(SPACE), np.arange(len(SPACE)))
    assert SPACE.find(np.array([-1, 3**9, 1])).tolist() == [-1, -1, -1]
    assert np.array_equal(SPACE.rows(SPACE), SPACE.order())


@pytest.mark.parametrize("rules", BOARDS, ids=str)
def test_classes_are_the_smallest_members(rules: Rules):
    space = StateSpace.of(rules)
    found = classes(space).positions.texts()
    for index in range(0, len(space), 1 + len(space) // 1000):
        text = space.text(index)
        images = set()
        for image in rules.symmetries:
            turned = [""] * rules.cells
            for cell, target in enumerate(image):
                turned[target] = text[cell]
            images.add("".join(turned))
        assert found[index] == min(images)


@pytest.mark.parametrize("rules", BOARDS, ids=str)
def test_a_move_and_its_class_lead_to_the_same_class(rules: Rules):
    space = StateSpace.of(rules)
    found = classes(space)
    rows, cells = np.nonzero(space.legal)
    ways = space.play(rows, cells), found.positions.play(rows, found.cells[rows, cells])
    one, other = (classes(after).positions.keys for after in ways)
    assert np.array_equal(one, other)
