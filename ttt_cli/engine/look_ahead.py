"""Full-width search of a few plies for batches of positions.

Scores are those of ``engine.retrograde``; positions beyond the horizon score 0, or by an opinion. Each
distinct position is searched once in a ply, and not at all if the mover can win at once.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttt_cli.engine.arrays import Floats
from ttt_cli.engine.positions import Positions, completing
from ttt_cli.engine.retrograde import ILLEGAL

Scores = NDArray[Any]
"""int8, or float64 with an opinion."""

Opinion = Callable[[Positions], Floats]
"""Rates moves: float64[k, cells], for the mover, between -1 and 1."""

MOVES_BATCH = 1 << 18
"""Moves that are searched at a time, so that temporary arrays stay small."""


def look_ahead(positions: Positions, depth: int, opinion: Opinion | None = None) -> Scores:
    """Scores[k, cells]: the score of each move, or ``ILLEGAL``.

    :param depth: plies, at least 1, the move itself included.
    :param opinion: of the moves of the last ply that do not end the game.
    """
    scores = _no_scores(positions, opinion)
    for plies in np.unique(positions.plies).tolist():
        layer = np.flatnonzero(positions.plies == plies)
        scores[layer] = _score_moves(positions[layer], depth, opinion)
    return scores


def _no_scores(positions: Positions, opinion: Opinion | None) -> Scores:
    kind = np.int8 if opinion is None else np.float64
    return np.full((len(positions), positions.rules.cells), ILLEGAL, kind)


def _score_moves(positions: Positions, depth: int, opinion: Opinion | None) -> Scores:
    """``look_ahead`` for positions with equally many stones."""
    scores = _no_scores(positions, opinion)
    size = max(1, MOVES_BATCH // positions.rules.cells)
    for start in range(0, len(positions), size):
        part = positions[start : start + size]
        rows, cells = np.nonzero(part.legal)
        after, places = positions.after(start + rows, cells)
        reached = -_score(after, depth - 1, opinion)[places]
        if depth == 1 and opinion is not None:
            reached = np.where(after.terminal[places], reached, opinion(part)[rows, cells])
        scores[start + rows, cells] = reached
    return scores


def _score(positions: Positions, depth: int, opinion: Opinion | None) -> Scores:
    """Scores[k]: the scores of positions with equally many stones by a search of ``depth`` plies."""
    sooner = positions.rules.cells + 1 - positions.plies
    scores = (positions.outcomes * sooner).astype(np.int8 if opinion is None else np.float64)
    left = np.flatnonzero(~positions.terminal)
    if not depth or not len(left):
        return scores
    if not positions.rules.misere:
        mine = positions.stones_of_sides[0][left]
        wins = (completing(positions.rules, mine) & positions.legal[left]).any(axis=1)
        scores[left[wins]] = sooner[left[wins]] - 1
        left = left[~wins]
    if len(left):
        scores[left] = _score_moves(positions[left], depth, opinion).max(axis=1)
    return scores
