"""Training runs: sequences of blocks, each of one or more shards, that are observed only between blocks.

The size of blocks and the number of shards depend on the call alone, and each shard has its own generator. So
a run gives the same bytes whoever computes the shards, and resuming it is starting the next block.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from itertools import count, pairwise
from typing import Any, NamedTuple

import numpy as np

from ttt_cli.engine.arrays import Int64s
from ttt_cli.engine.policy import Policy
from ttt_cli.learners.base import Learner, Shard

SHARDED_FROM = 10_000_000
"""In runs of fewer games each block is one shard."""

SHARDS = 8
"""Shards in each block of a longer run: a constant, so that the number of workers never changes a byte."""

FIRST_BLOCK = 256
"""Games of the first block. Blocks double up to their full size, since learning curves change most in the
beginning. Small blocks are not split: small shards from one table would all explore the same moves."""

Learnt = tuple[Any, Int64s]
"""What ``Learner.merge`` needs of a shard's table (the whole table if it is the only shard), and the counts
of ``Learner.train``."""

ShardMap = Callable[[Callable[[Shard], Learnt], Sequence[Shard]], Iterable[Learnt]]
"""How the shards of a block are trained: a ``map``, in this thread, in others or on other machines."""


@dataclass(frozen=True, eq=False)
class Plan:
    """A training run, fixed before its first game.

    :ivar opponent: the other side's policy; None: self-play.
    :ivar shards: in a full block; None: by the number of games.
    """

    learner: Learner[Any]
    games: int
    seed: int
    opponent: Policy | None = None
    shards: int | None = None

    @property
    def shards_a_block(self) -> int:
        if self.shards is not None:
            return self.shards
        return 1 if self.games < SHARDED_FROM or self.learner.choice == "article" else SHARDS

    @property
    def block_games(self) -> int:
        shards = self.shards_a_block
        return self.learner.block_games if shards == 1 else self.learner.shard_games * shards

    def first_game(self, index: int) -> int:
        doubling = min(index, ((self.block_games - 1) // FIRST_BLOCK).bit_length())  # blocks that double
        in_full_blocks = (index - doubling) * self.block_games
        return min(self.games, FIRST_BLOCK * (2**doubling - 1) + in_full_blocks)

    def block_at(self, games: int) -> int:
        """The number of the first block that does not start before this many games."""
        return bisect_left(range(games + 1), games, hi=games, key=self.first_game)

    def block(self, index: int) -> list[Shard]:
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
            )
            for shard, (start, stop) in enumerate(pairwise(bounds))
        ]


class Progress(NamedTuple):
    """A run after a block: the number of its games so far; int64[3], how many games of this call were won by
    O, drawn, won by X; and its table."""

    games: int
    results: Int64s
    table: Any


def train_shard(learner: Learner[Any], table: Any, alone: bool, shard: Shard) -> Learnt:
    """Train a shard, on a copy of the table if it is not ``alone`` in its block."""
    part = table if alone else deepcopy(table)
    results = learner.train(part, shard)
    return part if alone else learner.changes(table, part), results


def train_blocks(plan: Plan, table: Any, *, done: int = 0, spread: ShardMap = map) -> Iterator[Progress]:
    """Train block by block from ``table``, which must not be used afterwards.

    :param done: the games of the run that are already in the table.
    """
    games, results = done, np.zeros(3, np.int64)
    for index in count(plan.block_at(done)):
        if games >= plan.games:
            break
        shards = plan.block(index)
        alone = len(shards) == 1
        trained = list(spread(partial(train_shard, plan.learner, table, alone), shards))
        parts = [part for part, _ in trained]
        table = parts[0] if alone else plan.learner.merge(table, parts)
        results = results + sum(counted for _, counted in trained)
        games += sum(shard.games for shard in shards)
        yield Progress(games, results, table)
