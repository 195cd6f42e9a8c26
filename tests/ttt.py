"""The one way in which tests run ``ttt``: in this process, or as a process of its own."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from io import BytesIO, TextIOWrapper
from pathlib import Path
from threading import Timer
from typing import IO, Any

import orjson
import pytest
from hypothesis import strategies as st

from ttt_cli.app import run
from ttt_cli.environment import Environment

TEXTS = st.lists(
    st.sampled_from("aXO. \n\0\x7f\x1b\x9bé²\u202e\u2028🎲") | st.integers(0, 0xD7FF).map(chr)
).map("".join)
"""Any texts. What ``st.text()`` draws from takes seconds to make in a new checkout."""


def some(cases: Iterable[Any]) -> list[Any]:
    """Every third of many cases; the others are long tests."""
    return [
        case if at % 3 == 0 else pytest.param(case, marks=pytest.mark.long) for at, case in enumerate(cases)
    ]


ROOT = Path(__file__).parents[1]
PROGRAM = [sys.executable, "-m", "ttt_cli"]
GAME_KEYS = "1\n2\n9\n8\n7\n6\n4\n3\n5\n"
"""Keys that get through any game; those that do not fit when they come get a hint."""


class Stream(TextIOWrapper):
    """A stream in memory, of text upon bytes as those of a process are."""

    def __init__(self, text: str = "") -> None:
        super().__init__(BytesIO(text.encode()), "utf-8", "backslashreplace", newline="", write_through=True)

    def getvalue(self) -> str:
        return self.buffer.getvalue().decode()


class Terminal(Stream):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@dataclass(frozen=True)
class Outcome:
    """What a call left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one document on stdout."""
        assert self.out.count("\n") == 1, self.out
        return orjson.loads(self.out)


Run = Callable[..., Outcome]


@pytest.fixture
def ttt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """``ttt("evaluate", "q", stdin="…", terminal=True, TERM="dumb")`` as the shell would run it, with streams
    of its own and in an empty folder."""
    monkeypatch.chdir(tmp_path)
    for name in ("TTT_STORE", "NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)

    def call(*arguments: object, stdin: str = "", terminal: bool = False, **variables: str) -> Outcome:
        kind = Terminal if terminal else Stream
        out, err = kind(), kind()
        env = Environment(kind(stdin), out, err, variables={**os.environ, **variables})
        return Outcome(run([str(argument) for argument in arguments], env), out.getvalue(), err.getvalue())

    return call


def start(*words: object, program: list[str] | None = None, **settings: Any) -> subprocess.Popen[str]:
    """``ttt`` as a process of its own, its outputs piped unless ``settings`` say otherwise; or another
    program."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "cwd": ROOT}
    return subprocess.Popen([*(program or PROGRAM), *map(str, words)], **{**pipes, **settings})


def finish(*words: object, seconds: float = 240, **settings: Any) -> Outcome:
    """The same, run to its end."""
    process = start(*words, **settings)
    out, err = process.communicate(timeout=seconds)
    return Outcome(process.returncode, out or "", err or "")


def read_until(process: subprocess.Popen[str], stream: IO[str], text: str, seconds: float = 200) -> str:
    """What a process writes up to the end of the line that holds ``text``.

    :raises AssertionError: it ended without writing that, or was killed since it had not after ``seconds``.
    """
    watchdog = Timer(seconds, process.kill)
    watchdog.start()
    read = ""
    try:
        while text not in read:
            line = stream.readline()
            assert line, f"the process ended without {text!r}:\n{read}"
            read += line
    finally:
        watchdog.cancel()
    return read
