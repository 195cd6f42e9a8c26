"""The few errors the program knows, and the exit code of each.

Every room raises these; only ``app.main`` turns them into a line on stderr and an exit code.
"""

from collections.abc import Iterable
from enum import IntEnum


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
        """The name as a message has it."""
        return self.name.lower().replace("_", " ")


class TttError(Exception):
    """One line for the user: where it happened, what is wrong, and what to do about it.

    ``where`` names the place (file, line, key, argument); ``hint`` says the remedy.
    """

    exit_code = ExitCode.FAILED

    def __init__(self, message: str, *, where: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        line = f"{self.where}: {self.message}" if self.where else self.message
        return f"{line} ({self.hint})" if self.hint else line


class UsageError(TttError):
    """The call makes no sense: an unknown name, a value out of range, options that exclude each other."""

    exit_code = ExitCode.USAGE


class InvalidFileError(TttError):
    """A file cannot be read, is damaged, or does not fit what is asked of it."""

    exit_code = ExitCode.INVALID_FILE


class BusyError(TttError):
    """Another process is writing the same file."""

    exit_code = ExitCode.BUSY


class NotationError(UsageError, ValueError):
    """A text is not what it should denote: a position, a cell, a board size."""


class Stopped(BaseException):
    """Ctrl-C, SIGTERM or a closed pipe ended the command. No ``Exception``, so that nothing swallows it."""

    def __init__(self, exit_code: ExitCode) -> None:
        super().__init__(exit_code)
        self.exit_code = exit_code


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A remedy for a mistyped name: ``did you mean 'minimax'?``, or nothing if no known name is near."""
    from difflib import get_close_matches

    spellings = {text.lower(): text for text in known}
    near = get_close_matches(name.lower(), spellings, n=1)
    return f"did you mean {spellings[near[0]]!r}?" if near else ""
