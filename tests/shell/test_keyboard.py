"""Single keys, menus, and games played by them at a terminal."""

import os
import pty
import re
import select
import shlex
import signal
import struct
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fcntl import ioctl
from pathlib import Path

from tests.ttt import PROGRAM, ROOT
from ttt_cli.app import main
from ttt_cli.store.games import SoundGames


class Game:
    """``ttt play`` in a terminal of its own."""

    def __init__(self, terminal: int, process: int) -> None:
        self.terminal, self.process, self.seen = terminal, process, ""

    def press(self, typed: str, until: str) -> None:
        """Press keys, one after the other, until what is shown since matches."""
        os.write(self.terminal, typed.encode())
        self.seen, end = "", time.monotonic() + 60
        while not re.search(until, self.seen, re.DOTALL):
            assert time.monotonic() < end, (typed, self.seen)
            if select.select([self.terminal], [], [], 0.2)[0]:
                read = os.read(self.terminal, 1 << 16).decode(errors="replace")
                self.seen += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", read)

    def resize(self, columns: int, lines: int) -> None:
        """Change the size of the window."""
        ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def ended(self) -> int:
        """Its exit code; as a terminal does, reads what is shown until then, or writing it would wait."""
        with suppress(OSError):
            while shown := os.read(self.terminal, 1 << 16):
                self.seen += shown.decode(errors="replace")
        return os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])


@contextmanager
def started(folder: Path, *arguments: str, afresh: bool = False, shell: bool = False) -> Iterator[Game]:
    """In a process of its own, which has to load the package only if ``afresh``; or ``shell`` alone."""
    process, terminal = pty.fork()
    if process == 0:
        try:
            os.chdir(folder)
            os.environ.update(PYTHONPATH=str(ROOT), TERM="xterm", NO_COLOR="1", LANG="C.UTF-8")
            if shell:
                os.execvp("sh", ["sh", "-i"])
            if afresh:
                os.execv(sys.executable, [*PROGRAM, "play", *arguments])
            sys.stdin, sys.stdout, sys.stderr = (os.fdopen(n, m, closefd=False) for n, m in enumerate("rww"))
            sys.argv = ["ttt", "play", *arguments]
            main()
        except SystemExit as end:
            os._exit(end.code)
        finally:
            os._exit(99)
    game = Game(terminal, process)
    game.resize(80, 24)
    yield game
    os.close(terminal)


def test_a_game_by_single_keys(tmp_path: Path):
    """Arrows and Enter, digits, hints, taking back; then the review, and Ctrl-C."""
    with started(tmp_path, "minimax:ties=first", "--as", "x") as game:
        game.press("", r"\[5\].*h hint")
        game.press("\x1b[A", r"\[2\]")
        game.press("é\x1bOD", r"\[1\]")
        game.press(" ", r"minimax:ties=first plays 5")
        game.press("H", r"best: ")
        game.press("b", r"\(draw\).*cannot be beaten")
        game.press("?", r"h         hint: what each free cell is worth against perfect play\s.*any key")
        os.write(game.terminal, b"\x1b")  # an arrow key, slowly
        time.sleep(0.1)
        game.press("[C", r"\[X\].*cannot be beaten")  # any key closes the help, and does no more
        game.press("\x1b[[A\x1b[1;5P\x1bx\x1b[B", r"\[4\]")  # and keys without a meaning
        game.press("\x1b[A", r"\[X\]")
        game.press("u", r"\[1\].*taken back\s+Your move")
        game.press("h", r"best: .*q leave")
        game.press("h", r"\A(?!.*best: ).*q leave")  # hides it
        game.press("x" * 3000 + "\r", r"plays 5")
        assert game.seen.count("Your move") < 30, "what is pasted is not painted key by key"
        game.press("u", r"taken back")
        game.press("1\r", r"cell 1 is taken")  # Enter after a digit does no harm
        game.press("3", r"plays 2")
        game.press("4\r", r"wins as O.*8 kept the draw.*it mattered: X.*t take back move 5, q leave:")
        game.press("x?r", r"turning point.*q leave:")
        game.press("\x03", "1 finished game kept")
        assert game.ended() == 130
    (found,) = SoundGames(tmp_path / "state_store" / "games.jsonl")
    assert found.moves == (1, 5, 3, 2, 4, 8)


