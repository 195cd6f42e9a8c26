"""Exact rates, against fractions and published numbers."""

from fractions import Fraction

import numpy as np
import pytest

from tests import tables
from tests.evaluation.reference import results, some_policy
from ttt_cli import Rules
from ttt_cli.engine.policy import PolicyTable
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.evaluation.matchup import Rates, both_sides, play_exact


@pytest.mark.parametrize("rules", [Rules(2, 3, 2), Rules(1, 1, 1)], ids=str)
@pytest.mark.parametrize("resigning", [0.0, 0.2])
def test_rates_match_a_plain_recursion(rules: Rules, resigning: float) -> None:
    space = StateSpace.of(rules)
    for seed in range(1, 4):
        x, o = (some_policy(space, seed * 2 + side, resigning=resigning) for side in (0, 1))
        expected = results(x, o)
        found = play_exact(x, o)
        for outcome, rate in ((1, found.win), (0, found.draw), (-1, found.loss)):
            assert rate == pytest.approx(float(expected.get(outcome, Fraction(0))), abs=1e-14)
            assert (rate == 0) == (outcome not in expected)
        assert found.win + found.draw + found.loss == pytest.approx(1, abs=1e-15)


def test_both_sides_are_seen_from_the_first_player() -> None:
    space = StateSpace.of()
    perfect, random = tables.minimax(space), tables.uniform(space)
    as_x, as_o = both_sides(perfect, random)
    random_as_x, random_as_o = both_sides(random, perfect)
    assert (as_x, as_o) == (random_as_o.turned(), random_as_x.turned())
    assert as_x.loss == as_o.loss == 0 < as_o.win < as_x.win
    assert as_x.points == pytest.approx(as_x.win + as_x.draw / 2)
    nobody = PolicyTable(space, np.zeros(space.legal.shape))
    assert both_sides(nobody, random) == (Rates(0, 0, 1), Rates(0, 0, 1))  # it resigns at once
