"""The effects of Ctrl-C, SIGTERM and SIGHUP before, during and after a command."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread, Timer
from types import FrameType
from typing import TYPE_CHECKING, Any

from ttt_cli.errors import ExitCode, Stopped

if TYPE_CHECKING:
    from ttt_cli.environment import Environment

_CODES: dict[int, ExitCode] = {
    signal.SIGINT: ExitCode.INTERRUPTED,
    signal.SIGTERM: ExitCode.TERMINATED,
    signal.SIGHUP: ExitCode.HUNG_UP,
}

GRACE, SECOND_GRACE = 1.5, 0.3
"""Seconds that the main thread has to end the process after a first and a second signal."""

_restorers: list[Callable[[], object]] = []
"""What gives the terminal back if the process ends at once."""


def _heeded() -> list[int]:
    """Return the signals that end the program, without those it was started to ignore (``nohup``, ``&``)."""
    return [number for number in _CODES if signal.getsignal(number) is not signal.SIG_IGN]


def die_by_signals() -> None:
    """Let signals end the process at once and silently: the work is done."""
    for number in _heeded():
        signal.signal(number, signal.SIG_DFL)


def stop_by_signals() -> None:
    """Let signals raise ``Stopped``; a thread ends the process if that takes too long."""
    for number in _heeded():
        signal.signal(number, stop)
    sys.unraisablehook = _not_swallowed
    heard, written = os.pipe()
    os.set_blocking(written, False)
    signal.set_wakeup_fd(written, warn_on_full_buffer=False)
    Thread(target=_watch, args=(heard,), daemon=True).start()


def stop(number: int, frame: FrameType | None) -> None:
    """Raise ``Stopped``, or end the process during an import, where it makes some extension modules crash."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            _leave(_CODES[number])
        frame = frame.f_back
    raise Stopped(_CODES[number])


def _not_swallowed(ignored: Any) -> None:
    """End the process where ``Stopped`` cannot be raised: in a destructor, or a callback from C."""
    if isinstance(ignored.exc_value, Stopped):
        _leave(ignored.exc_value.exit_code)
    sys.__unraisablehook__(ignored)


def _leave(code: ExitCode) -> None:
    if sys.__stderr__ is not None:  # Rich's replacement may wait for a lock
        sys.__stderr__.write(f"Error: {code.label}\n")
        sys.__stderr__.flush()
    while _restorers:
        _restorers.pop()()
    os._exit(code)


def _watch(heard: int) -> None:
    """End the process if a signal's handler does not: handlers wait for compiled code, and libraries may
    swallow what they raise.

    :param heard: a descriptor from which the number of each signal can be read.
    """
    again = False
    while number := os.read(heard, 1)[0]:
        handler = signal.getsignal(number) if number in _CODES else None
        if handler is stop or (again and callable(handler)):  # not the first in ``graceful``
            timer = Timer(SECOND_GRACE if again else GRACE, _leave, (_CODES[number],))
            timer.daemon = True
            timer.start()
        again = again or callable(handler)


@contextmanager
def holding(take: Callable[[], object], give: Callable[[], object]) -> Iterator[None]:
    """Hold the terminal during the body, in which SIGTSTP does nothing: ``take`` it, and ``give`` it back at
    the end, even if that is the end of the process."""
    handled = signal.signal(signal.SIGTSTP, signal.SIG_IGN)
    _restorers.append(give)
    try:
        take()
        yield
    finally:
        _restorers.pop()()
        signal.signal(signal.SIGTSTP, handled)


class Stopping:
    """Whether a signal has come, and its exit code."""

    exit_code: ExitCode | None = None

    def __call__(self) -> bool:
        return self.exit_code is not None


@contextmanager
def graceful(env: "Environment", notice: str) -> Iterator[Stopping]:
    """Let the first signal only show ``notice``, if any, and set a flag; a second one stops at once."""
    stopping = Stopping()

    def handle(number: int, frame: FrameType | None) -> None:
        if stopping():
            stop(number, frame)
        stopping.exit_code = _CODES[number]
        if notice:
            if env.stderr.isatty():  # the terminal shows ^C
                env.stderr.write("\n")
            env.say(notice)

    before = {number: signal.signal(number, handle) for number in _heeded()}
    try:
        yield stopping
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
