"""The rows of a table: for each position the row it has, and for each of its moves the row it leads to.

On a board with a state space the index is complete from the start and shared by all tables. On any other it
grows: a kernel that meets a position for the first time adds a row (``meet``). Rows below ``FIRST`` stand for
successors that have none yet, one for each thing that the rules alone tell of them, so that a kernel reads
what an unseen entry is worth like any other.

A link is there as soon as both rows are, whichever came first: so neither the numbers of rows nor the rows
that happen to exist can change what is learned. Kernels look nothing up; only a new row is found by its hash.
"""

from collections.abc import Iterator
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.engine.game import Game
from ttt_cli.engine.kernel import Kernel, Part
from ttt_cli.engine.positions import Bools, Int8s, Int64s, Positions, Uint64s
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import StateSpace, enumerated
from ttt_cli.engine.symmetry import classes, distinct, orbit

Uint8s = NDArray[np.uint8]
Uint32s = NDArray[np.uint32]

OPEN, X_WON, O_WON, DRAWN, FIRST = 0, 1, 2, 3, 4
"""The rows of what has no row of its own, and the first row of a position, the empty board's."""

PIECE = 1 << 14
"""How many rows are looked at together."""

COUNTED = {(Rules(4, 4, 4), False): 9_722_011, (Rules(4, 4, 4), True): 1_217_977}
"""The numbers of positions, and of classes, of boards without a state space that somebody has counted."""

ONE, ZERO = np.uint64(1), np.uint64(0)
MIX_X, MIX_O, MIX = (
    np.uint64(0x9E3779B97F4A7C15),
    np.uint64(0xC2B2AE3D27D4EB4F),
    np.uint64(0xBF58476D1CE4E5B9),
)
HALF = np.uint64(32)


class Links(NamedTuple):
    """The index as kernels read it: ``r`` rows and ``m`` moves, by position and then by cell.

    :ivar number: uint8[r], how many moves a position has. Unsigned, so that compiled code need not look for
        negative indexes.
    :ivar first: uint32[r], where they begin.
    :ivar cells: int8[m].
    :ivar after: uint32[m], the rows they lead to.
    :ivar ends: int8[r], the result of a game that is over, else 0.
    :ivar x: uint64[r], the stones of X; o: of O.
    :ivar slots: uint32[power of two], an open-addressing hash table of rows; 0 where a slot is free.
    :ivar used: int64[2], how many rows and moves there are; the arrays have room for more.
    """

    number: Uint8s
    first: Uint32s
    cells: Int8s
    after: Uint32s
    ends: Int8s
    x: Uint64s
    o: Uint64s
    slots: Uint32s
    used: Int64s


class Board(NamedTuple):
    """The rules as kernels read them.

    :ivar lines: uint64[cells, l], the lines through each cell; a full mask fills the row up.
    :ivar images: int8[s, cells], the symmetries, the identity first; that alone if positions are kept apart.
    :ivar misere: whether who completes a line loses.
    """

    lines: Uint64s
    images: Int8s
    misere: bool


