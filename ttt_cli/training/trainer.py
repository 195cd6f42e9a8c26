"""Training a state: a run is a sequence of blocks, each of one or more shards, looked at only between blocks.

``new_run`` and ``resumed_run`` check everything before the first game. ``advance`` trains, and may be left
after any block; ``finish`` writes the file. Each checkpoint is a whole state from which training can go on.

The size of blocks and the number of shards depend on the call alone, and each shard has its own generator. So
a run gives the same bytes whoever computes the shards, and resuming it is starting the next block.
"""

import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise, takewhile
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from ttt_cli.agents.grammar import Agent, names_code, resolve_all
from ttt_cli.engine.arrays import Int64s
from ttt_cli.engine.state_space import enumerated
from ttt_cli.environment import command_line
from ttt_cli.errors import InvalidFileError, UsageError, notices
from ttt_cli.evaluation.matchup import within_reach
from ttt_cli.learners.base import Learner, Shard
from ttt_cli.store import library
from ttt_cli.store.curves import from_record, to_record
from ttt_cli.store.runs import DECISIVE, Run, train_run
from ttt_cli.store.state import State
from ttt_cli.store.system import real_path
from ttt_cli.store.teaching import teach_waiting
from ttt_cli.training.curve import KEPT_PER_DECADE, PER_DECADE, Curve, curve_so_far, points

SHARDED_FROM = 10_000_000
"""In runs of fewer games each block is one shard."""

SHARDS = 8
"""Shards in each block of a longer run: a constant, so that the number of workers never changes a byte."""

FIRST_BLOCK = 256
"""Games of the first block. Blocks double up to their full size, since learning curves change most in the
beginning. Small blocks are not split: small shards from one table would all explore the same moves."""

ShardResult = tuple[Any, Int64s]
"""What ``Learner.merge`` needs of a shard's table (the whole table if it is the only shard), and the counts
of ``Learner.train``."""

ShardMap = Callable[[Callable[[Shard], ShardResult], Sequence[Shard]], Iterable[ShardResult]]
"""How the shards of a block are trained: a ``map``, in this thread, in others or on other machines."""


@dataclass(eq=False)
class TrainingRun:
    """A training run, fixed before its first game, and its outcome.

    :ivar path: the file of the state.
    :ivar opponent: as ``opponent_of``.
    :ivar state: the state after the blocks trained so far.
    :ivar record: the state's record of the run.
    :ivar resumed_at: how many of its games were played before this call.
    :ivar shards: in a full block.
    :ivar results: how many games of this call ended in each result: ``x``, ``o`` or ``draw``.
    :ivar seconds: the time of the games of this call, without looks and saves.
    :ivar goal_reached: whether it ends before all planned games, its goal (``--until``) being reached.
    :ivar curve: its learning curve, if it is watched.
    """

    path: Path
    state: State
    record: Run
    opponent: Agent | None = None
    resumed_at: int = 0
    shards: int = field(init=False)
    results: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    goal_reached: bool = False
    curve: Curve | None = None

    def __post_init__(self) -> None:
        whole = self.planned < SHARDED_FROM or self.state.learner.choice == "article"
        self.shards = 1 if whole else SHARDS

    @property
    def planned(self) -> int:
        """The number of its games, also those before this call."""
        return self.record["planned"]

    @property
    def played(self) -> int:
        return self.record["games"] or 0

    @property
    def games(self) -> int:
        """The number of games of this call."""
        return self.played - self.resumed_at

    @property
    def finished(self) -> bool:
        """Whether all planned games were played, or its goal is reached."""
        return self.goal_reached or self.played >= self.planned

    @property
    def block_games(self) -> int:
        learner = self.state.learner
        return learner.block_games if self.shards == 1 else learner.shard_games * self.shards

    def blocks(self) -> Iterator[tuple[int, int]]:
        """The number of the first game of each block, and the number of its games."""
        start, size = 0, min(FIRST_BLOCK, self.block_games)
        while start < self.planned:
            yield start, min(size, self.planned - start)
            start, size = start + size, min(2 * size, self.block_games)

    def block(self, index: int, first: int, games: int) -> list[Shard]:
        """The shards of a block of ``blocks``."""
        opponent = self.opponent.policy if self.opponent else None
        shards = self.shards if games >= self.state.learner.block_games else 1
        bounds = [first + games * shard // shards for shard in range(shards + 1)]
        seed = self.record["seed"]
        return [
            Shard(
                first=start,
                games=stop - start,
                rng=np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(index, shard))),
                opponent=opponent,
            )
            for shard, (start, stop) in enumerate(pairwise(bounds))
        ]

    @property
    def games_of_other_runs(self) -> int:
        """The known games of the state that were learned in other runs."""
        return sum(run["games"] or 0 for run in self.state.runs if run["id"] != self.record["id"])

    def watch(self, path: Path | None = None, *, closely: bool = True, strictly: bool = False) -> Curve:
        """Measure the player's strength along the way: the learning curve, which the record of the run keeps.

        :param path: a CSV file for the curve; that of a resumed run keeps its points up to there.
        :param closely: whether to look often.
        :param strictly: as ``Curve.strictly``.
        :raises InvalidFileError: if the file at ``path`` is not a curve.
        """
        before, recorded = self.games_of_other_runs, self.record.get("curve")
        points_before = from_record(recorded) if recorded else []
        rows = [replace(row, games=row.games - before) for row in points_before]
        if path is not None:
            earlier = [row for row in curve_so_far(path) if row.games <= self.resumed_at]
            if earlier and to_record(earlier, before) == recorded:  # it has more digits
                rows = earlier
        due = points(self.planned, PER_DECADE if closely else KEPT_PER_DECADE)
        self.curve = Curve(due, rows, path, strictly, seen=rows[-1].games if rows else -1)
        return self.curve

    def look(self, *, now: bool = False) -> None:
        """Look at a run that is watched, as ``Curve.look``."""
        if self.curve is not None and self.curve.look(self.played, self.state.policy, now=now):
            curve = to_record(self.curve.rows, self.games_of_other_runs)
            self.record = {**self.record, "curve": curve}
            self.state = self.state.with_run(self.record, self.state.table)


