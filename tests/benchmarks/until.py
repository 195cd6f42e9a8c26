"""Games until unbeatable: after how many games of self-play no line of play beats a learner any more.

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

PERFECT = ("graph", "td", "q")


def looks(most: int) -> list[int]:
    """The numbers of games after which a player is looked at."""
    return list(takewhile(lambda games: games <= most, (int(256 * sqrt(2) ** step) for step in range(64))))


def games_until_unbeatable(learner: Learner, seed: int, *, symmetric: bool, most: int) -> int | None:
    """The look from which the verdict holds; None if it does not at the last one."""
    table, first = learner.empty(STANDARD, symmetric), None
    for look, (before, games) in enumerate(pairwise([0, *looks(most)])):
        rng = np.random.default_rng([seed, look])
        learner.train(table, Shard(first=before, games=games - before, rng=rng))
        unbeatable = is_unbeatable(learner.policy(table))
        first = (first or games) if unbeatable else None
    return first


def main(names: list[str], seeds: int) -> None:
    """Measure and print."""
    print(f"games until unbeatable, seeds 1 to {seeds}: median (least to most)")
    for name in names:
        learner = learner_class(name)()
        for symmetric in (False, True):
            found = [
                games_until_unbeatable(learner, seed, symmetric=symmetric, most=learner.default_games)
                for seed in range(1, seeds + 1)
            ]
            reached = sorted(games if games is not None else learner.default_games * 2 for games in found)
            how = f"{median(reached):8,.0f} ({reached[0]:,} to {reached[-1]:,})"
            print(f"{name:6} {'--symmetry' if symmetric else '':10} {how}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.until", description=__doc__)
    parser.add_argument(
        "learners", nargs="*", metavar="LEARNER", help=f"of {', '.join(PERFECT)}; default: all"
    )
    parser.add_argument("--seeds", type=int, default=20)
    given = parser.parse_args()
    main(given.learners or list(PERFECT), given.seeds)
