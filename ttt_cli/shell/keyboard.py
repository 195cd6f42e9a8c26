"""A person at the keyboard: single keys, on a screen that stays in its place, where the terminal can do that;
else a line is typed for each key."""

import os
import select
import signal
import termios
import tty
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

import typer

from ttt_cli.environment import Environment, printable
from ttt_cli.errors import Stopped
from ttt_cli.shell.signals import put_right
from ttt_cli.views.play_screen import menu

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live

LEAVE = ("q", "quit", "exit", "escape", "ctrl-d")
"""Keys, and words where a line is typed, by which a person leaves; in menus letters only spell names."""

_ARROWS = {b"A": "up", b"B": "down", b"C": "right", b"D": "left"}
_NAMED = {
    **{b"\r": "enter", b"\n": "enter", b" ": "enter", b"\x7f": "backspace", b"\x08": "backspace"},
    **{b"": "ctrl-d", b"\x04": "ctrl-d"},
}

ESCAPE_TIME = 0.05
"""Seconds within which the rest of an arrow key follows."""

LOOK = 0.2
"""Seconds between two looks at the size of the window, while no key is pressed."""


class Lines:
    """A person who types a line for each key."""

    by_keys = False

    def __init__(self, env: Environment) -> None:
        self.env = env

    def paint(self, drawing: "RenderableType") -> None:
        """Show a drawing: on the whole screen, or as the next lines."""
        self.env.draw(drawing, wrap=True)

    def tell(self, text: str) -> None:
        """Say what to type instead of what was typed; no notice, so that ``--quiet`` leaves it."""
        self.env.stderr.write(self.env.folded(text, self.env.stderr) + "\n")

    def read(self, prompt: str) -> str:
        """The next line without its blanks, in lower case; ``enter`` for an empty one, ``ctrl-d`` at the end.

        What comes through a pipe is repeated behind the prompt, so that both read as they do at a terminal.
        """
        terminal = self.env.stdin.isatty()
        shown = terminal or not self.env.quiet
        if shown:
            self.prompt(prompt)
        line = self.env.read_line(1000)
        key = line.strip().lower() if line else "ctrl-d"
        if shown and not (terminal and line):
            self.env.stderr.write(printable(line.strip()[:40]) + "\n")
        return key or "enter"

    def prompt(self, text: str) -> None:
        self.env.stderr.write(self.env.folded(printable(text.rstrip()), self.env.stderr) + " ")
        self.env.stderr.flush()


class Keys(Lines):
    """A person who presses single keys.

    :ivar screen: the whole screen, where it is drawn on; else a prompt is a line below what is there.
    """

    by_keys = True

    def __init__(self, env: Environment, screen: "Live | None") -> None:
        super().__init__(env)
        self.screen = screen
        self._number = env.stdin.fileno()
        self._size = os.get_terminal_size(self._number)

    def paint(self, drawing: "RenderableType") -> None:
        if self.screen is not None:
            self.screen.console.width = self.env.width
            self.screen.update(drawing, refresh=True)

    def read(self, prompt: str) -> str:
        if self.screen is not None:
            return self.key()
        self.prompt(prompt)
        while (key := self.key()) in ("resize", ""):
            pass
        self.env.stderr.write(f"{key if len(key) == 1 else ''}\n")
        return key

    def key(self) -> str:
        """The next key: its character in lower case, or ``up``, ``down``, ``left``, ``right``, ``enter``,
        ``backspace``, ``escape``, ``ctrl-d`` (also at the end of the input); ``resize`` if the window has
        changed; empty for any other. Ctrl-C stays what it is."""
        number = self._number
        while not select.select([number], [], [], LOOK)[0]:
            if (now := os.get_terminal_size(number)) != self._size:
                self._size = now
                return "resize"
        first, rest = os.read(number, 1), b""
        if first != b"\x1b":
            return _NAMED.get(first) or first.decode("ascii", errors="ignore").lower()
        while select.select([number], [], [], ESCAPE_TIME)[0] and len(rest) < 8:
            rest += os.read(number, 1)
            if rest[:1] not in (b"[", b"O") or (len(rest) > 1 and (rest[-1:].isalpha() or rest[-1:] == b"~")):
                break
        return _ARROWS.get(rest[1:], "") if rest else "escape"


