"""The errors of the program and their exit codes; ``app.run`` prints an error on stderr, in one line if it
fits.

Notices, which a command shows on stderr as well, are log messages of ``notices``.
"""

import logging
from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import Any

notices = logging.getLogger("ttt_cli")

COMPILING = "compiling %s, once, a few seconds"
"""The notice that a kernel of some name is being compiled."""


class ExitCode(IntEnum):
    """Exit codes of every ``ttt`` command."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    INVALID_FILE = 3
    BUSY = 4
    HUNG_UP = 129
    INTERRUPTED = 130
    CLOSED_PIPE = 141
    TERMINATED = 143

    @property
    def label(self) -> str:
        return self.name.lower().replace("_", " ")


class TttError(Exception):
    """An error with a message of one line.

    :param where: the place: a file, line, key or argument.
    :param hint: what to do about it.
    :param cli_hint: the hint on the command line, where options are named differently from arguments.
    """

    exit_code = ExitCode.FAILED

    def __init__(self, message: str, *, where: str = "", hint: str = "", cli_hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint
        self.cli_hint = cli_hint

    def __reduce__(self) -> Any:
        """For pickle, between processes: whatever the arguments of a subclass are."""
        return BaseException.__new__, (type(self), *self.args), self.__dict__

    def __str__(self) -> str:
        return printable(f"{self._place}{self.message}" + (f" ({self.hint})" if self.hint else ""))

    def lines(self, call: Sequence[str] = ()) -> tuple[Sequence[str], str]:
        """The error as several lines, for a terminal on which one would be too long; and a command to copy,
        which is never folded (empty: none).

        :param call: the words of the command that failed, after ``ttt``.
        """
        hint = self.cli_hint or self.hint
        lines = [f"{self._place}{self.message}", *([f"  {hint}"] if hint else [])]
        return [*map(printable, lines)], ""

    @property
    def _place(self) -> str:
        return f"{self.where}: " if self.where else ""


class UsageError(TttError):
    """A wrong call: an unknown name, a value out of range, options that exclude each other."""

    exit_code = ExitCode.USAGE


class InvalidFileError(TttError):
    """A file that cannot be read, is damaged, or does not fit the request."""

    exit_code = ExitCode.INVALID_FILE


class BusyError(TttError):
    """Another process is writing the same file."""

    exit_code = ExitCode.BUSY


class NotationError(UsageError, ValueError):
    """A text that does not denote a position, a cell or a board size."""


def printable(text: str) -> str:
    """Escape line ends, and whatever a terminal might obey (control and format characters)."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text
    )


def expect(kind: type, *values: object) -> None:
    """Raise a UsageError unless all values are of a kind."""
    for value in values:
        if not isinstance(value, kind):
            raise UsageError(f"expected {kind.__name__}, found {type(value).__name__}")


ELSEWHERE = {
    "lr": "alpha",
    "learning-rate": "alpha",
    "step-size": "alpha",
    "discount": "gamma",
    "exploration": "epsilon",
    "episodes": "games",
    "iterations": "games",
    "save": "out",
    "plot": "curve",
    "numpy": "npz",
    "q-learning": "q",
    "qlearning": "q",
}
"""What other programs call something, and what it is called here."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a hint such as ``did you mean 'minimax'?``, empty if no known name is similar."""
    from difflib import get_close_matches

    spellings = {text.lower(): text for text in known}
    name = name.lower()
    here = ELSEWHERE.get(name.replace("_", "-"))
    near = [here] if here in spellings else []
    if len(name) > 2:
        near += sorted((text for text in spellings if name in text), key=len)
    near += get_close_matches(name, spellings, n=1)
    return f"did you mean {spellings[near[0]]!r}?" if near else ""


def meant_show(name: str) -> str:
    """Return a hint if a name is that of a command by which other programs list things; else empty."""
    return "did you mean ttt show?" if name in ("list", "ls", "agents") else ""
