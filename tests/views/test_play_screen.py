"""The screen of a game; what stands on it: ``tests/commands/test_play.py``."""

import logging

import pytest

from tests.commands.conftest import Terminal
from ttt_cli.engine.position import Position
from ttt_cli.engine.rules import STANDARD, Rules
from ttt_cli.environment import Environment
from ttt_cli.play.hints import hint
from ttt_cli.play.player import Player
from ttt_cli.play.session import Session
from ttt_cli.views.play_screen import PlayScreen


def screen_of(out: Terminal, err: Terminal, rules: Rules = STANDARD, **variables: str) -> PlayScreen:
    env = Environment(Terminal(), out, err, {"TERM": "xterm", **variables})
    return PlayScreen(env, Session(rules, (Player("human"), Player("human"))))


@pytest.mark.parametrize(("columns", "lines", "room"), [(40, 24, False), (41, 23, False), (41, 25, True)])
def test_a_board_stays_in_its_place_only_where_it_fits(columns: int, lines: int, room: bool):
    screen = screen_of(Terminal(), Terminal(), Rules(8, 8, 5), COLUMNS=str(columns), LINES=str(lines))
    assert screen.has_room == room


def test_hints_stand_in_the_cells_only_where_they_fit():
    for columns, shown in ((80, True), (20, False)):
        out = Terminal()
        screen = screen_of(out, Terminal(), COLUMNS=str(columns), LINES="30")
        screen.start()
        with screen.in_place():
            screen.paint(4, "", hint(Position(), None))
            assert ("draw" in out.getvalue()) == shown
        assert "best: any" in out.getvalue()


def test_notices_do_not_tear_the_board_that_stays_in_its_place():
    out, err = Terminal(), Terminal()
    screen = screen_of(out, err, COLUMNS="80")
    screen.env.listen()
    screen.start()
    with screen.in_place():
        screen.paint(4, "h hint", None)
        logging.getLogger("ttt_cli").info("compiled a kernel")
    assert not err.getvalue()
    before, after = out.getvalue().split("compiled a kernel")
    assert "[5]" in before and "[5]" in after
    logging.getLogger("ttt_cli").info("later")
    assert err.getvalue() == "later\n"
