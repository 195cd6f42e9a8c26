"""Workers: how much faster two are than one, and what splitting a run into shards costs in learning.

    python -m tests.benchmarks.sharing [--quick] [--full]

With ``--full`` the workers play 100 million games each time, without it fewer. That the bytes are the same is
asserted on the way.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any

from tests.benchmarks.measuring import Row, alternate, load, show
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.evaluation.verdict import is_unbeatable
from ttt_cli.learners.q import Q
from ttt_cli.training.runs import SHARDS, Plan, here, run
from ttt_cli.training.workers import local_workers

SEEDS = (1, 2, 3, 4, 5)
LONG = 10_000_000
CONFIRMED = 5
"""A player counts as unbeatable from the first of so many blocks in a row after which it is."""


def rows(quick: bool, full: bool = False) -> Iterator[Row]:
    """Lines of the table."""
    yield speed(100_000_000 if full else 20_000_000 if quick else 40_000_000, 1 if quick else 3)
    yield learning(SEEDS)


def speed(games: int, rounds: int) -> Row:
    """Two workers against one; starting them is not counted, for it does not grow with the games."""
    learner, space = Q(), StateSpace.of()
    found: dict[str, Any] = {}

    def task(name: str, executor: Any) -> Callable[[], None]:
        def train(number: int = games) -> None:
            *_, last = run(
                Plan(learner, number, 1, shards=SHARDS), learner.empty(space.rules), executor=executor
            )
            found[name] = dict(learner.to_entries(last.table))

        train(16 * SHARDS)  # starts the workers, and compiles
        return train

    with local_workers(2) as two, nullcontext(here) as one:
        before = load()
        times = alternate({"1": task("1", one), "2": task("2", two)}, rounds)
    assert found["1"] == found["2"]
    how = f"{games:,} games in {times['1']:.1f} s and {times['2']:.1f} s; {before}"
    return Row("2 workers / 1 worker", times["1"] / times["2"], ">= 1.7", how)


def unbeatable_from(shards: int, seed: int) -> int:
    """The games after which ``q`` is unbeatable to stay, in a long run seen after each of its blocks."""
    learner, space = Q(), StateSpace.of()
    first = held = 0
    for progress in run(Plan(learner, LONG, seed, shards=shards), learner.empty(space.rules)):
        if is_unbeatable(learner.policy(progress.table).table(StateSpace.of())):
            first, held = first or progress.games, held + 1
            if held == CONFIRMED:
                return first
        else:
            first = held = 0
    return LONG


def learning(seeds: tuple[int, ...]) -> Row:
    """The games that runs in the default number of shards need, over those that runs in one shard need: the
    sums over all seeds, since single runs are seen only where their blocks end."""
    many, one = ([unbeatable_from(shards, seed) for seed in seeds] for shards in (SHARDS, 1))
    how = f"seeds {seeds[0]} to {seeds[-1]}: {many} and {one}"
    return Row(f"games until unbeatable, {SHARDS} shards / 1", sum(many) / sum(one), "<= 2", how)


if __name__ == "__main__":
    show(rows("--quick" in sys.argv, "--full" in sys.argv))
