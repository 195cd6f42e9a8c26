"""Games a second of every learner's kernel, and of ``q`` as a share of what C by hand reaches."""

import ctypes
import os
import shutil
import subprocess
from collections.abc import Callable
from itertools import count
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from ttt_cli import train
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.learners import learner_class
from ttt_cli.learners.base import Shard
from ttt_cli.learners.q import Q

GAMES = 1 << 18
"""In a round."""


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
    table, rng = train(name, seed=1).table, np.random.default_rng(1)
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
