"""The one way in which tests run ``ttt``: in this process, or as a process of its own."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import orjson
import pytest

from ttt_cli.app import run
from ttt_cli.environment import Environment

ROOT = Path(__file__).parents[1]
PROGRAM = [sys.executable, "-m", "ttt_cli"]


class Terminal(StringIO):
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
        kind = Terminal if terminal else StringIO
        out, err = kind(), kind()
        env = Environment(kind(stdin), out, err, variables={**os.environ, **variables})
        return Outcome(run([str(argument) for argument in arguments], env), out.getvalue(), err.getvalue())

    return call


def start(*words: object, program: list[str] | None = None, **settings: Any) -> subprocess.Popen[str]:
    """``ttt`` as a process of its own, its outputs piped unless ``settings`` say otherwise; or another
    program."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "cwd": ROOT}
    return subprocess.Popen([*(program or PROGRAM), *map(str, words)], **{**pipes, **settings})
