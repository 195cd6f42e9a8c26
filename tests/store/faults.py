"""Make each call on the operating system fail in turn, or be the last one of a killed process."""

import errno
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ttt_cli.errors import TttError

CALLS = ["open", "write", "fsync", "replace", "link", "mkdir", "ftruncate"]


class Killed(BaseException):
    """Stands for SIGKILL."""


FAILURES = [errno.ENOSPC, KeyboardInterrupt, Killed]
"""What may happen at a call; a signal comes after its effect."""


@contextmanager
def fault_at(number: int, what: type[BaseException] | int) -> Iterator[list[str]]:
    """Let this happen at the ``number``-th call on ``os`` in the body; yield the names of the calls."""
    seen: list[str] = []
    real = {name: getattr(os, name) for name in CALLS}

    def failing(name: str) -> Callable[..., object]:
        def call(*args: object, **options: object) -> object:
            seen.append(name)
            if len(seen) != number:
                return real[name](*args, **options)
            if what is Killed:
                os.kill(os.getpid(), signal.SIGKILL)
            if isinstance(what, int):
                raise OSError(what, os.strerror(what))
            with suppress(OSError):
                real[name](*args, **options)
            raise what

        return call

    try:
        for name in real:
            setattr(os, name, failing(name))
        yield seen
    finally:
        for name, function in real.items():
            setattr(os, name, function)


def at_each_call(
    what: type[BaseException] | int,
    folder: Path,
    prepare: Callable[[Path], object],
    work: Callable[[Path], object],
) -> Iterator[tuple[Path, BaseException | None]]:
    """Do ``work`` in a folder of its own for each of the calls that it makes, at which this happens, and once
    undisturbed: yields the folder, and the error, ``Killed``, or None where the work ended well."""
    number, ended = 0, False
    while not ended:
        number += 1
        place, failed = folder / str(number), None
        place.mkdir()
        prepare(place)

        def disturbed(number: int = number, place: Path = place) -> list[str]:
            with fault_at(number, what) as calls:
                work(place)
            return calls

        try:
            if what is Killed:
                ended = in_child(disturbed) == 0
                failed = None if ended else Killed()
            else:
                ended = len(disturbed()) < number
        except (TttError, KeyboardInterrupt) as error:
            failed = error
        yield place, failed
    assert failed is None and number > 4


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