class Index:
    """Which row each position has.

    :ivar symmetric: whether the rows are those of classes up to symmetry.
    :ivar space: the positions in the order of their rows, where they are complete.
    """

    def __init__(self, rules: Rules, symmetric: bool, links: Links, space: StateSpace | None = None) -> None:
        self.rules, self.symmetric, self.links, self.space = rules, symmetric, links, space
        self.board = _board(rules, symmetric)
        self._linked = True

    @classmethod
    def of(cls, rules: Rules, symmetric: bool) -> "Index":
        """The complete index where the board has a state space; else one of the empty board alone."""
        if enumerated(rules) is not None:
            return _complete(rules, symmetric)
        return cls.over(Positions.start(rules), symmetric)

    @classmethod
    def over(cls, positions: Positions, symmetric: bool) -> "Index":
        """An index of these positions, all different and none of them symmetric to another if it is to be
        symmetric; the empty board, which always has the first row, need not be among them."""
        rules = positions.rules
        if enumerated(rules) is not None:
            return _complete(rules, symmetric)
        rest = positions[positions.occupied != 0]
        index = cls(
            rules, symmetric, _unlinked(Positions.concatenate([Positions.start(rules), rest]), symmetric)
        )
        index._linked = False
        return index

    def __deepcopy__(self, memo: dict[int, Any]) -> "Index":
        if self.space is not None:
            return self
        copies: Any = (array.copy() for array in self.links)
        copied = Index(self.rules, self.symmetric, Links(*copies))
        copied._linked = self._linked
        return copied

    def __reduce__(self) -> Any:
        if self.space is not None:
            return Index.of, (self.rules, self.symmetric)
        return Index.over, (self.positions(np.arange(FIRST, self.rows)), self.symmetric)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self.links.used[0])

    @property
    def moves(self) -> int:
        """How many moves their positions have."""
        return int(self.links.used[1])

    @property
    def size(self) -> int:
        """How many positions, or classes, the whole game has; where nobody has counted them, a bound."""
        if self.space is not None:
            return len(self.space)
        images = len(self.rules.symmetries) if self.symmetric else 1
        return COUNTED.get((self.rules, self.symmetric), self.rules.positions_bound // images)

    def reserve(self, games: int) -> None:
        """Make room for all that so many games can add, and let every link be there."""
        if self.space is not None:
            return
        cells, links = self.rules.cells, self.links
        rows = self.rows + games * (cells + 1)
        moves = self.moves + games * cells * (cells + 1) // 2
        if rows > len(links.number) or moves > len(links.cells):
            rows, moves = max(rows, 2 * self.rows), max(moves, 2 * self.moves)
            slots = np.zeros(1 << (2 * rows).bit_length(), np.uint32)
            by_row = (links.number, links.first, links.ends, links.x, links.o)
            number, first, ends, x, o = (grown(array[: self.rows], rows) for array in by_row)
            cells_of, after = (grown(array[: self.moves], moves) for array in (links.cells, links.after))
            self.links = Links(number, first, cells_of, after, ends, x, o, slots, links.used)
            rehash(self.links)
        if not self._linked:
            link(self.links, self.board)
            self._linked = True

    def positions(self, rows: Any) -> Positions:
        """The positions of these rows."""
        return Positions(self.rules, self.links.x[rows], self.links.o[rows])

    def find(self, positions: Positions) -> Int64s:
        """int64[k]: the row of each position (of each class's own board), ``OPEN`` where it has none."""
        if self.space is not None:
            found = self.space.rows(positions)
            return np.where(found < 0, OPEN, found + FIRST)
        _, _, _, _, _, xs, os, slots, _ = self.links
        rows, mask = np.zeros(len(positions), np.int64), np.uint64(len(slots) - 1)
        asked, at = np.arange(len(positions)), _hashes(positions.x, positions.o) & mask
        while len(asked):
            there = slots[at]
            x, o = positions.x[asked], positions.o[asked]
            hit = (there != 0) & (xs[there] == x) & (os[there] == o)
            rows[asked[hit]] = there[hit]
            on = (there != 0) & ~hit
            asked, at = asked[on], at[on] + ONE & mask
        return rows

    def legal(self, positions: Positions) -> Bools:
        """bool[k, cells]: the moves of these positions, or boards of classes, that rows have."""
        return classes(positions).legal if self.symmetric else positions.legal

    def by_cell(self, values: NDArray[Any], rows: Int64s, legal: NDArray[np.bool_]) -> NDArray[Any]:
        """[k, cells]: something that is kept for each move, for the moves of these rows; 0 elsewhere."""
        found = np.zeros(legal.shape, values.dtype)
        known = (rows >= FIRST)[:, None] & legal
        number = self.links.number[rows].astype(np.int64)
        number[rows < FIRST] = 0
        starts = np.cumsum(number) - number
        places = np.arange(int(number.sum())) - np.repeat(starts - self.links.first[rows], number)
        found[known] = values[places]
        return found

    def after(self, positions: Positions, at: Int64s, cells: Int64s) -> Int64s:
        """int64[k]: the rows that moves lead to, or those that stand for them: from the positions
        ``positions[at]`` by these cells."""
        reached = positions.play(at, cells)
        found = self.find(classes(reached).positions if self.symmetric else reached)
        results = reached.results
        over = np.where(reached.terminal, DRAWN, OPEN)
        unseen = np.select([results > 0, results < 0], [X_WON, O_WON], over)
        return np.where(found == OPEN, unseen, found)

    def owners(self, some: Bools) -> Int64s:
        """int64[k]: the rows of which some move is chosen, given bool[moves] or more; ascending."""
        rows = np.repeat(np.arange(self.rows), self.links.number[: self.rows])
        return np.unique(rows[some[: len(rows)]])

    def owners_of(self, moves: Int64s) -> Int64s:
        """int64[k]: the rows that these moves belong to."""
        return np.searchsorted(self.links.first[: self.rows], moves, side="right") - 1

    def pieces(self) -> Iterator[Int64s]:
        """The rows of positions in the order of their texts, some at a time."""
        order = self._order if self.space is not None else self._in_order()
        for start in range(0, len(order), PIECE):
            yield order[start : start + PIECE]

    def _in_order(self) -> Int64s:
        keys = self.positions(slice(FIRST, self.rows)).keys
        return FIRST + np.lexsort([keys[:, word] for word in range(keys.shape[1] - 1, -1, -1)])

    @cached_property
    def _order(self) -> Int64s:
        return self._in_order()

    def spread(self, positions: Positions) -> Positions:
        """The positions that these, or the classes that these stand for, are; in the order of positions."""
        return orbit(positions) if self.symmetric else positions[positions.order()]

    def before(self, positions: Positions) -> Positions:
        """The positions that a move leads to these from, in order."""
        last = np.where(positions.x_to_move, positions.o, positions.x)
        parts = [positions[:0]]
        for cell in range(self.rules.cells):
            stone = ONE << np.uint64(cell)
            here = last & stone != 0
            keep = ~stone
            parts.append(Positions(self.rules, positions.x[here] & keep, positions.o[here] & keep))
        found = distinct(Positions.concatenate(parts))
        return found[~found.terminal]

    def options(self, game: Game) -> tuple[Int8s, Int8s]:
        """int8[plies] twice: a game's moves as rows have them, as cells and as places among the moves."""
        texts = game.texts()[: len(game.moves)]
        positions, cells = Positions.parse(texts, self.rules), np.array(game.moves, np.int8)
        legal = positions.legal
        if self.symmetric:
            found = classes(positions)
            legal, cells = found.legal, found.moves[np.arange(len(cells)), cells]
        before = legal & (np.arange(self.rules.cells) < cells[:, None])
        return cells, before.sum(axis=1).astype(np.int8)


def grown(array: NDArray[Any], room: int) -> NDArray[Any]:
    """The array with room for more; what is not used yet is zero, and takes no memory until it is."""
    larger = np.zeros((room, *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger


def union(indexes: list[Index]) -> tuple[Index, list[Int64s]]:
    """An index with the rows of all of them, and for each where its rows are in that."""
    first = indexes[0]
    if first.space is not None:
        return first, [np.arange(first.rows)] * len(indexes)
    boards = Positions.concatenate([index.positions(slice(FIRST, index.rows)) for index in indexes])
    joined = Index.over(distinct(boards), first.symmetric)
    own = np.arange(FIRST)
    return joined, [
        np.concatenate([own, joined.find(index.positions(slice(FIRST, index.rows)))]) for index in indexes
    ]


def moves_of(index: Index, joined: Index, rows: Int64s) -> Int64s:
    """int64[moves]: where in another index the moves of this one are, given where its rows are."""
    number = index.links.number[: index.rows].astype(np.int64)
    shift = joined.links.first[rows].astype(np.int64) - index.links.first[: index.rows]
    return np.arange(index.moves) + np.repeat(shift, number)


@lru_cache(maxsize=8)
def _board(rules: Rules, symmetric: bool) -> Board:
    longest = max(map(len, rules.lines_through), default=0)
    lines = [[*masks, *[2**64 - 1] * (max(longest, 1) - len(masks))] for masks in rules.lines_through]
    images = rules.symmetries if symmetric else rules.symmetries[:1]
    return Board(np.array(lines, np.uint64), np.array(images, np.int8), rules.misere)


@lru_cache(maxsize=16)
def _complete(rules: Rules, symmetric: bool) -> Index:
    space = StateSpace.of(rules, symmetric)
    number = np.concatenate([np.zeros(FIRST, np.uint8), space.legal.sum(axis=1, dtype=np.uint8)])
    first = np.cumsum(number, dtype=np.uint32) - number
    cells = np.nonzero(space.legal)[1].astype(np.int8)
    after = (space.successors[space.legal] + FIRST).astype(np.uint32)
    ends = np.concatenate([np.array([0, 1, -1, 0], np.int8), space.results])
    x, o = (
        np.concatenate([np.zeros(FIRST, np.uint64), side]) for side in (space.positions.x, space.positions.o)
    )
    used = np.array([len(number), len(cells)])
    links = Links(number, first, cells, after, ends, x, o, np.zeros(1, np.uint32), used)
    return Index(rules, symmetric, links, space)


def _unlinked(positions: Positions, symmetric: bool) -> Links:
    """The rows of these positions, without their successors."""
    legal = np.concatenate(
        [_legal(positions[at : at + PIECE], symmetric) for at in range(0, len(positions), PIECE)]
    )
    number = np.concatenate([np.zeros(FIRST, np.uint8), legal.sum(axis=1, dtype=np.uint8)])
    first = np.cumsum(number, dtype=np.uint32) - number
    cells = np.nonzero(legal)[1].astype(np.int8)
    ends = np.concatenate([np.array([0, 1, -1, 0], np.int8), positions.results])
    x, o = (np.concatenate([np.zeros(FIRST, np.uint64), side]) for side in (positions.x, positions.o))
    slots = np.zeros(1 << (2 * len(number)).bit_length(), np.uint32)
    mask, rows = np.uint64(len(slots) - 1), np.arange(FIRST, len(number), dtype=np.uint32)
    at = _hashes(positions.x, positions.o) & mask
    while len(rows):  # where several want one free slot, one gets it and the others go on to the next
        free = slots[at] == 0
        slots[at[free]] = rows[free]
        left = slots[at] != rows
        rows, at = rows[left], at[left] + ONE & mask
    used = np.array([len(number), len(cells)])
    return Links(number, first, cells, np.zeros(len(cells), np.uint32), ends, x, o, slots, used)


def _legal(positions: Positions, symmetric: bool) -> Bools:
    return classes(positions).legal if symmetric else positions.legal


def _hashes(x: Uint64s, o: Uint64s) -> Uint64s:
    """What ``hashed`` gives, of many."""
    mixed = x * MIX_X ^ o * MIX_O
    mixed = (mixed ^ mixed >> HALF) * MIX
    return mixed ^ mixed >> HALF


@Part
def hashed(x: np.uint64, o: np.uint64) -> np.uint64:
    """A hash of a position."""
    mixed = x * MIX_X ^ o * MIX_O
    mixed = (mixed ^ mixed >> HALF) * MIX
    return mixed ^ mixed >> HALF


@Part
def row_of(links: Links, x: np.uint64, o: np.uint64) -> np.uint32:
    """The row of a position; ``OPEN`` if it has none."""
    mask = np.uint64(links.slots.shape[0] - 1)
    slot = hashed(x, o) & mask
    row = links.slots[slot]
    while row != 0 and (links.x[row] != x or links.o[row] != o):
        slot = slot + ONE & mask
        row = links.slots[slot]
    return row


@Part
def enter(links: Links, row: np.uint32) -> None:
    """Put a row into the hash table."""
    mask = np.uint64(links.slots.shape[0] - 1)
    slot = hashed(links.x[row], links.o[row]) & mask
    while links.slots[slot] != 0:
        slot = slot + ONE & mask
    links.slots[slot] = row


@Part
def stones_on(board: np.uint64) -> int:
    """The number of bits that are set."""
    count, rest = 0, board
    while rest != 0:
        rest = rest & (rest - ONE)
        count += 1
    return count


@Part
def is_line(board: Board, stones: np.uint64, cell: int) -> bool:
    """Whether these stones make a line through a cell."""
    found = False
    for number in range(board.lines.shape[1]):
        mask = board.lines[cell, number]
        found = found or stones & mask == mask
    return found


@Part
def turned(board: Board, stones: np.uint64, image: int) -> np.uint64:
    """The stones where a symmetry takes them."""
    found = ZERO
    for cell in range(board.images.shape[1]):
        found |= (stones >> np.uint64(cell) & ONE) << np.uint64(board.images[image, cell])
    return found


@Part
def image_of_class(board: Board, x: np.uint64, o: np.uint64) -> int:
    """The first symmetry that gives the smallest text."""
    chosen, best_x, best_o = 0, x, o
    for image in range(1, board.images.shape[0]):
        new_x, new_o = turned(board, x, image), turned(board, o, image)
        differing = (new_x ^ best_x) | (new_o ^ best_o)
        lowest = differing & (~differing + ONE)
        if best_x & lowest != 0 or (best_o & lowest != 0 and new_x & lowest == 0):
            chosen, best_x, best_o = image, new_x, new_o
    return chosen


@Part
def lowest_of(board: Board, x: np.uint64, o: np.uint64, cell: int) -> int:
    """The lowest cell that a symmetry of this very position takes a cell to."""
    lowest = cell
    for image in range(1, board.images.shape[0]):
        if (
            board.images[image, cell] < lowest
            and turned(board, x, image) == x
            and turned(board, o, image) == o
        ):
            lowest = int(board.images[image, cell])
    return lowest


@Part
def after_move(links: Links, board: Board, x: np.uint64, o: np.uint64, plies: int, cell: int) -> np.uint32:
    """The row that a move leads to, or the one that stands for it."""
    stone = ONE << np.uint64(cell)
    new_x, new_o = x, o
    if plies % 2 == 0:
        new_x = x | stone
    else:
        new_o = o | stone
    lined = is_line(board, new_x if plies % 2 == 0 else new_o, cell)
    if board.images.shape[0] > 1:
        image = image_of_class(board, new_x, new_o)
        new_x, new_o = turned(board, new_x, image), turned(board, new_o, image)
    row = row_of(links, new_x, new_o)
    if row == OPEN:
        if lined:
            row = np.uint32(X_WON if (plies % 2 == 0) != board.misere else O_WON)
        elif plies + 1 == board.images.shape[1]:
            row = np.uint32(DRAWN)
    return row


@Part
def meet(links: Links, board: Board, parent: np.uint32, at: np.uint32) -> np.uint32:
    """Add the position that a move leads to, which has no row yet, and its links; its row."""
    x, o = links.x[parent], links.o[parent]
    cells, plies, cell = board.images.shape[1], stones_on(x | o), int(links.cells[at])
    stone = ONE << np.uint64(cell)
    if plies % 2 == 0:
        x = x | stone
    else:
        o = o | stone
    lined = is_line(board, x if plies % 2 == 0 else o, cell)
    if board.images.shape[0] > 1:
        image = image_of_class(board, x, o)
        x, o = turned(board, x, image), turned(board, o, image)
    plies += 1
    row = np.uint32(links.used[0])
    links.used[0] += 1
    links.x[row], links.o[row] = x, o
    enter(links, row)
    first = links.used[1]
    links.first[row] = first
    if lined:
        links.ends[row] = 1 if (plies % 2 == 1) != board.misere else -1
    else:
        place = first
        for free in range(cells):
            if (x | o) >> np.uint64(free) & ONE == ZERO and lowest_of(board, x, o, free) == free:
                links.cells[place] = free
                links.after[place] = after_move(links, board, x, o, plies, free)
                place += 1
        links.number[row] = place - first
        links.used[1] = place
    last = x if plies % 2 == 1 else o
    for taken in range(cells):
        stone = ONE << np.uint64(taken)
        if last & stone != ZERO:
            old_x, old_o, cell = x & ~stone, o & ~stone, taken
            if board.images.shape[0] > 1:
                image = image_of_class(board, old_x, old_o)
                old_x, old_o = turned(board, old_x, image), turned(board, old_o, image)
                cell = lowest_of(board, old_x, old_o, int(board.images[image, taken]))
            before = row_of(links, old_x, old_o)
            if before != OPEN:
                for place in range(links.first[before], links.first[before] + links.number[before]):
                    if links.cells[place] == cell:
                        links.after[place] = row
    return row


@Kernel
def rehash(links: Links) -> None:
    """Fill an empty hash table."""
    for row in range(FIRST, links.used[0]):
        enter(links, np.uint32(row))


@Kernel
def link(links: Links, board: Board) -> None:
    """Link all rows to their successors."""
    for row in range(FIRST, links.used[0]):
        x, o = links.x[row], links.o[row]
        plies = stones_on(x | o)
        for at in range(links.first[row], links.first[row] + links.number[row]):
            links.after[at] = after_move(links, board, x, o, plies, int(links.cells[at]))
