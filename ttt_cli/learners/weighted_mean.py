"""Joining tables of values and visits: the weighted mean of what each part has learned since the base.

A part's weight is its visits minus the base's. With no part of weight the base's entry stays; with one, that
part's entry is copied; with several, the value is their weighted mean and the visits add up. The mean is
rounded once, as ``math.fsum`` rounds, so that the order of the parts cannot change a bit.
"""

from collections.abc import Iterable, Sequence
from math import fsum

import numpy as np

from ttt_cli.engine.state_space import Bools, Floats, Int64s

Changes = tuple[Int64s, Floats, Int64s]
"""Entries of a part: int64[k], their places, and their values and visits."""

PIECE = 1 << 18
"""Entries that are joined at a time, those of all parts counted."""


def join(base: tuple[Floats, Int64s], parts: Sequence[tuple[Floats, Int64s]]) -> tuple[Floats, Int64s]:
    """Values and visits (float64 and int64, all of one shape) of the joined table."""
    values, visits = base[0].copy(), base[1].copy()
    for at in range(0, values.size, PIECE):
        some = slice(at, at + PIECE)
        pieces = [(part[0].reshape(-1)[some], part[1].reshape(-1)[some]) for part in parts]
        _join(values.reshape(-1)[some], visits.reshape(-1)[some], pieces)
    return values, visits


def _join(values: Floats, visits: Int64s, parts: Sequence[tuple[Floats, Int64s]]) -> None:
    """The same for a piece of one dimension, in place."""
    found = np.stack([part[0] for part in parts])
    weights = np.maximum(np.stack([part[1] for part in parts]) - visits, 0)
    learnt = np.count_nonzero(weights, axis=0)
    visits += weights.sum(axis=0)
    single, several = np.flatnonzero(learnt == 1), np.flatnonzero(learnt > 1)
    values[single] = found[weights.take(single, axis=1).argmax(axis=0), single]
    amounts = weights.take(several, axis=1).astype(np.float64)
    products = amounts * found.take(several, axis=1)
    # Adding zero turns -0.0 into 0.0.
    values[several] = exact_sum(products) / exact_sum(amounts) + 0.0


def join_changes(values: Floats, visits: Int64s, parts: Iterable[Changes]) -> None:
    """Join to a base, in place, parts that tell only some of its entries, each of them once."""
    values, visits, changes = values.reshape(-1), visits.reshape(-1), []
    for places, found, counts in parts:
        some = np.flatnonzero(counts > visits[places])
        some = some[np.argsort(places[some], kind="stable")]
        changes.append((places[some], found[some], counts[some]))
    size = PIECE // max(1, len(changes)) + 1
    for start in range(0, len(values), size):
        here, touched = [], np.zeros(size, np.bool_)
        for places, found, counts in changes:
            first, last = np.searchsorted(places, (start, start + size))
            here.append((places[first:last] - start, found[first:last], counts[first:last]))
            touched[here[-1][0]] = True
        rank, entries = np.cumsum(touched) - 1, start + np.flatnonzero(touched)
        told = []
        for places, found, counts in here:
            told.append((values[entries], visits[entries]))
            told[-1][0][rank[places]], told[-1][1][rank[places]] = found, counts
        values[entries], visits[entries] = join((values[entries], visits[entries]), told)


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
