"""Training as a user meets it: a state is locked, taught what waits for it, trained block by block, saved.

``prepare`` checks everything before the first game; ``train`` then changes one file, through checkpoints each
of which is a whole state that training can go on from.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic

import numpy as np

from ttt_cli.agents.grammar import resolve
from ttt_cli.engine.policy import Policy
from ttt_cli.engine.rules import Rules
from ttt_cli.errors import InvalidFileError, UsageError
from ttt_cli.evaluation.verdict import is_unbeatable
from ttt_cli.learners.base import Shard
from ttt_cli.store import library
from ttt_cli.store.games import waiting_games
from ttt_cli.store.state import Run, State, train_run
from ttt_cli.store.teaching import Lesson, teach
from ttt_cli.training.runs import Executor, Plan, Progress, here, run


@dataclass(frozen=True, eq=False)
class Fixed:
    """A side whose behaviour is fixed during training.

    :ivar digest: of the state it plays by, if it is one.
    """

    name: str
    policy: Policy
    digest: str | None = None


@dataclass(frozen=True, eq=False)
class Job:
    """A training run ready to start.

    :ivar path: the file that the state is saved to.
    :ivar state: the state before the next block.
    :ivar record: the run's record so far.
    :ivar done: where a run that is resumed stands.
    """

    path: Path
    state: State
    record: Run
    plan: Plan
    done: Progress | None = None


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came of a training run.

    :ivar games: of this call.
    :ivar seconds: from the first block to the last.
    :ivar finished: whether all planned games were played, or the observer had seen enough.
    :ivar backup: where the file that was replaced is kept, if it held experience the new one does not.
    """

    state: State
    record: Run
    games: int
    seconds: float
    finished: bool
    backup: Path | None
    late: Lesson | None


def fixed(agent: str | None, store: Path, rules: Rules, path: Path) -> Fixed | None:
    """The side that an AGENT argument names, None for the learner itself (``self``).

    :param path: of the state that is trained, which cannot be its own fixed opponent.
    :raises UsageError: if it is that, or a person.
    """
    if agent is None or agent == "self":
        return None
    found = resolve(agent, store, rules)
    if found.source is not None and found.source.resolve() == path.resolve():
        raise UsageError("the opponent is the state being trained", where=agent, hint="copy its file first")
    return Fixed(agent, found.policy, found.digest)


def usual_job(
    path: Path, start: State, *, seed: int, store: Path, games: int | None = None, opponent: str | None = None
) -> Job:
    """A new run as the method, or its author where the choice rule is the author's, would have it."""
    learner = start.learner
    article = learner.choice == "article"
    behaviour = learner.article_behaviour if article and opponent is None else None
    if games is None:
        games = learner.article_games if article else learner.default_games
    if opponent is None:
        opponent = learner.article_opponent if article else "self"
    return fresh_job(
        path,
        start,
        games=games,
        seed=seed,
        opponent=fixed(opponent, store, start.rules, path),
        behaviour=fixed(behaviour, store, start.rules, path),
    )


def fresh_job(
    path: Path,
    start: State,
    *,
    games: int,
    seed: int,
    opponent: Fixed | None = None,
    behaviour: Fixed | None = None,
) -> Job:
    """A new run from ``start``."""
    learner = start.learner
    holds = bool(start.runs)
    record = train_run(
        start,
        seed=seed,
        planned=games,
        opponent=opponent.name if opponent else "self",
        opponent_digest=opponent.digest if opponent else None,
        behaviour=behaviour.name if behaviour else None,
        start=library.digest(start) if holds else None,
    )
    for known in start.runs:
        if known.id == record.id:
            raise UsageError(
                "this very run is in the state already", hint="use another --seed, or --resume it"
            )
    plan = Plan(learner, games, seed, _policy(opponent), _policy(behaviour))
    return Job(path, start.closed(), record, plan)


