"""Positions up to the symmetries of the board, many at a time, on boards of any size.

The image with the smallest text stands for its class. Of the moves that a symmetry of that board exchanges,
the one with the lowest cell stands for all.
"""

from dataclasses import dataclass
from functools import lru_cache, reduce

import numpy as np
from numpy.typing import NDArray

from ttt_cli.engine.arrays import Bools, Floats, Int8s, Uint8s, Uint64s
from ttt_cli.engine.bits import ONE
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules


@dataclass(frozen=True, eq=False)
class Classes:
    """The classes of ``k`` positions.

    :ivar positions: the positions that stand for the classes.
    :ivar moves: int8[k, cells], the cell of the class's board that a cell of the position corresponds to.
    :ivar lowest: int8[k, cells], the lowest of the equivalent cells of each cell of the class's board.
    """

    positions: Positions
    moves: Int8s
    lowest: Int8s

    @property
    def legal(self) -> Bools:
        """bool[k, cells]: the moves on the class's board, one of several that are equivalent."""
        return self.positions.legal & (self.lowest == np.arange(self.lowest.shape[1]))

    def lift(self, rows: Floats) -> Floats:
        """float64[k, cells]: what the class's moves are worth, for the moves of the positions."""
        return np.take_along_axis(rows, self.moves.astype(np.intp), axis=1)

    def lift_probabilities(self, rows: Floats, legal: Bools) -> Floats:
        """The same of probabilities, each shared equally among the equivalent cells."""
        shared = rows.copy()
        some = np.flatnonzero((self.lowest != np.arange(rows.shape[1])).any(axis=1))
        twins = np.zeros((len(some), rows.shape[1]), np.int8)
        np.add.at(twins, (np.arange(len(some))[:, None], self.lowest[some]), np.int8(1))
        shared[some] /= np.maximum(twins, 1)
        return self.lift(shared) * legal

    def project(self, rows: Floats) -> Floats:
        """float64[k, cells]: a policy's probabilities on the class's boards, of equivalent cells together."""
        projected = np.zeros_like(rows)
        np.add.at(projected, (np.arange(len(rows))[:, None], self.lowest), rows)
        return projected * self.legal


def classes(positions: Positions) -> Classes:
    """The classes of these positions."""
    rules, cells = positions.rules, positions.rules.cells
    images, (boards, keys) = np.array(rules.symmetries, np.int8), _tables(rules)
    x, o = _bytes(positions.x, rules), _bytes(positions.o, rules)
    chosen, smallest = np.zeros(len(positions), np.intp), positions.keys
    twins = np.zeros(len(positions), np.bool_)  # whether several images are the smallest
    for number in range(1, len(images)):
        turned = _joined(keys[number], x) << ONE | _joined(keys[number], o)
        smaller = _less(turned, smallest)
        chosen[smaller] = number
        twins = np.where(smaller, False, twins | (turned == smallest).all(axis=1))
        smallest = np.where(smaller[:, None], turned, smallest)
    own = Positions(rules, _joined(boards, x, chosen), _joined(boards, o, chosen))
    lowest = np.broadcast_to(np.arange(cells, dtype=np.int8), (len(positions), cells)).copy()
    moves, some = images[chosen], np.flatnonzero(twins)
    if len(some):
        few, found = own[some], lowest[some]
        x, o = _bytes(few.x, rules), _bytes(few.o, rules)
        for image, board in zip(images[1:], boards[1:], strict=True):
            stable = (_joined(board, x) == few.x) & (_joined(board, o) == few.o)
            found[stable] = np.minimum(found[stable], image)
        lowest[some], moves[some] = found, np.take_along_axis(found, moves[some].astype(np.intp), axis=1)
    return Classes(own, moves, lowest)


@lru_cache(maxsize=8)
def _tables(rules: Rules) -> tuple[Uint64s, Uint64s]:
    """uint64[s, bytes, 256] and uint64[s, bytes, 256, words]: what each symmetry makes of a byte of a board,
    as stones, and as the key (``Positions.keys``) of stones of O; that of X is twice as large."""
    count = (rules.cells + 7) // 8
    single = np.arange(256, dtype=np.uint64) << (8 * np.arange(count, dtype=np.uint64))[:, None]
    single &= np.uint64(2**rules.cells - 1)
    boards = np.stack([_turned(single, np.array(image, np.int8)) for image in rules.symmetries])
    flat = boards.reshape(-1)
    return boards, Positions(rules, np.zeros_like(flat), flat).keys.reshape(*boards.shape, -1)


def _bytes(boards: Uint64s, rules: Rules) -> Uint8s:
    """uint8[bytes, k]: the bytes of boards that have cells."""
    found = boards.astype("<u8").view(np.uint8).reshape(-1, 8)
    return np.ascontiguousarray(found[:, : (rules.cells + 7) // 8].T)


def _joined(table: Uint64s, found: Uint8s, *chosen: NDArray[np.intp]) -> Uint64s:
    """uint64[k] or [k, words]: what a table makes of boards, given their bytes."""
    parts = [table[(*chosen, number, byte)] for number, byte in enumerate(found)]
    return reduce(np.bitwise_or, parts)


def orbit(positions: Positions) -> Positions:
    """All images of these positions, each once, in the order of positions."""
    rules, (boards, _) = positions.rules, _tables(positions.rules)
    x, o = _bytes(positions.x, rules), _bytes(positions.o, rules)
    turned = (np.concatenate([_joined(board, stones) for board in boards]) for stones in (x, o))
    return Positions(rules, *turned).distinct()


def _turned(boards: Uint64s, image: Int8s) -> Uint64s:
    """uint64[k]: bitboards with every cell where the symmetry takes it."""
    turned = np.zeros_like(boards)
    for cell, goal in enumerate(image.tolist()):
        turned |= (boards >> np.uint64(cell) & ONE) << np.uint64(goal)
    return turned


def _less(first: Uint64s, second: Uint64s) -> Bools:
    """bool[k]: whether the first of two keys is smaller."""
    less = first[:, -1] < second[:, -1]
    for word in range(first.shape[1] - 2, -1, -1):
        less = (first[:, word] < second[:, word]) | ((first[:, word] == second[:, word]) & less)
    return less
