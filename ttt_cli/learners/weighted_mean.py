"""Joining tables of values and visits: the weighted mean of what each part has learned since the base.

A part's weight is its visits minus the base's. With no part of weight the base's entry stays; with one, that
part's entry is copied; with several, the value is their weighted mean and the visits add up. The mean is
rounded once, as ``math.fsum`` rounds, so that the order of the parts cannot change a bit. Parts are added one
after the other, and none of them is kept.
"""

from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttt_cli.engine.arrays import Bools, Floats, Int64s

PIECE = 1 << 16
"""Entries that are looked at together."""


class Joining:
    """What parts have learned of entries beyond a base, added up exactly.

    Only entries that a part has learned something of take room; in the order in which they are met first.
    """

    def __init__(self) -> None:
        self._slots = np.zeros(0, np.int32)  # of each entry, counted from 1
        self._count = 0
        self._places, self._weights = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self._single, self._several = np.zeros(0), np.zeros(0, np.bool_)
        self._sums: list[Floats] = []

    @property
    def places(self) -> Int64s:
        """int64[k]: the entries that any part has learned something of."""
        return self._places[: self._count]

    def add(self, places: Int64s, values: Floats, weights: Int64s, *terms: Floats) -> None:
        """Add a part.

        :param places: int64[k], which entries it has, each of them once.
        :param weights: int64[k], its visits beyond the base's; where there are none, it has learned nothing.
        :param terms: float64[k], what is added up; without any, the values as often as they weigh.
        """
        for at in range(0, len(places), PIECE):
            some = slice(at, at + PIECE)
            learned = np.flatnonzero(weights[some] > 0)
            values_here, weights_here = values[some][learned], weights[some][learned]
            added = [term[some][learned] for term in terms] or [weights_here * values_here]
            self._add(places[some][learned], values_here, weights_here, added)

    def _add(self, places: Int64s, values: Floats, weights: Int64s, terms: list[Floats]) -> None:
        slots = self._slots_of(places)
        again = slots < self._count
        self._several[slots[again]] = True
        fresh = slots[~again]
        self._count += len(fresh)
        self._places[fresh], self._single[fresh] = places[~again], values[~again]
        self._weights[slots] += weights
        for term in terms:
            self._add_term(slots, term)

    def _slots_of(self, places: Int64s) -> Int64s:
        """Where what is known of these entries stands; those met for the first time get the next slots."""
        if len(places) and places.max() >= len(self._slots):
            self._slots = _longer(self._slots, int(places.max()) + 1)
        slots = self._slots[places].astype(np.int64) - 1
        fresh = np.flatnonzero(slots < 0)
        slots[fresh] = np.arange(self._count, self._count + len(fresh))
        self._slots[places[fresh]] = slots[fresh] + 1
        if (most := self._count + len(fresh)) > len(self._places):
            self._places, self._weights = _longer(self._places, most), _longer(self._weights, most)
            self._single, self._several = _longer(self._single, most), _longer(self._several, most)
            self._sums = [_longer(level, most) for level in self._sums]
        return slots

    def _add_term(self, slots: Int64s, term: Floats) -> None:
        """Add to sums, each of which is kept as several numbers: what one of them has to round goes on to the
        next."""
        for level in self._sums:
            level[slots], term = _two_sum(level[slots], term)
        if term.any():
            self._sums.append(np.zeros(len(self._places)))
            self._sums[-1][slots] = term

    def write_means(self, values: Floats, visits: Int64s) -> None:
        """Put values and visits (float64 and int64, of one dimension) in place of the base's."""
        for some in self._pieces():
            places, weights, several = self._places[some], self._weights[some], self._several[some]
            # Adding zero turns -0.0 into 0.0.
            means = self._totals(some) / weights + 0.0
            values[places] = np.where(several, means, self._single[some])
            visits[places] += weights

    def write_sums(self, sums: Floats) -> None:
        """Add the terms to the base's sums; of an entry that one part has learned, its own stays."""
        for some in self._pieces():
            places = self._places[some]
            totals = exact_sum(np.stack([sums[places], *(level[some] for level in self._sums)])) + 0.0
            sums[places] = np.where(self._several[some], totals, self._single[some])

    def _totals(self, some: slice) -> Floats:
        return exact_sum(
            np.stack([level[some] for level in self._sums] or [np.zeros(some.stop - some.start)])
        )

    def _pieces(self) -> list[slice]:
        return [slice(at, min(at + PIECE, self._count)) for at in range(0, self._count, PIECE)]


def _longer(array: NDArray[Any], length: int) -> NDArray[Any]:
    """The array with room for so much, and for what may come."""
    longer = np.zeros(max(length, len(array) * 3 // 2), array.dtype)
    longer[: len(array)] = array
    return longer


def exact_sum(terms: Floats) -> Floats:
    """float64[…]: the sum over the first axis, correctly rounded, as ``math.fsum`` gives it.

    Error-free additions leave a total, the errors of its steps in a second sum, and what was lost of these.
    Where nothing was, or where it cannot change how the two sums together round, that is the exact sum
    rounded; for the few others ``fsum`` decides.
    """
    total, errors, lost = np.zeros((3, *terms.shape[1:]))
    for term in terms:
        total, error = _two_sum(total, term)
        errors, error = _two_sum(errors, error)
        lost += np.abs(error)
    rounded: Floats = total + errors
    # Wide enough to be seen when it is added to the errors, and for the rounding of ``lost`` itself.
    bound = np.where(lost > 0, 2 * lost + np.abs(errors) * 2.0**-51, 0.0)
    unclear: Bools = (total + (errors - bound) != rounded) | (total + (errors + bound) != rounded)
    if unclear.any():
        rounded[unclear] = [fsum(column) for column in terms[:, unclear].T]
    return rounded


def _two_sum(first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """The rounded sum and its exact error (Knuth)."""
    total = first + second
    part = total - first
    return total, (first - (total - part)) + (second - part)