@contextmanager
def keyboard(env: Environment, *, screen: bool = True) -> Iterator[Lines]:
    """Whom to ask: by single keys where the terminal can do that, else by lines.

    :param screen: whether the whole screen is drawn on; what was there before comes back at the end.
    """
    if env.json or env.variables.get("TERM", "dumb") == "dumb" or not env.interactive or not _is_tty(env):
        yield Lines(env)
        return
    from rich.live import Live

    number, live = env.stdin.fileno(), Live(console=env.console, screen=True, auto_refresh=False)
    before = termios.tcgetattr(number)

    def suspend(*_: object) -> None:
        """Ctrl-Z: leave the terminal to the shell until the process goes on."""
        if screen:
            live.stop()
        termios.tcsetattr(number, termios.TCSADRAIN, before)
        os.kill(os.getpid(), signal.SIGSTOP)
        tty.setcbreak(number, termios.TCSADRAIN)
        if screen:
            live.start(refresh=True)

    handled = signal.signal(signal.SIGTSTP, suspend)
    with (
        put_right(lambda: signal.signal(signal.SIGTSTP, handled)),
        put_right(lambda: termios.tcsetattr(number, termios.TCSADRAIN, before)),
        put_right(live.stop) if screen else nullcontext(),
    ):
        tty.setcbreak(number, termios.TCSADRAIN)  # what has been typed already counts
        if screen:
            live.start()
        yield Keys(env, live if screen else None)


def _is_tty(env: Environment) -> bool:
    try:
        return os.isatty(env.stdin.fileno())
    except (OSError, ValueError):  # a stream without a file
        return False


def press(env: Environment, answers: Mapping[str, str], default: str) -> str:
    """Ask for one of a few keys, each of which acts at once.

    :param answers: what each key does, in words.
    :param default: the key that Enter stands for.
    :returns: the key; one of ``LEAVE`` if the person leaves.
    """
    text = f"{', '.join(f'{key} {what}' for key, what in answers.items())}, q leaves:"
    with keyboard(env, screen=False) as person:
        while (key := person.read(text)) not in (*answers, *LEAVE, "enter"):
            person.tell(f"press {', '.join(answers)} or q; Enter means {default}")
    return default if key == "enter" else key


def choose(env: Environment, question: str, options: Sequence[tuple[str, str]]) -> int:
    """Let a person choose from a menu: by the arrows, a number, or the beginning of a name.

    :param options: the names, with a few words on each; the first is the default.
    :returns: the number of the option, from 0.
    :raises typer.Exit: if the person leaves.
    """
    at, typed = 0, ""
    try:
        with keyboard(env) as person:
            while True:
                marked = (at, typed or "arrows and Enter, a number or a name; Esc leaves")
                person.paint(menu(question, options, *(marked if person.by_keys else ())))
                key = person.read(f"A number from 1 to {len(options)}, or a name [{options[at][0]}]: ")
                if key == "enter":
                    break
                if key in ("escape", "ctrl-d", "quit", "exit"):
                    raise typer.Exit()
                known = [text for text in (typed + key, key) if _matching(text, options)]
                if key in ("up", "down"):
                    at, typed = (at + (1 if key == "down" else -1)) % len(options), ""
                elif key == "backspace":
                    typed = typed[:-1]
                elif known:
                    at, *others = _matching(known[0], options)
                    typed = known[0] if person.by_keys else ""
                    if (typed.isdecimal() and len(options) <= 9) or not (person.by_keys or others):
                        break
                elif not person.by_keys:
                    person.tell("no such name; Ctrl-D leaves")
    except Stopped as end:
        raise typer.Exit(end.exit_code) from None
    if person.by_keys:
        env.out(f"{question} {options[at][0]}")
    return at


def _matching(text: str, options: Sequence[tuple[str, str]]) -> list[int]:
    """The options, from 0, that a number or the beginning of a name can mean."""
    if text.isdecimal() and 0 < int(text) <= len(options):
        return [int(text) - 1]
    names = [name.lower() for name, _ in options]
    exact = [number for number, name in enumerate(names) if name == text]
    return exact or [number for number, name in enumerate(names) if text and name.startswith(text)]
