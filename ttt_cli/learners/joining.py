"""Joining tables of values and visits: the weighted mean of what each part has learnt since the base.

A part's weight is its visits minus the base's. With no part of weight the base's entry stays; with one, that
part's entry is copied; with several, the value is their weighted mean and the visits add up. The mean is
rounded once, as ``math.fsum`` rounds, so that the order of the parts cannot change a bit.
"""

from collections.abc import Sequence
from math import fsum

import numpy as np

from ttt_cli.engine.space import Bools, Floats, Int64s


def join(base: tuple[Floats, Int64s], parts: Sequence[tuple[Floats, Int64s]]) -> tuple[Floats, Int64s]:
    """Values and visits (float64 and int64, all of one shape) of the joined table."""
    values, visits = base[0].copy(), base[1].copy()
    weights = np.stack([part[1] - base[1] for part in parts])
    learnt = (weights > 0).sum(axis=0)
    visits += np.maximum(weights, 0).sum(axis=0)
    for part, weight in zip(parts, weights, strict=True):
        single = (learnt == 1) & (weight > 0)
        values[single] = part[0][single]
    several = learnt > 1
    amounts = np.maximum(weights[:, several], 0).astype(np.float64)
    products = amounts * np.stack([part[0][several] for part in parts])
    # Adding zero turns -0.0 into 0.0.
    values[several] = exact_sum(products) / exact_sum(amounts) + 0.0
    return values, visits


def exact_sum(terms: Floats) -> Floats:
    """float64[…]: the sum over the first axis, correctly rounded, as ``math.fsum`` gives it.

    Error-free additions (Knuth's two-sum) leave a total and the exact errors of all steps. Where adding
    their approximate sum rounds the same at both ends of its own error bound, that is the exact sum rounded;
    for the few others ``fsum`` decides.
    """
    total = np.zeros(terms.shape[1:])
    errors = np.zeros_like(total)
    size = np.zeros_like(total)
    for term in terms:
        before = total
        total = before + term
        part = total - before
        error = (before - (total - part)) + (term - part)
        errors += error
        size += np.abs(error)
    bound = size * (len(terms) * 2.0**-52)
    rounded: Floats = total + errors
    unclear: Bools = (total + (errors - bound) != rounded) | (total + (errors + bound) != rounded)
    if unclear.any():
        rounded[unclear] = [fsum(column) for column in terms[:, unclear].T]
    return rounded
