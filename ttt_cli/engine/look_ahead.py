"""What a search of a few plies finds, for many positions at a time and on any board.

Scores are those of ``engine.retrograde``: 0 for a draw and for what is not seen to its end, else larger the
sooner a win and the later a loss comes. All moves of all positions are searched, each distinct position once
a ply; where the mover can win at once nothing more is looked at.
"""

import numpy as np

from ttt_cli.engine.positions import Positions, completing
from ttt_cli.engine.retrograde import ILLEGAL
from ttt_cli.engine.state_space import Int8s

PIECE = 1 << 18
"""Moves that are looked at at a time, so that temporary arrays stay small."""


def look_ahead(positions: Positions, depth: int) -> Int8s:
    """int8[k, cells]: the score of each move, ``ILLEGAL`` where there is none, after a search of ``depth``
    plies, at least 1, this move included."""
    found = np.full((len(positions), positions.rules.cells), ILLEGAL, np.int8)
    for plies in np.unique(positions.plies).tolist():
        layer = np.flatnonzero(positions.plies == plies)
        found[layer] = _moves(positions[layer], depth)
    return found


def _moves(positions: Positions, depth: int) -> Int8s:
    """``look_ahead`` for positions with equally many stones."""
    found = np.full((len(positions), positions.rules.cells), ILLEGAL, np.int8)
    piece = max(1, PIECE // positions.rules.cells)
    for start in range(0, len(positions), piece):
        rows, cells = np.nonzero(positions[start : start + piece].legal)
        after, places = positions.successors(start + rows, cells)
        found[start + rows, cells] = -_scores(after, depth - 1)[places]
    return found


def _scores(positions: Positions, depth: int) -> Int8s:
    """int8[k]: the scores of positions with equally many stones, after a search of ``depth`` plies."""
    sooner = positions.rules.cells + 1 - positions.plies
    signs = np.where(positions.x_to_move, 1, -1)
    found = (positions.results * signs * sooner).astype(np.int8)
    going = np.flatnonzero(~positions.terminal)
    if not depth or not len(going):
        return found
    if not positions.rules.misere:
        mine = np.where(positions.x_to_move, positions.x, positions.o)[going]
        wins = (completing(positions.rules, mine) & positions.legal[going]).any(axis=1)
        found[going[wins]] = sooner[going[wins]] - 1
        going = going[~wins]
    if len(going):
        found[going] = _moves(positions[going], depth).max(axis=1)
    return found
