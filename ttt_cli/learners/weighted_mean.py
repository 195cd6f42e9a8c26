"""Merging means: values weighted by what each part has learned since the base.

A part's weight is its visits minus the base's. An entry without weight in any part keeps the base's value;
with weight in one part it takes that part's value, with weight in several the weighted mean. Sums are exact
and rounded once, so that the order of the parts makes no difference, and no part needs to be kept.
"""

from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttt_cli.engine.arrays import Floats, Int64s
from ttt_cli.learners.table import chunks, enlarged


class ExactSums:
    """Exact sums of float64, by place. Each is kept as several numbers: what rounding loses at one level goes
    into the next."""

    def __init__(self) -> None:
        self._levels = [np.zeros(0)]

    def add(self, places: Int64s, terms: Floats) -> None:
        """Add float64[k] to the sums at distinct places, int64[k]."""
        self._levels = [_with_room(level, places) for level in self._levels]
        for level in self._levels:
            old = level[places]
            level[places] = total = old + terms
            part = total - old  # the exact rounding error: Knuth, The Art of Computer Programming 2, 4.2.2
            terms = (old - (total - part)) + (terms - part)
        if terms.any():
            self._levels.append(np.zeros(len(self._levels[0])))
            self._levels[-1][places] = terms

    def totals(self, places: Int64s) -> Floats:
        """float64[k]: the sums at places to which something was added, correctly rounded."""
        terms = np.stack([level[places] for level in self._levels])
        totals: Floats = terms[:2].sum(axis=0)  # adding two numbers rounds once
        (several,) = np.nonzero(terms[2:].any(axis=0))
        totals[several] = [fsum(column) for column in terms[:, several].T]
        return totals


class WeightedMean:
    def __init__(self) -> None:
        self._weights, self._single = np.zeros(0, np.int64), np.zeros(0)
        self._several, self._sums = np.zeros(0, np.bool_), ExactSums()

    @property
    def places(self) -> Int64s:
        """int64[k]: the entries with weight in any part, ascending."""
        return np.flatnonzero(self._weights)

    def add(self, places: Int64s, values: Floats, weights: Int64s) -> None:
        """Add a part's values and weights, int64[k], for distinct entries."""
        (learned,) = np.nonzero(weights > 0)
        places, values, weights = places[learned], values[learned], weights[learned]
        self._weights, self._single, self._several = (
            _with_room(array, places) for array in (self._weights, self._single, self._several)
        )
        self._several[places] = self._weights[places] > 0
        self._single[places] = values
        self._weights[places] += weights
        self._sums.add(places, weights * values)

    def write(self, values: Floats) -> None:
        """Replace the base's values, of any shape, by the means."""
        for places in chunks(self.places):
            means = self._sums.totals(places) / self._weights[places] + 0.0  # no -0.0
            values.flat[places] = np.where(self._several[places], means, self._single[places])


def _with_room(array: NDArray[Any], places: Int64s) -> NDArray[Any]:
    """The array, enlarged if it lacks one of these places."""
    size = int(places.max(initial=-1)) + 1
    return array if size <= len(array) else enlarged(array, size * 4)
