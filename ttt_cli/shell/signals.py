"""Ctrl-C and SIGTERM for commands that have something to finish first."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from ttt_cli.environment import Environment
from ttt_cli.errors import ExitCode, Stopped


class Stopping:
    """Whether the user has asked to end, and with which exit code."""

    def __init__(self) -> None:
        self.exit_code: ExitCode | None = None

    def __call__(self) -> bool:
        return self.exit_code is not None


@contextmanager
def graceful(env: Environment, notice: str) -> Iterator[Stopping]:
    """While the body runs, the first Ctrl-C or SIGTERM only says ``notice`` and notes the wish.

    A second one leaves at once.
    """
    stopping = Stopping()

    def handle(number: int, frame: FrameType | None) -> None:
        code = ExitCode.INTERRUPTED if number == signal.SIGINT else ExitCode.TERMINATED
        if stopping():
            raise Stopped(code)
        stopping.exit_code = code
        env.say(notice)

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopping
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
