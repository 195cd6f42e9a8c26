"""Sessions: who moves, what is recorded, and who wins."""

import numpy as np
import pytest

from ttt_cli import GameRecord, Side
from ttt_cli.agents.uniform import Uniform
from ttt_cli.engine.policy import PolicyTable
from ttt_cli.engine.rules import STANDARD
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.errors import NotationError
from ttt_cli.play.player import Player
from ttt_cli.play.session import Session

MACHINE = Player("machine", Uniform(STANDARD))
SEEDED = [(7, 2, 6, 3, 1, 9, 4), (5, 6, 2, 3, 8), (3, 1, 5, 8, 7)]
"""The first games of ``ttt play --x random --o random --seed 1``."""
X_WINS = (1, 4, 2, 5, 3)


def people() -> tuple[Player, Player]:
    return Player("a"), Player("b")


def play(session: Session, *cells: int) -> GameRecord:
    """Play these cells, counted from 1, for the people, and let the machines play, to the game's end."""
    keys = iter(cells)
    if session.over:
        session.next_game()
    while not session.over:
        if session.to_move.is_person:
            session.push(next(keys) - 1)
        else:
            session.machine_move()
    assert session.record is not None
    return session.record


def test_a_step_that_cannot_be_made_changes_nothing_and_a_game_that_is_left_does_not_count():
    session = Session(STANDARD, people())
    session.push(4)
    for cell in (4, -1, 9):
        with pytest.raises(NotationError):
            session.push(cell)
    assert (session.game.moves, session.to_move.name) == ((4,), "b")
    session.next_game()
    assert (session.game.moves, session.score.games, session.to_move.name) == ((), 0, "a")


def test_sides_alternate_and_wins_follow_the_player():
    session = Session(STANDARD, people())
    for seats in ("ab", "ba", "ab"):
        assert play(session, *X_WINS).x == seats[0]
        assert "".join(session.player(side).name for side in Side) == seats
    score = session.score
    assert [player.wins for player in score.players] == [2, 1]
    assert (score.x_wins, score.o_wins, score.draws) == (3, 0, 0)


@pytest.mark.parametrize(
    ("players", "moves", "left"),
    [
        ((Player("human"), MACHINE), (4, None), ()),  # the machine's reply too
        (people(), (8, 3), (8,)),
        ((MACHINE, Player("human")), (None,), None),  # there is no own move yet
        (people(), (0, 3, 1, 4, 2), None),  # what is over is over
    ],
)
def test_taking_back(players, moves, left):
    session = Session(STANDARD, players)
    for cell in moves:
        if cell is None:
            session.machine_move()
        else:
            session.push(cell)
    played = session.game.moves
    assert session.undo() == (left is not None)
    assert session.game.moves == (played if left is None else left)


def test_an_empty_row_resigns():
    mute = Player("mute", PolicyTable(space := StateSpace.of(), np.zeros(space.legal.shape)))
    session = Session(STANDARD, (Player("human"), mute))
    played = play(session, 5)
    assert (played.result, played.resigned, played.moves, session.game.resigned) == ("x", True, (5,), True)
    assert [player.wins for player in session.score.players] == [1, 0]


def test_a_seed_fixes_every_game_by_its_number():
    def moves(seed: int) -> list[tuple[int, ...]]:
        session = Session(STANDARD, (MACHINE, MACHINE), seed=seed)
        return [play(session).moves for _ in range(3)]

    assert moves(1) == SEEDED != moves(2)
