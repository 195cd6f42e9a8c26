"""What is said of a game where not all of it is proved; the rest: ``tests/commands/test_review.py``."""

from dataclasses import replace

import pytest

from ttt_cli.engine.game import Game
from ttt_cli.engine.side import Side
from ttt_cli.evaluation.review import Review, review
from ttt_cli.views.review import summary

NAMES = {Side.X: "X", Side.O: "O"}


def lost_by_o(*unproved: int) -> Review:
    """A game that O loses with its first move, as if its values before these moves were not proved."""
    game = Game()
    for cell in (4, 1, 0, 8, 6, 3, 2):
        game.push(cell)
    found = review(game)
    moves = list(found.moves)
    for number in unproved:
        moves[number] = replace(moves[number], here=replace(moves[number].here, value=None))
        if number:
            moves[number - 1] = replace(moves[number - 1], after=None)
    return replace(found, moves=tuple(moves))


@pytest.mark.parametrize(
    ("unproved", "said"),
    [
        ((), "Move 2, O on 2, turned a draw into a loss; 1, 3, 7 or 9 kept the draw"),
        ((1,), "Where the game was lost could not be proved"),
        (range(7), "Where the game was lost could not be proved"),
    ],
)
def test_the_summary_says_when_a_game_was_lost(unproved, said):
    assert summary(lost_by_o(*unproved), NAMES)[0] == said
