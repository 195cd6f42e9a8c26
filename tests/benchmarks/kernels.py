"""Kernels: games a second of every learner, and of ``q`` as a share of what C by hand reaches.

    python -m tests.benchmarks.kernels [ROUNDS]
    python -m tests.benchmarks.kernels --against DIR [ROUNDS]

All on one core, in turns, the best of the rounds. A round is a default run from nothing (``new``: exploring,
every value still changing) or more games for a table that a default run has left (``settled``). The yardstick
is ``limit.c``, compiled if there is a C compiler (``$CC``, or ``cc``); it prints the two rates it reaches.

With ``--against``, the games a second of ``ttt train`` here over those of another checkout, in pairs: the
median of the rounds' ratios, and the range that they lie in. Both are asked through the command line, which
is what versions have in common, with the processor's time as their clock.
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
SECONDS = 2.0
"""What a run takes that is compared with another checkout's."""

CLOCKED = """
import sys, time
time.monotonic = time.process_time
from ttt_cli.app import main
sys.exit(main())
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


def speed(checkout: Path, learner: str, options: list[str], games: int) -> float | None:
    """Games a second of ``ttt train`` as a checkout has it; None if it has no such learner or option."""
    with tempfile.TemporaryDirectory() as folder:
        call = [sys.executable, "-c", CLOCKED, "train", learner, *options, "--games", str(games)]
        call += ["--seed", "1", "--store", folder, "--json", "--quiet"]
        variables = os.environ | {"PYTHONPATH": str(checkout.resolve())}
        found = subprocess.run(call, cwd=folder, env=variables, capture_output=True, text=True)
    return float(json.loads(found.stdout)["games_per_second"]) if found.returncode == 0 else None


def compare(other: Path, rounds: int) -> None:
    """Print for each learner the games a second here over those of another checkout."""
    print(f"{'':<10}" + "".join(f"{kind:>24}" for kind in KINDS))
    for name in LEARNERS:
        row = f"{name:<10}"
        for options in KINDS.values():
            first = [speed(checkout, name, options, 20_000) for checkout in (other, HERE)]  # compiles
            if None in first:
                row += f"{'-':>24}"
                continue
            games = min(int(SECONDS * (speed(HERE, name, options, 20_000) or 0)), 9_000_000)  # one shard
            ratios = []
            for number in range(rounds):
                order = [HERE, other] if number % 2 else [other, HERE]
                found = {checkout: speed(checkout, name, options, games) or 0.0 for checkout in order}
                ratios.append(found[HERE] / found[other])
            row += f"{f'{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})':>24}"
        print(row, flush=True)


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
        compare(Path(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 3)
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
