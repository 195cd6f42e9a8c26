"""What the built-in players do, on boards small enough to work out by hand."""

from typing import Any

import numpy as np
import pytest

from tests import tables
from tests.engine.test_positions import sample
from tests.evaluation.reference import some_policy
from ttt_cli import Position, Positions, Rules, Side
from ttt_cli.agents.minimax import Minimax
from ttt_cli.engine.alpha_beta import Search
from ttt_cli.engine.perfect import solved
from ttt_cli.engine.policy import Exploring, PolicyTable
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.errors import UsageError
from ttt_cli.evaluation.matchup import both_sides
from ttt_cli.evaluation.walk import layers_of
from ttt_cli.evaluation.worst_case import worst_case


def cells(policy: PolicyTable, text: str) -> list[int]:
    """The cells (from 1) the policy plays, having checked that they are equally likely."""
    position = Position.parse(text, policy.space.rules)
    row = policy.played[policy.space.index_of[position.text]]
    played = np.flatnonzero(row)
    assert np.allclose(row[played], 1 / len(played))
    return (played + 1).tolist()


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("X.X.OOXO.", {"ties": "first"}, [2]),  # one of two ways to win
        ("X.X.O.X.O", {"ties": "first"}, [2]),  # of two lines to block
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
        (".........", {"ties": "last"}, [9]),
        (".........", {"ties": "last", "opening": "random"}, [1, 2, 3, 4, 5, 6, 7, 8, 9]),
        (".........", {"ties": "trap"}, [1, 3, 7, 9]),
        ("X...O....", {"ties": "last"}, [9]),
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


@pytest.mark.parametrize(
    ("rules", "as_x", "as_o"), [(Rules(), 191 / 192, 866 / 945), (Rules(misere=True), 29 / 48, 944 / 945)]
)
def test_traps_win_as_often_as_anyone_who_never_loses_can(rules: Rules, as_x: float, as_o: float) -> None:
    space = StateSpace.of(rules)
    found = both_sides(tables.minimax(space, ties="trap"), tables.uniform(space))
    assert [side.loss for side in found] == [0, 0]
    assert [side.win for side in found] == pytest.approx([as_x, as_o], abs=1e-12)


def test_without_a_state_space_minimax_proves_its_moves():
    rules = Rules(4, 4, 4)
    policy = Minimax(rules)
    for side in Side:
        assert worst_case(layers_of(policy, side), side).guaranteed == 0
    positions = Positions.batch(sample(rules, 8), rules)
    rows = positions[~positions.terminal]
    values = solved(rows)[1]
    best = values == np.where(rows.legal, values, -1).max(axis=1, keepdims=True)
    chosen = {ties: Minimax(rules, ties=ties).probabilities(rows) > 0 for ties in ("first", "last", "random")}
    assert (chosen["random"] == best & rows.legal).all()
    assert (chosen["first"].argmax(axis=1) == chosen["random"].argmax(axis=1)).all()
    assert (policy.probabilities(rows) > 0).tolist() == chosen["first"].tolist()
    assert (chosen["last"][:, ::-1].argmax(axis=1) == chosen["random"][:, ::-1].argmax(axis=1)).all()


@pytest.mark.compiled
def test_what_minimax_cannot_prove_it_cannot_prove_when_asked_again(monkeypatch):
    monkeypatch.setattr("ttt_cli.agents.minimax.NODES", 60)
    positions = Positions.batch(sample(Rules(5, 5, 4), 2), Rules(5, 5, 4))
    policy = Minimax(positions.rules)
    values = policy.values(positions)
    assert np.isnan(values[positions.legal]).any()
    assert np.array_equal(policy.values(positions), values, equal_nan=True)


def test_players_that_need_a_state_space_say_so():
    with pytest.raises(UsageError, match="ties=trap needs a smaller board than 4x4, 4 in a row"):
        Minimax(Rules(4, 4, 4), ties="trap")


LAST_HOPE = "X.X.......................OO.OO..............................X.X"
"""Every move but the 29th is proved to lose; what that one is worth is not known."""


@pytest.mark.compiled
def test_minimax_always_moves_and_says_where_nothing_could_be_proved(monkeypatch):
    for limit in ("NODES", "MOVE_NODES"):
        monkeypatch.setattr(f"ttt_cli.agents.minimax.{limit}", 100)
    rules = Rules(8, 8, 5)
    policy = Minimax(rules)
    both = Positions.batch([Position(LAST_HOPE, rules), Position.start(rules)], rules)
    chosen = policy.probabilities(both)
    assert np.flatnonzero(chosen[0]).tolist() == [28]
    assert policy.probabilities(both[:1]).tolist() == chosen[:1].tolist()
    (remark,) = policy.remarks
    assert both.text(1) in remark and LAST_HOPE not in remark and "searched instead" in remark
    searched = Search(rules).probabilities(both[1:])[0]
    assert chosen[1, searched.argmax()] == 1


def test_a_player_that_explores_resigns_where_it_did():
    space = StateSpace.of()
    player = some_policy(space, 1, resigning=0.2)
    played = Exploring(player, 0.25).probabilities(space)
    assert np.array_equal(played.any(axis=1), player.played.any(axis=1))
    assert np.allclose(played.sum(axis=1)[played.any(axis=1)], 1)
