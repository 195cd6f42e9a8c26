"""Exactness: a full verdict against OpenSpiel's exploitability, and what a learning curve costs.

    python -m tests.benchmarks.exactness [--quick] [--full]

The verdict is everything that ``ttt evaluate`` tells (two opponents, worst cases, mistakes) about the uniform
policy. The curve's cost is the time of all its looks at the player as a share of the games' time, in a run of
100 million games; without ``--full`` the games are timed over fewer and scaled.
"""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

from tests import tables
from tests.benchmarks.measuring import Row, alternate, show
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.evaluation.verdict import judge
from ttt_cli.learners.q import Q
from ttt_cli.training.curve import Curve, points
from ttt_cli.training.runs import Plan, run

RUN = 100_000_000


def rows(quick: bool, full: bool = False) -> Iterator[Row]:
    """Lines of the table."""
    yield from verdict(quick)
    yield curve_cost(quick, full)


def verdict(quick: bool) -> Iterator[Row]:
    """The verdict's line, where OpenSpiel is installed."""
    try:
        import pyspiel
        from open_spiel.python import policy
        from open_spiel.python.algorithms import exploitability
    except ImportError:
        print("OpenSpiel is not installed: no comparison of the verdict")
        return
    space = StateSpace.of()
    ours, perfect = tables.uniform(space), tables.minimax(space)
    game = pyspiel.load_game("tic_tac_toe")
    theirs = policy.UniformRandomPolicy(game)

    def judge_often() -> None:
        for _ in range(20):
            judge(ours, [("random", ours), ("minimax", perfect)])

    judge_often()
    tasks = {"ours": judge_often, "theirs": lambda: exploitability.exploitability(game, theirs)}
    found = alternate(tasks, 1 if quick else 3)
    ours_ms = found["ours"] / 20 * 1000
    how = f"{ours_ms:.1f} ms; OpenSpiel's exploitability {found['theirs']:.1f} s"
    yield Row("full verdict / OpenSpiel's exploitability", 1000 * found["theirs"] / ours_ms, ">= 500", how)


def curve_cost(quick: bool, full: bool) -> Row:
    """The curve's line: the looks are those of a run of 100 million games, whoever plays the games."""
    plan, space = Plan(Q(), RUN, seed=1), StateSpace.of()
    games = RUN if full else plan.block_games * (1 if quick else 8)
    part = Plan(plan.learner, games, seed=1, shards=plan.shards_a_block)
    list(run(Plan(plan.learner, 1, seed=1), plan.learner.empty(space.rules)))  # compiles
    start = perf_counter()
    *_, last = run(part, plan.learner.empty(space.rules))
    playing = (perf_counter() - start) * RUN / games
    looks = len({-(-point // plan.block_games) for point in points(RUN)})  # one at the end of a block at most
    with tempfile.TemporaryDirectory() as folder:
        curve = Curve(RUN, Path(folder, "curve.csv"))
        start = perf_counter()
        for number in range(looks):
            curve.look(number, lambda: plan.learner.policy(last.table).table(StateSpace.of()), now=True)
        looking = perf_counter() - start
    how = f"{looks} looks, {looking:.2f} s, in {playing:.1f} s of games"
    how += "" if full else f", scaled from {games:,}"
    return Row("--curve: share of 100,000,000 games", looking / playing, "< 0.05", how)


if __name__ == "__main__":
    show(rows("--quick" in sys.argv, "--full" in sys.argv))
