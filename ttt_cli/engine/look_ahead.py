"""Search of a few plies, for many positions at a time and on any board.

Scores are those of ``engine.retrograde``: 0 for a draw, else larger the sooner a win and the later a loss
comes; what is not seen to its end scores 0, or what somebody thinks of it. All moves of all positions are
searched, each distinct position once a ply; where the mover can win at once nothing more is looked at.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttt_cli.engine.arrays import Floats
from ttt_cli.engine.positions import Positions, completing
from ttt_cli.engine.retrograde import ILLEGAL

Scores = NDArray[Any]
"""int8; float64 with an opinion."""

Opinion = Callable[[Positions], Floats]
"""Rates the moves of positions: float64[k, cells], for the mover, between -1 and 1."""

BATCH = 1 << 18
"""Moves that are looked at at a time, so that temporary arrays stay small."""


def look_ahead(positions: Positions, depth: int, opinion: Opinion | None = None) -> Scores:
    """Scores[k, cells]: the score of each move, ``ILLEGAL`` where there is none, after
    a search of ``depth`` plies, at least 1, this move included.

    :param opinion: of the moves of the last ply, where they do not end the game.
    """
    found = _empty(positions, opinion)
    for plies in np.unique(positions.plies).tolist():
        layer = np.flatnonzero(positions.plies == plies)
        found[layer] = _moves(positions[layer], depth, opinion)
    return found


def _empty(positions: Positions, opinion: Opinion | None) -> Scores:
    kind = np.int8 if opinion is None else np.float64
    return np.full((len(positions), positions.rules.cells), ILLEGAL, kind)


def _moves(positions: Positions, depth: int, opinion: Opinion | None) -> Scores:
    """``look_ahead`` for positions with equally many stones."""
    found = _empty(positions, opinion)
    piece = max(1, BATCH // positions.rules.cells)
    for start in range(0, len(positions), piece):
        part = positions[start : start + piece]
        rows, cells = np.nonzero(part.legal)
        after, places = positions.after(start + rows, cells)
        scores = -_scores(after, depth - 1, opinion)[places]
        if depth == 1 and opinion is not None:
            scores = np.where(after.terminal[places], scores, opinion(part)[rows, cells])
        found[start + rows, cells] = scores
    return found


def _scores(positions: Positions, depth: int, opinion: Opinion | None) -> Scores:
    """Scores[k]: the scores of positions with equally many stones, after a search of
    ``depth`` plies."""
    sooner = positions.rules.cells + 1 - positions.plies
    signs = np.where(positions.x_to_move, 1, -1)
    found = (positions.results * signs * sooner).astype(np.int8 if opinion is None else np.float64)
    going = np.flatnonzero(~positions.terminal)
    if not depth or not len(going):
        return found
    if not positions.rules.misere:
        mine = np.where(positions.x_to_move, positions.x, positions.o)[going]
        wins = (completing(positions.rules, mine) & positions.legal[going]).any(axis=1)
        found[going[wins]] = sooner[going[wins]] - 1
        going = going[~wins]
    if len(going):
        found[going] = _moves(positions[going], depth, opinion).max(axis=1)
    return found
