"""Real commands in forked children: quick to start, since this process has loaded everything already.

A child runs ``app.run`` as the shell's ``ttt`` does, with signals, streams and exit codes of its own.
"""

import faulthandler
import gc
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep

from ttt_cli import app
from ttt_cli.environment import Environment
from ttt_cli.shell.signals import stop_by_signals

LITTER = ".ttt-tmp"

SECONDS = 600
"""After so long a child hangs: where stands on its stderr, and it ends with 1."""


@dataclass(frozen=True)
class Ended:
    """How a child ended: its exit code (below 0: the signal that killed it) and what it wrote."""

    code: int
    out: str
    err: str


class Child:
    """A command that runs in a forked process, in ``folder``; its streams go to files in ``streams``."""

    def __init__(
        self,
        arguments: Sequence[object],
        folder: Path,
        streams: Path,
        around: Callable[[Callable[[], int]], int] = lambda work: work(),
    ) -> None:
        """
        :param around: called in the child with the command as a function; returns the exit code.
        """
        streams.mkdir(exist_ok=True)
        self._out, self._err = streams / "out", streams / "err"
        for path in (self._out, self._err):
            path.write_bytes(b"")
        words = [str(word) for word in arguments]
        sys.stdout.flush()
        sys.stderr.flush()
        gc.collect()
        gc.freeze()  # else every fork looks through all that is loaded: four fifths of the time
        self.pid = os.fork()
        if self.pid == 0:
            code = 99
            try:
                code = self._run(words, folder, around)
            finally:
                os._exit(code)
        self._code: int | None = None

    def _run(self, words: list[str], folder: Path, around: Callable[[Callable[[], int]], int]) -> int:
        stop_by_signals()
        os.chdir(folder)
        with (
            self._out.open("w", encoding="utf-8") as out,
            self._err.open("w", encoding="utf-8") as err,
            Path(os.devnull).open(encoding="utf-8") as nothing,
            redirect_stdout(out),
            redirect_stderr(err),
        ):
            faulthandler.dump_traceback_later(SECONDS, exit=True, file=err)
            variables = {"PATH": os.defpath}
            return around(lambda: app.run(words, Environment(nothing, out, err, variables=variables)))

    @property
    def err(self) -> str:
        """What it has written to stderr so far."""
        return self._err.read_text(encoding="utf-8")

    def wait_for(self, text: str, seconds: float = 60.0) -> None:
        """Return when ``text`` stands on the child's stderr."""
        until = monotonic() + seconds
        while text not in self.err:
            assert monotonic() < until, self.err
            assert not self.over, self.err
            sleep(0.002)

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        if self._code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self._code = os.waitstatus_to_exitcode(status)
        return self._code is not None

    def send(self, number: int) -> None:
        """Send it a signal, if it still runs."""
        if not self.over:
            os.kill(self.pid, number)

    def wait(self) -> Ended:
        """How it ended."""
        if self._code is None:
            self._code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return Ended(self._code, self._out.read_text(encoding="utf-8"), self.err)


def command(arguments: Sequence[object], folder: Path, streams: Path) -> Ended:
    """Run a command undisturbed."""
    return Child(arguments, folder, streams).wait()


def litter(folder: Path) -> list[str]:
    """The temporary files that lie about."""
    return sorted(str(path) for path in folder.rglob(f"*{LITTER}"))
