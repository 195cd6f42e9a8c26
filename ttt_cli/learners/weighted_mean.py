"""Merging values with their visits: the weighted mean of what each part has learned since the base.

A part's weight is its visits minus the base's. With no part of weight the base's entry stays; with one, that
part's entry is copied; with several, the value is their weighted mean and the visits add up. Parts are added
one after the other, and none of them is kept; sums are exact and rounded once, so that the order of the parts
cannot change a bit.
"""

from math import fsum

import numpy as np

from ttt_cli.engine.arrays import Floats, Int64s
from ttt_cli.learners.table import slices


class ExactSums:
    """Sums of float64, each kept as several numbers: what one has to round goes on to the next."""

    def __init__(self, size: int = 0) -> None:
        self._levels = [np.zeros(size)]

    def grow(self, size: int) -> None:
        """Make room for so many sums."""
        self._levels = [np.pad(level, (0, size - len(level))) for level in self._levels]

    def add(self, places: Int64s, terms: Floats) -> None:
        """Add float64[k] to the sums at int64[k] places, all different."""
        for level in self._levels:
            one, other = level[places], terms
            total = one + other  # and its exact error (Knuth, The Art of Computer Programming 2, 4.2.2)
            part = total - one
            level[places], terms = total, (one - (total - part)) + (other - part)
        if terms.any():
            self._levels.append(np.zeros(len(self._levels[0])))
            self._levels[-1][places] = terms

    def totals(self, places: Int64s) -> Floats:
        """float64[k]: the sums at places, as ``math.fsum`` rounds them."""
        terms = np.stack([level[places] for level in self._levels])
        totals: Floats = terms[:2].sum(axis=0)  # of two numbers, rounded once
        (several,) = np.nonzero(terms[2:].any(axis=0))
        totals[several] = [fsum(column) for column in terms[:, several].T]
        return totals


class WeightedMean:
    """The means of values, and their weights, which parts are added to one after the other; see the module.

    :ivar weights: int64[size], what the parts have learned since the base.
    """

    def __init__(self, size: int = 0) -> None:
        self.weights, self._sums = np.zeros(size, np.int64), ExactSums(size)
        self._last, self._several = np.zeros(size), np.zeros(size, np.bool_)

    def grow(self, size: int) -> None:
        """Make room for so many entries."""
        if more := size - len(self.weights):
            self._sums.grow(size)
            self.weights, self._last = np.pad(self.weights, (0, more)), np.pad(self._last, (0, more))
            self._several = np.pad(self._several, (0, more))

    def add(self, places: Int64s, values: Floats, weights: Int64s) -> None:
        """Add a part.

        :param places: int64[k], which entries it has, each of them once; values: as many.
        :param weights: int64[k], its visits beyond the base's; where there are none, it has learned nothing.
        """
        (learned,) = np.nonzero(weights > 0)
        places, values, weights = places[learned], values[learned], weights[learned]
        self._several[places] = self.weights[places] > 0
        self._last[places] = values
        self.weights[places] += weights
        self._sums.add(places, weights * values)

    def replaced(self, values: Floats) -> Floats:
        """The base's values, of any shape, with the means in their places."""
        flat, (learned,) = values.flatten(), np.nonzero(self.weights)
        for some in slices(len(learned)):
            places = learned[some]
            means = self._sums.totals(places) / self.weights[places] + 0.0  # no -0.0
            flat[places] = np.where(self._several[places], means, self._last[places])
        return flat.reshape(values.shape)
