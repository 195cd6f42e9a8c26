"""``exec:COMMAND``: a program in any language that reads positions and writes cells, a line each.

The command is split as a shell would split it, and run without a shell in the working directory. One process
serves a whole call, and a second one answers every question again. Both pipes are served at the same time, so
a program may read as much as it likes before it writes; stderr goes to a file. Each process leads a process
group, which ends with the call.
"""

import os
import shlex
import signal
from collections.abc import Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from shutil import which
from threading import Thread
from time import monotonic
from typing import IO, TYPE_CHECKING
from weakref import WeakSet

from ttt_cli.agents.asked import Asked, NoAnswerError
from ttt_cli.agents.registry import WHOLE, AgentType, number
from ttt_cli.engine.rules import Rules
from ttt_cli.errors import UsageError

if TYPE_CHECKING:
    from subprocess import Popen

PATIENCE = 10.0
"""Seconds that a program may take for each answer, unless ``exec,patience=S:COMMAND`` says otherwise."""

CHUNK = 1 << 16
"""Bytes to read at a time."""

LONGEST_LINE = 1000
"""Bytes of an answer, of which seven are enough."""

FAREWELL = 1.0
"""Seconds that a program has to exit once its input has ended."""

FLUSHING = (
    "does it flush each line? Python print(cell, flush=True); C fflush(stdout); awk fflush(), mawk "
    "-W interactive; Ruby $stdout.sync = true; Perl $| = 1; or exec,patience=SECONDS:…"
)

_running: "WeakSet[Program]" = WeakSet()


class Program:
    """A program, started with the first question.

    :param words: the command.
    :param name: the agent, for messages.
    :param patience: seconds that it may take for each answer.
    """

    def __init__(self, words: Sequence[str], name: str, patience: float = PATIENCE) -> None:
        self._words, self._name, self._patience = words, name, patience
        self._process: Popen[bytes] | None = None
        self._errors: IO[bytes] | None = None  # the file of what it writes to stderr

    @property
    def _said(self) -> list[str]:
        """The lines that it has written to stderr."""
        if self._errors is None:
            return []
        number = self._errors.fileno()  # its position must stay: the program shares it
        written = os.pread(number, os.fstat(number).st_size, 0).decode("utf-8", "backslashreplace")
        return [line.strip()[:200] for line in written.splitlines() if line.strip()]

    @property
    def chatter(self) -> str:
        """A summary of its output on stderr."""
        said = self._said
        lines = "a line" if len(said) == 1 else f"{len(said):,} lines, the last"
        return f"wrote to stderr {lines}: {said[-1]!r}" if said else ""

    def stop(self) -> None:
        """End the process and its children."""
        process, self._process = self._process, None
        _running.discard(self)
        if process is None:
            return
        from subprocess import TimeoutExpired

        assert process.stdin and process.stdout
        with suppress(OSError):
            process.stdin.close()
        with suppress(TimeoutExpired):
            process.wait(FAREWELL)
        with suppress(ProcessLookupError, PermissionError):  # macOS: PermissionError where all have ended
            os.killpg(process.pid, signal.SIGKILL)
        with suppress(TimeoutExpired):  # one that has become another user's cannot be ended
            process.wait(FAREWELL)
        process.stdout.close()

    def __del__(self) -> None:
        self.stop()
        if self._errors is not None:
            self._errors.close()

    def _started(self) -> "Popen[bytes]":
        if self._process is not None:
            return self._process
        from subprocess import PIPE, Popen
        from tempfile import TemporaryFile

        self._errors = self._errors or TemporaryFile()  # noqa: SIM115, it lasts as long as this
        try:
            self._process = Popen(
                self._words, bufsize=0, stdin=PIPE, stdout=PIPE, stderr=self._errors, start_new_session=True
            )
        except OSError as error:
            word, missing = self._words[0], isinstance(error, FileNotFoundError)
            what = f"there is no program {word!r}"
            hint = "a command as the shell finds it, or the path of a program"
            if Path(word).is_file():
                path = shlex.quote(word if "/" in word else f"./{word}")
                why = "it is not on the PATH, or its interpreter is not there" if missing else error.strerror
                what = f"{word!r} cannot be run: {why}"
                hint = f"exec:{path} after chmod +x {path}, or its interpreter: exec:python3 {path}"
            raise UsageError(what, where=self._name, hint=hint) from None
        _running.add(self)
        return self._process

    def ask(self, texts: Sequence[str]) -> Iterator[str]:
        """As ``Ask``: send all positions at once, a line each, and read the answers meanwhile.

        :raises UsageError: if the program cannot be started.
        """
        try:
            yield from self._answers(texts)
        except NoAnswerError:
            self.stop()
            raise

    def _answers(self, texts: Sequence[str]) -> Iterator[str]:
        process, rest, missing = self._started(), b"", len(texts)
        stdin, stdout = process.stdin, process.stdout
        assert stdin and stdout
        unasked = _ready(stdout, 0) and bool(stdout.read(1))
        questions = "".join(f"{text}\n" for text in texts).encode()
        Thread(target=_send, args=(stdin, questions), daemon=True).start()
        deadline = monotonic() + self._patience
        while missing > 0 and not unasked and len(rest) <= LONGEST_LINE:
            if not _ready(stdout, max(0.0, deadline - monotonic())):
                words = self._last_words
                raise NoAnswerError(f"gave no answer within {self._patience:g} s{words}", hint=FLUSHING)
            if not (chunk := stdout.read(CHUNK)):
                hint = "it is asked about many positions, a line each, until its input ends"
                raise NoAnswerError(f"{self._end(process)} without an answer", hint=hint)
            *lines, rest = (rest + chunk).split(b"\n")
            yield from (line.decode("utf-8", "backslashreplace") for line in lines[:missing])
            missing -= len(lines)
            deadline = monotonic() + self._patience if lines else deadline
        if missing or unasked or rest:
            hint = "one line for each position: a cell, or resign"
            raise NoAnswerError("wrote more than a line, or unasked, in answer", hint=hint)

    @property
    def _last_words(self) -> str:
        return f", saying {said[-1]!r} on stderr," if (said := self._said) else ""

    def _end(self, process: "Popen[bytes]") -> str:
        """How it has closed its output."""
        from subprocess import TimeoutExpired

        try:
            code = process.wait(FAREWELL)
        except TimeoutExpired:
            return "closed its output"
        killed = next((one.name for one in signal.Signals if one == -code), f"signal {-code}")
        how = f"exit status {code}" if code >= 0 else f"killed by {killed}"
        return f"ended ({how}){self._last_words}"


