"""Merging tables of values and visits."""

from math import fsum

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.ttt import ROOT
from ttt_cli import Rules, Table
from ttt_cli.learners import from_file
from ttt_cli.learners.weighted_mean import ExactSums

numbers = (
    st.floats(-1e6, 1e6) | st.floats(-1, 1) | st.sampled_from([1.0, 2.0**-53, -(2.0**-53), 2.0**53, 1e-300])
)


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
