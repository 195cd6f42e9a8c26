"""The values of positions under perfect play: by retrograde analysis if the board has a state space, else by
proof. A value that is not proved within the limits stays unknown."""

from functools import lru_cache

import numpy as np

from ttt_cli.engine import proof_search
from ttt_cli.engine.arrays import Int8s
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.scores import move_scores, solve
from ttt_cli.engine.solver import Solver
from ttt_cli.engine.state_space import enumerated
from ttt_cli.engine.symmetry import classes

UNPROVEN = proof_search.UNPROVEN

NODES = 20_000
"""The limit of nodes for the value of a position."""

FEW_NODES = 2_000
"""The same where many positions are to be proved: those of a game, or those in which a player may err."""


@lru_cache(maxsize=8)
def game_value(rules: Rules) -> int | None:
    """The value of the game for X: +1 a win, 0 a draw, -1 a loss; None if it is not proved."""
    value = int(values_of(Positions.start(rules), nodes=200_000)[0])  # takes a few seconds at most
    return None if value == UNPROVEN else value


def values_of(positions: Positions, *, nodes: int = NODES) -> Int8s:
    """int8[k]: +1 the mover (on a terminal board, the side that would be next) wins, 0 a draw, -1 it loses;
    ``UNPROVEN`` if a proof takes more than ``nodes`` nodes."""
    space = enumerated(positions.rules)
    if space is not None:
        return np.sign(solve(space)[space.rows(positions)])
    return Solver(positions.rules).values(positions, nodes=nodes)[0]


def solved(positions: Positions, *, nodes: int = NODES) -> tuple[Int8s, Int8s]:
    """int8[k], int8[k, cells]: the values of positions, as ``values_of``, and of their moves for the mover,
    ``UNPROVEN`` if illegal; equivalent moves share what is proved for one of them, and a position has the
    value of its best move. What is proved for one position does not depend on the others."""
    if enumerated(positions.rules) is not None:
        moves = np.where(positions.legal, np.sign(move_scores(positions)), np.int8(UNPROVEN))
        return values_of(positions), moves
    every_move = np.arange(positions.cells, dtype=np.int8), proof_search.ALL, nodes
    values, moves = Solver(positions.rules).values(positions, nodes=nodes, moves=every_move)
    equivalent = np.arange(len(moves))[:, None], classes(positions).cells
    shared = np.full_like(moves, UNPROVEN)
    np.minimum.at(shared, equivalent, moves)  # ``UNPROVEN`` is more than any value
    moves = shared[equivalent]
    best = np.where((moves == 1).any(axis=1), np.int8(1), np.where(positions.legal, moves, -1).max(axis=1))
    return np.where(values == UNPROVEN, best, values), moves


def negated(values: Int8s) -> Int8s:
    """int8[k]: the values for the other side; ``UNPROVEN`` stays the same."""
    return np.where(values == UNPROVEN, values, -values)
