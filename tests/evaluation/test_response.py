"""Following the best response to a player attains what is shown of it: for each method, as either side."""

import numpy as np
import pytest

from tests.ttt import ROOT
from ttt_cli import Position, Positions, Rules, Side, policy, train
from ttt_cli.engine.perfect import solved
from ttt_cli.evaluation.matchup import ExactGames
from ttt_cli.evaluation.walk import walk
from ttt_cli.evaluation.worst_case import best_response, worst_case
from ttt_cli.learners import LEARNERS


@pytest.mark.parametrize("name", [*LEARNERS, "heuristic", f"py:{ROOT / 'examples' / 'bot.py'}:choose"])
def test_following_it_attains_the_worst_case_of_the_verdict(name: str):
    rules = Rules() if name.startswith("py:") else Rules(2, 3, 3)
    victim = policy(train(name, games=300, seed=1, rules=rules) if name in LEARNERS else name, rules=rules)
    beating = policy(lambda text: best_response(victim, Position(text, rules)).best[0] + 1, rules=rules)
    for side in Side:
        games, layers = ExactGames([beating]), []
        for positions, layer in walk(victim, side):
            games.play(positions, layer)
            layers.append(layer)
        rates = games.rates[0]
        attained = rates.loss if side is Side.X else rates.win
        assert attained == pytest.approx(worst_case(layers, side).loss, abs=1e-12)
        if side is Side.O:  # whoever beats it sees the figure before the first move
            shown = best_response(victim, Position.start(rules))
            assert np.nanmax(shown.win) == pytest.approx(attained, abs=1e-12)


@pytest.mark.parametrize("text", ["X...O...X", "XOX.O...."])
def test_where_nothing_can_be_won_a_draw_is_saved(text: str):
    """Against perfect play every figure is what perfect play knows: a draw is saved, a loss is not."""
    position = Position(text)
    found = best_response(policy("minimax"), position)
    values = solved(Positions.batch([position], Rules()))[1][0]
    legal = list(position.legal)
    assert found.win[legal].tolist() == [0.0] * len(legal)
    assert found.save[legal].tolist() == (values[legal] >= 0).tolist()
    assert np.isnan(np.delete(found.win, legal)).all()
    assert set(found.best) == {cell for cell in legal if values[cell] == values[legal].max()}


def test_a_certain_win_is_exactly_that():
    """Though the probabilities of nine replies do not add up to 1."""
    position = Position.start(rules := Rules(3, 4)).play(5).play(11)
    found = best_response(policy("random", rules=rules), position)
    certain = solved(Positions.batch([position], rules))[1][0] == 1
    assert certain.any() and (found.win[certain] == 1).all()
    assert np.nanmax(found.save) == 1
