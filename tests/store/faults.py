"""Make a call on the operating system fail, or be the last one of a killed process."""

import errno
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from ttt_cli.errors import TttError


class Killed(BaseException):
    """Stands for SIGKILL."""


FAULTS = [(name, what) for name in ("fsync", "replace") for what in (errno.ENOSPC, KeyboardInterrupt, Killed)]
"""A call that a save makes, and what may happen there; a signal comes after its effect."""


def disturbed(name: str, what: type[BaseException] | int, work: Callable[[], object]) -> BaseException | None:
    """Do ``work``, where this happens at the first such call: the error that it ends with."""
    real = getattr(os, name)

    def call(*args: object, **options: object) -> object:
        if what is Killed:
            os.kill(os.getpid(), signal.SIGKILL)
        if isinstance(what, int):
            raise OSError(what, os.strerror(what))
        real(*args, **options)
        raise what

    with patch.object(os, name, call):
        if what is Killed:
            return None if in_child(work) == 0 else Killed()
        try:
            work()
        except (TttError, KeyboardInterrupt) as error:
            return error
    return None


@contextmanager
def calls_of(*names: str) -> Iterator[list[str]]:
    """The names of those calls on ``os`` that the body makes."""
    seen: list[str] = []

    def recorded(name: str) -> Callable[..., object]:
        real = getattr(os, name)

        def call(*args: object, **options: object) -> object:
            seen.append(name)
            return real(*args, **options)

        return call

    with patch.multiple(os, **{name: recorded(name) for name in names}):
        yield seen


def forked(work: Callable[[], object]) -> int:
    """Run ``work`` in a forked process, and return its number."""
    pid = os.fork()
    if pid == 0:
        signal.alarm(60)  # a child that hangs must not outlive its test
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return pid


def ended(pid: int) -> int:
    """Wait for a process; return its exit code: 0, 1 if it raised, -9 if it was killed."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def in_child(work: Callable[[], object]) -> int:
    return ended(forked(work))


def litter(folder: Path) -> list[str]:
    """The names of the temporary files that lie about."""
    return sorted(path.name for path in folder.rglob("*.ttt-tmp"))
