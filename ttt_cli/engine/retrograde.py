"""Perfect play by retrograde analysis: what every position is worth, and how far away the end is.

Work backwards from the terminal positions: the mover takes the move that is worst for the opponent. The
sooner a game is won the better, and the later it is lost the better. One number says both: a position's score
is 0 for a draw, else ``cells + 1 - t``, where ``t`` is the number of stones on the board at the end, positive
if the mover wins and negative if it loses. So a larger score is always the better one, and going up a ply
only changes its sign.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttt_cli.engine.arrays import Int8s
from ttt_cli.engine.state_space import StateSpace

ILLEGAL = np.int8(-128)
"""The score of a move that may not be played: below every other score."""


@dataclass(frozen=True, eq=False)
class Solution:
    """The worth of the ``n`` positions of ``space``, from the side of the mover (on a terminal board: of
    the side that would be next).

    :ivar scores: int8[n], as the module says.
    """

    space: StateSpace
    scores: Int8s

    @property
    def values(self) -> Int8s:
        """int8[n]: +1 the mover wins, 0 a draw, -1 the mover loses."""
        return np.sign(self.scores)

    @property
    def plies(self) -> Int8s:
        """int8[n]: plies to the end when both sides play perfectly; 0 on terminal boards."""
        return plies_left(self.space, self.scores, self.space.plies)

    def move_scores(self, rows: slice | NDArray[Any] = slice(None)) -> Int8s:
        """int8[k, cells]: the score of each move in the positions ``rows``, ``ILLEGAL`` where none is."""
        after = self.space.successors[rows]
        return np.where(after >= 0, -self.scores[after], ILLEGAL)


@lru_cache(maxsize=8)
def solve(space: StateSpace) -> Solution:
    """Solve the game (once for each space)."""
    sooner = np.int8(space.cells + 1) - space.plies
    solution = Solution(space, (space.outcomes * sooner).astype(np.int8))
    for rows in space.backwards():
        best = solution.move_scores(rows).max(axis=1)
        solution.scores[rows] = np.where(space.terminal[rows], solution.scores[rows], best)
    return solution


def plies_left(space: StateSpace, scores: Int8s, stones: Int8s) -> Int8s:
    """int8 like ``scores``: plies from a board with ``stones`` stones to the end that a score speaks of."""
    ends = np.where(scores == 0, space.cells, space.cells + 1 - np.abs(scores))
    return (ends - stones).astype(np.int8)
