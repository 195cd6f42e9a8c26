"""What the built-in players do, on boards small enough to work out by hand."""

from typing import Any

import numpy as np
import pytest

from tests import tables
from ttt_cli.engine.policy import PolicyTable
from ttt_cli.engine.position import Position
from ttt_cli.engine.retrograde import solve
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.evaluation.matchup import both_sides


def cells(policy: PolicyTable, text: str) -> list[int]:
    """The cells (from 1) the policy plays, having checked that they are equally likely."""
    position = Position.parse(text, policy.space.rules)
    row = policy.probabilities[policy.space.index(position)]
    played = np.flatnonzero(row)
    assert np.allclose(row[played], 1 / len(played))
    return (played + 1).tolist()


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("XX.OO....", {}, [3]),  # X could block, but wins
        ("XX.OO..X.", {}, [6]),  # so does O
        ("X...X.O..", {}, [9]),  # O blocks
        ("X.X.OOXO.", {}, [2, 4]),  # two ways to win
        ("X.X.OOXO.", {"ties": "first"}, [2]),
        ("X.X.O.X.O", {}, [2, 4]),  # two lines to block
        ("X.X.O.X.O", {"ties": "first"}, [2]),
        ("X........", {}, [2, 3, 4, 5, 6, 7, 8, 9]),
        ("X........", {"ties": "first"}, [2, 3, 4, 5, 6, 7, 8, 9]),  # no line, no tie to break
        ("X........", {"centre": True}, [5]),
        ("X...O....", {"centre": True}, [2, 3, 4, 6, 7, 8, 9]),
        ("XX......O", {"centre": True}, [3]),  # blocking comes first
    ],
)
def test_heuristic(text: str, options: dict[str, Any], expected: list[int]) -> None:
    assert cells(tables.heuristic(StateSpace.of(), **options), text) == expected


def test_the_centre_matters_only_where_there_is_one() -> None:
    for rules, middle in ((Rules(1, 5, 3), True), (Rules(3, 4), False), (Rules(2, 3, 2), False)):
        start = "." * rules.cells
        with_centre = cells(tables.heuristic(StateSpace.of(rules), centre=True), start)
        assert (with_centre == [rules.cells // 2 + 1]) if middle else (len(with_centre) == rules.cells)


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        (".........", {}, [1, 2, 3, 4, 5, 6, 7, 8, 9]),
        (".........", {"ties": "first"}, [1]),
        (".........", {"ties": "last"}, [9]),
        (".........", {"ties": "last", "opening": "random"}, [1, 2, 3, 4, 5, 6, 7, 8, 9]),
        ("X........", {}, [5]),
        ("X...O....", {"ties": "last"}, [9]),
        ("XX.OO....", {}, [3]),
        ("XX.OO....", {"depth": 1}, [3]),
        ("X...X.O..", {"depth": 1}, [2, 3, 4, 6, 8, 9]),  # does not see the threat
        ("X...X.O..", {"depth": 2}, [9]),
        ("X...O...X", {}, [2, 4, 6, 8]),  # a corner loses to a fork
        ("X...O...X", {"depth": 3}, [2, 3, 4, 6, 7, 8]),  # which takes one ply more to see
        ("X.O.X.O..", {}, [9]),  # wins now …
        ("X.O.X.O..", {"speed": False}, [2, 4, 6, 8, 9]),  # … or threatens to in two places
    ],
)
def test_minimax(text: str, options: dict[str, Any], expected: list[int]) -> None:
    assert cells(tables.minimax(StateSpace.of(), **options), text) == expected


@pytest.mark.parametrize("rules", [Rules(), Rules(3, 4)], ids=str)
@pytest.mark.parametrize(
    "options", [{}, {"speed": False}, {"ties": "first"}, {"ties": "last"}, {"ties": "trap"}, {"depth": 99}]
)
def test_minimax_never_gives_up_game_value(rules: Rules, options: dict[str, Any]) -> None:
    space = StateSpace.of(rules)
    solution = solve(space)
    at, played = np.nonzero(tables.minimax(space, **options).probabilities)
    assert np.array_equal(-solution.values[space.successors[at, played]], solution.values[at])
    assert len(np.unique(at)) == (~space.terminal).sum()


def test_traps_win_as_often_as_anyone_who_never_loses_can() -> None:
    space = StateSpace.of()
    as_x, as_o = both_sides(tables.minimax(space, ties="trap"), tables.uniform(space))
    assert (as_x.loss, as_o.loss) == (0, 0)
    assert as_x.win == pytest.approx(191 / 192, abs=1e-12)
    assert as_o.win == pytest.approx(0.916402, abs=5e-7)


def test_what_minimax_thinks_its_moves_are_worth() -> None:
    values = tables.minimax(StateSpace.of()).values
    assert values is not None
    row = values[StateSpace.of().index(Position("X...O...X"))]
    assert row[[1, 2, 3]].tolist() == [0, -1, 0]
    assert np.isnan(row[[0, 4, 8]]).all()
