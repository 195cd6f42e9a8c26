"""The worst case, against a plain recursion with fractions; OpenSpiel's number: ``training/test_curve``."""

import pytest

from tests import tables
from tests.evaluation.reference import forced, some_policy
from ttt_cli import Game, Rules, Side
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.evaluation.walk import layers_of
from ttt_cli.evaluation.worst_case import worst_case


@pytest.mark.parametrize("rules", [Rules(2, 3, 2), Rules(1, 6, 2)], ids=str)
@pytest.mark.parametrize("resigning", [0.0, 0.1])
def test_loss_and_gain_match_a_plain_recursion(rules: Rules, resigning: float) -> None:
    space = StateSpace.of(rules)
    for seed in range(1, 4):
        policy = some_policy(space, seed, resigning=resigning)
        for side, name in enumerate("XO"):
            found = worst_case(layers_of(policy, Side(side)), Side(side))
            assert found.loss == pytest.approx(float(forced(policy, name, lambda own: own > 0)), abs=1e-14)
            assert found.gain == pytest.approx(float(forced(policy, name, lambda own: own)), abs=1e-14)
            assert (found.line is None) == (found.loss == 0) == (found.guaranteed >= 0)


@pytest.mark.parametrize("rules", [Rules(), Rules(2, 4, 3)], ids=str)
def test_the_line_is_a_game_that_the_policy_loses(rules: Rules) -> None:
    space = StateSpace.of(rules)
    for policy in (tables.uniform(space), tables.heuristic(space), some_policy(space, 2, resigning=0.1)):
        for side in Side:
            line = worst_case(layers_of(policy, side), side).line
            path = tables.path(space, cells := [cell - 1 for cell in line])
            for index, cell in zip(path, line, strict=False):
                if space.plies[index] % 2 == side:
                    assert policy.played[index, cell - 1] > 0
            resigned = not space.terminal[path[-1]]
            assert Game.of(rules, cells, resigned=resigned).outcome(side) == -1
            assert not (resigned and policy.played[path[-1]].any())


def test_the_line_is_the_likeliest_and_of_equally_likely_ones_the_shortest() -> None:
    space = StateSpace.of()
    policy = tables.minimax(space, ties="first", depth=1)  # wins where it can, blocks nothing
    for side in (0, 1):
        found = worst_case(layers_of(policy, Side(side)), Side(side))
        assert found.loss == 1  # without chance, what can be forced is certain …
        assert len(found.line) == (6, 5)[side]  # … and here it takes three stones in a row
    wrong = tables.changed(tables.minimax(space), "X........", {5: 0.9, 2: 0.06, 9: 0.04})  # in two ways
    found = worst_case(layers_of(wrong, Side(1)), Side(1))
    assert found.line[:2] == (1, 2) and found.loss == pytest.approx(0.1)


def test_a_loss_that_can_be_forced_is_certain() -> None:
    rules = Rules(1, 7, 2)
    found = worst_case(layers_of(tables.uniform(StateSpace.of(rules)), Side.O), Side.O)
    assert (found.loss, found.gain) == (1, 1)  # the probabilities of the moves add up to less


def test_rounding_never_decides_a_line() -> None:
    """A mistake of the smallest probability is a way to lose, however small the number it comes to."""
    space = StateSpace.of()
    slip = tables.changed(tables.minimax(space, ties="first"), "X........", {5: 1 - 1e-18, 2: 1e-18})
    found = worst_case(layers_of(slip, Side(1)), Side(1))
    assert 0 < found.loss < 1e-17 and found.guaranteed == -1
    assert found.line is not None and found.line[:2] == (1, 2)
    # The smallest probability of holding the game is no certain loss, and what no number can hold can happen.
    luck = tables.changed(tables.minimax(space, ties="first"), "....X....", {2: 1 - 1e-13, 1: 1e-13})
    assert 1 - 1e-12 < worst_case(layers_of(luck, Side.O), Side.O).loss < 1
    once = tables.changed(tables.minimax(space, ties="first"), "X.O......", {7: 1, 4: 1e-200})
    twice = tables.changed(once, "X.OX..O..", {5: 1, 2: 1e-200})
    found = worst_case(layers_of(twice, Side.X), Side.X)
    assert 0 < found.loss < 1e-300 and found.line == (1, 3, 4, 7, 2, 5)
