"""All ratios, in one table and one run.

    python -m tests.benchmarks [--full]

``--full`` plays the 100 million games for which the aims are stated. Lines that need OpenSpiel or a C
compiler are left out without it.
"""

import os
import platform
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests import tables
from tests.benchmarks import kernels
from tests.benchmarks.measuring import TTT, alternate, load, process
from ttt_cli.engine.rules import STANDARD
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.evaluation.verdict import judge
from ttt_cli.learners import LEARNERS
from ttt_cli.learners.q import Q
from ttt_cli.store.state import State
from ttt_cli.training.trainer import SHARDS, advance, new_run
from ttt_cli.training.workers import local_workers

Row = tuple[str, float, str, str]
"""What is measured, how many times better than the yardstick, what that should be, and the figures."""
AIMS = {"td": ">= 0.5", "book": ">= 0.5", "graph": ">= 0.2", "menace": ">= 0.2"}
TYPER = "import typer; app = typer.Typer(); app.command()(lambda: typer.echo('hello')); app()"


def kernel_rows(full: bool, folder: Path) -> Iterator[Row]:
    """A default run of each learner's kernel."""
    found = kernels.rates(list(LEARNERS), folder, rounds=40 if full else 6)
    million = {name: f"{rate / 1e6:.2f}" for name, rate in found.items()}
    if "C" in found:
        how = f"{million['q']} and {million['C']} million games a second"
        yield "kernel of q / scalar C", found["q"] / found["C"], ">= 0.9", how
    for name, aim in AIMS.items():
        how = f"{million[name]} million games a second"
        yield f"kernel of {name} / q", found[name] / found["q"], aim, how


def spiel_rows(full: bool, folder: Path) -> Iterator[Row]:
    """Training as a whole process against the loop of OpenSpiel's tabular Q-learner, which is loaded already;
    and a full verdict (two opponents, worst cases, mistakes) on random play against its exploitability."""
    if find_spec("open_spiel") is None:
        return
    import pyspiel
    from open_spiel.python import policy, rl_environment
    from open_spiel.python.algorithms import exploitability, tabular_qlearner

    games, part = 50_000, 10_000
    environment: Any = rl_environment.Environment("tic_tac_toe")
    agents = [tabular_qlearner.QLearner(player_id=side, num_actions=9) for side in range(2)]

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
        judge(uniform, [("random", uniform), ("minimax", perfect)])

    judged()
    theirs_too = policy.UniformRandomPolicy(game)
    found = alternate({"ours": judged, "theirs": lambda: exploitability.exploitability(game, theirs_too)}, 3)
    how = f"{1000 * found['ours']:.1f} ms; OpenSpiel's exploitability {found['theirs']:.1f} s"
    yield "full verdict / OpenSpiel's exploitability", found["theirs"] / found["ours"], ">= 500", how


def worker_rows(full: bool, folder: Path) -> Iterator[Row]:
    """Two workers against one, without starting them."""
    learner, games = Q(), 100_000_000 if full else 20_000_000

    def train(spread: Any, number: int = games) -> None:
        run = new_run(Path(), State.empty(learner, STANDARD), games=number, seed=1)
        run.shards = SHARDS
        list(advance(run, spread))

    with local_workers(2) as two:
        for spread in (map, two):
            train(spread, 16 * SHARDS)  # starts the workers, and compiles
        times = alternate({"1": lambda: train(map), "2": lambda: train(two)}, 3)
    how = f"{games:,} games in {times['1']:.1f} s and {times['2']:.1f} s"
    yield "2 workers / 1 worker", times["1"] / times["2"], ">= 1.7", how


def startup_rows(full: bool, folder: Path) -> Iterator[Row]:
    """Start-up against a bare Typer program, in processor time."""
    calls = {"hello": ("-c", TYPER), "ttt --version": (*TTT, "--version"), "ttt show": (*TTT, "show")}
    rounds = range(20 if full else 5)  # the first writes the byte code
    least = {name: min(process(*call, folder=folder) for _ in rounds) for name, call in calls.items()}
    hello = least.pop("hello")
    for name, seconds in least.items():
        how = f"{1000 * seconds:.0f} ms; Typer {1000 * hello:.0f} ms"
        yield f"{name} / a bare Typer program", seconds / hello, "", how


if __name__ == "__main__":
    if not set(sys.argv[1:]) <= {"--full"}:
        sys.exit(__doc__)
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}; {load()}\n")
    print(f"{'':<44}{'ratio':>9}  {'aim':<9}measured", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for part in (kernel_rows, spiel_rows, worker_rows, startup_rows):
            for name, ratio, aim, how in part("--full" in sys.argv, Path(folder)):
                print(f"{name:<44}{ratio:>9.3g}  {aim:<9}{how}", flush=True)
    print(f"\n{load()}")
