"""Asking a person: by single keys, on a screen that stays in its place, where the terminal can do that;
else by a line for each answer."""

import os
import select
import termios
import tty
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from ttt_cli.environment import Environment, printable
from ttt_cli.errors import Stopped
from ttt_cli.shell.signals import put_right
from ttt_cli.views.play_screen import menu

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


def read_line(env: Environment, prompt: str) -> str:
    """A line of the input without its blanks, in lower case; ``ctrl-d`` at the end of the input.

    What comes through a pipe is repeated behind the prompt, so that both read as they do at a terminal.
    """
    terminal = env.stdin.isatty()
    shown = terminal or not env.quiet
    if shown:
        env.stderr.write(env.folded(prompt.rstrip(), env.stderr) + " ")
        env.stderr.flush()
    line = env.read_line(1000)
    key = line.strip().lower()
    if shown and (not terminal or not line):
        env.stderr.write(printable(key[:40]) + "\n")
    return key if line else "ctrl-d"


def correct(env: Environment, text: str) -> None:
    """Say what to type instead of what was typed; no notice, so that ``--quiet`` leaves it."""
    env.stderr.write(env.folded(text, env.stderr) + "\n")


def press(env: Environment, answers: Mapping[str, str], default: str) -> str:
    """Ask for one of a few keys, each of which acts at once.

    :param answers: what each key does, in words.
    :param default: the key that Enter stands for.
    :returns: the key; one of ``LEAVE`` if the person leaves.
    """
    text = f"{', '.join(f'{key} {what}' for key, what in answers.items())}, q leaves:"
    while True:
        if has_keys(env):
            with keys(env) as read:
                env.stderr.write(env.folded(text, env.stderr) + " ")
                env.stderr.flush()
                while (key := read()) not in (*answers, *LEAVE, "enter", "?"):
                    pass
            env.stderr.write(key * (len(key) == 1) + "\n")
        else:
            key = read_line(env, text)
        if key in ("enter", ""):
            return default
        if key in (*answers, *LEAVE):
            return key
        correct(env, f"one of these keys: {' '.join(answers)}, or q; Enter means {default}")


def choose(env: Environment, question: str, options: Sequence[tuple[str, str]]) -> int:
    """Let a person choose from a menu: by the arrows, a number, or the beginning of a name.

    :param options: the names, with a few words on each; the first is the default.
    :returns: the number of the option, from 0.
    :raises typer.Exit: if the person leaves.
    """
    try:
        chosen = (_picked if has_keys(env) else _named)(env, question, options)
    except Stopped as end:
        raise typer.Exit(end.exit_code) from None
    if chosen is None:
        raise typer.Exit()
    if has_keys(env):
        env.out(f"{question} {options[chosen][0]}")
    return chosen


def _picked(env: Environment, question: str, options: Sequence[tuple[str, str]]) -> int | None:
    at, typed = 0, ""
    with full_screen(env) as (read, paint):
        while True:
            paint(menu(question, options, at, typed or "arrows and Enter, a number or a name; Esc leaves"))
            key = read()
            if key in ("escape", "ctrl-d"):
                return None
            if key == "enter":
                return at
            if key in ("up", "down"):
                at, typed = (at + (1 if key == "down" else -1)) % len(options), ""
            elif key == "backspace":
                typed = typed[:-1]
            elif len(key) == 1 and (
                known := [text for text in (typed + key, key) if _matching(text, options)]
            ):
                typed, at = known[0], _matching(known[0], options)[0]
                if typed.isdecimal() and len(options) <= 9:
                    return at


def _matching(text: str, options: Sequence[tuple[str, str]]) -> list[int]:
    """The options, from 0, that a number or the beginning of a name can mean."""
    if text.isdecimal() and 0 < int(text) <= len(options):
        return [int(text) - 1]
    names = [name.lower() for name, _ in options]
    return [number for number, name in enumerate(names) if name == text] or [
        number for number, name in enumerate(names) if name.startswith(text)
    ]


def _named(env: Environment, question: str, options: Sequence[tuple[str, str]]) -> int | None:
    env.draw(menu(question, options), wrap=True)
    prompt = f"A number from 1 to {len(options)}, or a name [{printable(options[0][0])}]: "
    while (key := read_line(env, prompt)) != "ctrl-d":
        found = _matching(key, options) if key else [0]
        if len(found) == 1:
            return found[0]
        if not found and key in LEAVE:
            return None
        correct(env, "more than one name begins so" if found else "no such name; Ctrl-D leaves")
    return None
