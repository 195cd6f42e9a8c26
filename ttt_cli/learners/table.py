"""Tables: what a learner knows, as two arrays of records, ``rows`` (positions) and ``moves``.

A method declares its columns, and what an unseen entry of each holds. On a board with a state space a table
is complete from the start; on any other it grows, by a row for each position that a game reaches
(``learners.growth``).
"""

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ttt_cli.engine.arrays import Bools, Int64s
from ttt_cli.engine.bits import ONE, hashed
from ttt_cli.engine.board import board_of
from ttt_cli.engine.kernel import Kernel, uncompiled
from ttt_cli.engine.positions import Positions, slices
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import StateSpace, enumerated
from ttt_cli.engine.symmetry import classes, orbit
from ttt_cli.learners.growth import DRAWN, FIRST, LOWER, MOVES, O_WON, OPEN, ROWS, X_WON, Growth, link_rows

ENDS = np.array([0, 1, -1, 0], np.int8)
"""The results that ``OPEN``, ``X_WON``, ``O_WON`` and ``DRAWN`` stand for."""

ROW = [("x", np.uint64), ("o", np.uint64), ("first", np.uint32), ("number", np.uint8), ("end", np.int8)]
MOVE = [("after", np.uint32), ("cell", np.int8), ("shared_by", np.int8)]

CHUNK = 1 << 14
"""Rows processed at a time."""

IN_PLACE = 1 << 28
"""Bytes from which on an array grows in place, its new part filled with zeros at once."""

FEW_ROWS = 500
"""Up to this many rows are linked without compiling, in at most a tenth of a second."""

KNOWN_SIZES = {(Rules(4, 4, 4), False): 9_722_011, (Rules(4, 4, 4), True): 1_217_977}
"""The numbers of positions, or of classes (``True``), where they are known without a state space."""

linking = Kernel(link_rows, "the table's links")


@dataclass(frozen=True)
class Column:
    """A column that a method adds to the rows or the moves of its table.

    :ivar kind: its type, in NumPy's notation: ``(2,)f8`` for two floats, for X and for O.
    :ivar unseen: the value in rows about which nothing has been learned: one number, or four, for positions
        that are open, won by X, won by O, and drawn. In moves it is 0.
    :ivar learned: whether it is learned, not derived: a count, which a merge adds up, or a mean, declared
        before the count that weights it.
    :ivar span: the smallest and the largest value that learning can lead to, if there are bounds.
    """

    name: str
    kind: str = "f8"
    unseen: Any = 0
    learned: bool = False
    span: tuple[float, float] | None = None


