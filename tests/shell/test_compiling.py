"""What a terminal shows while something is compiled."""

from io import StringIO

import pytest

from tests.ttt import Run, Terminal
from ttt_cli.engine import kernel
from ttt_cli.environment import Environment
from ttt_cli.views.progress import progress


def environment(kind: type) -> Environment:
    return Environment(kind(), kind(), kind(), variables={"TERM": "xterm", "COLUMNS": "80"})


def test_compiling_is_announced_with_a_spinner_at_a_terminal() -> None:
    env, piped = environment(Terminal), environment(StringIO)
    with env.compiling(None, "q", 3.2):
        assert "compiling q, once, about 3 s" in env.stderr.getvalue()
    assert env.stderr.getvalue().endswith("\x1b[2K")  # and then it vanishes
    with progress(env, 10, title="walk") as tick, env.compiling(None, "q", 3):
        tick(5)
    assert "walk" in env.stderr.getvalue() and env.stdout.getvalue() == ""
    with piped.compiling(None, "q", 0.2):
        assert piped.stderr.getvalue() == "compiling q, once, about 1 s\n"


def test_commands_listen_to_the_compiler(ttt: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "announce", None, raising=False)
    assert ttt("show", "minimax").code == 0
    with kernel.announce("search", 2.0):
        pass
