"""The rows of a table: for each position the row it has, and for each of its moves the row it leads to.

On a board with a state space the index is complete from the start and shared by all tables. On any other it
grows: a kernel that meets a position for the first time adds a row (``meet``). Rows below ``FIRST`` stand for
successors that have none yet, one for each thing that the rules alone tell of them, so that a kernel reads
what an unseen entry is worth like any other.

A link is there as soon as both rows are, whichever came first: so neither the numbers of rows nor the rows
that happen to exist can change what is learned. Kernels look nothing up; only a new row is found by its hash.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.engine.arrays import Bools, Int8s, Int64s, Uint8s, Uint32s, Uint64s
from ttt_cli.engine.bits import ONE, ZERO, popcount
from ttt_cli.engine.game import Game
from ttt_cli.engine.kernel import Kernel, Part
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import StateSpace, enumerated
from ttt_cli.engine.symmetry import classes, orbit

OPEN, X_WON, O_WON, DRAWN, FIRST = 0, 1, 2, 3, 4
"""The rows of what has no row of its own, and the first row of a position, the empty board's."""

ENDS = np.array([0, 1, -1, 0], np.int8)
"""The results that the first of these stand for."""

PIECE = 1 << 14
"""How many rows are looked at together."""

FEW = 10_000
"""Up to so many rows are linked by uncompiled code where the games are few."""

STRIDE = 1 << 23
"""Small tables grow by a factor of eight, but by no more rows than this; then they double. Copying a table
costs more than learning what is in it, and room takes no memory until it is used."""

COUNTED = {(Rules(4, 4, 4), False): 9_722_011, (Rules(4, 4, 4), True): 1_217_977}
"""The numbers of positions, and of classes, of boards without a state space that somebody has counted."""

_linking = Lock()

MIX_X, MIX_O, MIX = (
    np.uint64(0x9E3779B97F4A7C15),
    np.uint64(0xC2B2AE3D27D4EB4F),
    np.uint64(0xBF58476D1CE4E5B9),
)
HALF, LOWER = np.uint64(32), np.uint64(2**32 - 1)
SHORT = 16
"""The most cells of which the upper half of a hash has all stones."""


