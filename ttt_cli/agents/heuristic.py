"""``heuristic``: two rules that beginners are taught. Complete a line of your own if you can; else block a
line of the opponent's; else play anywhere. It learns nothing and looks one ply ahead.
"""

from typing import Literal

import numpy as np

from ttt_cli.engine.policy import PolicyTable, first, uniform
from ttt_cli.engine.state_space import Bools, Int64s, StateSpace


def policy(
    space: StateSpace, *, centre: bool = False, ties: Literal["random", "first"] = "random"
) -> PolicyTable:
    """The rules as a policy.

    :param centre: take the middle cell first, after winning and blocking; without effect on a board that has
        no single middle cell.
    :param ties: which of several winning, or of several blocking, cells.
    """
    x, o = _masks(space)
    x_to_move = space.plies % 2 == 0
    chosen = space.legal
    if centre and space.rules.rows % 2 and space.rules.cols % 2:
        chosen = _prefer(_only(space, space.cells // 2), chosen)
    for stones in (np.where(x_to_move, o, x), np.where(x_to_move, x, o)):  # what comes last goes first
        completing = _completing(space, stones)
        chosen = _prefer(first(completing) if ties == "first" else completing, chosen)
    return PolicyTable(space, uniform(chosen))


def _masks(space: StateSpace) -> tuple[Int64s, Int64s]:
    """int64[n] twice: the cells of X and of O as bits."""
    x, o = np.zeros(len(space), np.int64), np.zeros(len(space), np.int64)
    for cell in range(space.cells):
        stone = space.stones[:, cell]
        x |= (stone == 2).astype(np.int64) << cell
        o |= (stone == 1).astype(np.int64) << cell
    return x, o


def _completing(space: StateSpace, stones: Int64s) -> Bools:
    """bool[n, cells]: the legal cells that would complete a line of the given stones."""
    found = np.zeros((len(space), space.cells), np.bool_)
    for cell in range(space.cells):
        completes = np.zeros(len(space), np.bool_)
        for line in space.rules.lines:
            if cell in line:
                others = sum(1 << other for other in line if other != cell)
                completes |= stones & others == others
        found[:, cell] = completes & space.legal[:, cell]
    return found


def _only(space: StateSpace, cell: int) -> Bools:
    chosen = np.zeros((len(space), space.cells), np.bool_)
    chosen[:, cell] = space.legal[:, cell]
    return chosen


def _prefer(chosen: Bools, otherwise: Bools) -> Bools:
    """Each row of ``chosen`` that has any cell, else that of ``otherwise``."""
    return np.where(chosen.any(axis=1, keepdims=True), chosen, otherwise)
