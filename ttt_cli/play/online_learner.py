"""A state that learns from the games it plays.

Every game is in the store's log before the state learns from it, so no failure loses a game: games wait in
the log until the state's file is free and can be written.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ttt_cli.errors import TttError
from ttt_cli.store import library
from ttt_cli.store.files import try_writing
from ttt_cli.store.games import GameRecord
from ttt_cli.store.locks import lock
from ttt_cli.store.runs import Run
from ttt_cli.store.state import State
from ttt_cli.store.system import LARGE
from ttt_cli.store.teaching import teach, teach_waiting


@dataclass(frozen=True)
class Learned:
    """What a state has learned.

    :ivar games: the number of games that it has learned from.
    :ivar new_positions: the number of positions that it did not know before.
    :ivar waits: why the games must wait; empty if they need not.
    """

    games: int = 0
    new_positions: int = 0
    waits: str = ""


@dataclass(eq=False)
class OnlineLearner:
    """A state in a file that learns from games.

    :ivar name: its name in messages.
    :ivar state: the state that plays, which may be ahead of the file.
    """

    store: Path
    path: Path
    name: str
    state: State
    _run: Run | None = None  # the games that its file has learned
    _memory_run: Run | None = None  # the games learned in memory alone

    @cached_property
    def taught_name(self) -> str:
        """Its name in game records."""
        return library.taught_name(self.store, self.path)

    @property
    def is_ahead(self) -> bool:
        """Whether it has learned from games that its file has not learned yet."""
        return self._memory_run is not None

    def learn(self, record: GameRecord) -> Learned:
        """Learn from a game of a person that is in the log: by ``catch_up``, or, if reading and writing the
        file would keep the person waiting, in memory alone."""
        if not (self.path.exists() and self.path.stat().st_size > LARGE):
            return self.catch_up()
        known = self.state.size[0]
        self.learn_in_memory(record)
        return Learned(1, self.state.size[0] - known)

    def learn_in_memory(self, record: GameRecord) -> None:
        """Learn from a game in memory alone, so that the next game is played by it."""
        lesson = teach(self.state, [record], self.name, continued=self._memory_run)
        self.state = lesson.state
        self._memory_run = lesson.run or self._memory_run

    def catch_up(self) -> Learned:
        """Learn from the games that wait in the log, and save, if the file is free and can be written."""
        try:
            try_writing(self.path)
            locked = lock(self.path, "taught", remedy="finished games wait until it is free", parents=True)
        except TttError as error:
            return Learned(waits=str(error))
        with locked:
            if self.path.exists():
                before = library.load(self.path).state
            else:
                before = State.empty(self.state.learner, self.state.rules, symmetric=self.state.symmetric)
            if before.unfinished is not None:
                training = f"{self.name} is in the middle of a training run"
                return Learned(waits=f"{training}; games wait until that has ended")
            lesson = teach_waiting(before, self.store, self.path, continued=self._run)
            if lesson.learned:
                self._run = lesson.run
                library.save(lesson.state, self.path)
            self.state, self._memory_run = lesson.state, None
            return Learned(lesson.learned, self.state.size[0] - before.size[0])
