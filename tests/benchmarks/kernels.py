"""Kernels: games a second of every learner, and of ``q`` as a share of what C by hand reaches.

    python -m tests.benchmarks.kernels DIR [ROUNDS]

prints the games a second of ``ttt train`` here over those of another checkout, in turns: the median of the
rounds' ratios, and the ratio of the best rounds. Both run command lines, in a process of their own with the
processor's time as its clock.
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

GAMES = 1 << 18
"""In a round."""
HERE = Path(__file__).parents[2]
KINDS = {"default": [], "article": ["--preset", "article"], "symmetric": ["--symmetry"]}
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


def limit(folder: Path) -> Callable[[], object] | None:
    """``limit.c`` on a table of its own that a default run has left; None without a C compiler (``$CC``, or
    ``cc``)."""
    compiler = os.environ.get("CC") or shutil.which("cc")
    if compiler is None:
        return None
    library = folder / "limit.so"
    source = Path(__file__).with_name("limit.c")
    options = ["-O3", "-march=native", "-shared", "-fPIC", "-o", str(library), str(source)]
    subprocess.run([*compiler.split(), *options], check=True)
    function = ctypes.CDLL(str(library)).play
    q, space = Q(), StateSpace.of()
    order = np.argsort(~space.legal, axis=1, kind="stable")  # the legal moves first
    after = np.take_along_axis(space.successors, order, axis=1).astype(np.uint32)
    rule = (q.gamma, q.slips, q.epsilon, q.settling * len(space), q.alpha, q.pace)
    top = np.where(space.results == 0, 0.0, -1.0)  # whoever has made a line is not the side to move
    table = (np.zeros(order.shape), np.zeros(order.shape, np.int64), top, np.zeros(len(space), np.uint8))
    number = space.legal.sum(axis=1, dtype=np.int8)
    arrays = (number, after, space.results, *table, np.zeros(3, np.int64))
    places = [array.ctypes.data_as(ctypes.c_void_p) for array in arrays]
    seeds = count(1)  # other games each time: a processor learns to predict those it has seen

    def play(first: int, games: int) -> None:
        whole = (ctypes.c_int64(first), ctypes.c_int64(games), ctypes.c_uint64(next(seeds)))
        function(*whole, *(ctypes.c_double(value) for value in rule), *places)

    play(0, q.default_games)
    return lambda: play(q.default_games, GAMES)


def trained(name: str) -> Callable[[], object]:
    """The learner's own kernel, random numbers and all, on the table of a default run."""
    learner: Any = learner_class(name)()
    *_, last = run(Plan(learner, learner.default_games, seed=1), learner.empty(STANDARD))
    table, rng = last.table, np.random.default_rng(1)
    return lambda: learner.train(table, Shard(learner.default_games, GAMES, rng))


def rates(names: list[str], folder: Path, rounds: int) -> dict[str, float]:
    """Games a second of processor time, the best of the rounds; of ``C`` too, if there is a compiler."""
    tasks = {name: trained(name) for name in names}
    if (function := limit(folder)) is not None:
        tasks["C"] = function
    best = dict.fromkeys(tasks, 0.0)
    for _ in range(rounds):
        for name, task in tasks.items():
            start = process_time()
            task()
            best[name] = max(best[name], GAMES / (process_time() - start))
    return best


def compare(other: Path, rounds: int) -> None:
    """Print for each learner the games a second here over those of another checkout."""
    sides = []
    for checkout in (HERE, other.resolve()):
        variables = os.environ | {"PYTHONPATH": str(checkout)}
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        folder = tempfile.mkdtemp()
        sides.append(subprocess.Popen([sys.executable, "-c", TRAINER], cwd=folder, env=variables, **pipes))

    def speed(side: subprocess.Popen[str], learner: str, options: list[str], games: int) -> float:
        """Games a second of a run from nothing; 0 where there is no such learner or option."""
        call = ["train", learner, *options, "--games", str(games), "--seed", "1", "--fresh"]
        assert side.stdin is not None and side.stdout is not None
        print(json.dumps([*call, "--json", "--quiet"]), file=side.stdin, flush=True)
        return float(side.stdout.readline())

    print(f"{'median, best':<12}" + "".join(f"{kind:>16}" for kind in KINDS))
    for name in LEARNERS:
        row = f"{name:<12}"
        for options in KINDS.values():
            first = [speed(side, name, options, 20_000) for side in sides]  # compiles
            if 0 in first:
                row += f"{'-':>16}"
                continue
            games = min(int(0.3 * speed(sides[0], name, options, 20_000)), 9_000_000)  # one shard
            found = [[speed(side, name, options, games) for side in sides] for _ in range(rounds)]
            middle = median(ours / theirs for ours, theirs in found)
            ours, theirs = map(max, zip(*found, strict=True))
            row += f"{f'{middle:.2f}, {ours / theirs:.2f}':>16}"
        print(row, flush=True)
    for side in sides:
        side.communicate()


if __name__ == "__main__":
    compare(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 10)
