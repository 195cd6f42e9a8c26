"""Asking a person: one line of the input for each question, with the question on stderr."""

from collections.abc import Collection
from typing import TypeVar

from ttt_cli.environment import Environment, printable

T = TypeVar("T")

LEAVE = ("q", "quit", "exit")


def read_key(env: Environment, prompt: str, leave: Collection[str] = LEAVE) -> str | None:
    """A line of the input without its blanks, in lower case; None if the person leaves: by ``q``, or at the
    end of the input.

    What comes through a pipe is repeated behind the prompt, so that both read as they do at a terminal.
    """
    terminal = env.stdin.isatty()
    shown = terminal or not env.quiet
    env.stdout.flush()
    if shown:
        env.stderr.write(env.folded(prompt.rstrip(), env.stderr) + " ")
        env.stderr.flush()
    line = rest = env.stdin.readline(1000)
    while rest and not rest.endswith("\n"):
        rest = env.stdin.readline(1 << 16)
    key = line.strip().lower()
    if shown and (not terminal or not line):
        env.stderr.write(printable(key[:40]) + "\n")
        env.stderr.flush()
    return None if not line or key in leave else key


def choose(
    env: Environment, question: str, answers: dict[str, T], help: str, leave: Collection[str] = LEAVE
) -> T | None:
    """Ask until one of the ``answers`` is given, with ``help`` after any other; None if the person leaves."""
    while (key := read_key(env, printable(question), leave)) is not None:
        if key in answers:
            return answers[key]
        correct(env, help)
    return None


def agrees(env: Environment, question: str) -> bool | None:
    """Ask a question whose answer is yes by default; None if the person leaves."""
    answers = {"": True, "y": True, "yes": True, "n": False, "no": False}
    return choose(env, f"{question} [Y/n] ", answers, "y or Enter for yes, n for no, q leaves")


def correct(env: Environment, text: str) -> None:
    """Say what to type instead of what was typed; no notice, so that ``--quiet`` leaves it."""
    env.stderr.write(env.folded(printable(text), env.stderr) + "\n")
    env.stderr.flush()
