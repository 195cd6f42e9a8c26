"""The whole process: ``ttt train q --games 50000`` from the shell against OpenSpiel's tabular Q-learner.

    python -m tests.benchmarks.process [--quick]

OpenSpiel (``pip install open_spiel``) is loaded already when its clock starts, and plays fewer games,
scaled to 50,000; ``ttt`` starts, imports, trains, proves and saves. Where SciPy is installed, as it is with
OpenSpiel, Numba loads it too: some tenths of a second that ``ttt`` does not take elsewhere.

Then an account: the same steps in a fresh process, each with its milliseconds.
"""

import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.benchmarks.measuring import Row, alternate, show, ttt

GAMES = 50_000

ACCOUNT = """
from time import perf_counter
last = perf_counter()
def step(name):
    global last
    print(f"    {name:<44}{1000 * (perf_counter() - last):>7.0f} ms", flush=True)
    last = perf_counter()
import ttt_cli.app; step("the command line: Typer")
import numpy, numpy.random; step("NumPy")
import ttt_cli.training.trainer; step("our other modules")
from ttt_cli.engine.rules import STANDARD
from ttt_cli.training.runs import Plan, run
from ttt_cli.learners.q import Q
from ttt_cli.store import files, library
from ttt_cli.store.state import State
state = State.empty(Q(), STANDARD); step("the 5,478 positions, an empty table")
import numba; step("Numba")
ttt_cli.training.trainer.warm_up(state); step("the compiled kernel, from its cache")
for progress in run(Plan(state.learner, 50_000, 1), state.table): pass
step("50,000 games")
content = library.content(State(state.learner, STANDARD, False, progress.table)); step("the file's bytes")
from pathlib import Path
files.write_bytes(Path("account.json"), content); step("writing and syncing")
from ttt_cli.evaluation.verdict import is_unbeatable
is_unbeatable(state.learner.policy(progress.table)); step("the proof")
"""


def openspiel() -> Callable[[int], None] | None:
    """Plays games of OpenSpiel's own self-play loop; None where it is not installed."""
    try:
        from open_spiel.python import rl_environment
        from open_spiel.python.algorithms import tabular_qlearner
    except ImportError:
        return None
    environment: Any = rl_environment.Environment("tic_tac_toe")
    actions = environment.action_spec()["num_actions"]
    agents = [tabular_qlearner.QLearner(player_id=side, num_actions=actions) for side in range(2)]

    def play(games: int) -> None:
        for _ in range(games):
            step = environment.reset()
            while not step.last():
                mover = agents[step.observations["current_player"]]
                step = environment.step([mover.step(step).action])
            for agent in agents:
                agent.step(step)

    return play


def rows(quick: bool) -> Iterator[Row]:
    """Lines of the table."""
    play = openspiel()
    if play is None:
        print("OpenSpiel is not installed: no comparison of the whole process")
        return
    part = 2000 if quick else 10_000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def train() -> None:
            ttt("train", "q", "--games", GAMES, "--seed", 1, "-o", "q.json", "--fresh", folder=folder)

        train()  # compiles, and writes the byte code
        found = alternate({"ttt": train, "openspiel": lambda: play(part)}, 2 if quick else 5)
    theirs = found["openspiel"] * GAMES / part
    how = f"{found['ttt']:.2f} s from the shell; OpenSpiel's loop {theirs:.1f} s, scaled from {part:,} games"
    yield Row("ttt train q --games 50000 / OpenSpiel", theirs / found["ttt"], ">= 10", how)


def account() -> None:
    """Print where the time of the process goes."""
    import subprocess

    with tempfile.TemporaryDirectory() as folder:
        for quiet in (True, False):  # the first time compiles and writes byte code
            print("" if quiet else "account of one run:", end="" if quiet else "\n", flush=True)
            call = [sys.executable, "-X", f"pycache_prefix={folder}/bytecode", "-c", ACCOUNT]
            subprocess.run(call, cwd=folder, check=True, stdout=subprocess.DEVNULL if quiet else None)


if __name__ == "__main__":
    show(rows("--quick" in sys.argv))
    account()
