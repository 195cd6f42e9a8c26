"""The screen of a game; what stands on it: ``tests/commands/test_play.py``."""

import logging

from tests.commands.conftest import Terminal
from ttt_cli.engine.rules import STANDARD
from ttt_cli.environment import Environment
from ttt_cli.play.player import Player
from ttt_cli.play.session import Session
from ttt_cli.views.play_screen import PlayScreen


def test_notices_do_not_tear_the_board_that_stays_in_its_place():
    out, err = Terminal(), Terminal()
    env = Environment(Terminal(), out, err, {"TERM": "xterm", "COLUMNS": "80"})
    screen = PlayScreen(env, Session(STANDARD, (Player("human"), Player("human"))))
    env.listen()
    screen.start()
    with screen.in_place():
        screen.paint(4, "h hint", None)
        logging.getLogger("ttt_cli").info("compiled a kernel")
    assert not err.getvalue()
    before, after = out.getvalue().split("compiled a kernel")
    assert "[5]" in before and "[5]" in after
    logging.getLogger("ttt_cli").info("later")
    assert err.getvalue() == "later\n"
