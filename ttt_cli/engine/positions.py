"""Batches of positions of one game, two bitboards each: legal moves, results, successors and order, all
vectorised, on every board of up to 64 cells.

The order of positions is the same in walks, tables and files: by plies, then by text, where ``.`` < ``O`` <
``X``.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttt_cli.engine.arrays import Bools, Int8s, Int32s, Int64s, Uint64s
from ttt_cli.engine.bits import ONE, ZERO
from ttt_cli.engine.position import SYMBOLS, Position
from ttt_cli.engine.rules import Rules
from ttt_cli.errors import UsageError, expect

PART = 1 << 16
"""Positions in a part of a large batch, so that temporary arrays stay small, in the processor's cache."""

_BITS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).reshape(256, 4, 2)
FOUR_CELLS = (_BITS << np.arange(4)[:, None]).sum(axis=1).T.astype(np.uint64)
"""uint64[2, 256]: the stones of X and O on the four cells that a byte of a key stands for."""


class Positions:
    """``k`` positions of one game.

    :ivar x: uint64[k], the stones of X: bit ``c`` is cell ``c``.
    :ivar o: uint64[k], the stones of O.
    """

    def __init__(self, rules: Rules, x: Uint64s, o: Uint64s, results: Int8s | None = None) -> None:
        """:param results: if they are known already."""
        self.rules, self.x, self.o = rules, x, o
        if results is not None:
            self.results = results

    @classmethod
    def start(cls, rules: Rules) -> "Positions":
        expect(Rules, rules)
        return cls(rules, np.zeros(1, np.uint64), np.zeros(1, np.uint64))

    @classmethod
    def batch(cls, positions: Sequence[Position], rules: Rules) -> "Positions":
        """These positions; raises UsageError unless all are of these rules."""
        expect(Position, *positions)
        _expect_one(rules, *(position.rules for position in positions))
        return cls.unchecked([position.text for position in positions], rules)

    @classmethod
    def parse(cls, texts: Sequence[str], rules: Rules) -> "Positions":
        """The positions with these texts.

        :raises NotationError: naming the first text that is not a position of these rules.
        """
        expect(Rules, rules)
        expect(str, *texts)
        right_length = set(map(len, texts)) <= {rules.cells}
        others = "".join(texts).encode(errors="replace").translate(None, SYMBOLS.encode())
        if right_length and not others:
            positions = cls.unchecked(texts, rules)
            if positions.reachable.all():
                return positions
        return cls.batch([Position(text, rules) for text in texts], rules)  # slower, but it names the fault

    @classmethod
    def unchecked(cls, texts: Sequence[str], rules: Rules) -> "Positions":
        """The boards with these texts, known to be reachable: nothing is checked."""
        symbols = np.frombuffer("".join(texts).encode("ascii"), np.uint8).reshape(len(texts), rules.cells)
        return cls(rules, _packed(symbols == ord("X")), _packed(symbols == ord("O")))

    @classmethod
    def of_stones(cls, stones: Int8s, rules: Rules) -> "Positions":
        """The positions with these ``stones``, known to be reachable."""
        return cls(rules, _packed(stones == SYMBOLS.index("X")), _packed(stones == SYMBOLS.index("O")))

    @classmethod
    def of_keys(cls, keys: Uint64s, rules: Rules) -> "Positions":
        """The positions with these ``keys`` of one word."""
        sides = np.zeros((2, len(keys)), np.uint64)
        for part in slices(0, len(keys)):
            of_four_cells = keys[part].astype(">u8").view(np.uint8)
            for at in range(0, rules.cells, 4):
                sides[:, part] |= FOUR_CELLS.take(of_four_cells[:, at // 4], axis=1) << np.uint64(at)
        positions = cls(rules, *sides)
        positions.keys = keys
        return positions

    @classmethod
    def concatenate(cls, parts: Sequence["Positions"]) -> "Positions":
        """The positions of one or more parts, in turn; raises UsageError unless all are of the same rules."""
        _expect_one(*(part.rules for part in parts))
        x, o, results = (
            np.concatenate([getattr(part, name) for part in parts]) for name in ("x", "o", "results")
        )
        return cls(parts[0].rules, x, o, results)

    def __len__(self) -> int:
        return len(self.x)

    def __iter__(self) -> Iterator["Positions"]:
        """Batches of one position each."""
        return (self[row] for row in range(len(self)))

    def __repr__(self) -> str:
        return f"<{len(self):,} positions of {self.rules.describe()}>"

    def parts(self, size: int = PART) -> Iterator["Positions"]:
        """The batch in parts of at most ``size`` positions, to save memory."""
        if len(self) <= size:
            yield self
            return
        for part in slices(0, len(self), size):
            yield self[part]

    def __getitem__(self, rows: Any) -> "Positions":
        """A part of the batch by a slice, a mask or indices; by one index, a batch of that position."""
        if isinstance(rows, int | np.integer):
            rows = [range(len(self))[rows]]
        results = self.results[rows] if "results" in self.__dict__ else None
        return Positions(self.rules, self.x[rows], self.o[rows], results)

    @property
    def cells(self) -> int:
        return self.rules.cells

    @cached_property
    def plies(self) -> Int8s:
        """int8[k]: the numbers of stones."""
        return np.bitwise_count(self.x | self.o).astype(np.int8)

    @cached_property
    def movers(self) -> Int8s:
        """int8[k]: the sign of the side to move (on a terminal board, that would be next): +1 X, -1 O."""
        return 1 - 2 * (self.plies % 2)

    @cached_property
    def results(self) -> Int8s:
        """int8[k]: +1 X has won, -1 O has won, 0 drawn or open."""
        x_lined, o_lined = _lined(self.rules, self.x), _lined(self.rules, self.o)
        lined = x_lined.astype(np.int8) - (o_lined & ~x_lined)
        return -lined if self.rules.misere else lined

    @cached_property
    def terminal(self) -> Bools:
        """bool[k]: whether the game is over: won, or the board is full."""
        return (self.results != 0) | (self.plies == self.cells)

    @property
    def outcomes(self) -> Int8s:
        """int8[k]: the results for the mover: +1 it has won, -1 it has lost, 0 drawn or open."""
        return self.results * self.movers

    @property
    def stones_by_turn(self) -> tuple[Uint64s, Uint64s]:
        """uint64[k] each: the stones of the mover, and those of its opponent."""
        x_to_move = self.movers > 0
        return np.where(x_to_move, self.x, self.o), np.where(x_to_move, self.o, self.x)

    @cached_property
    def legal(self) -> Bools:
        """bool[k, cells]: where the mover may play; nowhere on a terminal board."""
        free = unpacked(~(self.x | self.o), self.cells)
        return free & ~self.terminal[:, None]

    def play(self, rows: Int64s, cells: NDArray[Any]) -> "Positions":
        """The positions after the mover of position ``rows[i]`` takes the free cell ``cells[i]``."""
        stones = ONE << cells.astype(np.uint64)
        x_moves = self.movers[rows] > 0
        x, o = self.x[rows], self.o[rows]
        return Positions(self.rules, x | np.where(x_moves, stones, 0), o | np.where(x_moves, 0, stones))

    def after(self, rows: NDArray[Any], cells: NDArray[Any]) -> tuple["Positions", Int32s]:
        """The distinct positions after the moves on ``cells[i]`` in positions ``rows[i]``, in order, and
        int32[k], the place among them of the position after each move. All positions of the batch must have
        the same number of stones."""
        unused = np.uint64((1 << max(64 - 2 * self.cells, 0)) - 1)
        if len(rows) >= unused:
            return self.play(rows, cells).condensed()
        x_moves = bool((self.movers > 0).all())
        added = ONE << np.arange(62 + x_moves, -1, -2, dtype=np.uint64)  # to a key, by a stone on each cell
        # The unused bits below the keys number the moves, so that sorting the keys gives the order too.
        keys = np.arange(len(rows), dtype=np.uint64)
        for part in slices(0, len(rows)):
            keys[part] += self.keys[:, 0].take(rows[part]) + added.take(cells[part])
        del rows  # which are many, as the keys are
        keys.sort()
        new = _new(keys[:, None], unused)
        distinct = keys[new] & ~unused
        keys &= unused
        places = _places(keys.view(np.int64), new)
        del keys, new
        after = Positions.of_keys(distinct[:, None], self.rules)
        # Only the side that has just moved can have completed a line.
        lined = _lined(self.rules, after.x if x_moves else after.o).astype(np.int8)
        after.results = lined if x_moves != self.rules.misere else -lined
        return after, places

    def predecessors(self) -> "Positions":
        """The open positions from which a move leads to one of these, in order."""
        _, last = self.stones_by_turn
        parts = [self[:0]]
        for cell in range(self.cells):
            stone = ONE << np.uint64(cell)
            here = last & stone != 0
            parts.append(Positions(self.rules, self.x[here] & ~stone, self.o[here] & ~stone))
        earlier = Positions.concatenate(parts).distinct()
        return earlier[~earlier.terminal]

    @cached_property
    def keys(self) -> Uint64s:
        """uint64[k, words]: numbers that compare as the texts do: two bits a cell, the first cell highest, 32
        cells a word. A stone on a cell adds the same number to every key."""
        if len(self) > PART:  # to save memory
            return np.concatenate([part.keys for part in self.parts()])
        cells = 64 if self.cells > 32 else 32
        bits = np.stack([unpacked(self.x, cells), unpacked(self.o, cells)], axis=2)
        words = np.packbits(bits.reshape(len(self), 2 * cells), axis=1).view(">u8")
        return words.astype(np.uint64)

    @cached_property
    def reachable(self) -> Bools:
        """bool[k]: whether a game leads to this board, as ``Position`` requires."""
        mover, opponent = self.stones_by_turn
        common = np.full(len(self), ~ZERO)  # the cells that all lines of the side that moved last share
        for line in self.rules.line_masks:
            mask = np.uint64(line)
            common &= np.where(opponent & mask == mask, mask, ~ZERO)
        in_turn = np.bitwise_count(self.x) == (self.plies + 1) // 2
        return in_turn & (common > 0) & ~_lined(self.rules, mover)

    def distinct(self) -> "Positions":
        """The distinct positions, in order."""
        return self.condensed()[0]

    def condensed(self) -> tuple["Positions", Int32s]:
        """The distinct positions, in order, and int32[k], the place of each position among them."""
        order = self.order()
        new = _new(self.keys[order])
        return self[order[new]], _places(order, new)

    def order(self) -> Int64s:
        """int64[k]: the indices that sort the positions."""
        columns: Any = (*self.keys.T[::-1], self.plies)
        return np.lexsort(columns)

    @cached_property
    def stones(self) -> Int8s:
        """int8[k, cells]: 0 free, 1 O, 2 X."""
        cells = self.cells
        return 2 * unpacked(self.x, cells).astype(np.int8) + unpacked(self.o, cells)

    def texts(self) -> list[str]:
        cells = self.cells
        joined = np.frombuffer(SYMBOLS.encode(), np.uint8)[self.stones].tobytes().decode("ascii")
        return [joined[at : at + cells] for at in range(0, len(joined), cells)]

    def text(self, row: int) -> str:
        return self[row].texts()[0]

    def position(self, row: int) -> Position:
        return Position(self.text(row), self.rules)


def _expect_one(*games: Rules) -> None:
    if len({*games}) > 1:
        named = ", ".join(sorted(rules.describe() for rules in {*games}))
        raise UsageError(f"expected positions of one game, found several: {named}")


def slices(start: int, stop: int, size: int = PART) -> Iterator[slice]:
    """A range in slices of at most ``size``, so short that temporary arrays stay small."""
    return (slice(at, min(at + size, stop)) for at in range(start, stop, size))


def _new(keys: Uint64s, unused: np.uint64 = ZERO) -> Bools:
    """bool[k]: whether each sorted key differs from the one before it in more than ``unused`` low bits."""
    new = np.ones(len(keys), np.bool_)
    for part in slices(0, len(keys) - 1):
        differing = (keys[1:][part] ^ keys[part]) > unused
        new[1:][part] = differing.any(axis=1)
    return new


def _places(order: Int64s, new: Bools) -> Int32s:
    """int32[k]: the place of each key among the distinct ones, given the order and which are new in it."""
    places = np.empty(len(order), np.int32)
    last = -1
    for part in slices(0, len(order)):
        ranks = last + np.cumsum(new[part], dtype=np.int32)
        places[order[part]] = ranks
        last = ranks[-1]
    return places


def _lined(rules: Rules, boards: Uint64s) -> Bools:
    """bool[k]: the boards with a completed line."""
    masks = np.array(rules.line_masks, np.uint64)[:, None]
    spans = slices(0, max(len(boards), 1), PART // len(masks))
    return np.concatenate([(boards[span] & masks == masks).any(axis=0) for span in spans])


def completing(rules: Rules, stones: Uint64s) -> Uint64s:
    """uint64[k]: the cells, as bits, where one more stone would complete a line of these stones."""
    cells = np.zeros_like(stones)
    others = ~stones
    for line in rules.line_masks:
        missing = np.uint64(line) & others
        cells |= np.where(missing & (missing - ONE), 0, missing)  # at most one bit is set
    return cells


def _packed(cells: Bools) -> Uint64s:
    """uint64[k]: bit ``c`` is set where column ``c`` is."""
    packed = np.zeros((len(cells), 8), np.uint8)
    packed[:, : (cells.shape[1] + 7) // 8] = np.packbits(cells, axis=1, bitorder="little")
    return packed.view("<u8")[:, 0].astype(np.uint64)


def unpacked(boards: Uint64s, cells: int) -> Bools:
    """bool[k, cells]: the bits of each board."""
    bits = boards.astype("<u8").view(np.uint8).reshape(-1, 8)
    return np.unpackbits(bits, axis=1, count=cells, bitorder="little").view(np.bool_)
