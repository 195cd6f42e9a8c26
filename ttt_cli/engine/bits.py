"""Bitboards in kernels: bit ``c`` of 64 is cell ``c``."""

from typing import Any

import numpy as np

from ttt_cli.engine.kernel import Part

Bitboard = np.uint64

ZERO, ONE, TWO, FOUR, TOP = (np.uint64(number) for number in (0, 1, 2, 4, 56))
PAIRS, QUADS, NIBBLES, BYTES = (np.uint64((2**64 - 1) // divisor) for divisor in (3, 5, 17, 255))


@Part
def popcount(board: Bitboard) -> Any:
    """The number of cells of a bitboard, written so that compilers know it and make it one instruction."""
    board = board - ((board >> ONE) & PAIRS)
    board = (board & QUADS) + ((board >> TWO) & QUADS)
    board = (board + (board >> FOUR)) & NIBBLES
    return np.int64((board * BYTES) >> TOP)


@Part
def first(board: Bitboard) -> Any:
    """The lowest cell of a bitboard that has one."""
    return popcount((board & (~board + ONE)) - ONE)
