"""The scores of positions and moves: the value and the distance to the end in one number.

A score is 0 for a draw, else ``cells + 1 - t``, with ``t`` the number of stones at the end, positive if the
mover wins and negative if it loses. So larger scores are better: the sooner a win and the later a loss, the
better. A position has the largest score of its moves, and a ply only changes the sign.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttt_cli.engine.arrays import Floats, Int8s
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.state_space import StateSpace

ILLEGAL = np.int8(-128)
"""The score of an illegal move: below every other score."""

Scores = NDArray[Any]
"""int8, or float64 with an opinion."""

MOVES_BATCH = 1 << 18
"""Moves that are searched at a time, so that temporary arrays stay small."""


@lru_cache(maxsize=8)
def solve(space: StateSpace) -> Int8s:
    """int8[n]: the scores under perfect play, by retrograde analysis."""
    scores = _ends(space)
    for rows in space.backwards():
        best = _of_moves(space, scores, rows).max(axis=1)
        scores[rows] = np.where(space.terminal[rows], scores[rows], best)
    return scores


def move_scores(
    positions: Positions, depth: int | None = None, opinion: Callable[[Positions], Floats] | None = None
) -> Scores:
    """Scores[k, cells]: the score of each move, or ``ILLEGAL``.

    :param depth: plies to search, at least 1, the move itself included; None: to the end, on a board with a
        state space. Each distinct position is searched once in a ply.
    :param opinion: rates the moves of the last ply that do not end the game: float64[k, cells], for the
        mover, between -1 and 1; None: they score 0.
    """
    if depth is None:
        space = StateSpace.of(positions.rules)
        return _of_moves(space, solve(space), space.rows(positions))
    kind = np.int8 if opinion is None else np.float64
    scores: Scores = np.full((len(positions), positions.cells), ILLEGAL, kind)
    size = max(1, MOVES_BATCH // positions.cells)
    for plies in np.unique(positions.plies):
        layer = np.flatnonzero(positions.plies == plies)
        for start in range(0, len(layer), size):
            numbers = layer[start : start + size]
            part = positions[numbers]
            rows, cells = np.nonzero(part.legal)
            after, places = part.after(rows, cells)
            values: Scores = _ends(after).astype(kind)
            if depth > 1:
                still_open = np.flatnonzero(~after.terminal)
                values[still_open] = move_scores(after[still_open], depth - 1, opinion).max(axis=1)
            reached = 0 - values[places]  # never -0.0
            if depth == 1 and opinion is not None:
                reached = np.where(after.terminal[places], reached, opinion(part)[rows, cells])
            scores[numbers[rows], cells] = reached
    return scores


def move_plies(positions: Positions) -> Int8s:
    """int8[k, cells]: the plies to the end under perfect play, the move included; as ``move_scores`` with no
    depth."""
    scores, cells = move_scores(positions), positions.cells
    ends = np.where(scores == 0, cells, cells + 1 - np.abs(scores))
    return (ends - positions.plies[:, None]).astype(np.int8)


def _ends(positions: Positions) -> Int8s:
    """int8[k]: the scores of terminal positions, 0 of others."""
    return positions.outcomes * (np.int8(positions.cells + 1) - positions.plies)


def _of_moves(space: StateSpace, scores: Int8s, rows: slice | NDArray[Any]) -> Int8s:
    """int8[k, cells]: the scores of the moves in the positions ``rows``."""
    after = space.successors[rows]
    return np.where(after >= 0, -scores[after], ILLEGAL)
