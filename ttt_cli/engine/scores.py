"""The scores of positions and moves: the value and the distance to the end in one number.

The score of a draw is 0. The size of any other is ``cells + 1 - t``, with ``t`` the number of stones at the
end; it is positive if the mover wins and negative if it loses. So a larger score is better: a sooner win or a
later loss. A position has the largest score of its moves, and a ply only changes the sign.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttt_cli.engine.arrays import Floats, Int8s
from ttt_cli.engine.positions import Positions, slices
from ttt_cli.engine.state_space import StateSpace

ILLEGAL = np.int8(-128)
"""The score of an illegal move, below every other."""

Scores = NDArray[Any]
"""int8; float64 if the last moves are estimated."""


@lru_cache(maxsize=8)
def solve(space: StateSpace) -> Int8s:
    """int8[n]: the scores under perfect play, by retrograde analysis."""
    scores = _terminal_scores(space)
    for rows in reversed(space.layers):
        best = _move_scores(space, scores, rows).max(axis=1)
        scores[rows] = np.where(space.terminal[rows], scores[rows], best)
    return scores


def move_scores(
    positions: Positions, depth: int | None = None, estimate: Callable[[Positions], Floats] | None = None
) -> Scores:
    """Scores[k, cells]: the score of each move, or ``ILLEGAL``.

    :param depth: plies to search, at least 1, the move itself included; None: to the end, on a board with a
        state space. Each distinct position is searched once in a ply.
    :param estimate: rates the moves of the last ply that do not end the game: float64[k, cells], for the
        mover, between -1 and 1; None: they score 0.
    """
    if depth is None:
        space = StateSpace.of(positions.rules)
        return _move_scores(space, solve(space), space.rows(positions))
    kind = np.int8 if estimate is None else np.float64
    scores: Scores = np.full((len(positions), positions.cells), ILLEGAL, kind)
    size = max(1, (1 << 18) // positions.cells)  # so that temporary arrays stay small
    for plies in np.unique(positions.plies):
        layer = np.flatnonzero(positions.plies == plies)
        for span in slices(0, len(layer), size):
            indices = layer[span]
            part = positions[indices]
            rows, cells = np.nonzero(part.legal)
            after, places = part.after(rows, cells)
            after_scores: Scores = _terminal_scores(after).astype(kind)
            if depth > 1:
                still_open = np.flatnonzero(~after.terminal)
                after_scores[still_open] = move_scores(after[still_open], depth - 1, estimate).max(axis=1)
            of_moves = 0 - after_scores[places]  # never -0.0
            if depth == 1 and estimate is not None:
                of_moves = np.where(after.terminal[places], of_moves, estimate(part)[rows, cells])
            scores[indices[rows], cells] = of_moves
    return scores


def move_plies(positions: Positions) -> Int8s:
    """int8[k, cells]: the plies from each move, itself included, to the end under perfect play, on a board
    with a state space."""
    scores = move_scores(positions)
    cells = positions.cells
    stones_at_end = np.where(scores == 0, cells, cells + 1 - np.abs(scores))
    return (stones_at_end - positions.plies[:, None]).astype(np.int8)


def _terminal_scores(positions: Positions) -> Int8s:
    """int8[k]: the scores of terminal positions, 0 of others."""
    return positions.outcomes * (np.int8(positions.cells + 1) - positions.plies)


def _move_scores(space: StateSpace, scores: Int8s, rows: slice | NDArray[Any]) -> Int8s:
    """int8[k, cells]: the scores of the moves in the positions ``rows``."""
    after = space.successors[rows]
    return np.where(after >= 0, -scores[after], ILLEGAL)
