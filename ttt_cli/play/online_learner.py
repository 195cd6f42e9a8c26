"""A state that learns from the games it is in: its file is locked, taught what waits for it, saved.

A game is in the store's log before any of this happens, so whatever goes wrong here costs nothing: the games
wait, and whoever writes the state next learns them.
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
"""Seconds between two saves of a machine that plays machines; more where a save takes long itself."""


@dataclass(frozen=True)
class Learned:
    """A lesson: how much a state has learned.

    :ivar games: from how many games.
    :ivar new_positions: the positions that it knows now and did not before.
    :ivar waits: why the games wait instead; empty if they do not.
    """

    games: int = 0
    new_positions: int = 0
    waits: str = ""

    def __add__(self, other: "Learned") -> "Learned":
        return Learned(self.games + other.games, self.new_positions + other.new_positions, other.waits)


@dataclass(eq=False)
class OnlineLearner:
    """A state in its file.

    :ivar name: what game records call it: its name in the store, or its path.
    :ivar state: what it knew when it was last looked at.
    :ivar total: all that it has learned here.
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
        """Its name in game records, among the states that a game teaches."""
        return library.taught_name(self.store, self.path)

    def take(self) -> str:
        """Lock the file and read what it holds by now.

        :returns: why the state cannot learn at present; empty if it can.
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
        """Learn from games, in memory."""
        before = self.state.positions
        lesson = teach(self.state, records, self.name, going_on=self._run)
        if lesson.learnt:
            self._run, self._unsaved, self.state = lesson.run, True, lesson.state
        learned = Learned(lesson.learnt, self.state.positions - before)
        self.total += learned
        return learned

    def learn_waiting(self) -> Learned:
        """Learn from the games of the log that wait for it, in memory."""
        return self.learn(waiting_games(self.store, self.taught_name, self.state))

    def save(self) -> None:
        """Write what has been learned since the last time."""
        if self._unsaved:
            library.save(self.state, self.path)
            self._unsaved = False

    def release(self) -> None:
        """Let others write the file."""
        held, self._held = self._held, None
        if held is not None:
            held.close()

    def catch_up(self) -> Learned:
        """Learn from the games that wait for it and save, if the file is free."""
        if waits := "" if self._held is not None else self.take():
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
    """Keep the files of states locked while they learn from one game after the other: ``learn(record)``.

    What they have learned is saved every second or two and at the end; what is not saved yet waits in the
    log. A state whose file is not free learns nothing meanwhile, and tries again at the end.
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
