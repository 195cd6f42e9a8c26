"""Compile the kernels before the tests, each in one of the processes that share them: else all compile all.

Where they are compiled already this takes a second, which the first tests would take otherwise.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import monotonic, sleep

import numpy as np

from ttt_cli.agents.uniform import Uniform
from ttt_cli.engine.game import Game
from ttt_cli.engine.position import Position
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import STANDARD, Rules
from ttt_cli.engine.solver import Solver
from ttt_cli.learners import LEARNERS
from ttt_cli.learners.base import Shard
from ttt_cli.store.state import State, learner_of
from ttt_cli.training.trainer import warm_up

PATIENCE = 120
"""Seconds in which another process may compile; after that whoever needs its kernels compiles them too."""


def compile_in_turn(folder: Path) -> None:
    """Compile what no other process has begun with, and wait for the others.

    :param folder: the processes' own, empty at first.
    """
    for name, work in KERNELS.items():
        try:
            (folder / f"{name}.begun").touch(exist_ok=False)
        except FileExistsError:
            continue
        work()
        (folder / f"{name}.done").touch()
    end = monotonic() + PATIENCE
    while len(list(folder.glob("*.done"))) < len(list(folder.glob("*.begun"))) and monotonic() < end:
        sleep(0.05)


def _empty(name: str, rules: Rules = STANDARD, choice: str = "default") -> State:
    return State.empty(learner_of(name, choice), rules)


def _values() -> None:
    _empty("ntuple").policy.probabilities(Positions.start(STANDARD))


def _lesson() -> None:
    state = _empty("ntuple")
    state.learner.learn(state.table, Game.of(STANDARD, (4, 0, 2, 6, 3, 5, 7, 1, 8)))


def _growth() -> None:
    state = _empty("q", rules := Rules(4, 4, 4))
    state.learner.train(state.table, Shard(0, 20, np.random.default_rng(1), opponent=Uniform(rules)))


def _solver() -> None:
    Solver(rules := Rules(5, 5, 4)).solve(Position.start(rules))


KERNELS: dict[str, Callable[[], object]] = {
    **{"values": _values, "solver": _solver, "lesson": _lesson},
    **{
        name: partial(lambda name: warm_up(_empty(name)), name)
        for name in sorted(LEARNERS, key=lambda name: name != "ntuple")
    },
    "article": lambda: warm_up(_empty("q", choice="article")),
    "growth": _growth,
}
"""What makes each kernel compile, those that take longest first."""
