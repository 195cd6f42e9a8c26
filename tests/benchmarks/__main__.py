"""All ratios, in one table and one run.

    python -m tests.benchmarks [--full]

``--full`` plays the 100 million games for which the aims are stated. Lines that need OpenSpiel, polars or a C
compiler are left out without it. ``mcts`` is a program of its own.
"""

import os
import platform
import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

from tests import tables
from tests.benchmarks import kernels
from tests.benchmarks.measuring import TTT, alternate, load, process
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.evaluation.verdict import judge
from ttt_cli.learners import LEARNERS
from ttt_cli.learners.q import Q
from ttt_cli.training.runs import SHARDS, Plan, train_blocks, train_shards
from ttt_cli.training.workers import local_workers

Row = tuple[str, float, str, str]
"""What is measured, how many times better than the yardstick, what that should be, and the figures."""
ROWS = 1_000_000
"""Rows in each of the big files."""
AIMS = {"td": ">= 0.5", "book": ">= 0.5", "graph": ">= 0.2", "menace": ">= 0.2"}
TYPER = (
    "import typer\napp = typer.Typer()\n@app.command()\ndef hello() -> None:\n    typer.echo('hello')\napp()"
)
POLARS = """
import sys, polars
print(len(polars.concat([polars.read_csv(name, has_header=False) for name in sys.argv[1:]]).unique()))
"""


def kernel_rows(full: bool, folder: Path) -> Iterator[Row]:
    """A default run of each learner's kernel."""
    found = kernels.rates(list(LEARNERS), folder, rounds=40 if full else 6)
    million = {name: f"{rate / 1e6:.2f}" for name, rate in found.items()}
    if "C" in found:
        how = f"{million['q']} and {million['C']} million games a second"
        yield "kernel of q / scalar C", found["q"] / found["C"], ">= 0.9", how
    for name, aim in AIMS.items():
        yield (
            f"kernel of {name} / q",
            found[name] / found["q"],
            aim,
            f"{million[name]} million games a second",
        )


def spiel_rows(full: bool, folder: Path) -> Iterator[Row]:
    """Training as a whole process against the loop of OpenSpiel's tabular Q-learner, which is loaded already;
    and a full verdict (two opponents, worst cases, mistakes) on random play against its exploitability."""
    if find_spec("open_spiel") is None:
        return
    import pyspiel
    from open_spiel.python import policy, rl_environment
    from open_spiel.python.algorithms import exploitability, tabular_qlearner

    games, part, verdicts = 50_000, 10_000, 20
    environment: Any = rl_environment.Environment("tic_tac_toe")
    actions = environment.action_spec()["num_actions"]
    agents = [tabular_qlearner.QLearner(player_id=side, num_actions=actions) for side in range(2)]

    def theirs() -> None:
        for _ in range(part):
            step = environment.reset()
            while not step.last():
                mover = agents[step.observations["current_player"]]
                step = environment.step([mover.step(step).action])
            for agent in agents:
                agent.step(step)

    def ours() -> None:
        process(*TTT, "train", "q", "--games", games, "--seed", 1, "-o", "q.json", "--fresh", folder=folder)

    ours()  # compiles, and writes the byte code
    found = alternate({"ours": ours, "theirs": theirs}, 3)
    whole = found["theirs"] * games / part
    how = f"{found['ours']:.2f} s from the shell; OpenSpiel's loop {whole:.1f} s, scaled from {part:,} games"
    yield "ttt train q --games 50000 / OpenSpiel", whole / found["ours"], ">= 10", how

    space = StateSpace.of()
    uniform, perfect = tables.uniform(space), tables.minimax(space)
    game = pyspiel.load_game("tic_tac_toe")

    def judged() -> None:
        for _ in range(verdicts):
            judge(uniform, [("random", uniform), ("minimax", perfect)])

    judged()
    theirs_too = policy.UniformRandomPolicy(game)
    found = alternate({"ours": judged, "theirs": lambda: exploitability.exploitability(game, theirs_too)}, 3)
    one = found["ours"] / verdicts
    how = f"{1000 * one:.1f} ms; OpenSpiel's exploitability {found['theirs']:.1f} s"
    yield "full verdict / OpenSpiel's exploitability", found["theirs"] / one, ">= 500", how


