"""A sitting: games between two players, one after the other, and the score.

A player is a policy, or a person who is asked for each move. Each finished game goes to the store's log
before anything else happens.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

import numpy as np

from ttt_cli.engine.game import Game
from ttt_cli.engine.policy import PolicyTable
from ttt_cli.engine.state_space import Floats, StateSpace
from ttt_cli.play.online_learner import OnlineLearner
from ttt_cli.store.games import GameRecord, record_game
from ttt_cli.store.state import State

SAVE_EVERY = 1.5
"""Seconds between two saves of a machine that plays machines; more where a save takes long itself."""

Moves = tuple[int, ...]
"""The cells of a game so far, numbered from 0."""


class LeftError(Exception):
    """Whoever was asked for a move has left the game instead."""


class Player:
    """One of the two at the board.

    :ivar name: as game records have it.
    :ivar pupil: the state that learns from its games, if there is one.
    """

    def __init__(
        self,
        name: str,
        plays: PolicyTable | Callable[[State], PolicyTable] | None,
        pupil: OnlineLearner | None = None,
    ) -> None:
        """
        :param plays: None for a person; for a pupil, how it plays by what it has learnt.
        """
        self.name = name
        self.pupil = pupil
        self._plays = plays
        self._state: State | None = None
        self._policy = plays if isinstance(plays, PolicyTable) else None

    @property
    def is_person(self) -> bool:
        """Whether it has to be asked for its moves."""
        return self._plays is None

    @property
    def policy(self) -> PolicyTable | None:
        """How it plays by now; None for a person."""
        if self.pupil is not None and callable(self._plays) and self.pupil.state is not self._state:
            self._state = self.pupil.state
            self._policy = self._plays(self._state)
        return self._policy


@dataclass
class Score:
    """How the games of a sitting ended.

    :ivar wins: of the player who was X in the first game, and of the other.
    :ivar by_side: games won by X, won by O and drawn, by ``x``, ``o``, ``draw``.
    """

    wins: list[int] = field(default_factory=lambda: [0, 0])
    by_side: dict[str, int] = field(default_factory=lambda: {"x": 0, "o": 0, "draw": 0})

    @property
    def games(self) -> int:
        """The games played."""
        return sum(self.by_side.values())

    @property
    def draws(self) -> int:
        """The games drawn."""
        return self.by_side["draw"]


class Session:
    """Games between two players.

    :ivar players: the first of them is X in the first game.
    :ivar alternate: whether they change sides after each game.
    """

    def __init__(
        self,
        space: StateSpace,
        players: Sequence[Player],
        store: Path,
        *,
        seed: int | None = None,
        alternate: bool = True,
    ) -> None:
        self.space = space
        self.players = (players[0], players[1])
        self.store = store
        self.alternate = alternate
        self.score = Score()
        self._seed = np.random.SeedSequence(seed).entropy

    @property
    def turned(self) -> bool:
        """Whether the first player is O in the game that comes next."""
        return self.alternate and self.score.games % 2 == 1

    @property
    def seats(self) -> tuple[Player, Player]:
        """X and O of the game that comes next."""
        first, second = self.players
        return (second, first) if self.turned else (first, second)

    @property
    def pupils(self) -> list[OnlineLearner]:
        """The states that learn, each once."""
        return list({id(player.pupil): player.pupil for player in self.players if player.pupil}.values())

    def play(
        self, person: Callable[[Moves], int | None], moved: Callable[[Moves], None] = lambda moves: None
    ) -> GameRecord:
        """Play the next game to its end and write it to the log.

        :param person: asked for a person's move; None takes moves back (see ``taken_back``).
        :param moved: called after each move.
        :raises LeftError: if that is what ``person`` or ``moved`` raise: there was no game then.
        """
        space, seats = self.space, self.seats
        rng = np.random.default_rng(np.random.SeedSequence(self._seed, spawn_key=(self.score.games,)))
        moves: list[int] = []
        path = [0]
        resigned = False
        while not space.terminal[path[-1]] and not resigned:
            policy = seats[len(moves) % 2].policy
            cell = person(tuple(moves)) if policy is None else draw(policy.probabilities[path[-1]], rng)
            if cell is not None:
                moves.append(cell)
                path.append(int(space.successors[path[-1], cell]))
                moved(tuple(moves))
            elif policy is None:
                kept = len(self.taken_back(moves))
                del moves[kept:], path[kept + 1 :]
            else:
                resigned = True
        return self._finish(moves, resigned)

    def taken_back(self, moves: Sequence[int]) -> Moves:
        """The game without the last move of the person to move and what came after it."""
        plies = 1 if self.seats[(len(moves) + 1) % 2].is_person else 2
        return tuple(moves[: len(moves) - plies]) if len(moves) >= plies else tuple(moves)

    def _finish(self, moves: Sequence[int], resigned: bool) -> GameRecord:
        x, o = self.seats
        game = Game.of(self.space.rules, moves, resigned=resigned)
        assert game.result is not None
        result = game.result.key
        teaches = tuple(pupil.name for pupil in self.pupils)
        record = GameRecord(tuple(moves), result, x.name, o.name, self.space.rules, teaches, resigned)
        record_game(self.store, record)
        if result != "draw":
            self.score.wins[(result == "o") != self.turned] += 1
        self.score.by_side[result] += 1
        return record


def machines(
    sitting: Session,
    *,
    games: int | None = None,
    moved: Callable[[Moves], None] = lambda moves: None,
    stopping: Callable[[], bool] = lambda: False,
) -> Iterator[GameRecord]:
    """The finished games of two machines, which learn from each before the next.

    A machine that learns keeps its file locked and saves every second or two: what is not saved yet waits in
    the log. One whose file is not free plays as it is, and tries again at the end.

    :param games: how many; None: until ``stopping`` says so or ``moved`` raises LeftError.
    """

    def person(moves: Moves) -> int | None:
        raise LeftError

    learning = [pupil for pupil in sitting.pupils if not pupil.take()]
    try:
        for pupil in learning:
            pupil.learn_waiting()
        saved, pause = monotonic(), SAVE_EVERY
        while (games is None or sitting.score.games < games) and not stopping():
            try:
                record = sitting.play(person, moved)
            except LeftError:
                break
            for pupil in learning:
                pupil.learn([record])
            if (now := monotonic()) - saved >= pause:
                for pupil in learning:
                    pupil.save()
                saved = monotonic()
                pause = max(SAVE_EVERY, 10 * (saved - now))
            yield record
        for pupil in sitting.pupils:
            pupil.study()
    finally:
        for pupil in sitting.pupils:
            pupil.release()


def draw(probabilities: Floats, rng: np.random.Generator) -> int | None:
    """A cell at random by its probability; None if the player resigns."""
    cells = np.flatnonzero(probabilities)
    if not len(cells):
        return None
    cumulative = np.cumsum(probabilities[cells])
    place = np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right")
    return int(cells[min(int(place), len(cells) - 1)])
