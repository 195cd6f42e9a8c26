"""A learner whose workers die at will, for the tests of worker processes and of the cluster."""

import os
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from ttt_cli.conformance import content, empty_table
from ttt_cli.engine.kernel import prefer_uncompiled
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.learners.base import Shard
from ttt_cli.learners.q import Q
from ttt_cli.training.runs import Executor, Plan, train_blocks, train_shards

GAMES = 8000


@dataclass(frozen=True)
class Fragile(Q):
    """Q-learning in shards so small that its kernel need not be compiled.

    :ivar deaths: a folder with a file for each time that a worker was killed in the middle of a shard.
    :ivar fatal: how often that happens.
    """

    block_games: ClassVar[int] = 1000
    shard_games: ClassVar[int] = 500
    deaths: str = ""
    fatal: int = 0

    def train(self, table: Any, shard: Shard) -> Any:
        with prefer_uncompiled():
            counted = super().train(table, shard)
        died = len(list(Path(self.deaths).iterdir())) if self.deaths else 0
        if died < self.fatal and shard.first >= GAMES // 2:
            Path(self.deaths, str(died)).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return counted


def trained(learner: Fragile, executor: Executor = train_shards) -> tuple[bytes, list[int]]:
    """The learner's table after blocks of one and of eight shards, and the results of its games."""
    space = StateSpace.of()
    *_, last = train_blocks(
        Plan(learner, GAMES, seed=1, shards=8), empty_table(learner, space), executor=executor
    )
    return content(learner, last.table), last.results.tolist()
