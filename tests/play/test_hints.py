"""What is known of the moves of a position."""

import numpy as np
import pytest

from tests.play.test_session import Anywhere
from ttt_cli.engine.game import Game
from ttt_cli.engine.policy import PolicyTable
from ttt_cli.engine.position import Position
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.play.hints import MoveHint, hint

SPACE = StateSpace.of()


def test_the_truth_about_each_move():
    found = hint(Position("XX.OO...."), None)
    assert [move.cell for move in found.moves] == [2, 5, 6, 7, 8]
    assert found.moves[0] == MoveHint(2, value=1, plies=1)
    assert {(move.value, move.plies) for move in found.moves[2:]} == {(-1, 2)}
    assert found.proven and not found.has_opinions


def test_what_a_machine_thinks_and_has_not_seen():
    values = np.full((len(SPACE), 9), np.nan)
    values[0, 4] = 0.5
    known = np.arange(len(SPACE)) == 0
    policy = PolicyTable(SPACE, SPACE.legal / 9.0, values, known)
    found = hint(Position(), policy)
    assert [move.opinion for move in found.moves] == [None] * 4 + [0.5] + [None] * 4
    assert {move.probability for move in found.moves} == {1 / 9}
    assert found.has_opinions and not found.is_new
    assert hint(Position("X........"), policy).is_new


@pytest.mark.compiled
def test_where_positions_cannot_be_enumerated_the_machine_is_asked_all_the_same():
    rules = Rules(8, 8, 5)
    found = hint(Position.start(rules), Anywhere(rules))
    assert len(found.moves) == rules.cells
    assert {move.probability for move in found.moves} == {1 / rules.cells}
    assert {move.plies for move in found.moves} == {None}


@pytest.mark.compiled
def test_where_the_best_move_is_not_proved_a_search_suggests_one():
    game = Game(Rules(8, 8, 5))
    for cell in (27, 35, 28, 36, 29):  # X has three in a row, open at both ends
        game.push(cell)
    found = hint(game.position, None)
    assert not found.best and set(found.suggested) <= {26, 30}
    assert not hint(Position(), None).suggested


def test_on_a_large_board_the_worth_of_moves_is_proved():
    rules = Rules(5, 5, 4)
    found = hint(Position.parse("XXX../OO.../...../...../.....", rules).play(8), None)
    assert found.proven
    assert 3 in {move.cell for move in found.moves if move.value == 1}
    assert all(move.plies is None for move in found.moves)
