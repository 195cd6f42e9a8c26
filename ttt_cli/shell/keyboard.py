"""Single keys from a terminal, as they are pressed, and a screen that stays in its place meanwhile."""

import os
import select
import termios
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ttt_cli.environment import Environment
from ttt_cli.shell.signals import put_right

if TYPE_CHECKING:
    from rich.console import RenderableType

LEAVE = ("q", "quit", "exit", "escape", "ctrl-d")
"""Keys, and words where a line is typed, by which a person leaves; names may begin with the letters."""

Read = Callable[[], str]
Paint = Callable[["RenderableType"], None]

_ARROWS = {b"A": "up", b"B": "down", b"C": "right", b"D": "left"}
_NAMED = {
    **{b"\r": "enter", b"\n": "enter", b" ": "enter", b"\x7f": "backspace", b"\x08": "backspace"},
    **{b"": "ctrl-d", b"\x04": "ctrl-d"},
}

ESCAPE_TIME = 0.05
"""Seconds within which the rest of an arrow key follows."""

LOOK = 0.2
"""Seconds between two looks at the size of the window, while no key is pressed."""


def has_keys(env: Environment) -> bool:
    """Whether single keys can be read, and a screen be drawn in its place."""
    if env.json or env.variables.get("TERM", "dumb") == "dumb" or not env.interactive:
        return False
    try:
        return os.isatty(env.stdin.fileno())
    except (OSError, ValueError):  # a stream without a file
        return False


@contextmanager
def keys(env: Environment) -> Iterator[Read]:
    """While the body runs, the function waits for a key: its character in lower case, or ``up``, ``down``,
    ``left``, ``right``, ``enter``, ``backspace``, ``escape``, ``ctrl-d`` (also at the end of the input);
    ``resize`` if the window has changed; empty for any other.

    Ctrl-C stays what it is.
    """
    number = env.stdin.fileno()
    before = termios.tcgetattr(number)
    size = os.get_terminal_size(number)

    def read() -> str:
        nonlocal size
        while not select.select([number], [], [], LOOK)[0]:
            if (now := os.get_terminal_size(number)) != size:
                size = now
                return "resize"
        return _key(number)

    with put_right(lambda: termios.tcsetattr(number, termios.TCSADRAIN, before)):
        tty.setcbreak(number, termios.TCSADRAIN)  # what has been typed already counts
        yield read


def _key(number: int) -> str:
    first = os.read(number, 1)
    if first != b"\x1b":
        return _NAMED.get(first) or first.decode("ascii", errors="ignore").lower()
    rest = b""
    while select.select([number], [], [], ESCAPE_TIME)[0] and len(rest) < 8:
        rest += os.read(number, 1)
        if rest[:1] not in (b"[", b"O") or (len(rest) > 1 and rest[-1:].isalpha()) or rest[-1:] == b"~":
            break
    if not rest:
        return "escape"
    return _ARROWS.get(rest[1:], "") if rest[:1] in (b"[", b"O") else ""


@contextmanager
def full_screen(env: Environment) -> Iterator[tuple[Read, Paint]]:
    """Keys, and a function that draws on the whole screen; what was there before comes back at the end."""
    from rich.live import Live

    console = env.console
    live = Live(console=console, screen=True, auto_refresh=False)

    def paint(drawing: "RenderableType") -> None:
        console.width = env.width  # as it is by now
        live.update(drawing, refresh=True)

    with keys(env) as read, put_right(live.stop):
        live.start()
        yield read, paint
