"""Advice: what perfect play knows of the moves, as far as it can be proved at once."""

from time import sleep

import pytest

from ttt_cli import Position, Rules
from ttt_cli.agents.uniform import Uniform
from ttt_cli.evaluation.analysis import Analysis, MoveWorth
from ttt_cli.views import advice
from ttt_cli.views.advice import beat, hint


@pytest.mark.parametrize(
    ("values", "best"),
    [((0, 1, 1), (1, 2)), ((None, 1, 0), (1,)), ((None, 0, -1), ()), ((None, None, None), ())],
)
def test_a_move_is_best_if_no_unproved_one_can_beat_it(values, best):
    moves = tuple(MoveWorth(cell, value, None) for cell, value in enumerate(values))
    assert Analysis(Position(), None, moves).best == best


@pytest.mark.compiled
def test_where_the_best_move_is_not_proved_a_search_suggests_one():
    position = Position.start(Rules(8, 8, 5))
    for cell in (27, 35, 28, 36, 29):  # X has three in a row, open at both ends
        position = position.play(cell)
    said = [f"probably best: {cells} (found by search, not proved)" for cells in ("27", "31", "27 or 31")]
    assert hint(position).text in said


def test_on_a_large_board_the_worth_of_moves_is_proved():
    found = hint(Position.parse("XXX../OO.../...../...../.....", Rules(5, 5, 4)).play(8))
    assert found.text.startswith("best: 4")
    assert [note.plain for note in found.notes[3]] == ["win"] and not found.legend


def test_the_most_that_each_cell_can_get_against_a_player():
    found = beat(Position("X.O..XXO."), Uniform(Rules()), "random")
    notes = {cell + 1: [line.plain for line in lines] for cell, lines in found.notes.items()}
    assert notes[4] == ["draw", "(draw)"] and notes[9] == ["draw 66.7 %", "(loss)"]
    assert found.text == "to beat random, play 2 or 5: you then win 33.3 % of the games"


def test_a_best_response_to_a_slow_player_is_not_waited_for(monkeypatch):
    class Slow(Uniform):
        external = True

        def probabilities(self, positions):
            assert len(positions) <= 2
            sleep(0.06)
            return super().probabilities(positions)

    monkeypatch.setattr(advice, "MAX_SECONDS", 0.1)
    assert "too many continuations" in beat(Position("X...O...."), Slow(Rules()), "slow").text