def opponent_of(start: State, agent: str | Agent | None, store: Path, path: Path) -> Agent | None:
    """The opponent of a training; None for ``self``, the learner itself.

    A program is asked only once about each position. On a board with a state space that is done before the
    first game, for the positions that its own play can lead to, or for all if the table is symmetric.

    :param start: the state that is trained; by the author's rule it has the author's opponent by default.
    :param path: the state's file.
    :raises UsageError: if it is the trained state itself, or a person.
    """
    if agent is None and start.learner.choice == "article":
        agent = start.learner.article_opponent
    if agent is None or agent == "self":
        return None
    (player,) = resolve_all([agent], store, start.rules)
    if player.source is not None and real_path(player.source) == real_path(path):
        copy = f"./rival{path.suffix}"
        raise UsageError(
            "the opponent is the state being trained",
            where=player.name,
            hint="copy its file first",
            cli_hint=f"{command_line('cp', path, copy)} makes a copy, for --opponent {copy}",
        )
    policy = player.policy
    if policy.external:
        policy = policy.memoised()
        space = enumerated(policy.rules)
        if space is not None:
            if not player.reproducible:
                which = "all positions" if start.symmetric else "the positions that its play can reach"
                notices.info("asking %s about %s", player.name, which)
            policy = policy.table(space) if start.symmetric else within_reach(policy)
    return replace(player, make=lambda rules: policy)


def new_run(
    path: Path,
    start: State,
    *,
    seed: int,
    games: int | None = None,
    opponent: Agent | None = None,
) -> TrainingRun:
    """A new run from ``start``.

    :param games: by default ``Learner.usual_games``.
    :param opponent: as ``opponent_of``.
    """
    learner = start.learner
    record = train_run(
        learner,
        start.rules,
        start.symmetric,
        seed=seed,
        planned=learner.usual_games if games is None else games,
        opponent=opponent.name if opponent else "self",
        opponent_digest=opponent.digest if opponent else None,
        behaviour=opponent.name if opponent and learner.watches else None,
        start=library.digest(start) if start.runs else None,
    )
    if opponent and not opponent.reproducible:
        record = {**record, "reproducible": False}
    return TrainingRun(path, start.in_own_units().closed(), record, opponent)


