"""Games against fixed opponents on boards that grow: a batch is played ply by ply, each side asked once for
all of its games, and then learned game by game."""

import numpy as np

from ttt_cli.engine.arrays import Floats, Int8s, Int64s
from ttt_cli.engine.policy import drawn, thresholds
from ttt_cli.learners import loop
from ttt_cli.learners.base import Shard
from ttt_cli.learners.table import Table

MOST = 1024
"""Games of the largest batch."""


def batch_of(method: loop.Method, number: int) -> int:
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
    sides, learning = (shard.opponent, shard.behaviour), shard.taught
    fixed, known, _ = loop.fixed_sides(table, *sides)
    waiting = np.zeros(len(history), np.uint32)
    while True:
        loop.play(method, table, learning, history, luck, number, (fixed, known, waiting), results)
        games = np.flatnonzero(waiting)
        if not len(games):
            break
        plies = np.count_nonzero(history[games] >= 0, axis=1)
        own = ((learning or 1 + ((number + games) & 1)) >> (plies & 1)) & 1
        for side, policy in enumerate(sides):
            some = own == side
            if policy is not None and some.any():
                asked, plies_then = games[some], plies[some]
                rows, at = np.unique(waiting[asked].astype(np.int64), return_inverse=True)
                probabilities, _ = loop.probabilities(table, policy, rows)
                cells = drawn(thresholds(probabilities)[at], luck[asked, plies_then])
                history[asked, plies_then] = np.where(cells < 0, loop.RESIGNED, cells)
    loop.play(method, table, learning, history, luck[:0], number, loop.NO_SIDE, results)
