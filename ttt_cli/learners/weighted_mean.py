"""Joining tables of values and visits: the weighted mean of what each part has learned since the base.

A part's weight is its visits minus the base's. With no part of weight the base's entry stays; with one, that
part's entry is copied; with several, the value is their weighted mean and the visits add up. The mean is
rounded once, as ``math.fsum`` rounds, so that the order of the parts cannot change a bit.
"""

from collections.abc import Sequence
from math import fsum

import numpy as np

from ttt_cli.engine.state_space import Bools, Floats, Int64s

PIECE = 1 << 18
"""Entries that are joined at a time."""


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
