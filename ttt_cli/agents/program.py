"""``exec:COMMAND``: a program in any language that reads positions and writes cells, one per line.

The command is split as a shell would split it, and run without a shell in the working directory. One process
serves a whole call, and a second one answers every question again. If a process fails, the last line that it
wrote to stderr is quoted. Each process leads a process group, which ends with the call.
"""

import os
import shlex
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from hashlib import file_digest, sha256
from pathlib import Path
from select import select
from shutil import which
from subprocess import PIPE, Popen, TimeoutExpired
from time import monotonic
from typing import IO
from weakref import finalize

from ttt_cli.agents.asked import Asked, NoAnswerError
from ttt_cli.agents.registry import WHOLE, AgentType, number
from ttt_cli.engine.rules import Rules
from ttt_cli.errors import UsageError
from ttt_cli.signals import held
from ttt_cli.store.system import translate_os_errors

PATIENCE = 10.0
"""Seconds that a program may take for each answer, unless ``exec,patience=S:COMMAND`` says otherwise."""

LONGEST_LINE = 1000
"""The most bytes in an answer; seven are enough."""

FAREWELL = 1.0
"""Seconds that a program has to exit once its input has ended."""

FLUSHING = (
    "does it flush each line? Python print(cell, flush=True); C fflush(stdout); awk fflush(), mawk "
    "-W interactive; Ruby $stdout.sync = true; Perl $| = 1; or exec,patience=SECONDS:…"
)

ONE_LINE = "one line for each position: a cell, or resign"


class Program:
    """A program, started by the first question, and again by the first one after a failure.

    :param patience: seconds that it may take for each answer.
    :raises UsageError: if there is no such program.
    """

    def __init__(self, words: Sequence[str], name: str, patience: float = PATIENCE) -> None:
        self._words = words
        self._name = name
        self._patience = patience
        self._stderr: IO[bytes] | None = None
        self._process: Popen[bytes] | None = None
        if which(words[0]) is None:
            self._process = self._start()  # raises the error now, not at the first question

    def ask(self, texts: Sequence[str]) -> Iterator[str]:
        """As ``Ask``: send all positions at once, one per line, and read the answers meanwhile.

        :raises UsageError: if the program cannot be started.
        """
        self._process = process = self._process or self._start()
        try:
            yield from self._answers(process, texts)
        except (NoAnswerError, GeneratorExit) as error:
            self._process = None
            self._end()
            if isinstance(error, GeneratorExit):  # its other answers are not wanted
                raise
            raise NoAnswerError(f"{self._take_last_words()}{error.message}", hint=error.hint) from None

    def _start(self) -> Popen[bytes]:
        from tempfile import TemporaryFile

        with translate_os_errors("a temporary file"):
            self._stderr = stderr = TemporaryFile()  # noqa: SIM115, it lasts as long as the program
        finalize(self, stderr.close)
        try:
            process = Popen(
                self._words,
                bufsize=0,
                stdin=PIPE,
                stdout=PIPE,
                stderr=stderr,
                env=os.environ,
                start_new_session=True,
            )
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            hint = "a command or an executable file, such as exec:python3 bot.py; sh -c '…' runs a shell"
            raise UsageError(f"cannot run {self._words[0]!r}: {why}", where=self._name, hint=hint) from None
        kill = partial(os.killpg, process.pid, signal.SIGKILL)
        held.insert(0, kill)
        self._end = finalize(self, _end, process, kill)  # only once: another process may get its number
        return process

    def _take_last_words(self) -> str:
        """The last line that an ended program wrote to stderr, for the beginning of a message."""
        assert self._stderr
        with self._stderr as stderr:
            stderr.seek(max(stderr.seek(0, os.SEEK_END) - (1 << 16), 0))
            lines = stderr.read().decode("utf-8", "backslashreplace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return f"said {last[:200]!r} on stderr, and " if last else ""

    def _answers(self, process: Popen[bytes], texts: Sequence[str]) -> Iterator[str]:
        stdin, stdout = process.stdin, process.stdout
        assert stdin and stdout
        os.set_blocking(stdin.fileno(), False)
        missing = len(texts)  # answers still to come
        rest = b""  # the beginning of the next line
        wrote_unasked = bool(select([stdout], [], [], 0)[0] and stdout.read(1))
        questions = memoryview("".join(f"{text}\n" for text in texts).encode())
        deadline = monotonic() + self._patience
        while missing > 0 and not wrote_unasked:
            if len(rest) > LONGEST_LINE:
                raise NoAnswerError(f"wrote no newline within {LONGEST_LINE:,} bytes", hint=ONE_LINE)
            left = max(0.0, deadline - monotonic())
            # Whether the program writes, and whether it reads.
            writes, reads, _ = select([stdout], [stdin] if questions else [], [], left)
            if reads:
                try:
                    questions = questions[stdin.write(questions) :]
                except BrokenPipeError:  # it may end before it has read everything
                    questions = questions[:0]
                continue
            if not writes:
                what = "wrote no newline" if rest else "gave no answer"
                raise NoAnswerError(f"{what} within {self._patience:g} s", hint=FLUSHING)
            chunk = stdout.read(1 << 16)
            if not chunk:
                hint = "it is asked about many positions, one per line, until its input ends"
                raise NoAnswerError(f"{_how_ended(process)} without an answer", hint=hint)
            *lines, rest = (rest + chunk).split(b"\n")
            yield from (line.decode("utf-8", "backslashreplace") for line in lines[:missing])
            missing -= len(lines)
            if lines:
                deadline = monotonic() + self._patience
        if missing or wrote_unasked or rest:
            what = "wrote more than one line, or wrote before it was asked, in answer"
            raise NoAnswerError(what, hint=ONE_LINE)


def _end(process: Popen[bytes], kill: Callable[[], object]) -> None:
    """End a process and its children."""
    assert process.stdin and process.stdout
    with suppress(OSError):
        process.stdin.close()
    with suppress(TimeoutExpired):
        process.wait(FAREWELL)
    with suppress(ProcessLookupError, PermissionError):  # macOS: PermissionError where all have ended
        kill()
    held.remove(kill)
    with suppress(TimeoutExpired):  # one that has become another user's cannot be ended
        process.wait(FAREWELL)
    process.stdout.close()


def _how_ended(process: Popen[bytes]) -> str:
    """In words, how a process came to close its output."""
    with suppress(TimeoutExpired):
        code = process.wait(FAREWELL)
        return f"ended ({signal.strsignal(-code) if code < 0 else f'exit status {code}'})"
    return "closed its output"


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
            with Path(path).open("rb") as file:
                digest.update(b"\0" + file_digest(file, "sha256").digest())
    return f"sha256:{digest.hexdigest()}"


def make(rules: Rules, *, argument: str, samples: int | None = None, patience: float = PATIENCE) -> Asked:
    """Return a program as a policy.

    :raises UsageError: if the command cannot be split.
    """
    words = words_of(argument)
    name = f"{AGENT.name}:{argument}"
    first, second = (Program(words, name, patience) for _ in range(2))
    return Asked(rules, name, (first.ask, second.ask), samples)


EXAMPLE = "such as exec:./my_bot or 'exec:python3 my_bot.py'"

AGENT = AgentType(
    "exec",
    "a program: one position per line in, one cell per line out",
    make,
    {"samples": WHOLE, "patience": number("SECONDS (from 0.01)", float, 0.01)},
    argument="COMMAND",
    example=EXAMPLE,
    fingerprint=fingerprint,
)
