"""How tables grow: the parts of the game loop that add a row when a game first reaches a position.

A move is linked to the row after it as soon as both rows exist, whichever was added first, so neither the
order of rows nor which rows exist can change what is learned. Rows are found by hash only to link a new one.
"""

from typing import Any, NamedTuple

import numpy as np

from ttt_cli.engine.arrays import Int8s, Int64s, Uint64s
from ttt_cli.engine.bits import (
    HALF_WORD,
    ONE,
    ZERO,
    Bitboard,
    canonical_form,
    hashed,
    lowest_equivalent,
    popcount,
)
from ttt_cli.engine.board import Board, completing_cells
from ttt_cli.engine.kernel import Part, u32

OPEN, X_WON, O_WON, DRAWN, FIRST = 0, 1, 2, 3, 4
"""The first rows of a table represent all positions without a row, by how the game stands, so that unseen
entries are read like any other. The rows of positions begin at ``FIRST``, with the empty board's."""

LOWER = np.uint64(2**32 - 1)

ROWS, MOVES, SCRATCH = 0, 1, 2
"""Indices of ``Growth.used``: the number of rows; of moves; and what ``add_row`` writes and nothing reads."""


class Growth(NamedTuple):
    """What the parts need to add rows.

    :ivar slots: uint64[2^k], an open-addressing hash table: in the upper half of a slot the upper half of a
        position's hash, in the lower half its row; 0 if free.
    :ivar used: int64[3], see ``ROWS``.
    :ivar sources: int8[s, cells], where each symmetry takes each cell's stone from: the identity, and in a
        table of classes the others.
    """

    slots: Uint64s
    used: Int64s
    board: Board
    sources: Int8s


@Part
def find(rows: Any, growth: Growth, x: np.uint64, o: np.uint64) -> int:
    """The row of a position, or ``OPEN``."""
    slots = growth.slots
    mask = np.uint64(slots.shape[0] - 1)
    mixed = hashed(x, o)
    slot = mixed & mask
    while slots[slot] != ZERO:
        row = u32(slots[slot] & LOWER)
        if (slots[slot] ^ mixed) >> HALF_WORD == ZERO and rows[row].x == x and rows[row].o == o:
            return row
        slot = slot + ONE & mask
    return u32(OPEN)


@Part
def enter(slots: Uint64s, x: np.uint64, o: np.uint64, row: int) -> None:
    """Put a row into the hash table."""
    mask = np.uint64(slots.shape[0] - 1)
    mixed = hashed(x, o)
    slot = mixed & mask
    while slots[slot] != ZERO:
        slot = slot + ONE & mask
    slots[slot] = mixed & ~LOWER | np.uint64(row)


@Part
def form_of(growth: Growth, x: np.uint64, o: np.uint64) -> tuple[np.uint64, np.uint64, int]:
    """The position whose row serves this one: itself, or in a table of classes its canonical form; and the
    symmetry that leads to it."""
    return canonical_form(growth.sources, x, o) if len(growth.sources) > 1 else (x, o, 0)


@Part
def successor(
    rows: Any, growth: Growth, x: np.uint64, o: np.uint64, stone: Bitboard, ply: int, wins: bool
) -> int:
    """The row after a stone has been placed, or the one that represents it.

    :param wins: whether it completes a line.
    """
    x, o, _ = form_of(growth, x if ply & 1 else x | stone, o | stone if ply & 1 else o)
    row = find(rows, growth, x, o)
    if row == OPEN and wins:
        return u32(X_WON) if (ply & 1 == 0) != growth.board.misere else u32(O_WON)
    if row == OPEN and ply + 1 == growth.board.cells:
        return u32(DRAWN)
    return row


@Part
def predecessor(
    rows: Any, growth: Growth, x: np.uint64, o: np.uint64, cell: int, ply: int
) -> tuple[int, int]:
    """The row of the position without the last stone, if that is on this cell, or ``OPEN``; and the symmetry
    that leads to its canonical form."""
    stone = ONE << np.uint64(cell)
    x, o, symmetry = form_of(growth, x ^ stone if ply & 1 else x, o if ply & 1 else o ^ stone)
    return find(rows, growth, x, o), symmetry


