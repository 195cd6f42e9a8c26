"""Single keys from a terminal, as they are pressed; where there is none, nobody is offered this."""

import os
import select
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TextIO

_ARROWS = {b"A": "up", b"B": "down", b"C": "right", b"D": "left"}
_NAMED = {b"\r": "enter", b"\n": "enter", b" ": "enter", b"\x7f": "backspace", b"\x08": "backspace"}

ESCAPE_TIME = 0.05
"""Seconds within which the rest of an arrow key follows."""


def has_keys(stdin: TextIO) -> bool:
    """Whether single keys can be read from ``stdin``."""
    try:
        return find_spec("termios") is not None and os.isatty(stdin.fileno())
    except (OSError, ValueError):  # a stream without a file
        return False


@contextmanager
def keys(stdin: TextIO) -> Iterator[Callable[[], str | None]]:
    """While the body runs, the function waits for a key: its character in lower case, or ``up``, ``down``,
    ``left``, ``right``, ``enter``, ``backspace``; empty for any other; None at the end of the input.

    Ctrl-C stays what it is.
    """
    import termios
    import tty

    number = stdin.fileno()
    before = termios.tcgetattr(number)
    tty.setcbreak(number)
    try:
        yield lambda: _key(number)
    finally:
        termios.tcsetattr(number, termios.TCSADRAIN, before)


def _key(number: int) -> str | None:
    first = os.read(number, 1)
    if first in (b"", b"\x04"):  # Ctrl-D
        return None
    if first != b"\x1b":
        return _NAMED.get(first) or first.decode("ascii", errors="ignore").lower()
    rest = b""
    while select.select([number], [], [], ESCAPE_TIME)[0] and len(rest) < 8:
        rest += os.read(number, 1)
        if rest[:1] not in (b"[", b"O") or (len(rest) > 1 and rest[-1:].isalpha()) or rest[-1:] == b"~":
            break
    return _ARROWS.get(rest[1:], "") if rest[:1] in (b"[", b"O") else ""