def resumed_run(path: Path, state: State, store: Path, typed: str | None = None) -> TrainingRun:
    """The unfinished run of a state.

    :param typed: the opponent as typed, required for programs: those that a file names are not run.
    :raises InvalidFileError: if there is none, or its opponent has changed.
    """

    def refused(message: str, hint: str = "") -> InvalidFileError:
        return InvalidFileError(message, where=str(path), hint=hint)

    record = state.unfinished
    if record is None:
        raise refused("holds no unfinished run", "train without --resume")
    named = record["opponent"]
    if typed not in (None, named):
        raise UsageError(f"the run's opponent is {named}, not {typed}", where="--opponent")
    if names_code(named) and typed is None:
        hint = f"if you trust it: --resume --opponent {shlex.quote(named)}"
        raise refused("the run's opponent is a program, which is run only if it is typed", hint)
    opponent = opponent_of(state, named, store, path)
    if opponent and opponent.digest != record["opponent_digest"]:
        hint = "put the old file back, or start a new run without --resume"
        raise refused(f"the opponent {opponent.name} has changed since the run began", hint)
    learner = type(state.learner).from_params(**{**record["params"], "choice": state.learner.choice})
    state = replace(state, learner=learner)
    decisive = {name: value for name, value in record.items() if name in DECISIVE}
    again = train_run(learner, state.rules, state.symmetric, **decisive)
    behaviour = named if opponent and learner.watches else None
    if again["id"] != record["id"] or record["behaviour"] != behaviour:
        hint = "train without --resume: a new run starts from the file"
        raise refused(f"the run was started by another version of {learner.name}", hint)
    run = TrainingRun(path, state, record, opponent, record["games"] or 0)
    starts = takewhile(lambda first: first <= run.resumed_at, (first for first, _ in run.blocks()))
    if run.resumed_at not in starts:  # the record has been changed
        raise refused(f"the run cannot have stopped after {run.resumed_at} games: no block ends there")
    return run


def advance(run: TrainingRun, spread: ShardMap = map, *, checkpoint: float = float("inf")) -> Iterator[int]:
    """Train block by block, updating the run, its time and its curve; yields its games so far.

    :param checkpoint: seconds between two saves during the run, for which its file must be locked.
    """
    run.look()
    learner, table = run.state.learner, run.state.table
    last_save = monotonic()
    for index, (first, games) in enumerate(run.blocks()):
        if first < run.played:
            continue
        began = monotonic()
        shards = run.block(index, first, games)
        alone = len(shards) == 1
        trained = list(spread(partial(train_shard, learner, table, alone), shards))
        parts = [part for part, _ in trained]
        table = parts[0] if alone else learner.merge(table, parts)
        run.seconds += monotonic() - began
        counts = np.sum([counted for _, counted in trained], axis=0)
        o, draw, x = map(int, counts)  # a user's learner may count in floats
        run.results.update(x=x, o=o, draw=draw)
        before: Any = run.record["results"]
        results: Any = {"x": before["x"] + x, "o": before["o"] + o, "draw": before["draw"] + draw}
        run.record = {**run.record, "games": first + games, "results": results}
        run.state = run.state.with_run(run.record, table)
        learner.tag_run(table, run.record["id"])
        yield run.played
        run.look()  # after the yield: the caller may leave the run there
        if monotonic() - last_save >= checkpoint and not run.finished:
            library.save(run.state, run.path)
            notices.info("saved %s games", f"{run.played:,}")
            last_save = monotonic()


def train_shard(learner: Learner[Any], table: Any, alone: bool, shard: Shard) -> ShardResult:
    """Train a shard, on a copy of the table if it is not ``alone`` in its block."""
    part = table if alone else deepcopy(table)
    results = learner.train(part, shard)
    return part if alone else learner.changes(table, part), results


def finish(run: TrainingRun, store: Path | None = None) -> None:
    """Save the state of a run that has ended or is interrupted; its file must be locked.

    :param store: the store from which the state learns the waiting games at the end, unless its goal was
        reached before.
    """
    if not run.finished:  # before the first block the state does not hold the record yet
        run.state = run.state.with_run(run.record, run.state.table)
    else:
        run.look(now=run.goal_reached)
        run.state = run.state.closed()
        if store is not None and not run.goal_reached:
            run.state = teach_waiting(run.state, store, run.path).state
    library.save(run.state, run.path)


def warm_up(state: State) -> None:
    """Load or compile the learner's kernel, so that the time of a run is the time of its games."""
    shard = Shard(first=0, games=1, rng=np.random.default_rng(0))
    state.learner.train(state.learner.empty(state.rules, state.symmetric), shard)
