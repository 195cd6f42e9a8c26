"""Kernels: games a second of every learner, and of ``q`` as a share of what C by hand reaches.

    python -m tests.benchmarks.kernels [ROUNDS]
    python -m tests.benchmarks.kernels --against DIR [ROUNDS]

All on one core, in turns, the best of the rounds. A round is a default run from nothing (``new``: exploring,
every value still changing) or more games for a table that a default run has left (``settled``). The yardstick
is ``limit.c``, compiled if there is a C compiler (``$CC``, or ``cc``); it prints the two rates it reaches.

With ``--against``, the games a second of ``ttt train`` here over those of another checkout, in turns: the
median of the rounds' ratios, and the ratio of the best rounds. Both run command lines, which are what
versions have in common, in a process of their own with the processor's time as its clock.
"""

import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from itertools import count
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import numpy as np

from ttt_cli.engine.rules import STANDARD
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.learners import LEARNERS, learner_class
from ttt_cli.learners.base import Shard
from ttt_cli.learners.q import Q
from ttt_cli.training.runs import Plan, run

SOURCE = Path(__file__).with_name("limit.c")
GAMES = {"new": 1 << 18, "settled": 1 << 18}
Task = Callable[[], None]

HERE = Path(__file__).parents[2]
KINDS = {"default": [], "article": ["--preset", "article"], "symmetric": ["--symmetry"]}
SECONDS = 0.3
"""What a run takes that is compared with another checkout's."""

TRAINER = """
import json, sys, time
from io import StringIO
time.monotonic = time.process_time
from ttt_cli.app import run
from ttt_cli.environment import Environment
for line in sys.stdin:
    out = StringIO()
    code = run(json.loads(line), Environment(StringIO(), out, StringIO()))
    print(json.loads(out.getvalue())["games_per_second"] if code == 0 else 0, flush=True)
"""


def compiled(folder: Path) -> Callable[..., None] | None:
    """The C function of ``limit.c``; None without a compiler."""
    compiler = os.environ.get("CC") or shutil.which("cc")
    if compiler is None:
        return None
    library = folder / "limit.so"
    options = ["-O3", "-march=native", "-shared", "-fPIC"]
    subprocess.run([*compiler.split(), *options, "-o", str(library), str(SOURCE)], check=True)
    function: Callable[..., None] = ctypes.CDLL(str(library)).play
    return function


def limit(function: Callable[..., None], space: StateSpace, *, settled: bool) -> Task:
    """The C loop on a table of its own."""
    q, number = Q(), space.legal.sum(axis=1, dtype=np.int8)
    order = np.argsort(~space.legal, axis=1, kind="stable")  # the legal moves first
    after = np.take_along_axis(space.successors, order, axis=1).astype(np.uint32)
    rule = (q.gamma, q.slips, q.epsilon, q.settling * len(space), q.alpha, q.pace)
    shape, start = (len(space), space.cells), q.empty(STANDARD)
    table = (np.zeros(shape), np.zeros(shape, np.int64), start.top.copy(), start.choice.copy())
    arrays = (number, after, space.results, *table, np.zeros(3, np.int64))
    places = [array.ctypes.data_as(ctypes.c_void_p) for array in arrays]

    seeds = count(1)  # other games each time: a processor learns to predict those it has seen

    def play(first: int, games: int) -> None:
        whole = (ctypes.c_int64(first), ctypes.c_int64(games), ctypes.c_uint64(next(seeds)))
        function(*whole, *(ctypes.c_double(value) for value in rule), *places)

    def new() -> None:
        for part, empty in zip(table, (0, 0, start.top, start.choice), strict=True):
            part[...] = empty
        play(0, GAMES["new"])

    if not settled:
        return new
    play(0, q.default_games)
    return lambda: play(q.default_games, GAMES["settled"])


