"""Exact rates, seen from both sides; the published numbers: ``training/test_curve``."""

import numpy as np

from tests import tables
from ttt_cli.engine.policy import PolicyTable
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.evaluation.matchup import Rates, both_sides


def test_both_sides_are_seen_from_the_first_player() -> None:
    space = StateSpace.of()
    perfect, random = tables.minimax(space), tables.uniform(space)
    as_x, as_o = both_sides(perfect, random)
    random_as_x, random_as_o = both_sides(random, perfect)
    assert (as_x, as_o) == (random_as_o.turned(), random_as_x.turned())
    assert as_x.loss == as_o.loss == 0 < as_o.win < as_x.win
    nobody = PolicyTable(space, np.zeros(space.legal.shape))
    assert both_sides(nobody, random) == (Rates(0, 0, 1), Rates(0, 0, 1))  # it resigns at once
