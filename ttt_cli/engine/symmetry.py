"""Batches of positions up to the symmetries of the board.

A class holds the images of one position under the symmetries. Its canonical form is the image with the
smallest text. Of the cells that symmetries of this form exchange, the lowest stands for all.
"""

from dataclasses import dataclass

import numpy as np

from ttt_cli.engine.arrays import Bools, Floats, Int8s
from ttt_cli.engine.positions import Positions


@dataclass(frozen=True, eq=False)
class Classes:
    """The classes of ``k`` positions.

    :ivar positions: the canonical forms.
    :ivar cells: int8[k, cells], the cell of the canonical form that each cell of the position corresponds to.
    :ivar lowest: int8[k, cells], the lowest cell equivalent to each cell of the canonical form.
    """

    positions: Positions
    cells: Int8s
    lowest: Int8s

    @property
    def legal(self) -> Bools:
        """bool[k, cells]: the moves on the canonical form, the lowest of each set of equivalent ones."""
        return self.positions.legal & (self.lowest == np.arange(self.lowest.shape[1]))

    @property
    def shared_by(self) -> Int8s:
        """int8[k, cells]: how many cells of the canonical form are equivalent to each, itself included, where
        it is the lowest of them; else 0."""
        codes = self.lowest + np.arange(len(self.lowest))[:, None] * self.lowest.shape[1]
        return np.bincount(codes.ravel(), minlength=codes.size).reshape(codes.shape).astype(np.int8)

    def lift(self, rows: Floats) -> Floats:
        """float64[k, cells]: the values of the canonical forms' moves as values of the positions' moves."""
        return np.take_along_axis(rows, self.cells, axis=1)

    def lift_probabilities(self, rows: Floats, legal: Bools) -> Floats:
        """``lift`` for probabilities, which equivalent cells share equally."""
        return self.lift(rows / np.maximum(self.shared_by, 1)) * legal

    def project(self, rows: Floats) -> Floats:
        """float64[k, cells]: probabilities on the canonical forms, those of equivalent cells added up."""
        projected = np.zeros_like(rows)
        np.add.at(projected, (np.arange(len(rows))[:, None], self.lowest), rows)
        return projected * self.legal


def classes(positions: Positions) -> Classes:
    """The class of each position."""
    rules, stones = positions.rules, positions.stones
    row = f"S{positions.cells}"  # bytes compare as texts do
    chosen = np.zeros(len(positions), np.intp)  # the symmetry that leads to the smallest image so far
    smallest = stones.view(row)[:, 0]
    tied = np.zeros(len(positions), np.bool_)  # whether several symmetries lead to the smallest image
    for number, source in enumerate(rules.sources[1:], 1):
        image = stones.take(source, axis=1).view(row)[:, 0]
        smaller = image < smallest
        tied = ~smaller & (tied | (image == smallest))
        chosen[smaller] = number
        smallest = np.where(smaller, image, smallest)
    canonical = smallest.view(np.int8).reshape(stones.shape)
    lowest = np.tile(np.arange(rules.cells, dtype=np.int8), (len(positions), 1))
    symmetric = np.flatnonzero(tied)
    targets = np.array(rules.symmetries, np.int8)
    for target, source in zip(targets, rules.sources, strict=True):
        unchanged = (canonical[symmetric][:, source] == canonical[symmetric]).all(axis=1)
        stable = symmetric[unchanged]
        lowest[stable] = np.minimum(lowest[stable], target)
    cells = targets[chosen]
    cells[symmetric] = np.take_along_axis(lowest[symmetric], cells[symmetric], axis=1)
    return Classes(Positions.of_stones(canonical, rules), cells, lowest)


def orbit(positions: Positions) -> Positions:
    """All distinct images of these positions, in order."""
    images = [positions.stones.take(source, axis=1) for source in positions.rules.sources]
    return Positions.of_stones(np.concatenate(images), positions.rules).distinct()
