"""The keyboard: single keys and a full screen if the terminal allows it, else one line per key."""

import os
import re
import select
import signal
import termios
import tty
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import typer
from rich.console import Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from ttt_cli.environment import Environment
from ttt_cli.errors import printable
from ttt_cli.signals import holding_terminal, leaving

LEAVE = ("q", "quit", "exit", "escape", "ctrl-d")
"""Keys and words that leave a game; in menus letters only spell names."""

_KEY = re.compile(r"\x1b\[\[.|\x1b?\x1b[\[O][ -?]*[@-~]|\x1b[^\x1b\x04\r\nqQ]|.", re.DOTALL)
"""A key: F1 on a Linux console is ``[[A`` after an escape. Escape, then q or Enter, is two keys, not Alt."""
_INCOMPLETE = re.compile(rb"\x1b(\[\[|[\[O][ -?]*)?\Z")
_ARROWS = {"A": "up", "B": "down", "C": "right", "D": "left"}
_NAMED = {
    **{f"\x1b{start}{end}": name for start in "[O" for end, name in _ARROWS.items()},
    **{"\r": "enter", "\n": "enter", " ": "enter", "\x7f": "backspace", "\x08": "backspace"},
    **{"\x1b": "escape", "\x04": "ctrl-d"},
}


class Lines:
    """Input by lines, each of which stands for a key."""

    by_keys = False

    def __init__(self, env: Environment) -> None:
        self.env = env

    def paint(self, drawing: RenderableType) -> None:
        """Show a drawing on the whole screen, or below what is there."""
        self.env.draw(drawing)

    def forget(self) -> None:
        """Drop keys that were typed while nothing was shown to answer; lines are kept."""

    def tell(self, text: str) -> None:
        """Answer wrong input; unlike a notice, ``--quiet`` does not suppress it."""
        self.env.stderr.write(self.env.folded(text, self.env.stderr) + "\n")

    def read(self, prompt: str) -> str:
        """Read a line, stripped and in lower case; ``enter`` if it is empty, ``ctrl-d`` at the end.

        Input from a pipe is echoed after the prompt, so that a transcript reads as at a terminal.
        """
        terminal = self.env.stdin.isatty()
        shown = terminal or not self.env.quiet
        if shown:
            self.env.stderr.write(self.env.folded(printable(prompt.rstrip()), self.env.stderr) + " ")
            self.env.stderr.flush()
        line = self.env.stdin.readline()
        key = line.strip().lower() if line else "ctrl-d"
        if shown and not (terminal and line):
            self.env.stderr.write(printable(line.strip()[:40]) + "\n")
        return key or "enter"


class Keys(Lines):
    """Input by single keys, while the terminal is taken; the prompt is part of what is painted.

    :param screen: whether to paint on the whole screen.
    """

    by_keys = True

    def __init__(self, env: Environment, *, screen: bool) -> None:
        super().__init__(env)
        self._screen = Live(console=env.console, screen=screen, auto_refresh=False)
        self._typed = list[str]()  # the keys that have not been read yet
        self._number = env.stdin.fileno()
        self._size = os.get_terminal_size(self._number)
        self._mode = termios.tcgetattr(self._number)

    def enter(self) -> None:
        """Take the terminal, without the shell's treatment of lines."""
        tty.setcbreak(self._number, termios.TCSADRAIN)
        mode = termios.tcgetattr(self._number)
        mode[6][termios.VSUSP] = b"\0"  # Ctrl-Z is a key: no signal comes while something is being written
        termios.tcsetattr(self._number, termios.TCSADRAIN, mode)
        self._screen.start(refresh=True)

    def forget(self) -> None:
        termios.tcflush(self._number, termios.TCIFLUSH)
        self._typed.clear()

    def leave(self) -> None:
        """Give the terminal back as it was."""
        self._screen.stop()
        termios.tcsetattr(self._number, termios.TCSADRAIN, self._mode)

    def paint(self, drawing: RenderableType) -> None:
        if not self._typed:  # else the next key changes it at once
            self._screen.console.width = self.env.width
            self._screen.update(drawing, refresh=True)

    def read(self, prompt: str) -> str:
        """Read a key: its character in lower case, or ``up``, ``down``, ``left``, ``right``, ``enter``,
        ``backspace``, ``escape``, ``ctrl-d`` (also at the end of the input), ``resize`` if the window has
        changed, or an empty text for any other. Ctrl-Z suspends."""
        while not self._typed:
            if self._has_input(0.2):  # then the size of the window is checked
                typed = os.read(self._number, 1024)
                while _INCOMPLETE.search(typed) and self._has_input(0.25):  # an arrow key may come in parts
                    more = os.read(self._number, 1024)
                    if not more:
                        break
                    typed += more
                self._typed = _KEY.findall(typed.decode(errors="ignore")) if typed else ["\x04"]
            elif (size := os.get_terminal_size(self._number)) != self._size:
                self._size = size
                return "resize"
        key = self._typed.pop(0)
        if key == "\x1a":  # Ctrl-Z
            self.leave()
            handled = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
            # Stops here until the shell resumes it; ignored where no shell could.
            signal.raise_signal(signal.SIGTSTP)
            signal.signal(signal.SIGTSTP, handled)
            self.enter()
            return "resize"
        return _NAMED.get(key) or (key.lower() if key.isprintable() else "")

    def _has_input(self, seconds: float) -> bool:
        return bool(select.select([self._number], [], [], seconds)[0])


