"""Games against fixed opponents on boards that grow: a batch is played ply by ply, each side asked once for
all of its games, and then learned game by game."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ttt_cli.engine.arrays import Floats, Int8s, Int64s
from ttt_cli.engine.policy import Policy, drawn, thresholds
from ttt_cli.learners import loop
from ttt_cli.learners.base import Learner, Shard
from ttt_cli.learners.table import Table

MOST = 1024
"""Games of the largest batch."""


def batch_of(method: loop.Method | Learner[Any], number: int) -> int:
    """How many games are played before any of them is learned, ``number`` games into a run: the more have
    been learned the more, so that no learner plays from an empty brain for long; one by an author's rule."""
    return 1 if method.choice == "article" else min(MOST, 1 + number // 8)


def play(
    method: loop.Method,
    table: Table,
    shard: Shard,
    history: Int8s,
    luck: Floats,
    number: int,
    results: Int64s,
) -> None:
    """Play the games of a batch and learn from them, as ``loop.play``."""
    fixed, known, _ = loop.fixed_sides(table, shard.opponent, shard.behaviour)
    waiting = np.zeros(len(history), np.uint32)

    def asked(policy: Policy, games: Int64s) -> Floats:
        rows, at = np.unique(waiting[games].astype(np.int64), return_inverse=True)
        return loop.probabilities(table, policy, rows)[0][at]

    while True:
        loop.play(method, table, shard.taught, history, luck, number, (fixed, known, waiting), results)
        games = np.flatnonzero(waiting)
        if not len(games):
            break
        move(shard, history, luck, number, games, asked)
    loop.play(method, table, shard.taught, history, luck[:0], number, loop.NO_SIDE, results)


def move(
    shard: Shard,
    history: Int8s,
    luck: Floats,
    number: int,
    games: Int64s,
    asked: Callable[[Policy, Int64s], Floats],
) -> None:
    """Let a fixed side move, or resign, in each of these games of a batch.

    :param asked: what a policy plays in some of these games: float64[k, cells].
    """
    plies = np.count_nonzero(history[games] >= 0, axis=1)
    own = ((shard.taught or 1 + ((number + games) & 1)) >> (plies & 1)) & 1
    for side, policy in enumerate((shard.opponent, shard.behaviour)):
        some = own == side
        if policy is not None and some.any():
            at = games[some], plies[some]
            cells = drawn(thresholds(asked(policy, at[0])), luck[at])
            history[at] = np.where(cells < 0, loop.RESIGNED, cells)
