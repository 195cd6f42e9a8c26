"""All ratios, in one table and one run.

    python -m tests.benchmarks [--quick] [--full]

``--quick`` takes fewer rounds and games, ``--full`` the 100 million games for which the aims are stated.
Lines that need OpenSpiel, polars or a C compiler are left out without it. ``kernels`` and ``mcts`` are
programs of their own.
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
from tests.benchmarks.measuring import TTT, Row, alternate, load, process, show
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.evaluation.verdict import judge
from ttt_cli.learners import LEARNERS
from ttt_cli.learners.q import Q
from ttt_cli.training.runs import SHARDS, Plan, here, run
from ttt_cli.training.workers import local_workers

LONG = 100_000_000
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


def kernel_rows(quick: bool, full: bool, folder: Path) -> Iterator[Row]:
    """A default run of each learner's kernel."""
    found = kernels.rates(list(LEARNERS), folder, rounds=5 if quick else 40)
    million = {name: f"{rate / 1e6:.2f}" for name, rate in found.items()}
    if "C" in found:
        how = f"{million['q']} and {million['C']} million games a second"
        yield Row("kernel of q / scalar C", found["q"] / found["C"], ">= 0.9", how)
    for name, aim in AIMS.items():
        how = f"{million[name]} million games a second"
        yield Row(f"kernel of {name} / q", found[name] / found["q"], aim, how)


def train_rows(quick: bool, full: bool, folder: Path) -> Iterator[Row]:
    """The whole process against the loop of OpenSpiel's tabular Q-learner, which is loaded already."""
    if find_spec("open_spiel") is None:
        return
    from open_spiel.python import rl_environment
    from open_spiel.python.algorithms import tabular_qlearner

    games, part = 50_000, 2000 if quick else 10_000
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
    found = alternate({"ours": ours, "theirs": theirs}, 2 if quick else 5)
    whole = found["theirs"] * games / part
    how = f"{found['ours']:.2f} s from the shell; OpenSpiel's loop {whole:.1f} s, scaled from {part:,} games"
    yield Row("ttt train q --games 50000 / OpenSpiel", whole / found["ours"], ">= 10", how)


def verdict_rows(quick: bool, full: bool, folder: Path) -> Iterator[Row]:
    """A full verdict (two opponents, worst cases, mistakes) on random play against OpenSpiel's
    exploitability."""
    if find_spec("open_spiel") is None:
        return
    import pyspiel
    from open_spiel.python import policy
    from open_spiel.python.algorithms import exploitability

    space, times = StateSpace.of(), 20
    ours, perfect = tables.uniform(space), tables.minimax(space)
    game = pyspiel.load_game("tic_tac_toe")
    uniform = policy.UniformRandomPolicy(game)

    def often() -> None:
        for _ in range(times):
            judge(ours, [("random", ours), ("minimax", perfect)])

    often()
    tasks = {"ours": often, "theirs": lambda: exploitability.exploitability(game, uniform)}
    found = alternate(tasks, 1 if quick else 3)
    one = found["ours"] / times
    how = f"{1000 * one:.1f} ms; OpenSpiel's exploitability {found['theirs']:.1f} s"
    yield Row("full verdict / OpenSpiel's exploitability", found["theirs"] / one, ">= 500", how)


def worker_rows(quick: bool, full: bool, folder: Path) -> Iterator[Row]:
    """Two workers against one, without starting them."""
    learner, space, games = Q(), StateSpace.of(), LONG if full else LONG // 5 if quick else LONG // 2
    tables: dict[str, Any] = {}

    def task(name: str, executor: Any) -> Callable[[], None]:
        def train(number: int = games) -> None:
            plan = Plan(learner, number, 1, shards=SHARDS)
            *_, last = run(plan, learner.empty(space.rules), executor=executor)
            tables[name] = dict(learner.to_entries(last.table))

        train(16 * SHARDS)  # starts the workers, and compiles
        return train

    with local_workers(2) as two, nullcontext(here) as one:
        before = load()
        times = alternate({"1": task("1", one), "2": task("2", two)}, 1 if quick else 3)
    assert tables["1"] == tables["2"]
    how = f"{games:,} games in {times['1']:.1f} s and {times['2']:.1f} s; {before}"
    yield Row("2 workers / 1 worker", times["1"] / times["2"], ">= 1.7", how)


def file_rows(quick: bool, full: bool, folder: Path) -> Iterator[Row]:
    """Books of a million rows each, imported and merged, against what polars takes to read the same rows and
    drop those that are there twice."""
    if find_spec("polars") is None:
        return
    process(*TTT, "train", "book", "--games", 300_000, "--seed", 1, "-o", "book.csv", folder=folder)
    process(*TTT, "export", "book.csv", "-f", "moves-csv", "-o", "rows.csv", folder=folder)
    known, rng = (folder / "rows.csv").read_text().split(), random.Random(1)
    parts = [folder / f"{number}.csv" for number in range(3 if quick else 10)]
    for part in parts:
        part.write_text("\n".join(rng.choices(known, k=ROWS)) + "\n")
    whole = folder / "whole.csv"
    whole.write_text("".join(part.read_text() for part in parts))
    for command, files in (("import", [whole]), ("merge", parts)):
        out = folder / f"{command}.csv"
        runs = []
        for _ in range(1 if quick else 3):
            out.unlink(missing_ok=True)
            runs.append((process(*TTT, command, *files, "-o", out), process("-c", POLARS, *files)))
        ours, theirs = (median(found.cpu for found in side) for side in zip(*runs, strict=True))
        held, used = (max(found.memory for found in side) for side in zip(*runs, strict=True))
        how = f"{len(parts) * ROWS:,} rows in {len(files)} file{'s' * (len(files) > 1)}: "
        how += f"{ours:.1f} s and {held:,.0f} MB; polars {theirs:.1f} s and {used:,.0f} MB"
        yield Row(f"ttt {command} / polars", theirs / ours, ">= 0.5", how)


def startup_rows(quick: bool, full: bool, folder: Path) -> Iterator[Row]:
    """Start-up against a bare Typer program, in processor time."""
    calls = {"hello": ("-c", TYPER), "ttt --version": (*TTT, "--version"), "ttt show": (*TTT, "show")}
    taken = [
        {name: process(*call, folder=folder).cpu for name, call in calls.items()}
        for _ in range(5 if quick else 20)
    ][1:]  # the first writes the byte code
    least = {name: min(times[name] for times in taken) for name in calls}
    for name in ("ttt --version", "ttt show"):
        how = f"{1000 * least[name]:.0f} ms; Typer {1000 * least['hello']:.0f} ms"
        yield Row(f"{name} / a bare Typer program", least[name] / least["hello"], "", how)


PARTS = (file_rows, kernel_rows, train_rows, verdict_rows, worker_rows, startup_rows)
"""Files first: what a child reports as its memory is at least this process's."""


def main(quick: bool, full: bool) -> None:
    """Measure and print."""
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}; {load()}\n")
    with tempfile.TemporaryDirectory() as folder:
        show(row for part in PARTS for row in part(quick, full, Path(folder)))
    print(f"\n{load()}")


if __name__ == "__main__":
    if set(sys.argv[1:]) <= {"--quick", "--full"}:
        main("--quick" in sys.argv, "--full" in sys.argv)
    else:
        print(__doc__)
