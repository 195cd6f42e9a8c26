"""Training: a run is a sequence of blocks, a block is one or more shards, and only between blocks does
anything look at a run.

Block size and number of shards follow from the call alone, and each shard of each block has a generator of
its own, so a run gives the same bytes whoever computes the shards, and going on after a stop is simply
starting the next block.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import count, pairwise
from typing import Any, NamedTuple

import numpy as np

from ttt_cli.engine.arrays import Int64s
from ttt_cli.engine.policy import Policy
from ttt_cli.learners.base import Learner, Shard

SHARDED_FROM = 10_000_000
"""Runs of fewer games have one shard a block."""

SHARDS = 8
"""Shards a block of a long run: a fixed number, so that the number of workers never changes a byte."""

FIRST_BLOCK = 256
"""Games of a run's first block. Blocks double until they have their full size: it is early on that a learning
curve has most to show. While they are small they are not split: shards of few games, side by side from one
table, would all explore the same moves."""

Trained = tuple[Any, Int64s]
"""What ``Learner.merge`` needs of a shard's table, and its results as ``Learner.train`` counts them; of a
shard that is alone, the whole table."""

Executor = Callable[[Learner[Any], Any, Sequence[Shard]], Sequence[Trained]]
"""Trains each shard from the same table; the table given is not used afterwards."""


@dataclass(frozen=True, eq=False)
class Plan:
    """What a training run does, fixed before its first game.

    :ivar opponent: the other side's behaviour; None: self-play.
    :ivar behaviour: the learner's own, where it is fixed.
    :ivar shards: of a block that is not small; None: by the number of games.
    """

    learner: Learner[Any]
    games: int
    seed: int
    opponent: Policy | None = None
    behaviour: Policy | None = None
    shards: int | None = None

    @property
    def shards_a_block(self) -> int:
        """The number of shards of a block that is not small."""
        if self.shards is not None:
            return self.shards
        return 1 if self.games < SHARDED_FROM or self.learner.choice == "article" else SHARDS

    @property
    def block_games(self) -> int:
        """The number of games in a block of full size."""
        shards = self.shards_a_block
        return self.learner.block_games if shards == 1 else self.learner.shard_games * shards

    def first_game(self, index: int) -> int:
        """The number of the first game of a block."""
        doublings = max(0, (self.block_games - 1) // FIRST_BLOCK).bit_length()
        small = min(index, doublings)
        return min(self.games, FIRST_BLOCK * (2**small - 1) + (index - small) * self.block_games)

    def block_at(self, games: int) -> int:
        """The number of the block that starts after this many games.

        :raises ValueError: if none does.
        """
        index = bisect_left(range(games + 1), games, hi=games, key=self.first_game)
        if self.first_game(index) != games:
            raise ValueError(f"no block starts after {games} games")
        return index

    def block(self, index: int) -> list[Shard]:
        """The shards of a block."""
        first = self.first_game(index)
        games = self.first_game(index + 1) - first
        shards = self.shards_a_block if games >= self.learner.block_games else 1
        bounds = [first + games * shard // shards for shard in range(shards + 1)]
        return [
            Shard(
                first=start,
                games=stop - start,
                rng=np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(index, shard))),
                opponent=self.opponent,
                behaviour=self.behaviour,
            )
            for shard, (start, stop) in enumerate(pairwise(bounds))
        ]


class Progress(NamedTuple):
    """Where a run stands after a block: the games of the run so far, and its table; and int64[3], how many of
    the games since the start were won by O, drawn, won by X."""

    games: int
    results: Int64s
    table: Any


def train_shard(learner: Learner[Any], table: Any, shard: Shard, alone: bool = False) -> Trained:
    """Train a shard on a copy of the table."""
    part = deepcopy(table)
    results = learner.train(part, shard)
    return part if alone else learner.changes(table, part), results


def here(learner: Learner[Any], table: Any, shards: Sequence[Shard]) -> list[Trained]:
    """Train the shards one after the other; a single one needs no copy."""
    if len(shards) == 1:
        return [(table, learner.train(table, shards[0]))]
    return [train_shard(learner, table, shard) for shard in shards]


def run(plan: Plan, table: Any, *, done: int = 0, executor: Executor = here) -> Iterator[Progress]:
    """Train block by block, from ``table``, which is used up.

    :param done: the games of the run that are in the table already.
    """
    games, results = done, np.zeros(3, np.int64)
    for index in count(plan.block_at(done)):
        if games >= plan.games:
            break
        shards = plan.block(index)
        trained = executor(plan.learner, table, shards)
        parts = [part for part, _ in trained]
        table = parts[0] if len(parts) == 1 else plan.learner.merge(table, parts)
        results = results + sum(counted for _, counted in trained)
        games += sum(shard.games for shard in shards)
        yield Progress(games, results, table)
