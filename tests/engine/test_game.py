"""A game's moves, replayed."""

import numpy as np
import pytest

from ttt_cli.engine import game as engine_game
from ttt_cli.engine.game import Game, replay
from ttt_cli.engine.position import Position
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.errors import NotationError


@pytest.mark.parametrize("rules", [Rules(), Rules(2, 2, 2), Rules(4, 4, 4), Rules(5, 5, 5)])
@pytest.mark.parametrize("resigned", [False, True])
def test_a_game_is_replayed_without_a_space(rules, resigned, monkeypatch):
    """The same on every board; a large one's space would take long and much memory."""
    rng = np.random.default_rng(1)
    monkeypatch.setattr(engine_game, "SMALL", 10)
    for _ in range(20):
        boards, moves = [Position("." * rules.cells, rules)], []
        while not boards[-1].ended and not (resigned and rng.random() < 0.2):
            moves.append(int(rng.choice(boards[-1].legal)))
            boards.append(boards[-1].play(moves[-1]))
        if boards[-1].ended == resigned:
            with pytest.raises(NotationError, match="the game is over"):
                replay(rules, moves, resigned=resigned)
            continue
        texts, result = replay(rules, moves, resigned=resigned)
        assert texts == [board.text for board in boards]
        if rules.cells <= 9:
            assert result == Game.of(StateSpace.of(rules), moves, resigned=resigned).result
