"""Ctrl-C, SIGTERM and SIGHUP: what they do before, while and after a command runs."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread, Timer
from types import FrameType
from typing import TYPE_CHECKING

from ttt_cli.errors import ExitCode, Stopped

if TYPE_CHECKING:
    from ttt_cli.environment import Environment

_CODES: dict[int, ExitCode] = {
    signal.SIGINT: ExitCode.INTERRUPTED,
    signal.SIGTERM: ExitCode.TERMINATED,
    signal.SIGHUP: ExitCode.HUNG_UP,
}

GRACE, AT_ONCE = 1.5, 0.3
"""Seconds in which the main thread ends the process after a signal, and after a second one."""

_undone: list[Callable[[], object]] = []
_graceful: list["Stopping"] = []


@contextmanager
def put_right(undo: Callable[[], object]) -> Iterator[None]:
    """Call ``undo`` when the body ends, even if it ends with the process, at once."""
    _undone.append(undo)
    try:
        yield
    finally:
        _undone.pop()()


def _heeded() -> list[int]:
    """The signals that end the program, but for those it was started to ignore (``nohup``, ``&``)."""
    return [number for number in _CODES if signal.getsignal(number) is not signal.SIG_IGN]


def die_by_signals() -> None:
    """Let signals end the process at once, without a word: nothing has begun, or all is done."""
    for number in _heeded():
        signal.signal(number, signal.SIG_DFL)


def stop_by_signals() -> None:
    """Let signals end the command by ``Stopped``; a thread sees to it that they do so in time."""
    for number in _heeded():
        signal.signal(number, stop)
    heard, written = os.pipe()
    os.set_blocking(written, False)
    signal.set_wakeup_fd(written, warn_on_full_buffer=False)
    Thread(target=_watch, args=(heard,), daemon=True).start()


def stop(number: int, frame: FrameType | None) -> None:
    """Leave the command.

    Not by an exception while something is imported: some extension modules crash if one meets them there. Nor
    while compiled code is loaded: llvmlite's callbacks print and swallow what is raised in them.
    """
    while frame is not None:
        code = frame.f_code
        if code.co_filename.startswith("<frozen importlib") or code.co_name.startswith("_raw_object_cache"):
            _leave(number)
        frame = frame.f_back
    raise Stopped(_CODES[number])


def _leave(number: int) -> None:
    if sys.__stderr__ is not None:  # not what rich puts in its place: that waits for whoever draws
        sys.__stderr__.write(f"Error: {_CODES[number].label}\n")
        sys.__stderr__.flush()
    while _undone:
        _undone.pop()()
    os._exit(_CODES[number])


def _watch(heard: int) -> None:
    """End the process where a signal does not: the handlers of Python wait for compiled code, and libraries
    may swallow what they raise.

    :param heard: where the number of each signal can be read.
    """
    again = False
    while number := os.read(heard, 1)[0]:
        if number in _CODES and callable(signal.getsignal(number)):
            if again or not _graceful:
                timer = Timer(AT_ONCE if again else GRACE, _leave, (number,))
                timer.daemon = True
                timer.start()
            again = True


class Stopping:
    """Whether the user has asked to end, and with which exit code."""

    exit_code: ExitCode | None = None

    def __call__(self) -> bool:
        return self.exit_code is not None


@contextmanager
def graceful(env: "Environment", notice: str) -> Iterator[Stopping]:
    """While the body runs, the first of these signals only says ``notice`` and sets a flag. A second one
    leaves at once."""
    stopping = Stopping()

    def handle(number: int, frame: FrameType | None) -> None:
        if stopping():
            stop(number, frame)
        stopping.exit_code = _CODES[number]
        env.say(notice)

    before = {number: signal.signal(number, handle) for number in _heeded()}
    _graceful.append(stopping)
    try:
        yield stopping
    finally:
        _graceful.remove(stopping)
        for number, handler in before.items():
            signal.signal(number, handler)
