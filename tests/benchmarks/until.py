"""Games until unbeatable: after how many games of self-play a learner can no longer be beaten.

    python -m tests.benchmarks.until [LEARNER…] [--seeds N]

Training is looked at after 256, 362, 512 … games, each time the square root of 2 more. What counts is the
first look from which the verdict holds at every later one, up to the learner's default number of games, under
the policy's own ties. A median over the seeds, and the range.
"""

import argparse
from itertools import pairwise, takewhile
from math import sqrt
from statistics import median

import numpy as np

from ttt_cli.engine.rules import STANDARD
from ttt_cli.evaluation.verdict import is_unbeatable
from ttt_cli.learners import learner_class
from ttt_cli.learners.base import Learner, Shard
from ttt_cli.learners.q import Q
from ttt_cli.training.runs import Plan, run

PERFECT = ("graph", "td", "q")
LONG = 10_000_000
CONFIRMED = 5
"""A player counts as unbeatable from the first of so many blocks in a row after which it is."""


def games_until_unbeatable(learner: Learner, seed: int, *, symmetric: bool, most: int) -> int | None:
    """The look from which the verdict holds; None if it does not at the last one."""
    table, first = learner.empty(STANDARD, symmetric), None
    looks = takewhile(lambda games: games <= most, (int(256 * sqrt(2) ** step) for step in range(64)))
    for look, (before, games) in enumerate(pairwise([0, *looks])):
        rng = np.random.default_rng([seed, look])
        learner.train(table, Shard(first=before, games=games - before, rng=rng))
        first = (first or games) if is_unbeatable(learner.policy(table)) else None
    return first


def unbeatable_from(shards: int, seed: int) -> int:
    """The games after which ``q`` is unbeatable to stay, in a long run seen after each of its blocks."""
    learner, first, held = Q(), 0, 0
    for progress in run(Plan(learner, LONG, seed, shards=shards), learner.empty(STANDARD)):
        if not is_unbeatable(learner.policy(progress.table)):
            first = held = 0
            continue
        first, held = first or progress.games, held + 1
        if held == CONFIRMED:
            return first
    return LONG


def main(names: list[str], seeds: int) -> None:
    """Measure and print."""
    print(f"games until unbeatable, seeds 1 to {seeds}: median (least to most)")
    for name in names:
        learner = learner_class(name)()
        most = learner.default_games
        for symmetric in (False, True):
            found = [
                games_until_unbeatable(learner, seed, symmetric=symmetric, most=most) or 2 * most
                for seed in range(1, seeds + 1)
            ]
            how = f"{median(found):8,.0f} ({min(found):,} to {max(found):,})"
            print(f"{name:6} {'--symmetry' if symmetric else '':10} {how}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.until")
    parser.add_argument("learners", nargs="*", metavar="LEARNER", default=list(PERFECT))
    parser.add_argument("--seeds", type=int, default=20)
    given = parser.parse_args()
    main(given.learners, given.seeds)
