"""Ctrl-C and SIGTERM in real processes: whatever a command is at, it ends within two seconds."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.ttt import Outcome, finish, start

BOARD = ["--board", "8x8", "--line", "5"]

DEEP = {"evaluate": ["evaluate", "search:depth=12", "random", *BOARD], "solve": ["solve", *BOARD]}

STUCK = """
import time
from ctypes import CDLL, create_string_buffer
from ttt_cli.environment import Environment
from ttt_cli.signals import end_by_signals, graceful, holding
from ttt_cli.store.files import writing
from ttt_cli.streams import standard_streams

env = Environment(*standard_streams())
mutex, threads = create_string_buffer(64), CDLL(None)
threads.pthread_mutex_init(mutex, None)
end_by_signals(lambda code: env.say(code.label))
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


@pytest.mark.parametrize(
    ("body", "times", "said"),
    [
        ("holding(lambda: env.say('given back'))", 1, "given back\ninterrupted\n"),
        ("holding(lambda: time.sleep(60))", 1, ""),
        ("writing('file')", 1, "interrupted\n"),
        ("graceful(env.say, 'stopping')", 2, "stopping\ninterrupted\n"),
    ],
)
def test_a_signal_ends_the_process_whatever_it_is_at(body: str, times: int, said: str, tmp_path: Path):
    """What it holds is given back, unless that takes too long."""
    process = start(program=[sys.executable, "-c", STUCK.format(body=body)], cwd=tmp_path)
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    time.sleep(0.2)
    seconds, code, _, err = seconds_to_end(process, signal.SIGINT, times=times)
    assert (code, err, [*tmp_path.iterdir()]) == (130, said, [])
    assert seconds < 1.5, seconds


def test_ignored_signals_stay_ignored():
    """As ``nohup`` has it."""
    code = (
        "import os, signal, time\nfrom ttt_cli.signals import end_by_signals\n"
        "signal.signal(signal.SIGHUP, signal.SIG_IGN)\nend_by_signals(print)\n"
        "os.kill(os.getpid(), signal.SIGHUP)\ntime.sleep(0.2)\nprint('here')\n"
    )
    assert finish(program=[sys.executable, "-c", code]) == Outcome(0, "here\n", "")
