"""Asking a person: by single keys where the terminal can do that, else by a line for each answer."""

from collections.abc import Mapping, Sequence

import typer

from ttt_cli.environment import Environment, printable
from ttt_cli.errors import ExitCode
from ttt_cli.shell.keyboard import LEAVE, full_screen, has_keys, keys
from ttt_cli.views.play_screen import menu


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
    except KeyboardInterrupt:
        raise typer.Exit(ExitCode.INTERRUPTED) from None
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
