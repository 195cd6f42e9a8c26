"""Perfect play by retrograde analysis: the value of every position, and the distance to the end.

Backwards from the terminal positions, the mover takes the move that is worst for the opponent; the sooner a
win and the later a loss, the better. A position's score is 0 for a draw, else ``cells + 1 - t``, with ``t``
the number of stones at the end, positive if the mover wins and negative if it loses. So larger scores are
better, and a ply only changes the sign.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttt_cli.engine.arrays import Int8s
from ttt_cli.engine.state_space import StateSpace

ILLEGAL = np.int8(-128)
"""The score of an illegal move: below every other score."""


@dataclass(frozen=True, eq=False)
class Solution:
    """The scores of the ``n`` positions of ``space`` for the mover (on a terminal board, the side that would
    be next): int8[n]; see the module."""

    space: StateSpace
    scores: Int8s

    @property
    def values(self) -> Int8s:
        """int8[n]: +1 the mover wins, 0 a draw, -1 the mover loses."""
        return np.sign(self.scores)

    @property
    def plies(self) -> Int8s:
        """int8[n]: plies to the end under perfect play; 0 on terminal boards."""
        return plies_left(self.space, self.scores, self.space.plies)

    def move_scores(self, rows: slice | NDArray[Any] = slice(None)) -> Int8s:
        """int8[k, cells]: the score of each move in the positions ``rows``, or ``ILLEGAL``."""
        after = self.space.successors[rows]
        return np.where(after >= 0, -self.scores[after], ILLEGAL)


@lru_cache(maxsize=8)
def solve(space: StateSpace) -> Solution:
    sooner = np.int8(space.cells + 1) - space.plies
    solution = Solution(space, (space.outcomes * sooner).astype(np.int8))
    for rows in space.backwards():
        best = solution.move_scores(rows).max(axis=1)
        solution.scores[rows] = np.where(space.terminal[rows], solution.scores[rows], best)
    return solution


def plies_left(space: StateSpace, scores: Int8s, stones: Int8s) -> Int8s:
    """int8 like ``scores``: the plies from boards with so many stones to the ends of these scores."""
    ends = np.where(scores == 0, space.cells, space.cells + 1 - np.abs(scores))
    return (ends - stones).astype(np.int8)
