"""Batches of positions of one game, two bitboards each: legal moves, results, successors and order, all
vectorised, on every board of up to 64 cells.

The order of positions is the same in walks, tables and files: by plies, then by text, where ``.`` < ``O`` <
``X``.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttt_cli.engine.arrays import Bools, Int8s, Int32s, Int64s, Uint16s, Uint64s
from ttt_cli.engine.bits import ONE
from ttt_cli.engine.position import SYMBOLS, Position
from ttt_cli.engine.rules import Rules

CACHED_MOVES = 1 << 16
"""Moves in a chunk whose temporary arrays stay in the processor's cache."""

PART = 1 << 16
"""Positions in a part of a large batch."""

INHERITED = ("plies", "results", "terminal")
"""Properties that a part of a batch inherits once they are computed."""


class Positions:
    """``k`` positions of one game.

    :ivar x: uint64[k], the stones of X: bit ``c`` is cell ``c``.
    :ivar o: uint64[k], the stones of O.
    """

    def __init__(self, rules: Rules, x: Uint64s, o: Uint64s, **known: NDArray[Any]) -> None:
        """:param known: properties already computed: ``plies``, ``results``, ``terminal``."""
        self.rules, self.x, self.o = rules, x, o
        self.__dict__.update(known)

    @classmethod
    def start(cls, rules: Rules) -> "Positions":
        return cls(rules, np.zeros(1, np.uint64), np.zeros(1, np.uint64))

    @classmethod
    def batch(cls, positions: Sequence[Position], rules: Rules) -> "Positions":
        x = np.array([position.x for position in positions], np.uint64)
        return cls(rules, x, np.array([position.o for position in positions], np.uint64))

    @classmethod
    def parse(cls, texts: Sequence[str], rules: Rules) -> "Positions":
        """The positions with these texts.

        :raises NotationError: naming the first text that is not a position of these rules.
        """
        others = "".join(texts).encode(errors="replace").translate(None, SYMBOLS.encode())
        fits = {*map(len, texts)} <= {rules.cells} and not others
        if not fits or not (positions := cls.reached(texts, rules)).reachable.all():
            return cls.batch([Position(text, rules) for text in texts], rules)
        return positions

    @classmethod
    def reached(cls, texts: Sequence[str], rules: Rules) -> "Positions":
        """The boards with these texts, known to be reachable: nothing is checked."""
        symbols = np.frombuffer("".join(texts).encode("ascii"), np.uint8).reshape(len(texts), rules.cells)
        return cls(rules, _packed(symbols == ord("X")), _packed(symbols == ord("O")))

    @classmethod
    def concatenate(cls, parts: Sequence["Positions"]) -> "Positions":
        """The positions of one or more parts, in turn."""
        shared = [name for name in INHERITED if all(name in part.__dict__ for part in parts)]
        x, o, *known = (
            np.concatenate([getattr(part, name) for part in parts]) for name in ("x", "o", *shared)
        )
        return cls(parts[0].rules, x, o, **dict(zip(shared, known, strict=True)))

    def __len__(self) -> int:
        return len(self.x)

    def parts(self, size: int = PART) -> Iterator["Positions"]:
        """The batch in parts of at most ``size`` positions, to save memory."""
        if len(self) <= size:
            yield self
            return
        for at in range(0, len(self), size):
            yield self[at : at + size]

    def __getitem__(self, rows: Any) -> "Positions":
        """A part of the batch, by a slice, a mask or indices, or one position by its index."""
        if isinstance(rows, int | np.integer):
            rows = [range(len(self))[rows]]
        known = {name: self.__dict__[name][rows] for name in INHERITED if name in self.__dict__}
        return Positions(self.rules, self.x[rows], self.o[rows], **known)

    @property
    def cells(self) -> int:
        return self.rules.cells

    @cached_property
    def plies(self) -> Int8s:
        """int8[k]: the numbers of stones."""
        return np.bitwise_count(self.x | self.o).astype(np.int8)

    @cached_property
    def x_to_move(self) -> Bools:
        """bool[k]: whether X is to move (on a terminal board, would be next)."""
        return np.equal(self.plies % 2, 0)

    @cached_property
    def results(self) -> Int8s:
        """int8[k]: +1 X has won, -1 O has won, 0 drawn or open."""
        masks = _line_masks(self.rules)
        x_lined, o_lined = _holding(masks, self.x), _holding(masks, self.o)
        lined = x_lined.astype(np.int8) - (o_lined & ~x_lined)
        return -lined if self.rules.misere else lined

    @cached_property
    def terminal(self) -> Bools:
        """bool[k]: whether the game is over: won, or the board is full."""
        return np.not_equal(self.results, 0) | (self.plies == self.cells)

    @property
    def outcomes(self) -> Int8s:
        """int8[k]: the results for the mover: +1 it has won, -1 it has lost, 0 drawn or open."""
        return np.where(self.x_to_move, self.results, -self.results)

    @property
    def stones_of_sides(self) -> tuple[Uint64s, Uint64s]:
        """uint64[k] each: the stones of the mover, and those of the other side."""
        by_x = self.x_to_move
        return np.where(by_x, self.x, self.o), np.where(by_x, self.o, self.x)

    @cached_property
    def legal(self) -> Bools:
        """bool[k, cells]: where the mover may play; nowhere on a terminal board."""
        free = _unpacked(~(self.x | self.o), self.cells)
        return free & ~self.terminal[:, None]

    def play(self, rows: Int64s, cells: NDArray[Any]) -> "Positions":
        """The positions after the mover of position ``rows[i]`` takes the free cell ``cells[i]``."""
        stones = ONE << cells.astype(np.uint64)
        x_moves = self.x_to_move[rows]
        x, o = self.x[rows], self.o[rows]
        return Positions(self.rules, x | np.where(x_moves, stones, 0), o | np.where(x_moves, 0, stones))

    def after(self, rows: NDArray[Any], cells: NDArray[Any]) -> tuple["Positions", Int32s]:
        """The distinct positions after the moves on ``cells[i]`` in positions ``rows[i]``, in order, and the
        place of each move's among them. All positions must have equally many stones."""
        chosen, places, keys = self._distinct_moves(rows, cells)
        reached = self.play(rows[chosen], cells[chosen])
        reached.keys = keys
        if len(reached):  # only who has just moved can have completed a line
            x_moved = bool(self.x_to_move[0])
            lined = _holding(_line_masks(self.rules), reached.x if x_moved else reached.o).astype(np.int8)
            reached.results = lined if x_moved != self.rules.misere else -lined
        return reached, places

    def _distinct_moves(self, rows: NDArray[Any], cells: NDArray[Any]) -> tuple[Int64s, Int32s, Uint64s]:
        """The first move to each position after some moves, in the order of these positions; for each move
        the place of its position among them; and their keys."""
        places = np.empty(len(rows), np.int32)
        if self.cells <= 32 and len(rows):
            stone, before = int(self.plies[0]) % 2 == 0, self.keys[:, 0]
            added = ONE << (62 + stone - 2 * np.arange(self.cells)).astype(np.uint64)
            # Where the bits of a key that no cell needs can hold a move's number, sorting the keys is enough.
            spare = np.uint64((1 << 64 - 2 * self.cells) - 1)
            numbered = len(rows) <= int(spare)
            keys = np.empty(len(rows), np.uint64)
            for some in _chunks(0, len(rows)):
                keys[some] = before.take(rows[some]) + added.take(cells[some])
                if numbered:
                    keys[some] += np.arange(some.start, some.stop, dtype=np.uint64)
            if numbered:
                keys.sort()
            else:
                order = np.argsort(keys, kind="stable")
                keys = keys[order]
            new = np.ones(len(keys), np.bool_)
            for some in _chunks(1, len(keys)):
                new[some] = keys[some] ^ keys[some.start - 1 : some.stop - 1] > spare
            found = keys[new, None] & ~spare
            if numbered:
                keys &= spare
                order = keys.view(np.int64)
        else:
            reached = self.play(rows, cells)
            order = reached.order()
            new = reached.new(order)
            found = reached.keys[order[new]]
        last = -1
        for some in _chunks(0, len(order)):
            ranks = last + np.cumsum(new[some], dtype=np.int32)
            places[order[some]], last = ranks, ranks[-1]
        return order[new], places, found

    @cached_property
    def keys(self) -> Uint64s:
        """uint64[k, words]: numbers that compare as the texts do, two bits a cell, the first cell highest, 32
        cells a word. A stone on a cell adds the same to the key of every board."""
        if len(self) > PART:  # to save memory
            return np.concatenate([part.keys for part in self.parts()])
        used = 8 if self.cells > 32 else 4
        x = self.x.astype("<u8").view(np.uint8).reshape(-1, 8)[:, :used]
        o = self.o.astype("<u8").view(np.uint8).reshape(-1, 8)[:, :used]
        spread = _spread()
        pairs = (spread[x] << 1 | spread[o]).astype(">u2")
        words: Uint64s = pairs.view(">u8").astype(np.uint64)
        return words

    @cached_property
    def reachable(self) -> Bools:
        """bool[k]: whether a game leads to this board, as ``Position`` requires."""
        x_stones, o_stones = np.bitwise_count(self.x), np.bitwise_count(self.o)
        lined = np.zeros((2, len(self)), np.bool_)
        common = np.full((2, len(self)), ~np.uint64(0))  # cells that all completed lines of a side share
        for line in self.rules.line_masks:
            mask = np.uint64(line)
            for side, stones in enumerate((self.x, self.o)):
                complete = stones & mask == mask
                lined[side] |= complete
                common[side] &= np.where(complete, mask, ~np.uint64(0))
        by_x = lined[0] & ~lined[1] & (x_stones == o_stones + 1) & (common[0] > 0)
        by_o = lined[1] & ~lined[0] & (x_stones == o_stones) & (common[1] > 0)
        in_turn = (x_stones == o_stones) | (x_stones == o_stones + 1)
        return by_x | by_o | (~lined.any(axis=0) & in_turn)

    def distinct(self) -> "Positions":
        """The distinct positions, in order."""
        return self.condensed()[0]

    def condensed(self) -> tuple["Positions", Int64s]:
        """The distinct positions, in order, and int64[k], the place of each position among them."""
        order = self.order()
        new, places = self.new(order), np.empty(len(order), np.int64)
        places[order] = np.cumsum(new) - 1
        return self[order[new]], places

    def new(self, order: Int64s) -> Bools:
        """bool[k]: the first of equal positions, given the indices that sort them."""
        keys = self.keys[order]
        new = np.ones(len(order), np.bool_)
        new[1:] = (keys[1:] != keys[:-1]).any(axis=1)
        return new

    def order(self) -> Int64s:
        """int64[k]: the indices that sort the positions."""
        words = [self.keys[:, word] for word in range(self.keys.shape[1] - 1, -1, -1)]
        columns: Any = (*words, self.plies)
        return np.lexsort(columns)

    @cached_property
    def stones(self) -> Int8s:
        """int8[k, cells]: 0 free, 1 O, 2 X."""
        cells = self.cells
        return 2 * _unpacked(self.x, cells).astype(np.int8) + _unpacked(self.o, cells)

    def texts(self) -> list[str]:
        cells = self.cells
        joined = np.frombuffer(SYMBOLS.encode(), np.uint8)[self.stones].tobytes().decode("ascii")
        return [joined[at : at + cells] for at in range(0, len(joined), cells)]

    def text(self, row: int) -> str:
        return self[row : row + 1].texts()[0]

    def position(self, row: int) -> Position:
        return Position(self.text(row), self.rules)