class Links(NamedTuple):
    """The index as kernels read it: ``r`` rows and ``m`` moves, by position and then by cell.

    :ivar number: uint8[r], how many moves a position has. Unsigned, so that compiled code need not look for
        negative indexes.
    :ivar first: uint32[r], where they begin.
    :ivar cells: int8[m].
    :ivar after: uint32[m], the rows they lead to.
    :ivar ends: int8[r], the result of a game that is over, else 0.
    :ivar boards: uint64[r, 2], the stones of X and of O.
    :ivar slots: uint64[power of two], an open-addressing hash table of rows: the upper half of a position's
        hash, then its row; 0 where a slot is free.
    :ivar used: int64[2], how many rows and moves there are; the arrays have room for more.
    :ivar asked: uint64[cells, 4], where kernels note the positions around one to look them up together.
    """

    number: Uint8s
    first: Uint32s
    cells: Int8s
    after: Uint32s
    ends: Int8s
    boards: Uint64s
    slots: Uint64s
    used: Int64s
    asked: Uint64s


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
        self._loose: int | None = None
        """The first of the rows that have been added without their links."""

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
        index = cls(rules, symmetric, _nothing(rules))
        rest = positions[positions.occupied != 0]
        index._add(Positions.concatenate([Positions.start(rules), rest]))
        return index

    def __deepcopy__(self, memo: dict[int, Any]) -> "Index":
        if self.space is not None:
            return self
        with _linking:  # here, for the copies of a table that are to be trained not to do it each
            self._link()
        return self._copied()

    def _copied(self) -> "Index":
        links = self.links._replace(slots=self.links.slots.copy(), used=self.links.used.copy())
        copied = Index(self.rules, self.symmetric, links._replace(asked=links.asked.copy()))
        copied._loose = self._loose
        copied._make_room(len(links.number), len(links.cells))
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
        """Make room for all that this many games can add, and set every link."""
        if self.space is not None:
            return
        cells, links = self.rules.cells, self.links
        rows = self.rows + games * (cells + 1)
        moves = self.moves + games * cells * (cells + 1) // 2
        if rows > len(links.number) or moves > len(links.cells):
            more = max(self.rows, min(7 * self.rows, STRIDE))
            more_moves = self.moves * more // self.rows
            self._make_room(max(rows, self.rows + more), max(moves, self.moves + more_moves))
        size = _slots_for(self.rows, games * (cells + 1))
        if size > len(links.slots):
            self.links = self.links._replace(slots=np.zeros(size, np.uint64))
            _enter(self.links, slice(FIRST, self.rows))
        self._link()

    def extensible(self) -> "Index":
        """An index to which others can be added: a copy, unless it is complete."""
        return self if self.space is not None else self._copied()

    def include(self, other: "Index") -> Int64s:
        """Add the positions of another index that have no row yet.

        :returns: int64[rows of the other], the row that each of its rows is here.
        """
        if self.space is not None:
            return np.arange(self.rows)
        positions = other.positions(slice(FIRST, other.rows))
        rows, known, linked = self.find(positions), self.rows, self._loose is None
        new = rows == OPEN
        self._add(positions[new])
        rows[new] = np.arange(known, self.rows)
        if linked:
            self._link()
        return np.concatenate([np.arange(FIRST), rows])

    def _make_room(self, rows: int, moves: int) -> None:
        """Copy what is used to arrays with room for so much, and no less than now."""
        links = self.links
        rows, moves = max(rows, len(links.number)), max(moves, len(links.cells))
        number, first, ends, boards = (
            grown(array[: self.rows], rows) for array in (links.number, links.first, links.ends, links.boards)
        )
        cells, after = (grown(array[: self.moves], moves) for array in (links.cells, links.after))
        self.links = links._replace(
            number=number, first=first, cells=cells, after=after, ends=ends, boards=boards
        )

    def _add(self, positions: Positions) -> None:
        """Add rows for these positions, which have none yet, without their links."""
        if not len(positions):
            return
        rows, moves, numbers, cells_of = self.rows, self.moves, [], []
        for part in positions.parts(PIECE):
            legal = self.legal(part)
            numbers.append(legal.sum(axis=1, dtype=np.uint8))
            cells_of.append(np.nonzero(legal)[1].astype(np.int8))
        number, cells = np.concatenate(numbers), np.concatenate(cells_of)
        found = rows + len(number), moves + len(cells)
        if found[0] > len(self.links.number) or found[1] > len(self.links.cells):
            self._make_room(found[0] + rows // 2, found[1] + moves // 2)  # for others to come
        links, here = self.links, slice(rows, found[0])
        links.number[here] = number
        links.first[here] = moves + np.cumsum(number, dtype=np.uint32) - number
        links.cells[moves : found[1]] = cells
        links.ends[here] = positions.results
        links.boards[here, 0], links.boards[here, 1] = positions.x, positions.o
        links.used[:] = found
        size = _slots_for(found[0], 0)
        if size > len(links.slots):
            self.links = links._replace(slots=np.zeros(size, np.uint64))
            here = slice(FIRST, found[0])
        _enter(self.links, here)
        if self._loose is None:
            self._loose = rows

    def _link(self) -> None:
        """Set the links of the rows that have been added without them."""
        if self._loose is not None:
            run = link.compiled_call if self.rows - self._loose > FEW else link
            run(self.links, self.board, self._loose)
            self._loose = None

    def positions(self, rows: Any) -> Positions:
        """The positions of these rows."""
        boards = self.links.boards[rows]
        return Positions(self.rules, boards[:, 0], boards[:, 1])

    def find(self, positions: Positions) -> Int64s:
        """int64[k]: the row of each position (of each class's own board), ``OPEN`` where it has none."""
        if self.space is not None:
            found = self.space.rows(positions)
            return np.where(found < 0, OPEN, found + FIRST)
        boards, slots = self.links.boards, self.links.slots
        rows, mask = np.zeros(len(positions), np.int64), np.uint64(len(slots) - 1)
        asked, at = np.arange(len(positions)), hashed(positions.x, positions.o) & mask
        while len(asked):
            there = slots[at] & LOWER
            x, o = positions.x[asked], positions.o[asked]
            hit = (there != 0) & (boards[there, 0] == x) & (boards[there, 1] == o)
            rows[asked[hit]] = there[hit]
            on = (there != 0) & ~hit
            asked, at = asked[on], at[on] + ONE & mask
        return rows

    def part(self, rows: Int64s) -> tuple["Index", Int64s]:
        """An index of the positions of these rows (ascending) and the empty board, without links; and
        int64[k], the rows of this index that its rows are. For a complete index, itself."""
        if self.space is not None:
            return self, np.arange(self.rows)
        rows = np.concatenate([np.arange(FIRST + 1), rows[rows > FIRST]])
        return Index.over(self.positions(rows[FIRST:]), self.symmetric), rows

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
        rows = np.flatnonzero(self.links.number[: self.rows])
        return rows[np.logical_or.reduceat(some[: self.moves], self.links.first[rows])]

    def owners_of(self, moves: Int64s) -> Int64s:
        """int64[k]: the rows that these moves belong to."""
        return np.searchsorted(self.links.first[: self.rows], moves, side="right") - 1

    def moves_in(self, rows: Int64s) -> tuple[Int64s, Int64s]:
        """int64[k] each: all moves of some rows; which of the rows they belong to, and their numbers."""
        number = self.links.number[rows].astype(np.int64)
        at = np.repeat(np.arange(len(rows)), number)
        starts = np.cumsum(number) - number
        return at, np.arange(len(at)) + np.repeat(self.links.first[rows] - starts, number)

    def pieces(self) -> Iterator[Int64s]:
        """The rows of positions in the order of their texts, some at a time."""
        yield from pieces(self._order if self.space is not None else self._in_order())

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
        found = Positions.concatenate(parts).distinct()
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


def pieces(rows: Int64s) -> Iterator[Int64s]:
    """Rows some at a time."""
    for start in range(0, len(rows), PIECE):
        yield rows[start : start + PIECE]


def grown(array: NDArray[Any], room: int, unused: int = 0) -> NDArray[Any]:
    """The array with room for more; what is not used yet takes no memory until it is, if it is zero."""
    larger = np.zeros((room, *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    if unused:
        larger[len(array) :] = unused
    return larger


def union(base: Index, parts: Sequence[Index]) -> tuple[Index, list[Int64s]]:
    """An index with the rows of all of them, those of ``base`` first and the others in order, and where the
    rows of each part are in it. That takes a copy of ``base``; the rest goes by the size of the parts."""
    if base.space is not None:
        return base, [np.arange(base.rows)] * len(parts)
    joined, boards = base._copied(), [part.positions(slice(FIRST, part.rows)) for part in parts]
    joined._add(Positions.concatenate([some[joined.find(some) == OPEN] for some in boards]).distinct())
    if base._loose is None:
        joined._link()
    own = np.arange(FIRST)
    return joined, [np.concatenate([own, joined.find(some)]) for some in boards]


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
    ends = np.concatenate([ENDS, space.results])
    used, asked = np.array([len(number), len(cells)]), np.zeros((rules.cells, 4), np.uint64)
    boards, slots = np.zeros((len(number), 2), np.uint64), np.zeros(1, np.uint64)
    boards[FIRST:, 0], boards[FIRST:, 1] = space.positions.x, space.positions.o
    links = Links(number, first, cells, after, ends, boards, slots, used, asked)
    return Index(rules, symmetric, links, space)


def _slots_for(rows: int, more: int) -> int:
    """The size of a hash table that is never full, and two thirds full at most while few rows are added."""
    return 1 << max(3 * rows // 2, (rows + more) * 17 // 16).bit_length()


def _nothing(rules: Rules) -> Links:
    """The links of no position."""
    number, first, ends = np.zeros(FIRST, np.uint8), np.zeros(FIRST, np.uint32), ENDS.copy()
    cells, after, slots = np.zeros(0, np.int8), np.zeros(0, np.uint32), np.zeros(1, np.uint64)
    boards, asked = np.zeros((FIRST, 2), np.uint64), np.zeros((rules.cells, 4), np.uint64)
    return Links(number, first, cells, after, ends, boards, slots, np.array([FIRST, 0]), asked)


def _enter(links: Links, rows: slice) -> None:
    """Put rows into the hash table."""
    slots, boards = links.slots, links.boards[rows]
    mask, numbers = np.uint64(len(slots) - 1), np.arange(rows.start, rows.stop, dtype=np.uint64)
    hashes = hashed(boards[:, 0], boards[:, 1])
    at, entries = hashes & mask, hashes & ~LOWER | numbers
    while len(entries):  # where several want one free slot, one gets it and the others go on to the next
        free = slots[at] == 0
        slots[at[free]] = entries[free]
        left = slots[at] != entries
        entries, at = entries[left], at[left] + ONE & mask


@Part
def hashed(x: np.uint64, o: np.uint64) -> np.uint64:
    """A hash of a position, or of many. The upper half has all stones of the first ``SHORT`` cells."""
    mixed = x * MIX_X ^ o * MIX_O
    mixed = (mixed ^ mixed >> HALF) * MIX
    return mixed >> HALF | (x ^ o << np.uint64(SHORT)) << HALF


@Part
def look_up(asked: Uint64s, count: int, whole: bool, boards: Uint64s, slots: Uint64s) -> None:
    """Put behind each of the first ``count`` boards in ``asked`` its row, ``OPEN`` if it has none.

    All slots are read before any is looked at, for the processor to wait for memory once and not each time.

    :param whole: whether the upper half of a hash has all stones of the board.
    """
    mask = np.uint64(slots.shape[0] - 1)
    for number in range(count):
        asked[number, 2] = hashed(asked[number, 0], asked[number, 1])
    for number in range(count):
        asked[number, 3] = slots[asked[number, 2] & mask]
    for number in range(count):
        entry, mixed = asked[number, 3], asked[number, 2]
        slot = mixed & mask
        while entry != ZERO:
            row = entry & LOWER
            if (entry ^ mixed) >> HALF == ZERO and (
                whole or (boards[row, 0] == asked[number, 0] and boards[row, 1] == asked[number, 1])
            ):
                break
            slot = slot + ONE & mask
            entry = slots[slot]
        asked[number, 3] = entry & LOWER


@Part
def enter(boards: Uint64s, slots: Uint64s, row: int) -> None:
    """Put a row into the hash table."""
    mask = np.uint64(slots.shape[0] - 1)
    mixed = hashed(boards[row, 0], boards[row, 1])
    slot = mixed & mask
    while slots[slot] != ZERO:
        slot = slot + ONE & mask
    slots[slot] = (mixed >> HALF << HALF) | np.uint64(row)


@Part
def is_line(lines: Uint64s, stones: np.uint64, cell: int) -> bool:
    """Whether these stones make one of the ``lines`` of a board through a cell."""
    found = False
    for number in range(lines.shape[1]):
        mask = lines[cell, number]
        found = found or stones & mask == mask
    return found


@Part
def turned(images: Int8s, stones: np.uint64, image: int) -> np.uint64:
    """The stones where a symmetry takes them."""
    found = ZERO
    for cell in range(images.shape[1]):
        found |= (stones >> np.uint64(cell) & ONE) << np.uint64(images[image, cell])
    return found


@Part
def image_of_class(images: Int8s, x: np.uint64, o: np.uint64) -> int:
    """The first symmetry that gives the smallest text."""
    chosen, best_x, best_o = 0, x, o
    for image in range(1, images.shape[0]):
        new_x, new_o = turned(images, x, image), turned(images, o, image)
        differing = (new_x ^ best_x) | (new_o ^ best_o)
        lowest = differing & (~differing + ONE)
        if best_x & lowest != 0 or (best_o & lowest != 0 and new_x & lowest == 0):
            chosen, best_x, best_o = image, new_x, new_o
    return chosen


@Part
def lowest_of(images: Int8s, x: np.uint64, o: np.uint64, cell: int) -> int:
    """The lowest cell that a symmetry of this very position takes a cell to."""
    lowest = cell
    for image in range(1, images.shape[0]):
        if images[image, cell] < lowest and turned(images, x, image) == x and turned(images, o, image) == o:
            lowest = int(images[image, cell])
    return lowest


@Part
def join(links: Links, board: Board, row: np.uint32, back: bool) -> None:
    """Link the moves of a row to the rows that they lead to, or to those that stand for them; if ``back``,
    also all moves that lead to this row.

    One function does both, and reads all arrays first, because each call counts references to each array.
    """
    asked, cells, after, first_of, number_of = (
        links.asked,
        links.cells,
        links.after,
        links.first,
        links.number,
    )
    images, lines, boards = board.images, board.lines, links.boards
    x, o = boards[row, 0], boards[row, 1]
    plies, size, distinct = popcount(x | o), images.shape[1], images.shape[0] == 1
    x_moves = plies % 2 == 0
    own, last = (x, o) if x_moves else (o, x)
    first, number = np.int64(first_of[row]), np.int64(number_of[row])
    for place in range(number):
        stone = ONE << np.uint64(cells[first + place])
        new_x, new_o = (x | stone, o) if x_moves else (x, o | stone)
        if not distinct:
            image = image_of_class(images, new_x, new_o)
            new_x, new_o = turned(images, new_x, image), turned(images, new_o, image)
        asked[place, 0], asked[place, 1] = new_x, new_o
    count = number
    for taken in range(size if back else 0):
        stone = ONE << np.uint64(taken)
        if last & stone != ZERO:
            old_x, old_o = x & ~stone, o & ~stone
            if not distinct:
                image = image_of_class(images, old_x, old_o)
                old_x, old_o = turned(images, old_x, image), turned(images, old_o, image)
            asked[count, 0], asked[count, 1] = old_x, old_o
            count += 1
    look_up(asked, count, size <= SHORT, boards, links.slots)
    for place in range(number):
        found = np.uint32(asked[place, 3])
        if found == OPEN:
            cell = np.int64(cells[first + place])
            if is_line(lines, own | ONE << np.uint64(cell), cell):
                found = np.uint32(X_WON if x_moves != board.misere else O_WON)
            elif plies + 1 == size:
                found = np.uint32(DRAWN)
        after[first + place] = found
    count = number
    for taken in range(size if back else 0):
        stone = ONE << np.uint64(taken)
        if last & stone != ZERO:
            before = asked[count, 3]
            if before != OPEN and distinct:
                place = taken - popcount((x | o) & (stone - ONE))
                after[first_of[before] + place] = row
            elif before != OPEN:
                image = image_of_class(images, x & ~stone, o & ~stone)
                cell = np.int64(images[image, taken])
                cell = lowest_of(images, asked[count, 0], asked[count, 1], cell)
                for at in range(first_of[before], first_of[before] + number_of[before]):
                    if cells[at] == cell:
                        after[at] = row
            count += 1


@Part
def meet(links: Links, board: Board, parent: np.uint32, at: np.uint32) -> np.uint32:
    """Add the position that a move leads to, which has no row yet, and its links; its row."""
    boards, cells, images, used = links.boards, links.cells, board.images, links.used
    x, o, cell = boards[parent, 0], boards[parent, 1], np.int64(cells[at])
    plies, stone = popcount(x | o) + 1, ONE << np.uint64(cell)
    x, o = (x | stone, o) if plies % 2 == 1 else (x, o | stone)
    lined = is_line(board.lines, x if plies % 2 == 1 else o, cell)
    if images.shape[0] > 1:
        image = image_of_class(images, x, o)
        x, o = turned(images, x, image), turned(images, o, image)
    row, place = used[0], used[1]
    boards[row, 0], boards[row, 1] = x, o
    enter(boards, links.slots, row)
    links.first[row] = place
    if lined:
        links.ends[row] = 1 if (plies % 2 == 1) != board.misere else -1
    else:
        for free in range(images.shape[1]):
            if (x | o) >> np.uint64(free) & ONE == ZERO and lowest_of(images, x, o, free) == free:
                cells[place] = free
                place += 1
    links.number[row] = place - used[1]
    used[0], used[1] = row + 1, place
    join(links, board, np.uint32(row), True)
    return np.uint32(row)


@Kernel
def link(links: Links, board: Board, start: int) -> None:
    """Link the rows from ``start`` on, and those before them to these."""
    for row in range(start, links.used[0]):
        join(links, board, np.uint32(row), start > FIRST)