def worker_rows(full: bool, folder: Path) -> Iterator[Row]:
    """Two workers against one, without starting them."""
    learner, space, games = Q(), StateSpace.of(), 100_000_000 if full else 20_000_000
    entries: dict[str, Any] = {}

    def task(name: str, executor: Any) -> Callable[[], None]:
        def train(number: int = games) -> None:
            plan = Plan(learner, number, 1, shards=SHARDS)
            *_, last = train_blocks(plan, learner.empty(space.rules), executor=executor)
            entries[name] = dict(learner.to_entries(last.table))

        train(16 * SHARDS)  # starts the workers, and compiles
        return train

    with local_workers(2) as two, nullcontext(train_shards) as one:
        times = alternate({"1": task("1", one), "2": task("2", two)}, 3)
    assert entries["1"] == entries["2"]
    how = f"{games:,} games in {times['1']:.1f} s and {times['2']:.1f} s"
    yield "2 workers / 1 worker", times["1"] / times["2"], ">= 1.7", how


def file_rows(full: bool, folder: Path) -> Iterator[Row]:
    """Books of a million rows each, imported and merged, against what polars takes to read the same rows and
    drop those that are there twice."""
    if find_spec("polars") is None:
        return
    process(*TTT, "train", "book", "--games", 300_000, "--seed", 1, "-o", "book.csv", folder=folder)
    process(*TTT, "export", "book.csv", "-f", "moves-csv", "-o", "rows.csv", folder=folder)
    known, rng = (folder / "rows.csv").read_text().split(), random.Random(1)
    parts = [folder / f"{number}.csv" for number in range(10 if full else 3)]
    for part in parts:
        part.write_text("\n".join(rng.choices(known, k=ROWS)) + "\n")
    whole = folder / "whole.csv"
    whole.write_text("".join(part.read_text() for part in parts))
    for command, files in (("import", [whole]), ("merge", parts)):
        runs = []
        for number in range(3):
            ours = process(*TTT, command, *files, "-o", f"{command}{number}.csv", folder=folder)
            runs.append((ours, process("-c", POLARS, *files, folder=folder)))
        (ours, held), (theirs, used) = (
            map(median, zip(*side, strict=True)) for side in zip(*runs, strict=True)
        )
        how = f"{len(parts) * ROWS:,} rows in {len(files)} file{'s' * (len(files) > 1)}: "
        how += f"{ours:.1f} s and {held:,.0f} MB; polars {theirs:.1f} s and {used:,.0f} MB"
        yield f"ttt {command} / polars", theirs / ours, ">= 0.5", how


def startup_rows(full: bool, folder: Path) -> Iterator[Row]:
    """Start-up against a bare Typer program, in processor time."""
    calls = {"hello": ("-c", TYPER), "ttt --version": (*TTT, "--version"), "ttt show": (*TTT, "show")}
    taken = [
        {name: process(*call, folder=folder)[0] for name, call in calls.items()}
        for _ in range(20 if full else 5)
    ][1:]  # the first writes the byte code
    hello, *least = (min(times[name] for times in taken) for name in calls)
    for name, seconds in zip(("ttt --version", "ttt show"), least, strict=True):
        how = f"{1000 * seconds:.0f} ms; Typer {1000 * hello:.0f} ms"
        yield f"{name} / a bare Typer program", seconds / hello, "", how


PARTS = (file_rows, kernel_rows, spiel_rows, worker_rows, startup_rows)
"""Files first: what a child reports as its memory is at least this process's."""


if __name__ == "__main__":
    if not set(sys.argv[1:]) <= {"--full"}:
        sys.exit(__doc__)
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}; {load()}\n")
    print(f"{'':<44}{'ratio':>9}  {'aim':<9}measured", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for part in PARTS:
            for name, ratio, aim, how in part("--full" in sys.argv, Path(folder)):
                print(f"{name:<44}{ratio:>9.3g}  {aim:<9}{how}", flush=True)
    print(f"\n{load()}")
