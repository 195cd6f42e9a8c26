"""Compile the kernels before the tests, each in one of the processes that share them: else all compile all.

Where they are compiled already this takes a second, which the first tests would take otherwise.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import monotonic, sleep

from ttt_cli.learners import LEARNERS

PATIENCE = 120
"""Seconds in which another process may compile; after that whoever needs its kernels compiles them too."""


def compile_in_turn(folder: Path) -> None:
    """Compile what no other process has begun with, and wait for the others.

    :param folder: the processes' own, empty at first.
    """
    for name, work in _kernels().items():
        try:
            (folder / f"{name}.begun").touch(exist_ok=False)
        except FileExistsError:
            continue
        work()
        (folder / f"{name}.done").touch()
    end = monotonic() + PATIENCE
    while len(list(folder.glob("*.done"))) < len(list(folder.glob("*.begun"))) and monotonic() < end:
        sleep(0.05)


def _kernels() -> dict[str, Callable[[], object]]:
    """What makes each kernel compile, those that take longest first."""
    learners = sorted(LEARNERS, key=lambda name: name != "ntuple")
    return {
        "values": _values,
        "solver": _solver,
        "lesson": _lesson,
        **{name: partial(_learner, name) for name in learners},
        "article": partial(_learner, "q", "article"),
        "growth": _growth,
    }


def _learner(name: str, choice: str = "default") -> None:
    from ttt_cli.engine.rules import STANDARD
    from ttt_cli.store.state import State, learner_of
    from ttt_cli.training.trainer import warm_up

    warm_up(State.empty(learner_of(name, choice), STANDARD))


def _lesson() -> None:
    from ttt_cli.engine.game import Game
    from ttt_cli.engine.rules import STANDARD
    from ttt_cli.store.state import State, learner_of

    state = State.empty(learner_of("ntuple", "default"), STANDARD)
    state.learner.learn(state.table, Game.of(STANDARD, (4, 0, 2, 6, 3, 5, 7, 1, 8)))


def _growth() -> None:
    """The index of a board without a state space."""
    import numpy as np

    from ttt_cli.agents.uniform import Uniform
    from ttt_cli.engine.rules import Rules
    from ttt_cli.learners.base import Shard
    from ttt_cli.store.state import State, learner_of

    rules = Rules(4, 4, 4)
    state = State.empty(learner_of("q", "default"), rules)
    state.learner.train(state.table, Shard(0, 20, np.random.default_rng(1), opponent=Uniform(rules)))


def _values() -> None:
    from ttt_cli.engine.positions import Positions
    from ttt_cli.engine.rules import STANDARD
    from ttt_cli.store.state import State, learner_of

    State.empty(learner_of("ntuple", "default"), STANDARD).policy.probabilities(Positions.start(STANDARD))


def _solver() -> None:
    from ttt_cli.engine.position import Position
    from ttt_cli.engine.positions import Positions
    from ttt_cli.engine.rules import Rules
    from ttt_cli.engine.solver import Solver

    rules = Rules(5, 5, 4)
    solver, start = Solver(rules), Positions.start(rules)
    solver.solve(Position.start(rules))
    solver.values(start)
