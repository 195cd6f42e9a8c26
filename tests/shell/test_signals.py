"""Ctrl-C and SIGTERM in real processes: whatever a command is at, it ends within two seconds."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.ttt import finish, start

BOARD = ["--board", "8x8", "--line", "5"]

DEEP = {
    "evaluate": ["evaluate", "search:depth=12", "random", *BOARD],
    "solve": ["solve", *BOARD],
}

STUCK = """
import hashlib
from ttt_cli.shell.signals import graceful, stop_by_signals
from ttt_cli.environment import Environment

def work():
    print("ready", flush=True)
    hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1)  # a call that heeds no signal

stop_by_signals()
with {body}:
    work()
"""


def busy(process: subprocess.Popen[str], seconds: float = 1.0) -> None:
    """Wait until a process has computed for so long: more than it takes to start."""
    stat = Path(f"/proc/{process.pid}/stat")
    until = time.monotonic() + (60 if stat.exists() else 4)
    while time.monotonic() < until:
        if stat.exists() and sum(map(int, stat.read_text().split()[13:15])) > seconds * os.sysconf(
            "SC_CLK_TCK"
        ):
            return
        time.sleep(0.05)


def seconds_to_end(process: subprocess.Popen[str], number: signal.Signals, *, times: int = 1) -> tuple:
    """How long it takes to end after a signal, its exit code, and what it has written."""
    try:
        assert process.poll() is None
        for _ in range(times):
            started = time.perf_counter()
            process.send_signal(number)
            time.sleep(0.1)
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
    return time.perf_counter() - started, process.returncode, out, err


def stuck(body: str) -> subprocess.Popen[str]:
    """A process in code that heeds no signal."""
    process = start(program=[sys.executable, "-c", STUCK.format(body=body)])
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    time.sleep(0.2)
    return process


@pytest.mark.compiled
@pytest.mark.parametrize("command", DEEP)
def test_a_deep_search_can_be_interrupted(command: str, tmp_path: Path):
    if command == "solve":
        finish("solve", "--nodes", 10, *BOARD, cwd=tmp_path)  # compiles
    process = start(*DEEP[command], cwd=tmp_path)
    busy(process)
    seconds, code, out, err = seconds_to_end(process, signal.SIGINT)
    assert seconds < 2.5, seconds
    assert code == 130
    assert "Traceback" not in err
    if command == "solve":
        assert "not known yet: it was interrupted (" in out


def test_code_that_heeds_no_signal_is_left():
    process = stuck("__import__('contextlib').nullcontext()")
    seconds, code, _, err = seconds_to_end(process, signal.SIGTERM)
    assert (code, err.count("\n")) == (143, 1)
    assert seconds < 2.5, seconds


def test_a_second_signal_ends_at_once_what_would_finish_its_block():
    process = stuck("graceful(Environment.of_process(), 'stopping')")
    seconds, code, _, err = seconds_to_end(process, signal.SIGINT, times=2)
    assert (code, err) == (130, "Error: interrupted\n")
    assert seconds < 1.5, seconds
