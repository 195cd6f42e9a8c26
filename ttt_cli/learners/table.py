"""What a learner knows: two arrays of records, ``rows`` (positions) and ``moves``.

On a board with a state space a table is complete from the start. On any other it grows: positions get rows
when they are first met (``learners.growth``). Whatever holds for all methods is written here once: a method
declares its columns, and what an unseen entry of each holds.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from ttt_cli.engine.arrays import Bools, Int8s, Int64s, Uint64s
from ttt_cli.engine.bits import ONE, hashed
from ttt_cli.engine.game import Game
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import StateSpace, enumerated
from ttt_cli.engine.symmetry import classes, orbit
from ttt_cli.learners.growth import DRAWN, FIRST, LOWER, O_WON, OPEN, X_WON, Growth, link_rows

T = TypeVar("T")

ENDS = np.array([0, 1, -1, 0], np.int8)
"""The results that ``OPEN``, ``X_WON``, ``O_WON`` and ``DRAWN`` stand for."""

ROW = [("first", np.uint32), ("number", np.uint8), ("end", np.int8)]
MOVE = [("after", np.uint32), ("cell", np.int8)]

PIECE = 1 << 14
"""How many rows are looked at together."""

A_FEW, FEW = 64, 10_000
"""Up to so many rows are linked by uncompiled code always, such as the first of a table, and where the games
are few."""

STRIDE = 1 << 23
"""Small tables grow by a factor of eight, but by no more rows than this; then they double. Copying a table
costs more than learning what is in it, and room takes no memory until it is used."""

COUNTED = {(Rules(4, 4, 4), False): 9_722_011, (Rules(4, 4, 4), True): 1_217_977}
"""The numbers of positions, and of classes, of boards without a state space that somebody has counted."""

LINKING = (link_rows, link_rows.composed("link_rows_symmetric", SYMMETRIC=True))

_linking = Lock()


@dataclass(frozen=True)
class Column:
    """A column that a method adds to the rows or the moves of its table.

    :ivar kind: the type of its numbers, as NumPy spells it.
    :ivar unseen: what a row holds where nothing has been learned: a number, or four, for an open position and
        games won by X, won by O, and drawn. Of moves it is 0.
    :ivar mean_by: the column of counts that weighs it where tables are merged, if it is a mean.
    :ivar counts: whether it counts something, so that merging adds it up; what is neither a mean nor a count
        is derived from the others.
    :ivar shape: of each entry, if it holds several numbers: (2,) of X and of O.
    :ivar span: the least and the largest number that learning can lead to, if there are bounds.
    """

    name: str
    kind: str = "f8"
    unseen: Any = 0
    mean_by: str = ""
    counts: bool = False
    shape: tuple[int, ...] = ()
    span: tuple[float, float] | None = None


class Table:
    """A table over the positions of a board, or over their classes up to symmetry.

    ``rows`` holds for each position ``x`` and ``o`` (its stones), ``first`` (the number of its first move),
    ``number`` (how many it has), ``end`` (the result of a game that is over, else 0) and the method's
    columns; ``moves`` for each move ``cell``, ``after`` (the row that it leads to) and the method's columns,
    by position and then by cell. The rows below ``FIRST`` stand for positions without a row.

    :ivar complete: whether all positions of the board have rows.
    :ivar choice: the choice rule by which derived columns have been worked out.
    :ivar slots: as ``growth`` has them.
    :ivar used: int64[3], how many rows and moves there are.
    """

    def __init__(
        self,
        rules: Rules,
        symmetric: bool = False,
        row_columns: Sequence[Column] = (),
        move_columns: Sequence[Column] = (),
        choice: str = "",
    ) -> None:
        self.rules, self.symmetric, self.choice = rules, symmetric, choice
        self.row_columns, self.move_columns = tuple(row_columns), tuple(move_columns)
        self.complete = enumerated(rules) is not None
        stones = np.uint32 if rules.cells <= 32 else np.uint64  # small rows are quick to read
        self._rows = np.zeros(FIRST, _records([("x", stones), ("o", stones), *ROW], self.row_columns))
        self._moves = np.zeros(0, _records(MOVE, self.move_columns))
        self._rows["end"] = ENDS
        for column in self.row_columns:
            self._rows[column.name] = column.unseen
        self.slots, self.used = np.zeros(1, np.uint64), np.array([FIRST, 0, 0])
        self._loose: int | None = None
        """The first of the rows that have been added without their links."""
        if not self.complete:
            self._add(Positions.start(rules))
        elif row_columns or move_columns:
            bare = complete_table(rules, symmetric)
            self._make_room(len(bare.rows), len(bare.moves))
            for own, given in ((self._rows, bare.rows), (self._moves, bare.moves)):
                for name in given.dtype.names or ():
                    own[name] = given[name]
            self.slots, self.used = bare.slots, bare.used
            self._begin(FIRST)

    def _begin(self, start: int) -> None:
        """Let the rows from ``start`` on hold what unseen ones do."""
        here = self.rows[start:]
        kind = np.select([here["end"] > 0, here["end"] < 0, here["number"] == 0], [X_WON, O_WON, DRAWN], OPEN)
        for column in self.row_columns:
            here[column.name] = self._rows[column.name][kind]

    @property
    def rows(self) -> NDArray[Any]:
        """The records of all rows."""
        return self._rows[: self.used[0]]

    @property
    def moves(self) -> NDArray[Any]:
        """The records of all moves."""
        return self._moves[: self.used[1]]

    @property
    def halves(self) -> tuple[tuple[Any, ...], ...]:
        """Of rows and of moves the columns, the records, and what gives the rows that some belong to."""
        rows = self.row_columns, self.rows, lambda rows: rows
        return rows, (self.move_columns, self.moves, self.owners_of)

    @property
    def room(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Both, with the room they have for more: as kernels take them."""
        return self._rows, self._moves

    @property
    def growth(self) -> Growth:
        """What kernels need to add rows."""
        return self.slots, self.used, *_board(self.rules, self.symmetric), self.rules.misere

    @property
    def size(self) -> int:
        """How many positions, or classes, the whole game has; where nobody has counted them, a bound."""
        if self.complete:
            return len(self.rows) - FIRST
        images = len(self.rules.symmetries) if self.symmetric else 1
        return COUNTED.get((self.rules, self.symmetric), self.rules.positions_bound // images)

    # ---- Growing and copying ----

    def reserve(self, games: int) -> None:
        """Make room for all that this many games can add, and set every link."""
        if self.complete:
            return
        cells, (count, moves_now, _) = self.rules.cells, self.used.tolist()
        rows, moves = count + games * (cells + 1), moves_now + games * cells * (cells + 1) // 2
        if rows > len(self._rows) or moves > len(self._moves):
            more = max(count, min(7 * count, STRIDE))
            self._make_room(max(rows, count + more), max(moves, moves_now + moves_now * more // count))
        self._make_slots(games * (cells + 1))
        self.link()

    def include(self, positions: Positions) -> Int64s:
        """Add the positions that have no row yet, all different; returns int64[k], the rows of all."""
        rows = self.find(positions)
        new = rows == OPEN
        if new.any():
            count = int(self.used[0])
            self._add(positions[new])
            rows[new] = np.arange(count, self.used[0])
        return rows

    def include_all(self, batches: Iterable[tuple[Positions, T]]) -> Iterator[tuple[Int64s, T]]:
        """Add the positions of batches, all at once, as each growth is a copy; yields the rows of each batch,
        and what came with it."""
        kept = deque(batches)
        nothing = Positions.start(self.rules)[:0]
        self.include(Positions.concatenate([nothing, *(positions for positions, _ in kept)]))
        while kept:
            positions, found = kept.popleft()
            yield self.find(positions), found

    def take_in(self, part: "Table") -> Int64s:
        """Add the positions of another table; returns int64[k], the rows that its rows are here."""
        rows = np.arange(len(part.rows))
        if not self.complete:
            rows[FIRST:] = self.include(part.positions(slice(FIRST, None)))
        return rows

    def part(self, rows: Int64s) -> Self:
        """A table of these rows (ascending) and the empty board's, without links."""
        rows = np.concatenate([np.arange(FIRST + 1), rows[rows > FIRST]])
        part = type(self)(self.rules, self.symmetric, self.row_columns, self.move_columns, self.choice)
        part.include(self.positions(rows[FIRST:]))
        for column in self.row_columns:
            part.rows[column.name] = self.rows[column.name][rows]
        for column in self.move_columns:
            part.moves[column.name] = self.moves[column.name][self.moves_in(rows)[1]]
        return part

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        with _linking:  # here, for the copies of a table that are to be trained not to do it each
            self.link()
        copied = copy(self)
        copied._rows, copied._moves = grown(self.rows, len(self._rows)), self._moves
        if not self.complete or self.move_columns:
            copied._moves = grown(self.moves, len(self._moves))
        if not self.complete:
            copied.slots, copied.used = self.slots.copy(), self.used.copy()
        return copied

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_rows": self.rows, "_moves": self.moves}

    def _make_room(self, rows: int, moves: int) -> None:
        self._rows, self._moves = grown(self.rows, rows), grown(self.moves, moves)

    def _make_slots(self, more: int) -> None:
        """Have a hash table that is never full, and two thirds full at most while few rows are added."""
        count = int(self.used[0])
        size = 1 << max(3 * count // 2, (count + more) * 17 // 16).bit_length()
        if size > len(self.slots):
            self.slots = np.zeros(size, np.uint64)
            self._enter(FIRST)

    def _add(self, positions: Positions) -> None:
        """Add rows for these positions, which have none yet, without their links."""
        rows, moves, cells, number = int(self.used[0]), int(self.used[1]), [], []
        for part in positions.parts(PIECE):
            legal = self.legal(part)
            number.append(legal.sum(axis=1, dtype=np.uint8))
            cells.append(np.nonzero(legal)[1].astype(np.int8))
        numbers, cells_of = np.concatenate(number), np.concatenate(cells)
        count, moves_then = rows + len(numbers), moves + len(cells_of)
        if count > len(self._rows) or moves_then > len(self._moves):
            self._make_room(count + rows // 2, moves_then + moves // 2)  # for others to come
        here = self._rows[rows:count]
        here["x"], here["o"], here["end"], here["number"] = (
            positions.x,
            positions.o,
            positions.results,
            numbers,
        )
        here["first"] = moves + np.cumsum(numbers, dtype=np.uint32) - numbers
        self._moves["cell"][moves:moves_then] = cells_of
        self.used[:2], slots = (count, moves_then), len(self.slots)
        self._begin(rows)
        self._make_slots(0)
        if len(self.slots) == slots:
            self._enter(rows)
        self._loose = rows if self._loose is None else self._loose

    def _enter(self, start: int) -> None:
        """Put the rows from ``start`` on into the hash table."""
        slots, mask = self.slots, np.uint64(len(self.slots) - 1)
        numbers = np.arange(start, self.used[0], dtype=np.uint64)
        positions = self.positions(slice(start, None))
        hashes = hashed(positions.x, positions.o)
        at, entries = hashes & mask, hashes & ~LOWER | numbers
        while len(entries):  # where several want one free slot, one gets it and the others go on to the next
            free = slots[at] == 0
            slots[at[free]] = entries[free]
            left = slots[at] != entries
            entries, at = entries[left], at[left] + ONE & mask

    def link(self) -> None:
        """Set the links of the rows that have been added without them."""
        if self._loose is not None and not self.complete:
            kernel, count = LINKING[self.symmetric], len(self.rows) - self._loose
            run = (
                kernel.run_as_written if count <= A_FEW else kernel if count <= FEW else kernel.compiled_call
            )
            run(*self.room, self.growth, self._loose)
        self._loose = None

    # ---- Looking up ----

    def find(self, positions: Positions) -> Int64s:
        """int64[k]: the row of each position (of each class's own board), ``OPEN`` where it has none."""
        slots, mask, all_x, all_o = self.slots, np.uint64(len(self.slots) - 1), self.rows["x"], self.rows["o"]
        rows, asked = np.zeros(len(positions), np.int64), np.arange(len(positions))
        at = hashed(positions.x, positions.o) & mask
        while len(asked):
            there = (slots[at] & LOWER).astype(np.int64)
            hit = (all_x[there] == positions.x[asked]) & (all_o[there] == positions.o[asked]) & (there != 0)
            rows[asked[hit]] = there[hit]
            on = (there != 0) & ~hit
            asked, at = asked[on], at[on] + ONE & mask
        return rows

    def rows_of(self, positions: Positions) -> Int64s:
        """int64[k]: the row of each position, or of its class, ``OPEN`` where it has none."""
        return self.find(classes(positions).positions if self.symmetric else positions)

    def positions(self, rows: Any) -> Positions:
        """The positions of these rows."""
        x, o = (self.rows[stones][rows].astype(np.uint64) for stones in "xo")
        return Positions(self.rules, x, o)

    def legal(self, positions: Positions) -> Bools:
        """bool[k, cells]: the moves of these positions, or boards of classes, that rows have."""
        return classes(positions).legal if self.symmetric else positions.legal

    def by_cell(self, values: NDArray[Any], rows: Int64s, legal: Bools) -> NDArray[Any]:
        """[k, cells]: something that is kept for each move, for the moves of these rows; 0 elsewhere."""
        found = np.zeros(legal.shape, values.dtype)
        found[(rows >= FIRST)[:, None] & legal] = values[self.moves_in(rows)[1]]
        return found

    def after(self, positions: Positions, at: Int64s, cells: NDArray[Any]) -> Int64s:
        """int64[k]: the rows that moves lead to, or those that stand for them: from the positions
        ``positions[at]`` by these cells."""
        reached = positions.play(at, cells)
        found, results = self.rows_of(reached), reached.results
        unseen = np.select([results > 0, results < 0, reached.terminal], [X_WON, O_WON, DRAWN], OPEN)
        return np.where(found == OPEN, unseen, found)

    def owners(self, some: Bools) -> Int64s:
        """int64[k]: the rows of which some move is chosen, given bool[moves]; ascending."""
        return np.unique(self.owners_of(np.flatnonzero(some)))

    def owners_of(self, moves: Int64s) -> Int64s:
        """int64[k]: the rows that these moves belong to."""
        return np.searchsorted(self.rows["first"], moves, side="right") - 1

    def moves_in(self, rows: Int64s) -> tuple[Int64s, Int64s]:
        """int64[k] each: all moves of some rows; which of the rows they belong to, and their numbers."""
        number = self.rows["number"][rows].astype(np.int64)
        at = np.repeat(np.arange(len(rows)), number)
        starts = np.cumsum(number) - number
        return at, np.arange(len(at)) + np.repeat(self.rows["first"][rows] - starts, number)

    def pieces(self) -> Iterator[Int64s]:
        """The rows of positions in the order of their texts, some at a time."""
        keys = self.positions(slice(FIRST, None)).keys
        yield from pieces(FIRST + np.lexsort([keys[:, word] for word in range(keys.shape[1] - 1, -1, -1)]))

    def spread(self, positions: Positions) -> Positions:
        """The positions that these, or the classes that these stand for, are; in the order of positions."""
        return orbit(positions) if self.symmetric else positions[positions.order()]

    def options(self, game: Game) -> Int8s:
        """int8[plies]: the cells of a game's moves as rows have them."""
        return on_classes(game) if self.symmetric else np.array(game.moves, np.int8)


def on_classes(game: Game) -> Int8s:
    """int8[plies]: the cells of a game's moves on the boards of the classes."""
    found = classes(Positions.parse(game.texts()[: len(game.moves)], game.rules))
    return found.moves[np.arange(len(game.moves)), list(game.moves)].astype(np.int8)


def before(positions: Positions) -> Positions:
    """The open positions that a move leads to these from, in order."""
    last = np.where(positions.x_to_move, positions.o, positions.x)
    parts = [positions[:0]]
    for cell in range(positions.rules.cells):
        stone = ONE << np.uint64(cell)
        here = last & stone != 0
        parts.append(Positions(positions.rules, positions.x[here] & ~stone, positions.o[here] & ~stone))
    found = Positions.concatenate(parts).distinct()
    return found[~found.terminal]


def slices(number: int) -> Iterator[slice]:
    """So many things some at a time."""
    return (slice(start, start + PIECE) for start in range(0, number, PIECE))


def pieces(rows: Int64s) -> Iterator[Int64s]:
    """Rows some at a time."""
    return (rows[some] for some in slices(len(rows)))


def grown(array: NDArray[Any], room: int) -> NDArray[Any]:
    """The array with room for more; what is not used yet takes no memory until it is."""
    larger = np.zeros((max(room, len(array)), *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger


def _records(base: Sequence[tuple[str, Any]], columns: Sequence[Column]) -> np.dtype[Any]:
    """The records of these fields, small ones first, so that they are packed."""
    own = [(column.name, column.kind, column.shape) for column in columns]
    own.sort(key=lambda field: np.dtype(field[1]).itemsize)
    return np.dtype([*base, *own], align=True)


@lru_cache(maxsize=8)
def _board(rules: Rules, symmetric: bool) -> tuple[Uint64s, Int8s, Int8s]:
    """The lines through each cell, filled up with full masks, and the symmetries, both ways."""
    longest = max(map(len, rules.lines_through), default=0)
    lines = [[*masks, *[2**64 - 1] * (max(longest, 1) - len(masks))] for masks in rules.lines_through]
    images, sources = (found[: None if symmetric else 1] for found in (rules.symmetries, rules.sources))
    return np.array(lines, np.uint64), np.array(images, np.int8), np.array(sources, np.int8)


@lru_cache(maxsize=16)
def complete_table(rules: Rules, symmetric: bool) -> Table:
    """The table without columns of a board with a state space."""
    space, table = StateSpace.of(rules, symmetric), Table(rules, symmetric)
    table._add(space)
    table.moves["after"] = space.successors[space.legal] + FIRST
    return table
