"""A game: moves made and taken back, its end, its boards."""

import pytest

from ttt_cli import Game, Rules
from ttt_cli.engine.side import Result
from ttt_cli.errors import NotationError


def test_pop_leads_back_through_the_same_boards():
    game, seen = Game(), []
    for cell in (0, 3, 1, 4, 2):
        seen.append((game.text, game.is_over))
        game.push(cell)
    assert game.result is Result.X_WINS
    with pytest.raises(NotationError, match=r"move 6: cell 9 .*: the game is over"):
        game.push(8)
    for cell in (2, 4, 1, 3, 0):
        assert game.pop() == cell
        assert (game.text, game.is_over) == seen.pop()
    with pytest.raises(IndexError):
        game.pop()


def test_resigning_is_a_loss_on_an_open_board():
    game = Game.of(Rules(), [4], resigned=True)
    assert (game.result, game.resigned, game.is_over, game.legal_moves) == (Result.X_WINS, True, True, ())
    assert game.pop() == 4
    assert (game.result, game.resigned) == (None, False)
    with pytest.raises(NotationError, match="still open"):
        Game.of(Rules(), [4])
    with pytest.raises(NotationError, match="the game is over"):
        Game.of(Rules(), [0, 3, 1, 4, 2], resigned=True)
