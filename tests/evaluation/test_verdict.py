"""Mistakes and verdicts."""

from typing import Any

import numpy as np
import pytest

from tests import tables
from tests.evaluation.reference import some_policy
from ttt_cli import Rules, Side
from ttt_cli.agents.asked import RESIGNS
from ttt_cli.agents.minimax import Minimax
from ttt_cli.engine.scores import solve
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.evaluation import verdict
from ttt_cli.evaluation.review import explain
from ttt_cli.evaluation.verdict import MistakeCount, find_blunders, is_unbeatable, judge


def test_mistakes_are_the_moves_that_lower_the_value() -> None:
    space = StateSpace.of()
    values = np.sign(solve(space)).tolist()
    for policy in (tables.heuristic(space), some_policy(space, 1, resigning=0.1)):
        expected = set()
        for index in np.flatnonzero(~space.terminal).tolist():
            for cell in np.flatnonzero(policy.played[index]).tolist():
                if -values[space.successors[index, cell]] < values[index]:
                    expected.add((index, cell, values[index], -values[space.successors[index, cell]]))
            if not policy.played[index].any() and values[index] > -1:
                expected.add((index, RESIGNS, values[index], -1))
        found = find_blunders(policy)
        columns = (space.rows(found.positions), *(found.moves[name] for name in ("cell", "before", "after")))
        assert set(zip(*(column.tolist() for column in columns), strict=True)) == expected
        assert len(found.moves) == len(expected)
        assert judge(policy).mistakes.positions == len({index for index, *_ in expected})


def test_the_first_mistake_is_the_one_to_mend_first() -> None:
    space = StateSpace.of()
    first = tables.minimax(space, ties="first")  # as X it opens in cell 1
    never = tables.changed(first, "..X.....O", {6: 1})  # makes a loss of a win where it never is
    rare = tables.changed(never, "X........", {5: 0.99, 2: 0.01})  # once in a hundred answers to a corner
    often = tables.changed(rare, "....X....", {1: 0.5, 2: 0.5})  # every other time after the centre
    found = find_blunders(often, [tables.uniform(space), tables.minimax(space)])
    assert found.positions.texts() == ["....X....", "X........", "..X.....O"]
    assert found.moves["cell"].tolist() == [1, 1, 5]
    assert found.moves["probability"].tolist() == [0.5, 0.01, 1.0]
    assert found.moves["before"].tolist() == [0, 0, 1]
    assert found.moves["after"].tolist() == [-1, -1, -1]
    assert found.reach == pytest.approx(np.array([[1 / 9, 1 / 9], [1 / 9, 1 / 9], [0, 0]]))
    assert found.reachable.tolist() == [True, True, False]


def test_mistakes_count_as_reachable_where_the_policy_is_to_move() -> None:
    """The position is reached in the other role too: there the mistake is not the policy's to make."""
    policy = tables.changed(tables.minimax(StateSpace.of(), ties="first"), "..X.....O", {6: 1})
    answers = tables.changed(policy, "..X......", {5: 0.5, 9: 0.5})  # as O it may come here
    assert judge(policy).mistakes == MistakeCount(1, 0, 4520)
    assert judge(policy).unbeatable
    assert judge(answers).mistakes == MistakeCount(2, 1, 4520)
    assert not judge(answers).unbeatable


@pytest.mark.parametrize(
    ("rules", "options"),
    [
        (Rules(), {"speed": False}),
        (Rules(), {"ties": "trap"}),
        (Rules(), {"depth": 99}),
        (Rules(2, 4, 3), {"ties": "first"}),
        (Rules(2, 2, 2), {}),
        (Rules(2, 2, 2, misere=True), {}),  # in which X must lose
    ],
    ids=str,
)
def test_perfect_play_is_unbeatable_on_every_board(rules: Rules, options: dict[str, Any]) -> None:
    policy = tables.minimax(StateSpace.of(rules), **options)
    verdict = judge(policy)
    assert verdict.unbeatable and is_unbeatable(policy)
    assert (verdict.mistakes.positions, verdict.mistakes.reachable) == (0, 0)
    assert verdict.nash_conv == pytest.approx(0, abs=1e-12)
    assert verdict.coverage is None


def test_mistakes_are_not_counted_where_too_many_values_would_have_to_be_proved(monkeypatch) -> None:
    policy = Minimax(Rules(4, 4, 3))
    assert judge(policy).mistakes == MistakeCount(0, 0, None)
    monkeypatch.setattr(verdict, "MAX_PROVED", 10)
    assert judge(policy).mistakes == MistakeCount()


def test_a_player_that_lets_a_win_slip_is_beatable() -> None:
    space = StateSpace.of(Rules(1, 7, 2))  # X can win, but not after every first move
    slips = np.flatnonzero(space.legal[0] & (solve(space)[space.successors[0]] >= 0))
    policy = tables.changed(tables.minimax(space), "." * 7, {slips[0] + 1: 1})
    verdict = judge(policy)
    assert not verdict.unbeatable and not is_unbeatable(policy)
    assert verdict.as_x.guaranteed < 1


def test_a_line_explained() -> None:
    """A wrong answer to the corner, and giving up there."""
    policy = tables.changed(tables.minimax(StateSpace.of(), ties="first"), "X........", {2: 1})
    line = judge(policy).as_o.line
    assert line is not None and line[:2] == (1, 2)
    steps = explain(policy, Side.O, line)
    assert [step.cell + 1 for step in steps] == list(line)
    assert steps[0].probability is None  # the opponent's
    mistake = steps[1]
    assert (mistake.probability, mistake.before, mistake.after, mistake.best) == (1.0, 0, -1, (4,))
    assert all(step.before == step.after for step in steps if step is not mistake)
    policy = tables.changed(policy, "X........", {})
    steps = explain(policy, Side.O, judge(policy).as_o.line or ())
    assert [(step.cell, step.after) for step in steps] == [(0, 0), (None, -1)]
    assert find_blunders(policy).moves["cell"].tolist() == [RESIGNS]
