"""Make the N-th call on the operating system fail, or be the last one of a killed process."""

import errno
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

CALLS = ["open", "write", "fsync", "replace", "link", "mkdir", "ftruncate"]


class Killed(BaseException):
    """Stands for SIGKILL in a fault."""


@contextmanager
def fault_at(
    number: int,
    what: type[BaseException] | int,
    *,
    after: bool = False,
    noticing: Callable[[], None] = lambda: None,
) -> Iterator[list[str]]:
    """Make the ``number``-th call on ``os`` in the body fail, once; yield the names of the calls so far.

    ``what`` is an errno, an exception class, or ``Killed``: the process then ends at this call. ``after``
    lets the call have its effect first; ``noticing`` is called before the fault.
    """
    seen: list[str] = []
    real = {name: getattr(os, name) for name in CALLS if hasattr(os, name)}

    def failing(name: str) -> Callable[..., object]:
        def call(*args: object, **options: object) -> object:
            seen.append(name)
            if len(seen) != number:
                return real[name](*args, **options)
            noticing()
            if after:
                with suppress(OSError):
                    real[name](*args, **options)
            if what is Killed:
                os.kill(os.getpid(), signal.SIGKILL)
            raise OSError(what, os.strerror(what)) if isinstance(what, int) else what

        return call

    try:
        for name in real:
            setattr(os, name, failing(name))
        yield seen
    finally:
        for name, function in real.items():
            setattr(os, name, function)


FAULTS = [(errno.ENOSPC, False), (KeyboardInterrupt, True)]
"""What may go wrong at a call, and whether after its effect."""


def in_child(work: Callable[[], object]) -> int:
    """Run ``work`` in a forked process and return its exit code: 0, 1 if it raised, -9 if it was killed."""
    pid = os.fork()
    if pid == 0:
        signal.alarm(60)  # a child that hangs must not outlive its test
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
