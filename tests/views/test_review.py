"""What is said of a game where not all of it is proved; the rest: ``tests/commands/test_review.py``."""

from dataclasses import replace

import pytest

from ttt_cli.engine.game import Game
from ttt_cli.engine.rules import STANDARD
from ttt_cli.engine.side import Side
from ttt_cli.evaluation.review import review
from ttt_cli.views.review import summary

NAMES = {Side.X: "X", Side.O: "O"}


def test_of_a_drawn_game_the_last_mistake_is_named_and_the_others_counted():
    game = Game.of(STANDARD, [0, 6, 7, 1, 2, 5, 8, 4, 3])
    said = "Move 3, X on 8, turned a win into a draw; 2, 3 or 9 kept the win; 2 moves gave something away"
    assert summary(review(game), NAMES)[0] == said


@pytest.mark.parametrize(
    ("unproved", "said"),
    [
        ((), "Move 2, O on 2, turned a draw into a loss; 1, 3, 7 or 9 kept the draw"),
        ((1,), "Where the game was lost could not be proved"),
        (range(7), "Where the game was lost could not be proved"),
    ],
)
def test_the_summary_says_when_a_game_was_lost(unproved, said):
    """Of a game that O loses with its first move, as if its values before these moves were not proved."""
    found = review(Game.of(STANDARD, [4, 1, 0, 8, 6, 3, 2]))
    moves = list(found.moves)
    for number in unproved:
        moves[number] = replace(moves[number], here=replace(moves[number].here, value=None))
        if number:
            moves[number - 1] = replace(moves[number - 1], after=None)
    found = replace(found, moves=tuple(moves))
    assert summary(found, NAMES)[0] == said
    assert ("had no such move" in summary(found, NAMES)[1]) == (len(unproved) > 0)
    resigned = replace(review(Game.of(STANDARD, [], resigned=True)), resigned=None)
    assert summary(resigned, NAMES)[0] == "Where the game was lost could not be proved"
