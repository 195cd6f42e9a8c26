"""A state that learns from the games it plays: lock its file, learn the games that wait for it, save it.

Games are in the store's log before any of this happens, so that no failure loses one: games wait in the log
until the state is next written.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from time import monotonic

from ttt_cli.errors import BusyError
from ttt_cli.store import library
from ttt_cli.store.games import GameRecord, waiting_games
from ttt_cli.store.locks import lock
from ttt_cli.store.runs import Run
from ttt_cli.store.state import State
from ttt_cli.store.teaching import teach

SAVE_EVERY = 1.5
"""Seconds between two saves while machines play each other; more if a save takes long."""


@dataclass(frozen=True)
class Learned:
    """What a state has learned.

    :ivar games: the games that it has learned from.
    :ivar new_positions: the positions that it did not know before.
    :ivar waits: why the games wait instead; empty if they do not.
    """

    games: int = 0
    new_positions: int = 0
    waits: str = ""

    def __add__(self, other: "Learned") -> "Learned":
        return Learned(self.games + other.games, self.new_positions + other.new_positions, other.waits)


@dataclass(eq=False)
class OnlineLearner:
    """A state in a file that learns from games.

    :ivar name: its name in messages.
    :ivar state: the state, as last read or taught.
    :ivar total: all that it has learned so far.
    """

    store: Path
    path: Path
    name: str
    state: State
    total: Learned = Learned()
    _held: ExitStack | None = None
    _run: Run | None = None
    _unsaved: bool = False

    @cached_property
    def taught_name(self) -> str:
        """Its name in game records."""
        return library.taught_name(self.store, self.path)

    def take(self) -> str:
        """Lock the file and read it again.

        :returns: why the state cannot learn now; empty if it can.
        """
        with ExitStack() as stack:
            try:
                remedy = "finished games wait until it is free"
                stack.enter_context(lock(self.path, "taught", remedy=remedy, parents=True))
            except BusyError as error:
                return error.message
            if self.path.exists():
                self.state = library.load(self.path).state
            if self.state.unfinished is not None:
                return f"{self.name} is in the middle of a training run; games wait until that has ended"
            self._held = stack.pop_all()
        return ""

    def learn(self, records: Iterable[GameRecord]) -> Learned:
        """Learn from games in memory."""
        before = self.state.positions
        lesson = teach(self.state, records, self.name, going_on=self._run)
        if lesson.learnt:
            self._run, self._unsaved, self.state = lesson.run, True, lesson.state
        learned = Learned(lesson.learnt, self.state.positions - before)
        self.total += learned
        return learned

    def learn_waiting(self) -> Learned:
        """Learn from the games that wait in the log, in memory."""
        return self.learn(waiting_games(self.store, self.taught_name, self.state))

    def save(self) -> None:
        """Save what it has learned since the last save."""
        if self._unsaved:
            library.save(self.state, self.path)
            self._unsaved = False

    def release(self) -> None:
        """Unlock the file."""
        if self._held is not None:
            self._held.close()
            self._held = None

    def catch_up(self) -> Learned:
        """Learn from the games that wait, and save, if the file is free."""
        waits = self.take() if self._held is None else ""
        if waits:
            self.total += Learned(waits=waits)
            return Learned(waits=waits)
        try:
            learned = self.learn_waiting()
            self.save()
        finally:
            self.release()
        return learned


@contextmanager
def learning(learners: Sequence[OnlineLearner]) -> Iterator[Callable[[GameRecord], None]]:
    """Lock the files of states and yield a function that teaches them a game.

    They are saved every second or two and at the end. A state whose file is locked by somebody else learns
    all games at the end, if it can then.
    """
    taken = [learner for learner in learners if not learner.take()]
    saved, pause = monotonic(), SAVE_EVERY

    def learn(record: GameRecord) -> None:
        nonlocal saved, pause
        for learner in taken:
            learner.learn([record])
        if (now := monotonic()) - saved >= pause:
            for learner in taken:
                learner.save()
            saved = monotonic()
            pause = max(SAVE_EVERY, 10 * (saved - now))

    try:
        for learner in taken:
            learner.learn_waiting()
        yield learn
        for learner in learners:
            learner.catch_up()
    finally:
        for learner in learners:
            learner.release()
