"""Ctrl-C and SIGTERM in real processes: whatever a command is at, it ends within two seconds."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.ttt import start

BOARD = ["--board", "8x8", "--line", "5"]

DEEP = {"evaluate": ["evaluate", "search:depth=12", "random", *BOARD], "solve": ["solve", *BOARD]}

STUCK = """
from contextlib import nullcontext
from ctypes import CDLL, create_string_buffer
from ttt_cli.shell.signals import graceful, stop_by_signals
from ttt_cli.environment import Environment
from ttt_cli.streams import standard_streams

mutex, threads = create_string_buffer(64), CDLL(None)
threads.pthread_mutex_init(mutex, None)
stop_by_signals()
with {body}:
    print("ready", flush=True)
    for _ in range(2):
        threads.pthread_mutex_lock(mutex)  # the second time it waits for ever and heeds no signal
"""


def busy(process: subprocess.Popen[str], seconds: float = 2.5) -> None:
    """Wait until a process has computed for so long: more than it takes to start."""
    stat, ticks = Path(f"/proc/{process.pid}/stat"), seconds * os.sysconf("SC_CLK_TCK")
    until = time.monotonic() + (60 if stat.exists() else 4)
    while time.monotonic() < until:
        if stat.exists() and sum(map(int, stat.read_text().split()[13:15])) > ticks:
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
@pytest.mark.long
@pytest.mark.parametrize("command", ["solve", "evaluate"])
def test_a_deep_search_can_be_interrupted(command: str, tmp_path: Path, ttt):
    if command == "solve":
        ttt("solve", "--nodes", 10, *BOARD)  # compiles
    process = start(*DEEP[command], cwd=tmp_path)
    busy(process)
    seconds, code, out, err = seconds_to_end(process, signal.SIGINT)
    assert seconds < 2.5, seconds
    assert code == 130
    assert "Traceback" not in err
    if command == "solve":
        assert "not known yet: it was interrupted (" in out


@pytest.mark.long
def test_code_that_ignores_signals_is_abandoned():
    process = stuck("nullcontext()")
    seconds, code, _, err = seconds_to_end(process, signal.SIGTERM)
    assert (code, err.count("\n")) == (143, 1)
    assert seconds < 2.5, seconds


def test_a_second_signal_ends_at_once():
    process = stuck("graceful(Environment(*standard_streams()), 'stopping')")
    seconds, code, _, err = seconds_to_end(process, signal.SIGINT, times=2)
    assert (code, err) == (130, "Error: interrupted\n")
    assert seconds < 1.5, seconds