def _send(stdin: IO[bytes], questions: bytes) -> None:
    with suppress(OSError, ValueError):  # it may end, or be ended, before it has read all
        while questions:
            questions = questions[stdin.write(questions) :]


def _ready(pipe: IO[bytes], patience: float) -> bool:
    """Whether a pipe has something to read, or ends, within so many seconds."""
    from select import select

    return bool(select([pipe], [], [], patience)[0])


def words_of(command: str) -> list[str]:
    """Split a command as a shell would.

    :raises UsageError: if a quote is not closed.
    """
    try:
        return shlex.split(command)
    except ValueError as error:
        raise UsageError(f"{error} in {command!r}".lower(), where=AGENT.name, hint=EXAMPLE) from None


def fingerprint(command: str) -> str:
    """Return a digest of a command and the files that it names."""
    words = words_of(command)
    digest = sha256("\0".join(words).encode())
    for path in [which(words[0]), *words[1:]]:
        if path and Path(path).is_file():
            digest.update(b"\0" + sha256(Path(path).read_bytes()).digest())
    return f"sha256:{digest.hexdigest()}"


def stop_all() -> None:
    """End all programs that are still running."""
    for program in list(_running):
        program.stop()


def make(rules: Rules, *, argument: str, samples: int | None = None, patience: float = PATIENCE) -> Asked:
    """Return a program as a policy.

    :raises UsageError: if the command cannot be split.
    """
    words, name = words_of(argument), f"{AGENT.name}:{argument}"
    one, other = Program(words, name, patience), Program(words, name, patience)
    return Asked(rules, name, (one.ask, other.ask), samples, lambda: one.chatter or other.chatter)


EXAMPLE = "such as exec:./my_bot or 'exec:python3 my_bot.py'"

AGENT = AgentType(
    "exec",
    "a program: a position a line in, a cell a line out",
    make,
    {"samples": WHOLE, "patience": number("SECONDS (from 0.01)", float, 0.01)},
    argument="COMMAND",
    example=EXAMPLE,
    fingerprint=fingerprint,
)