def trained(name: str, space: StateSpace, *, settled: bool) -> Task:
    """The learner's own kernel, random numbers and all."""
    learner: Any = learner_class(name)()

    def new(games: int = GAMES["new"]) -> Any:
        table: Any = None
        for progress in run(Plan(learner, games, seed=1), learner.empty(STANDARD)):
            table = progress.table
        return table

    new(1)  # compiles
    if not settled:
        return lambda: new() and None
    table, rng = new(learner.default_games), np.random.default_rng(1)

    def more() -> None:
        learner.train(table, Shard(learner.default_games, GAMES["settled"], rng))

    return more


def rates(tasks: dict[str, Task], games: int, rounds: int) -> dict[str, float]:
    """Games a second of processor time, the best of the rounds."""
    best = dict.fromkeys(tasks, 0.0)
    for _ in range(rounds):
        for name, task in tasks.items():
            start = process_time()
            task()
            best[name] = max(best[name], games / (process_time() - start))
    return best


class Checkout:
    """A process that trains as a checkout does."""

    def __init__(self, path: Path, folder: Path) -> None:
        variables = os.environ | {"PYTHONPATH": str(path.resolve())}
        call = [sys.executable, "-c", TRAINER]
        self._process = subprocess.Popen(
            call, cwd=folder, env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def speed(self, learner: str, options: list[str], games: int) -> float:
        """Games a second of a run from nothing; 0 where there is no such learner or option."""
        call = ["train", learner, *options, "--games", str(games), "--seed", "1", "--fresh"]
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps([*call, "--json", "--quiet"]) + "\n")
        self._process.stdin.flush()
        return float(self._process.stdout.readline())

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def compare(other: Path, rounds: int) -> None:
    """Print for each learner the games a second here over those of another checkout."""
    print(f"{'median, best':<10}" + "".join(f"{kind:>16}" for kind in KINDS))
    with tempfile.TemporaryDirectory() as own, tempfile.TemporaryDirectory() as others:
        sides = (Checkout(HERE, Path(own)), Checkout(other, Path(others)))
        for name in LEARNERS:
            row = f"{name:<12}"
            for options in KINDS.values():
                rates = [side.speed(name, options, 20_000) for side in sides]  # compiles
                if 0 in rates:
                    row += f"{'-':>16}"
                    continue
                games = min(int(SECONDS * sides[0].speed(name, options, 20_000)), 9_000_000)  # one shard
                found: list[list[float]] = [[], []]
                for number in range(rounds):
                    for side in (0, 1) if number % 2 else (1, 0):
                        found[side].append(sides[side].speed(name, options, games))
                middle = median(here / there for here, there in zip(*found, strict=True))
                row += f"{f'{middle:.2f}, {max(found[0]) / max(found[1]):.2f}':>16}"
            print(row, flush=True)
        for side in sides:
            side.close()


def main(rounds: int) -> None:
    """Measure and print."""
    space = StateSpace.of()
    print(f"{'':<10}" + "".join(f"{kind + ', M games/s':>24}{'of C':>8}{'of q':>8}" for kind in GAMES))
    with tempfile.TemporaryDirectory() as folder:
        function = compiled(Path(folder))
        columns: dict[str, dict[str, float]] = {}
        for kind, games in GAMES.items():
            tasks = {name: trained(name, space, settled=kind == "settled") for name in LEARNERS}
            if function is not None:
                tasks["C"] = limit(function, space, settled=kind == "settled")
            columns[kind] = rates(tasks, games, rounds)
    for name in ["C", *LEARNERS] if function is not None else LEARNERS:
        row = f"{name:<10}"
        for found in columns.values():
            of_c = f"{found[name] / found['C']:.2f}" if "C" in found else "-"
            row += f"{found[name] / 1e6:>24.2f}{of_c:>8}{found[name] / found['q']:>8.2f}"
        print(row)
    if function is None:
        print("no C compiler: no yardstick")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--against"]:
        compare(Path(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 10)
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
