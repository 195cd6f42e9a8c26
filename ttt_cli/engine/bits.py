"""Bitboards in kernels: counting, symmetry and hashing. Bit ``c`` of 64 is cell ``c``.

``sources``, int8[s, cells], are the board's symmetries (``Rules.sources``): where each cell's stone comes
from. A ``symmetry`` is the index of one.
"""

from typing import Any

import numpy as np

from ttt_cli.engine.arrays import Int8s
from ttt_cli.engine.kernel import Part

Bitboard = np.uint64

ZERO, ONE = np.uint64(0), np.uint64(1)
HALF_WORD = np.uint64(32)
"""Bits in half a bitboard."""

MIX_X, MIX_O, MIX = map(np.uint64, (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0xBF58476D1CE4E5B9))
"""Odd numbers with random-looking bits."""


@Part
def popcount(board: Bitboard) -> Any:
    """The number of set bits, in a loop that compilers turn into one instruction."""
    number = 0
    while board:
        board &= board - ONE
        number += 1
    return number


@Part
def lowest_cell(board: Bitboard) -> Any:
    """The lowest cell of a bitboard that is not empty."""
    return popcount((board & (~board + ONE)) - ONE)


@Part
def hashed(x: Bitboard, o: Bitboard) -> Any:
    """The hash of a position, or of a batch."""
    mixed = x * MIX_X ^ o * MIX_O
    mixed = (mixed ^ mixed >> HALF_WORD) * MIX
    return mixed ^ mixed >> HALF_WORD


@Part
def image_of(sources: Int8s, stones: Bitboard, symmetry: int) -> Any:
    """The image of the stones under a symmetry."""
    image = ZERO
    for cell in range(sources.shape[1]):
        image |= (stones >> np.uint64(sources[symmetry, cell]) & ONE) << np.uint64(cell)
    return image


@Part
def canonical_form(sources: Int8s, x: Bitboard, o: Bitboard) -> tuple[Bitboard, Bitboard, int]:
    """The image with the smallest text, and the first symmetry that leads to it."""
    chosen = 0
    for symmetry in range(1, sources.shape[0]):
        for cell in range(sources.shape[1]):
            here, there = np.uint64(sources[chosen, cell]), np.uint64(sources[symmetry, cell])
            best = (x >> here & ONE) << ONE | (o >> here & ONE)
            new = (x >> there & ONE) << ONE | (o >> there & ONE)
            if new != best:
                chosen = symmetry if new < best else chosen
                break
    return image_of(sources, x, chosen), image_of(sources, o, chosen), chosen


@Part
def lowest_equivalent(sources: Int8s, x: Bitboard, o: Bitboard, cell: int) -> int:
    """The lowest of the cells that symmetries of this position exchange with a cell."""
    lowest = cell
    for symmetry in range(1, sources.shape[0]):
        source = int(sources[symmetry, cell])
        if source < lowest and image_of(sources, x, symmetry) == x and image_of(sources, o, symmetry) == o:
            lowest = source
    return lowest
