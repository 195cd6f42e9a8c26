"""Positions as text: what is a position, what is not, and what can be done with one."""

from typing import Any

import pytest
from hypothesis import given, strategies as st

from tests.ttt import TEXTS
from ttt_cli import Position, Rules
from ttt_cli.errors import NotationError


@given(st.lists(st.sampled_from("XO.xo-_/ \n"), max_size=14).map("".join) | TEXTS)
def test_any_text_is_refused_or_has_one_normal_form(text: str):
    try:
        position = Position.parse(text)
    except NotationError:
        return
    assert Position.parse(position.text) == position
    assert Position(position.text) == position
    assert eval(repr(position), {"Position": Position}) == position


@pytest.mark.parametrize(
    "text", ["x.o......", "X-O/---/---", "X_O ___ ___", " X.O......\n", "X.O / ... / ..."]
)
def test_other_spellings(text: str):
    assert Position.parse(text) == Position("X.O......")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("X.Q......", "'Q' is not X, O or ."),
        ("XX.......", "X moves first"),
        ("XXXOOO...", "went on after"),
        ("XXXOO.O..", "went on after"),
        ("X.O./....", "expected 3 rows of 3 cells"),
        ("", "expected 9 cells"),
        ("XXX.OO.OXXX...OO", "no single move"),
    ],
)
def test_impossible_positions_say_why(text: str, why: str):
    with pytest.raises(NotationError, match=why):
        Position.parse(text, Rules(4, 4, 3) if len(text) == 16 else Rules())


@pytest.mark.parametrize(
    ("text", "cell", "why"),
    [
        ("X........", 0, "taken by X"),
        ("X........", 9, "cells 1 to 9"),
        ("XXXOO....", 5, "the game is over"),
        (".........", 1.0, "1.0 is not a cell"),
    ],
)
def test_impossible_moves_say_why(text: str, cell: Any, why: str):
    with pytest.raises(NotationError, match=why):
        Position(text).play(cell)