def resumed_job(path: Path, state: State, store: Path) -> Job:
    """The run in the file that was stopped, from where it stands.

    :raises InvalidFileError: if there is none, or its opponent has changed.
    """
    record = state.unfinished
    if record is None:
        raise InvalidFileError("holds no unfinished run", where=str(path), hint="train without --resume")
    details = record.details
    opponent = fixed(details["opponent"], store, state.rules, path)
    behaviour = fixed(details["behaviour"], store, state.rules, path)
    if opponent is not None and opponent.digest != details["opponent_digest"]:
        raise InvalidFileError(
            f"the opponent {opponent.name} is not what it was when the run began",
            where=str(path),
            hint="put the old file back, or start a new run without --resume",
        )
    learner = type(state.learner).from_params(**{**details["params"], "choice": state.learner.choice})
    state = replace(state, learner=learner)
    known = ("seed", "planned", "opponent", "opponent_digest", "behaviour", "start")
    if train_run(state, **{name: details[name] for name in known}).id != record.id:
        raise InvalidFileError(
            "the run was begun by a version of ttt whose games differ",
            where=str(path),
            hint="train without --resume: it goes on from the file as a new run",
        )
    plan = Plan(learner, details["planned"], details["seed"], _policy(opponent), _policy(behaviour))
    games = record.games or 0
    try:
        blocks = plan.block_at(games)
    except ValueError:
        raise InvalidFileError(
            f"the run stands at {games:,} games, inside a block", where=str(path)
        ) from None
    counts = record.results or {"x": 0, "o": 0, "draw": 0}
    results = np.array([counts["o"], counts["draw"], counts["x"]], np.int64)
    return Job(path, state, record, plan, Progress(blocks, games, results, state.table))


def _policy(side: Fixed | None) -> Policy | None:
    return None if side is None else side.policy


def train(
    job: Job,
    *,
    checkpoint: float,
    tick: Callable[[State, Run, int], bool],
    saved: Callable[[int], None],
    stopping: Callable[[], bool],
    executor: Executor = here,
    store: Path | None = None,
    name: str = "",
) -> Outcome:
    """Carry out a run; its file must be locked.

    :param checkpoint: seconds between two saves while it runs.
    :param tick: called after each block with state, record and the run's games; True: enough, stop here.
    :param saved: called after each save while it runs, with the run's games.
    :param stopping: whether the user wants it to end after this block.
    :param store: the store whose waiting games are learnt at the end, by the state called ``name``.
    """
    state, record, enough = job.state, job.record, False
    backup = library.would_lose_runs(job.path, job.state)
    kept: Path | None = None
    before = job.done.games if job.done else 0
    started = last_save = monotonic()
    for progress in run(job.plan, state.table, done=job.done, executor=executor):
        lost, drawn, won = map(int, progress.results)
        record = replace(record, games=progress.games, results={"x": won, "o": lost, "draw": drawn})
        state = state.with_run(record, progress.table)
        enough = tick(state, record, progress.games)
        if enough or stopping():
            break
        if monotonic() - last_save >= checkpoint and progress.games < job.plan.games:
            state.learner.tag_run(state.table, record.id)
            kept = library.save(state, job.path, keep_backup=backup) or kept
            backup = False
            saved(progress.games)
            last_save = monotonic()
    seconds = monotonic() - started
    finished = enough or (record.games or 0) >= job.plan.games
    if enough:
        state = state.closed()
    state.learner.tag_run(state.table, record.id)
    late = None
    if finished and store is not None:
        late = teach(state, waiting_games(store, name, state), name)
        state = late.state
    kept = library.save(state, job.path, keep_backup=backup) or kept
    return Outcome(state, record, (record.games or 0) - before, seconds, finished, kept, late)


class UntilUnbeatable:
    """Whether a run has reached its aim: the verdict holds after a block, and after the next ones too.

    Verdicts flicker while a table settles, so the first that holds is confirmed.

    :ivar first: the run's games at the first of the blocks from which the verdict has held.
    """

    CONFIRMATIONS = 4

    def __init__(self) -> None:
        self.first: int | None = None
        self._held = 0

    def __call__(self, state: State, games: int) -> bool:
        """Look at the state after a block; True: enough."""
        if not is_unbeatable(state.policy):
            self.first, self._held = None, 0
            return False
        if self.first is None:
            self.first = games
        self._held += 1
        return self._held > self.CONFIRMATIONS


def warm_up(state: State) -> None:
    """Load or compile the learner's kernel, so that the time of a run is the time of its games."""
    learner = state.learner
    learner.train(
        learner.empty(state.rules, state.symmetric), Shard(first=0, games=1, rng=np.random.default_rng(0))
    )
