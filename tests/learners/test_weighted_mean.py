"""Merging tables of values and visits."""

from math import fsum

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.ttt import ROOT
from ttt_cli import Rules, Table
from ttt_cli.learners import from_file, table
from ttt_cli.learners.weighted_mean import ExactSums, WeightedMean

numbers = (
    st.floats(-1e6, 1e6) | st.floats(-1, 1) | st.sampled_from([1.0, 2.0**-53, -(2.0**-53), 2.0**53, 1e-300])
)


def random_part(rng: np.random.Generator, base: tuple[np.ndarray, np.ndarray]):
    grown = rng.integers(0, 4, base[1].shape) * (rng.random(base[1].shape) < 0.7)
    return np.where(grown > 0, rng.uniform(-1, 1, base[0].shape), base[0]), base[1] + grown


def test_merging_follows_the_definition_entry_by_entry(monkeypatch: pytest.MonkeyPatch):
    """Whichever entries the parts tell of, and in whatever order."""
    monkeypatch.setattr(table, "CHUNK", 100)
    rng = np.random.default_rng(1)
    base = rng.uniform(-1, 1, 500), rng.integers(0, 5, 500)
    parts, merging = [random_part(rng, base) for _ in range(4)], WeightedMean()
    for number, part in enumerate(parts):
        at = rng.permutation(500 if number < 2 else np.flatnonzero(part[1] > base[1]))
        merging.add(at, part[0][at], (part[1] - base[1])[at])
    values = base[0].copy()
    merging.write(values)
    for entry in range(500):
        weights = [int(part[1][entry] - base[1][entry]) for part in parts]
        learned = [(weight, part[0][entry]) for weight, part in zip(weights, parts, strict=True) if weight]
        expected = base[0][entry]
        if len(learned) == 1:
            expected = learned[0][1]
        elif learned:
            expected = fsum(weight * value for weight, value in learned) / sum(weights)
        assert values[entry] == expected


@given(st.integers(1, 30).flatmap(lambda parts: arrays(np.float64, (parts, 40), elements=numbers)))
def test_exact_sums_are_fsum(terms: np.ndarray):
    """However many numbers a sum has to be kept as, and whichever places it is added at."""
    sums = ExactSums()
    for number, term in enumerate(terms):
        some = np.arange(number % 3, 40)
        sums.add(some[::-1], term[some[::-1]])
    added = [[term[place] for number, term in enumerate(terms) if place >= number % 3] for place in range(40)]
    assert sums.totals(np.arange(40)).tolist() == [fsum(column) for column in added]


def test_sums_of_many_plain_tables_are_fsum():
    learner, rng = from_file(f"{ROOT / 'examples' / 'my_learner.py'}:MonteCarlo")(), np.random.default_rng(5)
    terms = rng.uniform(-1, 1, 300) * 10.0 ** rng.integers(-20, 20, 300)
    parts = [Table(Rules(), {"." * 9: [term, 3]}.items()) for term in terms.tolist()]
    assert learner.merge(Table(Rules()), parts) == {"." * 9: [fsum(terms), 900]}
