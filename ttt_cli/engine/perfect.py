"""The values of positions under perfect play: by retrograde analysis if the board has a state space, else by
proof. A value that is not proved within the limits stays unknown."""

from functools import lru_cache
from threading import Lock

import numpy as np

from ttt_cli.engine import proof_search
from ttt_cli.engine.arrays import Int8s
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.scores import solve
from ttt_cli.engine.solver import Solver
from ttt_cli.engine.state_space import enumerated

UNPROVEN = proof_search.UNPROVEN

NODES = 20_000
"""The limit of nodes for the value of a position."""


_solver_of = lru_cache(maxsize=2)(Solver)
"""The solver of rules, which keeps what it has proved."""

_solving = Lock()
"""A solver is not thread-safe, and threads may ask for values at the same time."""


@lru_cache(maxsize=8)
def game_value(rules: Rules) -> int | None:
    """The value of the game for X: +1 a win, 0 a draw, -1 a loss; None if it is not proved."""
    value = int(values_of(Positions.start(rules), nodes=200_000)[0])  # at most some seconds
    return None if value == UNPROVEN else value


def values_of(positions: Positions, *, nodes: int = NODES) -> Int8s:
    """int8[k]: +1 the mover (on a terminal board, the side that would be next) wins, 0 a draw, -1 it loses;
    ``UNPROVEN`` if a proof takes more than ``nodes`` nodes."""
    space = enumerated(positions.rules)
    if space is not None:
        return np.sign(solve(space)[space.rows(positions)])
    with _solving:
        return _solver_of(positions.rules).values(positions, nodes=nodes)


def move_values_of(positions: Positions, *, nodes: int = NODES) -> Int8s:
    """int8[k, cells]: the value of each move for the mover; ``UNPROVEN`` if unknown, or if it is illegal."""
    move_values = np.full((len(positions), positions.rules.cells), UNPROVEN, np.int8)
    rows, cells = np.nonzero(positions.legal)
    values = values_of(positions.play(rows, cells), nodes=nodes)
    move_values[rows, cells] = negated(values)
    return move_values


def negated(values: Int8s) -> Int8s:
    """int8[k]: the values for the other side; ``UNPROVEN`` stays the same."""
    return np.where(values == UNPROVEN, values, -values)