@Part
def link(rows: Any, moves: Any, growth: Growth, row: int, ply: int) -> None:
    """Link the moves of a row to the rows after them, and all moves that lead to the row to it."""
    x, o = np.uint64(rows[row].x), np.uint64(rows[row].o)
    completing = completing_cells(o if ply & 1 else x, x if ply & 1 else o, growth.board)
    for move in range(rows[row].first, rows[row].first + rows[row].number):
        stone = ONE << np.uint64(moves[move].cell)
        moves[move].after = successor(rows, growth, x, o, stone, ply, completing & stone != ZERO)
    last = x if ply & 1 else o  # the stones of the side that moved last
    free = growth.board.full & ~(x | o)
    for cell in range(growth.board.cells):
        stone = ONE << np.uint64(cell)
        if last & stone == ZERO:
            continue
        before, symmetry = predecessor(rows, growth, x, o, cell, ply)
        if rows[before].number == 0:
            continue
        first = rows[before].first
        place = u32(popcount(free & (stone - ONE)))  # so many lower cells were free
        if len(growth.sources) > 1:
            form_cell = 0  # the cell in the canonical form
            while growth.sources[symmetry, form_cell] != cell:
                form_cell += 1
            earlier_x, earlier_o = np.uint64(rows[before].x), np.uint64(rows[before].o)
            form_cell = lowest_equivalent(growth.sources, earlier_x, earlier_o, form_cell)
            place = u32(0)
            while moves[first + place].cell != form_cell:
                place += u32(1)
        moves[first + place].after = row


@Part
def prefetch_neighbours(growth: Growth, x: np.uint64, o: np.uint64, ply: int) -> int:
    """Read the slots of all neighbours of a position, so that memory is waited for only once. The result
    depends on all of them, so that the reads are not optimised away."""
    slots = growth.slots
    mask = np.uint64(slots.shape[0] - 1)
    combined = ZERO
    for cell in range(growth.board.cells):
        stone = ONE << np.uint64(cell)
        if (x | o) & stone == ZERO:
            near = hashed(x, o | stone) if ply & 1 else hashed(x | stone, o)
        else:
            near = hashed(x & ~stone, o) if ply & 1 else hashed(x, o & ~stone)
        combined ^= slots[near & mask]
    return int(np.int64(combined))


@Part
def add_row(rows: Any, moves: Any, growth: Growth, parent: int, move: int, ply: int) -> int:
    """Add a row for the position after a move, with the unseen values of its kind; return the row. The part
    of the game loop for growing tables.

    :param ply: the number of plies before the move.
    """
    used = growth.used
    sources = growth.sources
    x, o = np.uint64(rows[parent].x), np.uint64(rows[parent].o)
    stone = ONE << np.uint64(moves[move].cell)
    x, o = (x, o | stone) if ply & 1 else (x | stone, o)
    x, o, _ = form_of(growth, x, o)
    if len(sources) == 1:
        used[SCRATCH] = prefetch_neighbours(growth, x, o, ply + 1)
    unseen = moves[move].after
    row = used[ROWS]
    place = used[MOVES]
    rows[row] = rows[unseen]
    rows[row].x, rows[row].o = x, o
    rows[row].first = place
    for cell in range(growth.board.cells if unseen == OPEN else 0):
        if (x | o) >> np.uint64(cell) & ONE == ZERO:
            lowest = lowest_equivalent(sources, x, o, cell)
            if lowest == cell:
                moves[place].cell = cell
                moves[place].shared_by = 1
                place += 1
            else:
                equivalent = used[MOVES]
                while moves[equivalent].cell != lowest:
                    equivalent += 1
                moves[equivalent].shared_by += 1
    rows[row].number = place - used[MOVES]
    used[ROWS], used[MOVES] = row + 1, place
    enter(growth.slots, x, o, row)
    link(rows, moves, growth, u32(row), ply + 1)
    return u32(row)


@Part
def nothing_to_add(rows: Any, moves: Any, growth: Growth, parent: int, move: int, ply: int) -> int:
    """The part of the game loop for complete tables, in place of ``add_row``."""
    return u32(OPEN)


def link_rows(rows: Any, moves: Any, growth: Growth, start: int) -> None:
    """Link the rows from ``start`` on, in both directions."""
    for row in range(start, growth.used[ROWS]):
        ply = popcount(np.uint64(rows[row].x) | np.uint64(rows[row].o))
        link(rows, moves, growth, u32(row), int(ply))