class Table:
    """A table over the positions of a board, or over their classes up to symmetry.

    A record of ``rows`` holds a position's stones ``x`` and ``o``, the index of its ``first`` move, the
    ``number`` of its moves, ``end`` (the result if the game is over, else 0) and the method's columns. A
    record of ``moves`` holds its ``cell``, the number of cells it is ``shared_by`` (in a table of classes one
    move stands for all that are equivalent), the row ``after`` it and the method's columns; moves are sorted
    by row, then by cell. The rows below ``FIRST`` represent positions without a row.

    :ivar complete: whether all positions of the board have rows.
    :ivar by_move: whether the columns ``learned`` are columns of ``moves``, not of ``rows``.
    :ivar learned: the columns that files hold: a mean and the count that weights it, or a count.
    :ivar slots: the hash table of rows; for it and ``used`` see ``Growth``.
    """

    def __init__(
        self,
        rules: Rules,
        symmetric: bool = False,
        row_columns: Sequence[Column] = (),
        move_columns: Sequence[Column] = (),
    ) -> None:
        self.rules = rules
        self.symmetric = symmetric
        self.row_columns = tuple(row_columns)
        self.move_columns = tuple(move_columns)
        self.by_move = any(column.learned for column in move_columns)
        columns = self.move_columns if self.by_move else self.row_columns
        self.learned = [column.name for column in columns if column.learned]
        self.complete = enumerated(rules) is not None
        self._rows = np.zeros(FIRST, _records(ROW, self.row_columns))
        self._moves = np.zeros(0, _records(MOVE, self.move_columns))
        self._rows["end"] = ENDS
        for column in self.row_columns:
            self._rows[column.name] = column.unseen
        self.slots = np.zeros(1, np.uint64)
        self.used = np.array([FIRST, 0, 0])
        self._unlinked: int | None = None
        """The first of the rows that were added without links."""
        if not self.complete:
            self._add(Positions.start(rules))
        elif row_columns or move_columns:
            bare = complete_table(rules, symmetric)  # which has no columns, and so asks for no other
            self._rows = enlarged(self._rows, len(bare.rows))
            self._moves = enlarged(self._moves, len(bare.moves))
            self._rows[[name for name, _ in ROW]] = bare.rows
            self._moves[[name for name, _ in MOVE]] = bare.moves
            self.slots = bare.slots
            self.used = bare.used
            self._set_unseen(FIRST)

    def _set_unseen(self, start: int) -> None:
        """Set the columns of the rows from ``start`` on to their unseen values."""
        rows = self.rows[start:]
        kind = np.select([rows["end"] > 0, rows["end"] < 0, rows["number"] == 0], [X_WON, O_WON, DRAWN], OPEN)
        for column in self.row_columns:
            rows[column.name] = self._rows[column.name][kind]

    @property
    def rows(self) -> NDArray[Any]:
        return self._rows[: self.used[ROWS]]

    @property
    def moves(self) -> NDArray[Any]:
        return self._moves[: self.used[MOVES]]

    @property
    def records(self) -> NDArray[Any]:
        """The records with the columns ``learned``: the moves or the rows."""
        return self.moves if self.by_move else self.rows

    @property
    def move_bytes(self) -> int:
        """How many bytes of memory each move takes."""
        return self.moves.itemsize

    @property
    def buffers(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Rows and moves with their free capacity, as kernels take them."""
        return self._rows, self._moves

    @property
    def growth(self) -> Growth:
        """What kernels need to add rows."""
        sources = np.array(self.rules.sources if self.symmetric else self.rules.sources[:1], np.int8)
        return Growth(self.slots, self.used, board_of(self.rules), sources)

    @property
    def game_size(self) -> int:
        """The number of positions, or classes, of the game; where it is unknown, of boards with the right
        numbers of stones, or an eighth or a quarter of that."""
        if self.complete:
            return len(self.rows) - FIRST
        images = len(self.rules.symmetries) if self.symmetric else 1
        return KNOWN_SIZES.get((self.rules, self.symmetric), self.rules.positions_bound // images)

    # ---- Growing and copying ----

    def reserve(self, games: int) -> None:
        """Make room for everything that this many games can add, and set all links."""
        if self.complete:
            return
        cells = self.rules.cells
        more_rows = games * (cells + 1)
        more_moves = games * cells * (cells + 1) // 2
        self._make_room(len(self.rows) + more_rows, len(self.moves) + more_moves)
        self.link()

    def include(self, positions: Positions) -> Int64s:
        """int64[k]: the rows of these distinct positions, added where there were none."""
        rows = self.find(positions)
        new = rows == OPEN
        if new.any():
            count = len(self.rows)
            self._add(positions[new])
            rows[new] = np.arange(count, len(self.rows))
        return rows

    def include_table(self, other: "Table") -> Int64s:
        """Add the positions of another table; returns int64[k], the row in this table for each of its."""
        rows = np.arange(len(other.rows))
        if not self.complete:
            rows[FIRST:] = self.include(other.positions(slice(FIRST, None)))
        return rows

    def subset(self, rows: Int64s) -> Self:
        """A table of only these rows (ascending) and the empty board's, without links."""
        rows = np.concatenate([np.arange(FIRST + 1), rows[rows > FIRST]])
        part = type(self)(self.rules, self.symmetric, self.row_columns, self.move_columns)
        part.include(self.positions(rows[FIRST:]))
        for column in self.row_columns:
            part.rows[column.name] = self.rows[column.name][rows]
        for column in self.move_columns:
            part.moves[column.name] = self.moves[column.name][self.moves_of(rows)[1]]
        return part

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        self.link()
        copied = copy(self)  # by way of __getstate__, which a kind of table may override
        copied._rows = enlarged(self.rows, len(self._rows))
        copied._moves = enlarged(self.moves, len(self._moves))
        copied.slots, copied.used = self.slots.copy(), self.used.copy()
        return copied

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_rows": self.rows, "_moves": self.moves}

    def _make_room(self, rows: int, moves: int) -> None:
        """Make room for so many rows and moves in all; the hash table is at most two thirds full."""
        self._enlarge("_rows", rows)
        self._enlarge("_moves", moves)
        size = 1 << (3 * rows // 2).bit_length()
        if size > len(self.slots):
            self.slots = np.zeros(size, np.uint64)
            self._enter(FIRST)

    def _enlarge(self, name: str, needed: int) -> None:
        """Make room in an array. A small one is copied, with room for twice as many; a large one grows by a
        little, in place: NumPy refuses that where anything else, such as a local name, refers to it."""
        arrays = vars(self)
        many = len(arrays[name])
        if needed > many and arrays[name].nbytes < IN_PLACE:
            arrays[name] = enlarged(arrays[name], max(needed, 2 * many))
        elif needed > many:
            room = max(needed, many * 17 // 16)
            try:
                arrays[name].resize(room)
            except ValueError:
                arrays[name] = enlarged(arrays[name], room)

    def _add(self, positions: Positions) -> None:
        """Add rows for these positions, which have none yet, without links."""
        parts = []
        for part in positions.parts(CHUNK):
            if self.symmetric:
                in_classes = classes(part)
                legal, shared_by = in_classes.legal, in_classes.shared_by
            else:
                legal, shared_by = part.legal, np.ones((len(part), self.rules.cells), np.int8)
            numbers = legal.sum(axis=1, dtype=np.uint8)
            cells = np.nonzero(legal)[1].astype(np.int8)
            parts.append((part.results, numbers, cells, shared_by[legal]))
        results, numbers, cells, shared_by = map(np.concatenate, zip(*parts, strict=True))
        first_row, first_move = len(self.rows), len(self.moves)
        row_end, move_end = first_row + len(numbers), first_move + len(cells)
        self._make_room(row_end, move_end)
        rows, moves = self._rows[first_row:row_end], self._moves[first_move:move_end]
        rows["x"], rows["o"] = positions.x, positions.o
        rows["end"] = results
        rows["number"] = numbers
        rows["first"] = first_move + np.cumsum(numbers, dtype=np.uint32) - numbers
        moves["cell"] = cells
        moves["shared_by"] = shared_by
        self.used[ROWS], self.used[MOVES] = row_end, move_end
        self._set_unseen(first_row)
        self._enter(first_row)
        if self._unlinked is None:
            self._unlinked = first_row

    def _enter(self, start: int) -> None:
        """Put the rows from ``start`` on into the hash table."""
        slots = self.slots
        mask = np.uint64(len(slots) - 1)
        for rows in chunks(np.arange(start, len(self.rows))):
            positions = self.positions(rows)
            hashes = hashed(positions.x, positions.o)
            at = hashes & mask
            entries = hashes & ~LOWER | rows.astype(np.uint64)
            while len(entries):  # where several want one free slot, the last gets it and the others go on
                free = slots[at] == 0
                slots[at[free]] = entries[free]
                left = slots[at] != entries
                entries = entries[left]
                at = at[left] + ONE & mask

    def link(self) -> None:
        """Set the links of the rows that were added without them."""
        start = self._unlinked  # read once: the shards of a block may link one table at the same time
        if start is not None and not self.complete:
            with uncompiled(len(self.rows) - start <= FEW_ROWS):
                linking(*self.buffers, self.growth, start)
        self._unlinked = None

    # ---- Looking up ----

    def find(self, positions: Positions) -> Int64s:
        """int64[k]: the row of each position (in a table of classes: canonical form), or ``OPEN``."""
        slots = self.slots
        mask = np.uint64(len(slots) - 1)
        all_x, all_o = self.rows["x"], self.rows["o"]
        rows = np.zeros(len(positions), np.int64)
        left = np.arange(len(positions))
        at = hashed(positions.x, positions.o) & mask
        while len(left):
            there = (slots[at] & LOWER).astype(np.int64)
            hit = (all_x[there] == positions.x[left]) & (all_o[there] == positions.o[left]) & (there != 0)
            rows[left[hit]] = there[hit]
            missed = (there != 0) & ~hit
            left = left[missed]
            at = at[missed] + ONE & mask
        return rows

    def rows_of(self, positions: Positions) -> Int64s:
        """int64[k]: the row of each position, or of its class, or ``OPEN``."""
        return self.find(classes(positions).positions if self.symmetric else positions)

    def positions(self, rows: Any) -> Positions:
        x, o = (self.rows[stones][rows].astype(np.uint64) for stones in "xo")
        return Positions(self.rules, x, o)

    def legal(self, positions: Positions) -> Bools:
        """bool[k, cells]: the moves that the rows of these positions, or canonical forms, have."""
        return classes(positions).legal if self.symmetric else positions.legal

    def by_cell(self, values: NDArray[Any], rows: Int64s, legal: Bools) -> NDArray[Any]:
        """[k, cells]: values of the moves of some rows, by cell; 0 elsewhere.

        :param values: [moves], one for each move of the table.
        """
        by_cell = np.zeros(legal.shape, values.dtype)
        by_cell[legal & (rows >= FIRST)[:, None]] = values[self.moves_of(rows)[1]]
        return by_cell

    def by_place(self, values: NDArray[Any], rows: Int64s, fill: float = 0) -> NDArray[Any]:
        """[k, n]: values of the moves of some rows, of which none has more than ``n``, by their places among
        the row's moves; ``fill`` where there are no more."""
        number, first = (self.rows[name][rows][:, None] for name in ("number", "first"))
        places = np.arange(number.max(initial=0))
        there = places < number
        return np.where(there, values[np.where(there, first + places, 0)], fill)

    def after(self, positions: Positions, at: Int64s, cells: NDArray[Any]) -> Int64s:
        """int64[k]: the rows after the moves on ``cells`` in ``positions[at]``, or the rows below ``FIRST``
        that represent them."""
        reached = positions.play(at, cells)
        rows = self.rows_of(reached)
        results = reached.results
        unseen = np.select([results > 0, results < 0, reached.terminal], [X_WON, O_WON, DRAWN], OPEN)
        return np.where(rows == OPEN, unseen, rows)

    def rows_with(self, chosen: Bools) -> Int64s:
        """int64[k]: the rows with a chosen record, given bool[records, …]; ascending."""
        if not self.by_move:
            return np.flatnonzero(chosen.reshape(len(chosen), -1).any(axis=1))
        rows = np.flatnonzero(self.rows["number"])
        return rows[np.logical_or.reduceat(chosen, self.rows["first"][rows])]

    def owners_of(self, moves: Int64s) -> Int64s:
        """int64[k]: the rows that these moves belong to."""
        return np.searchsorted(self.rows["first"], moves, side="right") - 1

    def moves_of(self, rows: Int64s) -> tuple[Int64s, Int64s]:
        """int64[k] each, for all moves of these rows: the place of its row in ``rows``, and its index."""
        number = self.rows["number"][rows].astype(np.int64)
        at = np.repeat(np.arange(len(rows)), number)
        starts = np.cumsum(number) - number
        return at, np.arange(len(at)) + np.repeat(self.rows["first"][rows] - starts, number)

    def moves_on(self, rows: Int64s, legal: Bools, at: Int64s, cells: Int64s) -> Int64s:
        """int64[k]: the indices of the moves on ``cells`` of the rows ``rows[at]``, given the legal moves of
        all ``rows``."""
        places = np.cumsum(legal, axis=1)[at, cells] - 1
        indices: Int64s = self.rows["first"][rows[at]] + places
        return indices

    def chunks_by_text(self) -> Iterator[Int64s]:
        """The rows of positions in the order of their texts, in chunks."""
        keys = self.positions(slice(FIRST, None)).keys
        return chunks(FIRST + np.lexsort([keys[:, word] for word in range(keys.shape[1] - 1, -1, -1)]))

    def all_positions(self, positions: Positions) -> Positions:
        """These positions, or in a table of classes all members of their classes."""
        return orbit(positions) if self.symmetric else positions


def chunks(rows: Int64s) -> Iterator[Int64s]:
    return (rows[part] for part in slices(0, len(rows), CHUNK))


def enlarged(array: NDArray[Any], room: int) -> NDArray[Any]:
    """A copy with room for more, which takes no memory until it is used."""
    larger = np.zeros((max(room, len(array)), *array.shape[1:]), array.dtype)
    larger[: len(array)].view(np.uint8)[:] = array.view(np.uint8)  # records are copied field by field, slowly
    return larger


def _records(base: Sequence[tuple[str, Any]], columns: Sequence[Column]) -> np.dtype[Any]:
    """The type of records with these fields."""
    return np.dtype([*base, *((column.name, column.kind) for column in columns)], align=True)


@lru_cache(maxsize=16)
def complete_table(rules: Rules, symmetric: bool) -> Table:
    """The table of a board with a state space, without a method's columns."""
    space = StateSpace.of(rules)
    table = Table(rules, symmetric)
    own = classes(space).positions.distinct() if symmetric else space
    table._add(own)
    table.moves["after"] = table.after(own, *np.nonzero(table.legal(own)))
    return table
