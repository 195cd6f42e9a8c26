"""What Ctrl-C, SIGTERM and SIGHUP do: they end the process at once, or ask ``graceful`` work to end.

A thread listens for them: they raise no exception, which could come anywhere, and do not wait for compiled
code. Files survive an end at any moment; anything else the process holds (the terminal, a child process) is
given back by ``holding``.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import RLock, Thread, Timer

from ttt_cli.errors import ExitCode

_CODES: dict[int, ExitCode] = {
    signal.SIGINT: ExitCode.INTERRUPTED,
    signal.SIGTERM: ExitCode.TERMINATED,
    signal.SIGHUP: ExitCode.HUNG_UP,
}

GRACE = 1.0
"""Seconds that it may take to give back what the process holds."""

ending = RLock()
"""Held while a signal ends the process or an error is reported, so that errors caused by that end are not
reported."""

held: list[Callable[[], object]] = []
"""Functions that give back what the process holds if a signal ends it; the last is called first."""

_graceful: list["Stopping"] = []

_farewells: list[str] = []
"""What is written, instead of an error, if Ctrl-C ends the process: the last of them."""


class Stopping:
    """Whether a signal has come, and its exit code.

    :param notice: what to ``say`` when it comes, if anything.
    """

    exit_code: ExitCode | None = None

    def __init__(self, say: Callable[[str], object], notice: str) -> None:
        self._say = say
        self._notice = notice

    def __call__(self) -> bool:
        return self.exit_code is not None

    def stop(self, code: ExitCode) -> None:
        self.exit_code = code
        if self._notice:
            if sys.stderr.isatty():  # the terminal shows ^C
                sys.stderr.write("\n")
            self._say(self._notice)


def end_by_signals(report: Callable[[ExitCode], object]) -> None:
    """Let signals end the process, except those it was started to ignore (``nohup``, ``&``).

    :param report: says why the process ends.
    """
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    Thread(target=_watch, args=(read_end, report), daemon=True).start()
    signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    for number in _CODES:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda number, frame: None)


def _watch(read_end: int, report: Callable[[ExitCode], object]) -> None:
    """End the process by a signal, in ``graceful`` by a second one.

    :param read_end: a descriptor from which the number of each signal can be read.
    """
    while True:
        code = _CODES.get(os.read(read_end, 1)[0])
        if code is None:
            continue
        innermost = _graceful[-1:]  # read once, like the farewell: the work may come to its end meanwhile
        if innermost and not innermost[0]():
            with suppress(Exception):
                innermost[0].stop(code)
            continue
        timer = Timer(GRACE, os._exit, (code,))  # whatever may block
        timer.daemon = True
        timer.start()
        with ending:
            farewell = _farewells[-1:] if code is ExitCode.INTERRUPTED else []
            with suppress(Exception):
                sys.stderr.write("".join(farewell))  # ends the line of a prompt, before anything else is said
                sys.stderr.flush()
            while held:
                with suppress(Exception):
                    held.pop()()
            if not farewell:
                report(code)
            os._exit(code)


@contextmanager
def holding(release: Callable[[], object]) -> Iterator[None]:
    """Call ``release`` at the end of the body, even if that is the end of the process."""
    held.append(release)
    try:
        yield
    finally:
        held.remove(release)
        release()


@contextmanager
def leaving(farewell: str) -> Iterator[None]:
    """Write only ``farewell`` if Ctrl-C ends the process during the body: a person who leaves is no error."""
    _farewells.append(farewell)
    try:
        yield
    finally:
        _farewells.pop()


@contextmanager
def holding_terminal(enter: Callable[[], object], leave: Callable[[], object]) -> Iterator[None]:
    """``enter`` the terminal for the body, in which SIGTSTP does nothing, and ``leave`` it at the end."""
    handled = signal.signal(signal.SIGTSTP, signal.SIG_IGN)
    try:
        with holding(leave):
            enter()
            yield
    finally:
        signal.signal(signal.SIGTSTP, handled)


@contextmanager
def graceful(say: Callable[[str], object], notice: str) -> Iterator[Stopping]:
    """Let the first signal only ``say`` a notice, if any, and set a flag; a second one ends the process."""
    _graceful.append(Stopping(say, notice))
    try:
        yield _graceful[-1]
    finally:
        _graceful.pop()
