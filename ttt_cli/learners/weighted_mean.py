"""Merging values with their visits: the weighted mean of what each part has learned since the base.

A part's weight is its visits minus the base's. With no part of weight the base's entry stays; with one, that
part's entry is copied; with several, the value is their weighted mean and the visits add up. Parts are added
one after the other, and none of them is kept; sums are exact and rounded once, so that the order of the parts
cannot change a bit.
"""

from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttt_cli.engine.arrays import Floats, Int64s
from ttt_cli.learners.table import grown, pieces


class ExactSums:
    """Sums of float64 by place, each kept as several numbers: what one has to round goes on to the next."""

    def __init__(self) -> None:
        self._levels = [np.zeros(0)]

    def add(self, places: Int64s, terms: Floats) -> None:
        """Add float64[k] to the sums at int64[k] places, all different."""
        self._levels = [_with_room(level, places) for level in self._levels]
        for level in self._levels:
            one, other = level[places], terms
            total = one + other  # and its exact error (Knuth, The Art of Computer Programming 2, 4.2.2)
            part = total - one
            level[places], terms = total, (one - (total - part)) + (other - part)
        if terms.any():
            self._levels.append(np.zeros(len(self._levels[0])))
            self._levels[-1][places] = terms

    def totals(self, places: Int64s) -> Floats:
        """float64[k]: the sums at places that something has been added at, as ``math.fsum`` rounds them."""
        terms = np.stack([level[places] for level in self._levels])
        totals: Floats = terms[:2].sum(axis=0)  # of two numbers, rounded once
        (several,) = np.nonzero(terms[2:].any(axis=0))
        totals[several] = [fsum(column) for column in terms[:, several].T]
        return totals


class WeightedMean:
    """The values and visits of parts, added up entry by entry; see the module."""

    def __init__(self) -> None:
        self._numbers, self._count = np.zeros(0, np.uint32), 0
        """The number, from 1, of each entry that any part has learned something of, which on large boards are
        few; and how many there are."""
        self._weights, self._single = np.zeros(0, np.int64), np.zeros(0)
        self._several, self._sums = np.zeros(0, np.bool_), ExactSums()

    @property
    def places(self) -> Int64s:
        """int64[k]: the entries that any part has learned something of, ascending."""
        return np.flatnonzero(self._numbers)

    def add(self, places: Int64s, values: Floats, weights: Int64s) -> None:
        """Add a part.

        :param places: int64[k], which entries it has, each of them once; values: as many, or more.
        :param weights: int64[k], its visits beyond the base's; where there are none, it has learned nothing.
        """
        (learned,) = np.nonzero(weights > 0)
        places, values, weights = places[learned], values[learned], weights[learned]
        self._numbers = _with_room(self._numbers, places)
        new = places[self._numbers[places] == 0]
        self._numbers[new] = np.arange(self._count + 1, self._count + 1 + len(new))
        self._count += len(new)
        numbers = self._numbers[places].astype(np.int64)
        self._weights, self._single, self._several = (
            _with_room(array, numbers) for array in (self._weights, self._single, self._several)
        )
        self._several[numbers] = self._weights[numbers] > 0
        self._single[numbers] = values
        self._weights[numbers] += weights
        self._sums.add(numbers, weights * values)

    def replaced(self, values: Floats) -> Floats:
        """The base's values, of any shape, with the means in their places."""
        flat = values.flatten()
        for places in pieces(self.places):
            numbers = self._numbers[places].astype(np.int64)
            means = self._sums.totals(numbers) / self._weights[numbers] + 0.0  # no -0.0
            flat[places] = np.where(self._several[numbers], means, self._single[numbers])
        return flat.reshape(values.shape)


def _with_room(array: NDArray[Any], places: Int64s) -> NDArray[Any]:
    """The array, or a longer one that has these places."""
    size = int(places.max(initial=-1)) + 1
    return array if size <= len(array) else grown(array, size * 3 // 2)
