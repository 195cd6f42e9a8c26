"""Bitboards in kernels: lines, symmetry and hashing. Bit ``c`` of 64 is cell ``c``.

``sources``, int8[s, cells], are the board's symmetries (``Rules.sources``): where each cell's stone comes
from.
"""

from typing import Any

import numpy as np

from ttt_cli.engine.arrays import Int8s, Uint64s
from ttt_cli.engine.kernel import Part

Bitboard = np.uint64

ZERO, ONE, TWO, FOUR, TOP = (np.uint64(number) for number in (0, 1, 2, 4, 56))
PAIRS, QUADS, NIBBLES, BYTES = (np.uint64((2**64 - 1) // divisor) for divisor in (3, 5, 17, 255))

HALF = np.uint64(32)
MIX_X, MIX_O, MIX = map(np.uint64, (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0xBF58476D1CE4E5B9))
"""Odd numbers with random-looking bits."""

SHORT = 16
"""The most cells of boards whose positions differ in the upper halves of their hashes."""


@Part
def popcount(board: Bitboard) -> Any:
    """The number of set bits, in a form that compilers turn into one instruction."""
    board = board - ((board >> ONE) & PAIRS)
    board = (board & QUADS) + ((board >> TWO) & QUADS)
    board = (board + (board >> FOUR)) & NIBBLES
    return np.int64((board * BYTES) >> TOP)


@Part
def lowest_cell(board: Bitboard) -> Any:
    """The lowest cell of a bitboard that is not empty."""
    return popcount((board & (~board + ONE)) - ONE)


@Part
def hashed(x: Bitboard, o: Bitboard) -> Any:
    """A hash of a position, or of a batch. The upper half has all stones of the first ``SHORT`` cells."""
    mixed = x * MIX_X ^ o * MIX_O
    mixed = (mixed ^ mixed >> HALF) * MIX
    return mixed >> HALF | (x ^ o << np.uint64(SHORT)) << HALF


@Part
def is_line(lines_through: Uint64s, stones: Bitboard, cell: int) -> bool:
    """Whether these stones make a line through a cell, given uint64[cells, l], the lines through each."""
    found = False
    for number in range(lines_through.shape[1]):
        mask = lines_through[cell, number]
        found = found or stones & mask == mask
    return found


@Part
def turned(sources: Int8s, stones: Bitboard, image: int) -> Any:
    """The image of the stones by a symmetry."""
    found = ZERO
    for cell in range(sources.shape[1]):
        found |= (stones >> np.uint64(sources[image, cell]) & ONE) << np.uint64(cell)
    return found


@Part
def image_of_class(sources: Int8s, x: Bitboard, o: Bitboard) -> int:
    """The first symmetry that gives the smallest text."""
    chosen = 0
    for image in range(1, sources.shape[0]):
        for cell in range(sources.shape[1]):
            here, there = np.uint64(sources[chosen, cell]), np.uint64(sources[image, cell])
            best = (x >> here & ONE) << ONE | (o >> here & ONE)
            new = (x >> there & ONE) << ONE | (o >> there & ONE)
            if new != best:
                chosen = image if new < best else chosen
                break
    return chosen


@Part
def lowest_of(sources: Int8s, x: Bitboard, o: Bitboard, cell: int) -> int:
    """The lowest cell that a symmetry of this position exchanges with a cell."""
    lowest = cell
    for image in range(1, sources.shape[0]):
        source = int(sources[image, cell])
        if source < lowest and turned(sources, x, image) == x and turned(sources, o, image) == o:
            lowest = source
    return lowest
