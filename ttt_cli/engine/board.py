"""The rules as kernels read them: one record for every board, so that compiled code serves all boards."""

from functools import lru_cache
from typing import Any

import numpy as np

from ttt_cli.engine.bits import ONE, ZERO, Bitboard
from ttt_cli.engine.kernel import Part
from ttt_cli.engine.rules import MAX_CELLS, Rules

MAX_LINES = 4 * MAX_CELLS
"""No more than one line starts at each cell in each of four directions."""

WEIGHT_BITS = 30
"""Weights below 2^-30 are rounded up to it, so that a potential is never too low and proofs hold."""

BOARD = np.dtype(
    [
        ("lines", "u8", MAX_LINES),  # the winning lines as bitboards
        ("line_count", "i8"),  # the number of lines
        ("length", "i8"),  # the number of cells of a line
        ("whole", "i8"),  # the weight of a completed line (``engine.solver``)
        ("cells", "i8"),  # the number of cells of the board
        ("full", "u8"),  # the bitboard of all cells
        ("misere", "?"),
    ]
)

Board = Any
"""A record of ``BOARD``."""


@lru_cache(maxsize=8)
def board_of(rules: Rules) -> Board:
    """The record of these rules."""
    board = np.zeros(1, BOARD).view(np.recarray)[0]
    board.line_count = len(rules.lines)
    board.lines[: len(rules.lines)] = rules.line_masks
    board.length = rules.line
    board.whole = 1 << min(rules.line, WEIGHT_BITS)
    board.cells = rules.cells
    board.full = (1 << rules.cells) - 1
    board.misere = rules.misere
    return board


@Part
def completing_cells(own: Bitboard, other: Bitboard, board: Board) -> Any:
    """The free cells where a stone completes a line of the side with the stones ``own``, as a bitboard."""
    completing = ZERO
    lines = board.lines
    for index in range(board.line_count):
        missing = lines[index] & ~own
        if missing & other == ZERO and missing & (missing - ONE) == ZERO:  # one cell, and it is free
            completing |= missing
    return completing


@Part
def insert(moves: Any, scores: Any, number: int, cell: int, score: Any) -> None:
    """Insert a cell into the first ``number`` of ``moves``, which are sorted by descending scores."""
    at = number
    while at > 0 and scores[at - 1] < score:
        moves[at], scores[at] = moves[at - 1], scores[at - 1]
        at -= 1
    moves[at], scores[at] = cell, score
