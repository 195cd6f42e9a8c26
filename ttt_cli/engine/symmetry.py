"""Positions up to the symmetries of the board, many at a time, on boards of any size.

The image with the smallest text stands for its class. Of the moves that a symmetry of that board exchanges,
the one with the lowest cell stands for all.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ttt_cli.engine.positions import ONE, Bools, Int8s, Positions, Uint64s

Floats = NDArray[np.float64]


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
        twins = np.zeros(rows.shape, np.int8)
        np.add.at(twins, (np.arange(len(rows))[:, None], self.lowest), np.int8(1))
        return self.lift(rows / np.maximum(twins, 1)) * legal

    def project(self, rows: Floats) -> Floats:
        """float64[k, cells]: a policy's probabilities on the class's boards, of equivalent cells together."""
        projected = np.zeros_like(rows)
        np.add.at(projected, (np.arange(len(rows))[:, None], self.lowest), rows)
        return projected * self.legal


def classes(positions: Positions) -> Classes:
    """The classes of these positions."""
    rules, cells = positions.rules, positions.rules.cells
    images = np.array(rules.symmetries, np.int8)
    chosen, smallest = np.zeros(len(positions), np.intp), positions
    for number, image in enumerate(images[1:], 1):
        turned = Positions(rules, _turned(positions.x, image), _turned(positions.o, image))
        smaller = _less(turned.keys, smallest.keys)
        chosen[smaller] = number
        x = np.where(smaller, turned.x, smallest.x)
        smallest = Positions(rules, x, np.where(smaller, turned.o, smallest.o))
    lowest = np.broadcast_to(np.arange(cells, dtype=np.int8), (len(positions), cells)).copy()
    for image in images[1:]:
        stable = _turned(smallest.x, image) == smallest.x
        stable &= _turned(smallest.o, image) == smallest.o
        lowest[stable] = np.minimum(lowest[stable], image)
    moves = np.take_along_axis(lowest, images[chosen].astype(np.intp), axis=1)
    return Classes(smallest, moves, lowest)


def orbit(positions: Positions) -> Positions:
    """All images of these positions, each once, in the order of positions."""
    rules = positions.rules
    images = [np.array(image, np.int8) for image in rules.symmetries]
    turned = Positions(
        rules,
        np.concatenate([_turned(positions.x, image) for image in images]),
        np.concatenate([_turned(positions.o, image) for image in images]),
    )
    return distinct(turned)


def distinct(positions: Positions) -> Positions:
    """These positions, each once, in the order of positions."""
    found = positions[positions.order()]
    new = np.ones(len(found), np.bool_)
    new[1:] = (found.x[1:] != found.x[:-1]) | (found.o[1:] != found.o[:-1])
    return found[new]


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
