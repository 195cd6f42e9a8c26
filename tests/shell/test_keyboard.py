"""Single keys, and a game played by them at a terminal."""

import os
import pty
import re
import select
import sys
import termios
import time
from io import StringIO
from pathlib import Path

import pytest

from ttt_cli.shell.keyboard import has_keys, keys
from ttt_cli.store.games import read_games

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        (b"5", "5"),
        (b"H", "h"),
        (b"\r", "enter"),
        (b" ", "enter"),
        (b"\x7f", "backspace"),
        (b"\x1b[A", "up"),
        (b"\x1bOD", "left"),
        (b"\x1b[3~", ""),
        (b"\x1b", ""),
        (b"\xc3", ""),
        (b"\x04", None),
    ],
)
def test_keys_have_names(typed: bytes, found: str | None):
    theirs, ours = pty.openpty()
    before = termios.tcgetattr(ours)
    with os.fdopen(ours) as stdin:
        assert has_keys(stdin)
        with keys(stdin) as read:
            os.write(theirs, typed)
            assert read() == found
        assert termios.tcgetattr(ours) == before
    os.close(theirs)


def test_a_stream_that_is_no_terminal_has_no_keys():
    assert not has_keys(StringIO())
    with Path(os.devnull).open() as null:
        assert not has_keys(null)


def test_a_game_on_a_board_that_stays_in_its_place(tmp_path: Path):
    """Arrows and Enter, digits, a hint, taking back; then the review."""
    command = [sys.executable, "-m", "ttt_cli", "play", "minimax:ties=first", "--as", "x", "--games", "1"]
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(tmp_path)
        os.environ.update(PYTHONPATH=str(ROOT), TERM="xterm", NO_COLOR="1", LANG="C.UTF-8")
        os.execv(sys.executable, command)
    seen = ""

    def press(typed: str, until: str) -> None:
        nonlocal seen
        os.write(terminal, typed.encode())
        seen, end = "", time.monotonic() + 60
        while not re.search(until, seen):
            assert time.monotonic() < end, (typed, seen)
            if select.select([terminal], [], [], 0.2)[0]:
                seen += os.read(terminal, 1 << 16).decode(errors="replace")

    press("", r"(?s)\[5\].*h hint")
    press("\x1b[A", r"\[2\]")
    press("\x1b[D", r"\[1\]")
    press("\r", r"minimax:ties=first plays 5")
    press("h", r"best: ")
    press("u", r"Taken back")
    press("1", r"plays 5")
    press("5", r"cell 5 is taken by O")
    press("3", r"plays 2")
    press("4", r"(?s)wins as O.*Accuracy: X")
    assert "turned a draw into a loss; 8 kept the draw" in seen
    assert os.waitpid(process, 0)[1] == 0
    os.close(terminal)
    (game,) = read_games(tmp_path / "state_store" / "games.jsonl")
    assert game.moves == (0, 4, 2, 1, 3, 7)
