"""Ctrl-C and SIGTERM in real processes: whatever a command is at, it ends within two seconds."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

BOARD = ["--board", "8x8", "--line", "5"]

DEEP = {
    "move": ["move", "search:depth=12", "." * 64, *BOARD],
    "evaluate": ["evaluate", "search:depth=12", "random", *BOARD],
    "play": ["play", "--x", "search:depth=12", "--o", "random", "--games", "2", *BOARD],
    "analyze": ["analyze", "." * 64, *BOARD],
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


def seconds_to_end(call: list[str], number: signal.Signals, tmp_path: Path, *, times: int = 1) -> tuple:
    """How long a process takes to end after a signal, its exit code, and what it has written."""
    with subprocess.Popen(
        [sys.executable, *call], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            if call[0] == "-c":
                assert process.stdout is not None
                assert process.stdout.readline() == "ready\n"
            time.sleep(0.5 if call[0] == "-c" else 4)
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
@pytest.mark.parametrize("command", DEEP)
def test_a_deep_search_can_be_interrupted(command: str, tmp_path: Path):
    seconds, code, out, err = seconds_to_end(["-m", "ttt_cli", *DEEP[command]], signal.SIGINT, tmp_path)
    assert seconds < 2.5, seconds
    assert code == 130
    assert "Traceback" not in err
    if command == "solve":
        assert "not known yet: it was interrupted (" in out


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["interrupt", "terminate"]
)
def test_code_that_heeds_no_signal_is_left(number: signal.Signals, code: int, tmp_path: Path):
    body = "__import__('contextlib').nullcontext()"
    seconds, found, _, err = seconds_to_end(["-c", STUCK.format(body=body)], number, tmp_path)
    assert (found, err.count("\n")) == (code, 1)
    assert seconds < 2.5, seconds


def test_a_second_signal_ends_at_once_what_would_finish_its_block(tmp_path: Path):
    body = "graceful(Environment.of_process(), 'stopping')"
    seconds, code, _, err = seconds_to_end(["-c", STUCK.format(body=body)], signal.SIGINT, tmp_path, times=2)
    assert (code, err) == (130, "Error: interrupted\n")
    assert seconds < 1.5, seconds
