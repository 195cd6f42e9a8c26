"""Spaces and their quotients by symmetry."""

import numpy as np
import pytest

from ttt_cli.engine.game import Game
from ttt_cli.engine.policy import uniform
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.errors import NotationError

BOARDS = [Rules(), Rules(2, 3, 2), Rules(1, 4, 2), Rules(3, 4, 4)]


def test_look_up(space: StateSpace):
    assert np.array_equal(space.find(space.codes), np.arange(len(space)))
    assert space.find(np.array([-1, 3**9, 1])).tolist() == [-1, -1, -1]
    assert space.text(0) == "........."


def test_a_path(space: StateSpace):
    path = space.path([4, 0, 8])
    assert [space.text(index) for index in path] == [".........", "....X....", "O...X....", "O...X...X"]
    with pytest.raises(NotationError, match="move 2: cell 5"):
        space.path([4, 4])
    with pytest.raises(NotationError, match="over"):
        space.path([0, 3, 1, 4, 2, 5])


def test_a_game(space: StateSpace):
    game = Game.of(space.rules, [0, 3, 1, 4, 2])
    assert game.result == 1 and not game.resigned
    assert Game.of(space.rules, [0], resigned=True).result == 1
    assert Game.of(space.rules, [], resigned=True).result == -1
    with pytest.raises(NotationError, match="still open"):
        Game.of(space.rules, [0, 3])
    with pytest.raises(NotationError, match="over"):
        Game.of(space.rules, [0, 3, 1, 4, 2], resigned=True)


@pytest.mark.parametrize("rules", BOARDS, ids=str)
def test_classes_are_the_smallest_members(rules: Rules):
    """Against the definition, one position at a time."""
    space = StateSpace.of(rules)
    quotient = space.quotient
    for index in range(0, len(space), 1 + len(space) // 3000):
        text = space.texts[index]
        images = set()
        for image in rules.symmetries:
            turned = [""] * rules.cells
            for cell, target in enumerate(image):
                turned[target] = text[cell]
            images.add("".join(turned))
        assert quotient.space.texts[quotient.members[index]] == min(images)


@pytest.mark.parametrize("rules", BOARDS, ids=str)
def test_a_move_and_its_class_lead_to_the_same_class(rules: Rules):
    space = StateSpace.of(rules)
    quotient = space.quotient
    rows, cells = np.nonzero(space.legal)
    after = quotient.members[space.successors[rows, cells]]
    member = quotient.members[rows]
    assert np.array_equal(quotient.space.successors[member, quotient.moves[rows, cells]], after)


@pytest.mark.parametrize("rules", BOARDS, ids=str)
def test_uniform_play_stays_uniform_through_the_quotient(rules: Rules):
    space = StateSpace.of(rules)
    quotient = space.quotient
    everywhere = uniform(space.legal)
    assert np.allclose(quotient.lift_probabilities(quotient.project_probabilities(everywhere)), everywhere)


def test_moves_of_the_empty_board_up_to_symmetry(space: StateSpace):
    assert np.flatnonzero(space.quotient.space.legal[0]).tolist() == [0, 1, 4]
    assert space.quotient.twins[0].tolist() == [4, 4, 0, 0, 1, 0, 0, 0, 0]


def test_a_game_up_to_symmetry(space: StateSpace):
    quotient = space.quotient
    cells = quotient.project_game([8, 4, 0])
    path = quotient.space.path(cells)
    assert cells[0] == 0
    assert quotient.space.text(path[-1]) == quotient.space.texts[quotient.members[space.path([8, 4, 0])[-1]]]