@contextmanager
def keyboard(env: Environment, *, screen: bool = True) -> Iterator[Lines]:
    """Read single keys if the terminal allows it, else lines.

    :param screen: whether to paint on the whole screen, whose content comes back at the end, or below it.
    """
    if env.json or env.dumb or not env.interactive:
        with leaving("\n" if env.stdin.isatty() else ""):
            yield Lines(env)
    else:
        keys = Keys(env, screen=screen)
        with holding_terminal(keys.enter, keys.leave), leaving(""):
            yield keys


def press(env: Environment, answers: Mapping[str, str]) -> str:
    """Ask for one of a few keys.

    :param answers: what each key does, in words.
    :returns: the key, or one of ``LEAVE``.
    """
    text = f"{', '.join(f'{key} {what}' for key, what in answers.items())}, q leave:"
    with keyboard(env, screen=False) as keys:
        while True:
            if keys.by_keys:
                keys.paint(text)
            key = keys.read(text)
            if key in (*answers, *LEAVE):
                return key
            if not keys.by_keys:
                keys.tell(f"press {', '.join(answers)} or q")


def choose(env: Environment, question: str, options: Sequence[tuple[str, str]]) -> int:
    """Let a person choose from a menu with the arrows, a number, or the beginning of a name, and Enter.

    :param options: names and descriptions; the first is the default.
    :returns: the number of the option, from 0.
    :raises typer.Exit: if the person leaves.
    """
    env = env.screen
    at = 0
    typed = ""
    with keyboard(env) as keys:
        while True:
            matching = _matching(typed, options) if typed else [at]
            at = matching[0] if matching else at
            below = typed or "arrows, a number or a name, then Enter; Esc leaves"
            if not matching:
                below = f"{typed}: no option has this number or name"
            keys.paint(_menu(env, question, options, at if keys.by_keys else None, below))
            key = keys.read(f"A number from 1 to {len(options)}, or a name [{options[at][0]}]: ")
            if key == "enter" and matching:
                return at
            if key in ("escape", "ctrl-d", "quit", "exit"):
                raise typer.Exit()
            if key in ("up", "down"):
                step = 1 if key == "down" else -1
                at = (at + step) % len(options)
                typed = ""
            elif key == "backspace":
                typed = typed[:-1]
            elif not keys.by_keys:
                meant = _matching(key, options)
                if len(meant) == 1:
                    return meant[0]
                keys.tell("no such name; Ctrl-D leaves")
            elif len(key) == 1:
                typed += key


def _matching(text: str, options: Sequence[tuple[str, str]]) -> list[int]:
    """Return the options, from 0, that a number or the beginning of a name can mean."""
    if text.isdecimal() and 0 < int(text) <= len(options):
        return [int(text) - 1]
    names = [name.lower() for name, _ in options]
    exact = [number for number, name in enumerate(names) if name == text]
    return exact or [number for number, name in enumerate(names) if name.startswith(text)]


def _menu(
    env: Environment, question: str, options: Sequence[tuple[str, str]], at: int | None, below: str
) -> Group:
    """Draw a menu: a question, and numbered options with descriptions; on a screen, with ``at`` the option to
    mark, only as many around it as fit, and a line ``below``."""
    room = len(options) if at is None else max(env.console.height - 3, 1)
    first = max(0, min((at or 0) - room // 2, len(options) - room))
    if room < len(options):
        below = f"{first + 1} to {first + room} of {len(options)}; {below}"
    table = Table.grid(padding=(0, 2, 0, 1))
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column()  # what gets narrow in a narrow window
    for number, (name, about) in [*enumerate(options)][first : first + room]:
        mark, style = ("› ", "bold") if number == at else ("", "")
        description = Text(about, no_wrap=at is not None, overflow="ellipsis")
        table.add_row(f"{mark}{number + 1}", printable(name), description, style=style)
    if at is None:
        return Group(Text(question), table)
    return Group(Text(question), table, Text(below, "dim"))
