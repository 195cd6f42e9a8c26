"""Joining tables of values and visits."""

from math import fsum

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ttt_cli.learners import weighted_mean
from ttt_cli.learners.weighted_mean import exact_sum, join, join_changes

numbers = (
    st.floats(-1e6, 1e6) | st.floats(-1, 1) | st.sampled_from([1.0, 2.0**-53, -(2.0**-53), 2.0**53, 1e-300])
)


@given(st.integers(1, 9).flatmap(lambda parts: arrays(np.float64, (parts, 40), elements=numbers)))
def test_the_exact_sum_is_fsum(terms: np.ndarray):
    assert exact_sum(terms).tolist() == [fsum(column) for column in terms.T]


def random_part(rng: np.random.Generator, base: tuple[np.ndarray, np.ndarray]):
    grown = rng.integers(0, 4, base[1].shape) * (rng.random(base[1].shape) < 0.7)
    return np.where(grown > 0, rng.uniform(-1, 1, base[0].shape), base[0]), base[1] + grown


def test_joining_is_the_definition_entry_by_entry():
    rng = np.random.default_rng(1)
    base = rng.uniform(-1, 1, 500), rng.integers(0, 5, 500)
    parts = [random_part(rng, base) for _ in range(4)]
    values, visits = join(base, parts)
    for entry in range(500):
        weights = [int(part[1][entry] - base[1][entry]) for part in parts]
        learnt = [(weight, part[0][entry]) for weight, part in zip(weights, parts, strict=True) if weight]
        if not learnt:
            expected = base[0][entry]
        elif len(learnt) == 1:
            expected = learnt[0][1]
        else:
            expected = fsum(weight * value for weight, value in learnt) / sum(weights)
        assert values[entry] == expected
        assert visits[entry] == base[1][entry] + sum(weights)


def test_the_order_of_the_parts_does_not_matter():
    rng = np.random.default_rng(2)
    base = np.zeros(300), np.zeros(300, np.int64)
    parts = [random_part(rng, base) for _ in range(5)]
    one, other = join(base, parts), join(base, parts[::-1])
    assert one[0].tobytes() == other[0].tobytes() and one[1].tobytes() == other[1].tobytes()


def test_parts_that_tell_only_some_entries_join_to_the_same(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(weighted_mean, "PIECE", 100)
    rng = np.random.default_rng(4)
    base = rng.uniform(-1, 1, (150, 2)), rng.integers(0, 5, (150, 2))
    parts = [random_part(rng, base) for _ in range(3)]
    values, visits = base[0].copy(), base[1].copy()
    some = [rng.permutation(np.flatnonzero(part[1] > base[1])) for part in parts]
    told = [(at, *(column.ravel()[at] for column in part)) for at, part in zip(some, parts, strict=True)]
    join_changes(values, visits, told)
    expected = join(base, parts)
    assert values.tobytes() == expected[0].tobytes() and visits.tobytes() == expected[1].tobytes()


def test_nothing_learnt_changes_nothing():
    rng = np.random.default_rng(3)
    base = rng.uniform(-1, 1, 50), rng.integers(0, 5, 50)
    values, visits = join(base, [base, base])
    assert np.array_equal(values, base[0]) and np.array_equal(visits, base[1])