def _chunks(start: int, stop: int) -> Iterator[slice]:
    """The moves of a range, as many at a time as stay in the processor's cache."""
    starts = range(start, stop, CACHED_MOVES)
    return (slice(start, min(start + CACHED_MOVES, stop)) for start in starts)


def _holding(masks: Uint64s, boards: Uint64s) -> Bools:
    """bool[k]: the boards with all cells of one of the masks, uint64[masks, 1]."""
    size = CACHED_MOVES // len(masks)
    parts = (boards[at : at + size] for at in range(0, max(len(boards), 1), size))
    return np.concatenate([(part & masks == masks).any(axis=0) for part in parts])


@lru_cache(maxsize=8)
def _line_masks(rules: Rules) -> Uint64s:
    """uint64[lines, 1]: the winning lines."""
    return np.array(rules.line_masks, np.uint64)[:, None]


def completing(rules: Rules, stones: Uint64s) -> Bools:
    """bool[k, cells]: where one more stone would complete a line of these stones."""
    cells = np.zeros((rules.cells, len(stones)), np.bool_)
    for cell, lines in enumerate(rules.lines_through):
        for line in lines:
            others = np.uint64(line & ~(1 << cell))
            cells[cell] |= stones & others == others
    return cells.T


def _packed(cells: Bools) -> Uint64s:
    """uint64[k]: bit ``c`` is set where column ``c`` is."""
    bits = ONE << np.arange(cells.shape[1], dtype=np.uint64)
    return (cells * bits).sum(axis=1, dtype=np.uint64)


def _unpacked(boards: Uint64s, cells: int) -> Bools:
    """bool[k, cells]: the bits of each board."""
    bits = boards.astype("<u8").view(np.uint8).reshape(-1, 8)
    return np.unpackbits(bits, axis=1, count=cells, bitorder="little").view(np.bool_)


@lru_cache(maxsize=1)
def _spread() -> Uint16s:
    """uint16[256]: the bits of each byte in reverse order, at every second place."""
    spread = np.zeros(256, np.uint16)
    for bit in range(8):
        spread |= ((np.arange(256) >> bit & 1) << 14 - 2 * bit).astype(np.uint16)
    return spread
