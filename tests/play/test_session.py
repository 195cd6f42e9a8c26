"""Sessions: who moves, what is recorded, who wins, and what the machines learn from it."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from ttt_cli.engine.policy import Policy
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import STANDARD, Rules
from ttt_cli.engine.side import Side
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.errors import NotationError
from ttt_cli.play.online_learner import OnlineLearner, learning
from ttt_cli.play.player import Player
from ttt_cli.play.session import Session
from ttt_cli.store import library
from ttt_cli.store.games import GameRecord, record_game
from ttt_cli.store.state import State, learner_of

SPACE = StateSpace.of()
START = Positions.start(STANDARD)
SEEDED = [(7, 2, 6, 3, 1, 9, 4), (5, 6, 2, 3, 8), (3, 1, 5, 8, 7)]
"""The first games of ``ttt play --x random --o random --seed 1``."""


class Anywhere(Policy):
    """Plays any free cell, on any board; resigns after so many plies."""

    def __init__(self, rules: Rules = STANDARD, *, resigns: int = 99) -> None:
        self.rules = rules
        self.resigns = resigns

    def probabilities(self, positions: Positions) -> np.ndarray:
        chosen = positions.legal & (positions.plies < self.resigns)[:, None]
        return chosen / np.maximum(chosen.sum(axis=1, keepdims=True), 1)


class First(Anywhere):
    """Plays the first free cell."""

    def probabilities(self, positions: Positions) -> np.ndarray:
        return positions.legal & (np.cumsum(positions.legal, axis=1) == 1)


def people() -> tuple[Player, Player]:
    return Player("a"), Player("b")


def machines() -> tuple[Player, Player]:
    return Player("one", Anywhere()), Player("other", Anywhere())


def pupil(store: Path, learner: str = "td") -> OnlineLearner:
    state = State.empty(learner_of(learner, "default"), STANDARD)
    return OnlineLearner(store, store / f"{learner}.json", learner, state)


def pupils(store: Path) -> tuple[Player, Player]:
    """``td``, which learns, and ``random``."""
    return Player("td", lambda state: state.policy, pupil(store)), Player("random", Anywhere())


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


def play_and_learn(session: Session, store: Path, games: int = 10**9) -> Iterator[GameRecord]:
    """Games of two machines, as ``ttt play`` has them learn."""
    with learning(session.learners) as learn:
        for _ in range(games):
            played = play(session)
            record_game(store, played)
            learn(played)
            yield played


def loaded(store: Path, name: str = "td") -> State:
    return library.load(store / f"{name}.json").state


def record(*cells: int, result: str = "x", **fields) -> GameRecord:
    return GameRecord(cells, result, "human", "td", **fields)


X_WINS = (1, 4, 2, 5, 3)


def test_a_game_has_a_record_with_its_players_and_its_result():
    session = Session(STANDARD, people())
    assert session.record is None
    played = play(session, *X_WINS)
    assert (played.moves, played.result, played.x, played.o) == ((1, 4, 2, 5, 3), "x", "a", "b")
    assert played.teaches == ()
    with pytest.raises(NotationError, match="the game is over"):
        session.push(8)
    assert session.score.games == 1


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


MACHINE = Player("machine", First())


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
    session = Session(STANDARD, (Player("mute", Anywhere(resigns=2)), Player("random", Anywhere())))
    played = play(session)
    assert (played.result, played.resigned, len(played.moves)) == ("o", True, 2)
    assert [player.wins for player in session.score.players] == [0, 1]
    assert session.game.resigned


def test_a_seed_fixes_every_game_by_its_number():
    def moves(seed: int) -> list[tuple[int, ...]]:
        session = Session(STANDARD, machines(), seed=seed)
        return [play(session).moves for _ in range(3)]

    assert moves(1) == SEEDED != moves(2)


@pytest.mark.parametrize(
    "rules", [Rules(6, 6, 4), Rules(8, 8, 5), Rules(1, 1, 1), Rules(3, 4, 3, misere=True)]
)
def test_any_board(rules):
    session = Session(rules, (Player("machine", Anywhere(rules)), Player("first", First(rules))), seed=1)
    for _ in range(3):
        played = play(session)
        assert played.game().is_over
    assert session.score.games == 3
