"""Batches of positions up to the symmetries of the board.

The image with the smallest text represents its class. Of the cells that a symmetry of this board exchanges,
the lowest represents all.
"""

from dataclasses import dataclass
from functools import lru_cache, reduce

import numpy as np
from numpy.typing import NDArray

from ttt_cli.engine.arrays import Bools, Floats, Int8s, Uint8s, Uint64s
from ttt_cli.engine.bits import ONE, turned
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules


@dataclass(frozen=True, eq=False)
class Classes:
    """The classes of ``k`` positions.

    :ivar positions: the positions that represent the classes.
    :ivar moves: int8[k, cells], the cell of the class's board that each cell of the position corresponds to.
    :ivar lowest: int8[k, cells], the lowest cell equivalent to each cell of the class's board.
    """

    positions: Positions
    moves: Int8s
    lowest: Int8s

    @property
    def legal(self) -> Bools:
        """bool[k, cells]: the moves on the class's board, one of those that are equivalent."""
        return self.positions.legal & (self.lowest == np.arange(self.lowest.shape[1]))

    def lift(self, rows: Floats) -> Floats:
        """float64[k, cells]: values of the class's moves as values of the positions' moves."""
        return np.take_along_axis(rows, self.moves.astype(np.intp), axis=1)

    def lift_probabilities(self, rows: Floats, legal: Bools) -> Floats:
        """``lift`` for probabilities, which equivalent cells share equally."""
        shared = rows.copy()
        some = np.flatnonzero((self.lowest != np.arange(rows.shape[1])).any(axis=1))
        sharing = np.zeros((len(some), rows.shape[1]), np.int8)
        np.add.at(sharing, (np.arange(len(some))[:, None], self.lowest[some]), np.int8(1))
        shared[some] /= np.maximum(sharing, 1)
        return self.lift(shared) * legal

    def project(self, rows: Floats) -> Floats:
        """float64[k, cells]: probabilities on the class's boards, those of equivalent cells added up."""
        projected = np.zeros_like(rows)
        np.add.at(projected, (np.arange(len(rows))[:, None], self.lowest), rows)
        return projected * self.legal


def classes(positions: Positions) -> Classes:
    rules, cells = positions.rules, positions.rules.cells
    images, (boards, keys) = np.array(rules.symmetries, np.int8), _tables(rules)
    x, o = _bytes(positions.x, rules), _bytes(positions.o, rules)
    chosen, smallest = np.zeros(len(positions), np.intp), positions.keys
    ties = np.zeros(len(positions), np.bool_)  # whether several images are the smallest
    for number in range(1, len(images)):
        candidate = _joined(keys[number], x) << ONE | _joined(keys[number], o)
        smaller = _less(candidate, smallest)
        chosen[smaller] = number
        ties = np.where(smaller, False, ties | (candidate == smallest).all(axis=1))
        smallest = np.where(smaller[:, None], candidate, smallest)
    own = Positions(rules, _joined(boards, x, chosen), _joined(boards, o, chosen))
    lowest = np.broadcast_to(np.arange(cells, dtype=np.int8), (len(positions), cells)).copy()
    moves, some = images[chosen], np.flatnonzero(ties)
    if len(some):
        symmetric, least = own[some], lowest[some]
        x, o = _bytes(symmetric.x, rules), _bytes(symmetric.o, rules)
        for image, board in zip(images[1:], boards[1:], strict=True):
            stable = (_joined(board, x) == symmetric.x) & (_joined(board, o) == symmetric.o)
            least[stable] = np.minimum(least[stable], image)
        lowest[some], moves[some] = least, np.take_along_axis(least, moves[some].astype(np.intp), axis=1)
    return Classes(own, moves, lowest)


@lru_cache(maxsize=8)
def _tables(rules: Rules) -> tuple[Uint64s, Uint64s]:
    """Each symmetry's image of each byte of a board: uint64[s, bytes, 256], as stones, and uint64[s, bytes,
    256, words], as the key (``Positions.keys``) of stones of O; that of stones of X is twice as large."""
    count = (rules.cells + 7) // 8
    single = np.arange(256, dtype=np.uint64) << (8 * np.arange(count, dtype=np.uint64))[:, None]
    single &= np.uint64(2**rules.cells - 1)
    sources = np.array(rules.sources, np.int8)
    boards = np.stack([turned(sources, single, image) for image in range(len(sources))])
    flat = boards.reshape(-1)
    return boards, Positions(rules, np.zeros_like(flat), flat).keys.reshape(*boards.shape, -1)


def _bytes(boards: Uint64s, rules: Rules) -> Uint8s:
    """uint8[bytes, k]: the bytes of boards, as many as have cells."""
    split = boards.astype("<u8").view(np.uint8).reshape(-1, 8)
    return np.ascontiguousarray(split[:, : (rules.cells + 7) // 8].T)


def _joined(table: Uint64s, split: Uint8s, *chosen: NDArray[np.intp]) -> Uint64s:
    """uint64[k] or [k, words]: the images of boards by a table, given their bytes."""
    parts = [table[(*chosen, number, byte)] for number, byte in enumerate(split)]
    return reduce(np.bitwise_or, parts)


def orbit(positions: Positions) -> Positions:
    """All distinct images of these positions, in order."""
    rules, (boards, _) = positions.rules, _tables(positions.rules)
    x, o = _bytes(positions.x, rules), _bytes(positions.o, rules)
    images = (np.concatenate([_joined(board, stones) for board in boards]) for stones in (x, o))
    return Positions(rules, *images).distinct()


def _less(first: Uint64s, second: Uint64s) -> Bools:
    """bool[k]: whether the first key is smaller."""
    less = first[:, -1] < second[:, -1]
    for word in range(first.shape[1] - 2, -1, -1):
        less = (first[:, word] < second[:, word]) | ((first[:, word] == second[:, word]) & less)
    return less
