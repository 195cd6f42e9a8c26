"""Tables that grow: games a second on 4x4 with four in a row, as a share of what the same kernel does on
arrays over all 9.7 million positions.

    python -m tests.benchmarks.grown [LEARNER ...] [--warm GAMES] [--rounds N]

Both tables learn the same games. The first row is the games up to ``--warm``, from nothing; the second the
median of as many rounds as are asked for after it, in turns, one thread, by the processor's clock. Some five
gigabytes and a minute or two for each learner.
"""

import argparse
from statistics import median
from time import thread_time
from typing import Any
from unittest.mock import patch

import numpy as np

from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.learners import index, learner_class
from ttt_cli.learners.base import Shard

RULES = Rules(4, 4, 4)
BLOCK = 1 << 15
"""Games a round."""


def tables(learner: Any) -> dict[str, Any]:
    """An empty table of each kind."""
    symmetric = learner.symmetric_only
    grown = learner.empty(RULES, symmetric)
    with patch.object(index, "enumerated", lambda rules: StateSpace.of(rules, symmetric)):
        return {"grown": grown, "dense": learner.empty(RULES, symmetric)}


def speed(learner: Any, table: Any, first: int, games: int) -> float:
    """Thousand games a second."""
    shard, start = Shard(first, games, np.random.default_rng(first)), thread_time()
    learner.train(table, shard)
    return games / (thread_time() - start) / 1000


def measure(name: str, warm: int, rounds: int) -> None:
    """Measure one learner, and print."""
    learner: Any = learner_class(name)()
    both = tables(learner)
    for table in tables(learner).values():
        learner.train(table, Shard(0, 1, np.random.default_rng(1)))  # compiles
    first = {kind: speed(learner, table, 0, warm) for kind, table in both.items()}
    found: dict[str, list[float]] = {kind: [] for kind in both}
    for number in range(rounds):
        for kind in list(both) if number % 2 else reversed(both):
            found[kind].append(speed(learner, both[kind], warm + number * BLOCK, BLOCK))
    ratio = median(grown / dense for grown, dense in zip(*found.values(), strict=True))
    show(name, f"first {warm:,}", first["grown"], first["dense"], first["grown"] / first["dense"])
    show("", f"after {warm:,}", *map(median, found.values()), ratio)


def show(name: str, games: str, grown: float, dense: float, ratio: float) -> None:
    """One line of the table."""
    print(f"{name:<10}{games:>20}{grown:>14.1f}{dense:>14.1f}{ratio:>10.2f}", flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("learners", nargs="*", default=["q"])
    parser.add_argument("--warm", type=int, default=4_000_000)
    parser.add_argument("--rounds", type=int, default=7)
    given = parser.parse_args()
    print(f"{'k games/s':<10}{'games':>20}{'grown':>14}{'dense':>14}{'ratio':>10}")
    for name in given.learners:
        measure(name, given.warm, given.rounds)


if __name__ == "__main__":
    main()