def test_digits_add_up_on_boards_of_more_than_nine_cells(tmp_path: Path):
    with started(tmp_path, "minimax:depth=1,ties=first", "--as", "x", "--board", "4x4") as game:
        game.press("", r"\[11\].*Your move")
        game.press("1", r"\[1\].*Your move: 1, Enter plays it")
        game.press("2", r"\[12\].*Your move: 12, Enter plays it")
        game.press("\x7f", r"\[1\].*Your move: 1, Enter plays it")
        game.press("2\r", r"\[X\].*plays 1")
        game.resize(30, 8)
        game.press("", r"Game 1.*Your move")
        game.resize(80, 24)
        game.press("99", r"\[9\].*Your move: 9, Enter plays it")
        game.press("\x04", "")
        assert game.ended() == 0


def test_menus_take_arrows_numbers_and_beginnings_of_names(tmp_path: Path):
    with started(tmp_path) as game:
        game.press("", r"Who do you want to play\?.*› 1 +easy.*4 +q")
        game.resize(50, 24)
        game.press("", r"› 1 +easy.*2 +medium.*4 +q")
        game.resize(50, 5)
        game.press("\x1b[B" * 3, r"3 +hard.*› 4 +q.*Esc leaves")
        game.resize(80, 24)
        game.press("", r"2 +medium.*3 +hard.*› 4 +q")
        game.press("\x1b[B", r"› 1 +easy")
        game.press("\x1b[3~\x1b[B", r"› 2 +medium")  # a key without a meaning leaves nothing
        game.press("ha", r"› 3 +hard.*ha")
        game.press("q\r", r"haq: no option")  # letters only spell names here
        game.press("\x7f" * 3 + "q", r"› 4 +q")
        game.press("\r", r"q has learned nothing yet.*› 1 +train q first")
        game.press("2", r"› 2 +play it")
        game.press("\r", r"Game 1: X is you, O is q.*Your move")
        game.press("\x03", "")
        assert game.ended() == 130 and "Error" not in game.seen


def test_escape_leaves_a_menu(tmp_path: Path):
    with started(tmp_path) as game:
        game.press("", r"Who do you want to play\?.*Esc leaves")
        game.press("\x1b", "")
        assert game.ended() == 0 and "Error" not in game.seen and not list(tmp_path.iterdir())


def test_ctrl_c_ends_what_is_watched_between_two_moves(tmp_path: Path):
    with started(tmp_path, "--x", "easy", "--o", "random", "--watch", "--delay", "0.1") as game:
        game.press("", r"1 game  easy")
        game.press("\x03", r"\^C")
        assert game.ended() == 130
    assert "stopping" not in game.seen and "^C\r\n" not in game.seen


def test_ctrl_z_gives_the_terminal_to_the_shell_until_fg(tmp_path: Path):
    with started(tmp_path, shell=True) as game:
        game.press(f"{shlex.join(PROGRAM)} play easy --as x\r", r"Game 1.*Your move")
        game.press("\x1a", r"(?i)(stopped|suspended)")
        game.press("stty -a\r", r"[^-]icanon")
        game.press("fg\r", r"Game 1.*Your move")
        game.press("5", r"easy plays")
        game.press("q", r"unfinished")
        game.press("exit\r", "")
        assert game.ended() == 0


def test_the_terminal_comes_back_whatever_ends_a_game(tmp_path: Path):
    """Even if the process ends at once, in the middle of an import."""
    with started(tmp_path, "easy", "--as", "x", "--board", "4x4", "--line", "4", afresh=True) as game:
        before = termios.tcgetattr(game.terminal)
        game.press("", r"Your move")
        assert termios.tcgetattr(game.terminal) != before
        os.write(game.terminal, b"h")
        time.sleep(0.3)
        os.kill(game.process, signal.SIGINT)
        assert game.ended() == 130
        assert termios.tcgetattr(game.terminal) == before
