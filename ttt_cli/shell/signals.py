"""Ctrl-C, SIGTERM and SIGHUP: what they do before, while and after a command runs."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

from ttt_cli.errors import ExitCode, Stopped

if TYPE_CHECKING:
    from ttt_cli.environment import Environment

_CODES = {
    getattr(signal, name): code
    for name, code in (
        ("SIGINT", ExitCode.INTERRUPTED),
        ("SIGTERM", ExitCode.TERMINATED),
        ("SIGHUP", ExitCode.HUNG_UP),
    )
    if hasattr(signal, name)
}

_LET_GO = (("ttt_cli.store.locks", "release_all"), ("ttt_cli.shell.keyboard", "restore"))
"""What has to be given back where a process ends at once."""


def _heeded() -> list[int]:
    """The signals that end the program, but for those it was started to ignore (``nohup``, ``&``)."""
    return [number for number in _CODES if signal.getsignal(number) is not signal.SIG_IGN]


def die_by_signals() -> None:
    """Let signals end the process at once, without a word: nothing has begun, or all is done."""
    for number in _heeded():
        signal.signal(number, signal.SIG_DFL)


def stop_by_signals() -> None:
    """Let signals end the command by ``Stopped``, Ctrl-C by Python's KeyboardInterrupt."""
    for number in _heeded():
        signal.signal(number, stop)


def stop(number: int, frame: FrameType | None) -> None:
    """Leave the command.

    Not by an exception while something is imported: some extension modules crash if one meets them there.
    """
    code = _CODES[number]
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            if sys.stderr is not None:
                sys.stderr.write(f"Error: {code.label}\n")
                sys.stderr.flush()
            for module, name in _LET_GO:
                let_go = getattr(sys.modules.get(module), name, None)
                if let_go is not None:  # that module itself may be what is imported
                    let_go()
            os._exit(code)
        frame = frame.f_back
    raise KeyboardInterrupt if number == signal.SIGINT else Stopped(code)


class Stopping:
    """Whether the user has asked to end, and with which exit code."""

    def __init__(self) -> None:
        self.exit_code: ExitCode | None = None

    def __call__(self) -> bool:
        return self.exit_code is not None


@contextmanager
def graceful(env: "Environment", notice: str) -> Iterator[Stopping]:
    """While the body runs, the first of these signals only says ``notice`` and sets a flag.

    A second one leaves at once.
    """
    stopping = Stopping()

    def handle(number: int, frame: FrameType | None) -> None:
        if stopping():
            stop(number, frame)
        stopping.exit_code = _CODES[number]
        env.say(notice)

    before = {number: signal.signal(number, handle) for number in _heeded()}
    try:
        yield stopping
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
