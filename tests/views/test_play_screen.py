"""The screen of a game; what else stands on it: ``tests/commands/test_play.py`` and ``tests/shell``."""

from unittest.mock import Mock

import pytest
from rich.console import Console

from tests.ttt import Terminal
from ttt_cli.agents.uniform import Uniform
from ttt_cli.engine.position import Position
from ttt_cli.engine.rules import STANDARD, Rules
from ttt_cli.environment import Environment
from ttt_cli.play.session import Player, Session
from ttt_cli.shell.person import Person
from ttt_cli.views.advice import Advice, hint


def placed(
    columns: int,
    lines: int,
    rules: Rules = STANDARD,
    typed: str = "",
    advice: Advice | None = None,
    key: str = "",
    machine: Player | None = None,
) -> str:
    """What stands on a screen of this size."""
    variables = {"TERM": "xterm", "COLUMNS": str(columns), "LINES": str(lines), "NO_COLOR": "1"}
    env = Environment(Terminal(), out := Terminal(), Terminal(), variables)
    session = Session(rules, (Player("human"), machine or Player("human")))
    person = Person(env, session, keys := Mock())
    person.cursor, person.typed, person.advice = 0, typed, advice
    person.tell(person._do(key) if key else "")
    Console(file=out, width=columns, height=lines, color_system=None).print(keys.paint.call_args[0][0])
    shown = out.getvalue().rstrip().split("\n")
    assert len(shown) <= lines and max(map(len, shown)) <= columns
    return "\n".join(shown)


@pytest.mark.parametrize(("columns", "lines"), [(40, 12), (60, 20), (80, 24), (200, 50)])
def test_every_board_fits_every_usual_screen(columns: int, lines: int):
    for rules in (STANDARD, Rules(4, 4, 4), Rules(8, 8, 5)):
        shown = placed(columns, lines, rules, typed="1")
        assert str(rules.cells) in shown and "[1]" in shown and "X to move: 1, Enter plays it" in shown
        assert ("───" in shown) == (2 * rules.rows + 2 <= lines)  # else no lines between the rows


def test_a_screen_that_is_too_small_says_so():
    shown = " ".join(placed(30, 20, Rules(8, 8, 5)).split())
    assert "The board needs 39 columns and 11 lines; the window has 30 and 20." in shown
    assert "X to move" in shown


def test_hints_and_their_legend_appear_only_where_they_fit():
    advice = hint(Position("XX.OO...."))
    whole, flat, narrow = (placed(*size, advice=advice) for size in ((80, 24), (40, 10), (18, 30)))
    assert "draw" in whole and "win 1: with perfect play you win" in whole
    assert "best: 3" in flat and "win 1" not in flat
    assert "best: 3" in narrow and "draw" not in narrow


def test_all_keys_fit_a_small_screen():
    for rules in (STANDARD, Rules(8, 8, 5)):
        shown = placed(40, 12, rules, key="?", machine=Player("random", Uniform(rules)))
        for words in ("arrows", "beat it", "q         leaves", "press any key to go on"):
            assert words in shown
        assert ("with Enter" in shown) == (rules.cells > 9)
