"""Standard output is complete or the exit code is not 0; notices that cannot be written never stop work."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.ttt import PROGRAM, Outcome, finish, read_until, start

BOOK = ["export", "minimax", "--format", "policy-csv", "-o", "-"]
"""Writes 348,327 bytes."""


def shell(line: str, **variables: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "TTT": " ".join(PROGRAM), **variables}
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, env=env, timeout=120)


@pytest.mark.parametrize("unbuffered", ["", pytest.param("1", marks=pytest.mark.long)])
def test_what_does_not_fit_on_the_disk_fails(tmp_path: Path, unbuffered: str):
    line = f"ulimit -f 64; trap '' XFSZ; $TTT {' '.join(BOOK)} > {tmp_path / 'part'}"
    outcome = shell(line, PYTHONUNBUFFERED=unbuffered)
    assert (outcome.returncode, outcome.stderr) == (1, "Error: standard output: File too large\n")


@pytest.mark.parametrize("unbuffered", ["", pytest.param("1", marks=pytest.mark.long)])
def test_a_reader_gets_all_and_one_that_goes_early_is_told_by_the_exit_code(unbuffered: str):
    for reader, read in (("head -1", "position,move,probability,value\n141\n"), ("wc -c", "348327\n0\n")):
        line = f"$TTT {' '.join(BOOK)} | {reader}; echo ${{PIPESTATUS[0]}}"
        outcome = shell(line, PYTHONUNBUFFERED=unbuffered)
        assert (outcome.stdout, outcome.stderr) == (read, "")


def test_a_closed_standard_output_fails_where_there_is_something_to_write():
    outcome = shell("$TTT analyze X........ >&-")
    assert (outcome.returncode, outcome.stderr) == (1, "Error: standard output: Bad file descriptor\n")
    assert shell("$TTT nosuch >&-").returncode == 2


@pytest.mark.parametrize(("stderr", "unbuffered"), [("2>/dev/full", "1"), ("2>&-", ""), ("2> >(exit)", "")])
def test_notices_that_cannot_be_written_stop_nothing(tmp_path: Path, stderr: str, unbuffered: str):
    path = tmp_path / "q.json"
    line = f"$TTT train q --games 300 --checkpoint 0 -o {path} {stderr}"
    outcome = shell(line, PYTHONUNBUFFERED=unbuffered)
    assert outcome.returncode == 0
    assert path.exists()
    assert shell(f"$TTT nosuch {stderr}", PYTHONUNBUFFERED=unbuffered).returncode == 2


def test_files_never_take_the_number_of_a_closed_stream(tmp_path: Path):
    """Else what anything writes to descriptor 1 or 2 would end up in them."""
    code = (
        "import os\nfrom ttt_cli.streams import standard_streams\nstandard_streams()\n"
        f"fd = os.open({str(tmp_path / 'new')!r}, os.O_WRONLY | os.O_CREAT)\n"
        "os._exit(0 if fd > 2 else 1)\n"
    )
    assert subprocess.run(["bash", "-c", '"$0" -c "$1" <&- >&- 2>&-', sys.executable, code]).returncode == 0


# ---- signals


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_at_any_moment_of_the_start_leaves_no_traceback(tmp_path: Path, number: int, sized):
    """While modules are loaded, orjson's among them, which crashes if an exception meets it."""
    words = ["ttt", "show", str(tmp_path / "none.json")]
    code = (
        f"import os, sys\nsys.argv = {words!r}\nfrom ttt_cli.__main__ import main\n"
        "os.write(1, b'x')\nmain()\n"
    )
    moments = sized(4, 48)
    for moment in range(moments):
        process = start(program=[sys.executable, "-c", code])
        assert process.stdout is not None
        assert process.stdout.read(1) == "x"
        time.sleep(0.005 + 0.144 * moment / moments)
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
        if "ttt_cli" not in err and err.endswith("in <module>\nKeyboardInterrupt\n"):
            continue  # it was not there yet
        assert process.returncode in (-number, 128 + number, 3)
        if "<string>" in err:  # it came before main()
            continue
        assert "Traceback" not in err
        assert err.count("\n") <= 1


def test_no_exception_is_raised_into_an_import(tmp_path: Path):
    (tmp_path / "slow.py").write_text(
        "import os, signal\n"
        "try:\n    os.kill(os.getpid(), signal.SIGTERM)\n    for _ in range(10**6): pass\n"
        "except BaseException as error:\n    print('raised', error)\n",
        encoding="utf-8",
    )
    code = "import sys\nfrom ttt_cli.shell.signals import stop_by_signals\nstop_by_signals()\nimport slow\n"
    path = f"{os.environ.get('PYTHONPATH', '')}{os.pathsep}{tmp_path}"
    outcome = finish(
        program=[sys.executable, "-c", code], cwd=tmp_path, env={**os.environ, "PYTHONPATH": path}
    )
    assert outcome == Outcome(143, "", "Error: terminated\n")


def test_a_trainer_that_is_hung_up_on_saves(tmp_path: Path):
    path = tmp_path / "q.json"
    process = start("train", "q", "--games", 10**9, "--checkpoint", "0.3", "-o", path)
    assert process.stderr is not None
    read_until(process, process.stderr, "saved")
    before = path.read_bytes()
    process.send_signal(signal.SIGHUP)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 129
    assert "stopped; resume with: ttt train q --resume" in " ".join(err.split())
    assert path.read_bytes() != before


def test_signals_that_are_to_be_ignored_are(tmp_path: Path):
    line = (
        f"trap '' HUP; $TTT train q --games 300 -o {tmp_path / 'q.json'} & sleep 0.5; kill -HUP $!; wait $!"
    )
    assert shell(line).returncode == 0


def test_a_line_that_never_ends_costs_a_filter_nothing():
    started = time.process_time()
    outcome = shell("head -c 100000000 /dev/zero | tr '\\0' X | $TTT move minimax -")
    assert outcome.returncode == 1
    assert "error: not a position" in outcome.stdout
    assert len(outcome.stdout) < 300
    assert time.process_time() - started < 5


def test_a_signal_s_notice_comes_amid_another_one():
    """The handler runs within the write of the first, whose buffer it cannot enter."""
    code = (
        "import os, signal, sys\n"
        "from io import BufferedWriter, FileIO\n"
        "from ttt_cli.streams import _Notices\n"
        "class Hit(FileIO):\n"
        "    def write(self, data):\n"
        "        if b'first' in bytes(data):\n"
        "            signal.raise_signal(signal.SIGINT)\n"
        "        return super().write(data)\n"
        "err = _Notices(BufferedWriter(Hit(2, 'w')), 'utf-8', line_buffering=True)\n"
        "signal.signal(signal.SIGINT, lambda *_: err.write('second\\n'))\n"
        "err.write('first\\n')\n"
    )
    outcome = finish(program=[sys.executable, "-c", code])
    assert sorted(outcome.err.split()) == ["first", "second"]
