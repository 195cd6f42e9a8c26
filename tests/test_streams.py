"""Standard output is complete or the exit code is not 0; notices that cannot be written never stop work."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from tests.ttt import PROGRAM, Outcome, finish, read_until, start

BOOK = "export minimax --format policy-csv -o -"


def shell(line: str, **variables: str) -> Outcome:
    env = {**os.environ, "TTT": " ".join(PROGRAM), **variables}
    return finish("-c", line, program=["bash"], env=env, seconds=120)


def test_output_that_does_not_fit_on_the_disk_is_an_error(tmp_path: Path):
    outcome = shell(f"ulimit -f 64; trap '' XFSZ; $TTT {BOOK} > {tmp_path / 'part'}")
    assert outcome == Outcome(
        1, "", "Error: standard output: cannot be written: file too large (raise the limit (ulimit -f))\n"
    )


def test_a_size_that_is_no_number_does_no_harm(tmp_path):
    sizes = {"COLUMNS": "\N{SUPERSCRIPT TWO}", "LINES": "1e9", "TERMINAL_WIDTH": "x"}
    assert finish("show", "--formats", cwd=tmp_path, env={**os.environ, **sizes}).code == 0


@pytest.mark.parametrize(
    ("reader", "read"), [("head -1", "position,move,probability,value\n141\n"), ("wc -c", "348327\n0\n")]
)
def test_a_reader_that_leaves_early_sets_the_exit_code(reader, read):
    assert shell(f"$TTT {BOOK} | {reader}; echo ${{PIPESTATUS[0]}}") == Outcome(0, read, "")


def test_a_closed_output_is_an_error_if_it_is_needed():
    error = "Error: standard output: cannot be written: bad file descriptor\n"
    assert shell("$TTT analyze X........ >&-") == Outcome(1, "", error)
    assert shell("$TTT nosuch >&-").code == 2
    assert shell("exec 3> >(:); wait $!; $TTT --help >&3; echo $?") == Outcome(0, "141\n", "")


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "stderr", "saved"),
    [
        ("train q --games 30 --checkpoint 0", "2>/dev/full", "q.json"),
        ("play --x random --o random --learn", "2>&-", "games.jsonl"),
    ],
)
def test_unwritable_notices_stop_nothing(tmp_path: Path, words, stderr, saved):
    assert shell(f"$TTT {words} --store {tmp_path} {stderr}").code == 0
    assert (tmp_path / saved).exists()


@pytest.mark.long
def test_a_poor_locale_and_odd_bytes_cause_no_error():
    line = "printf 'X\\xff\\n' | $TTT move minimax -; $TTT analyze X........; $TTT evaluate random --quiet"
    outcome = shell(line, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert (outcome.code, outcome.err) == (0, "")
    assert r"'X\udcff'" in outcome.out and "---+---" in outcome.out and "##" in outcome.out


def test_files_never_take_the_number_of_a_closed_stream():
    """Else what anything writes to descriptor 1 or 2 would end up in them."""
    code = (
        "import os\nfrom ttt_cli.streams import standard_streams\nstandard_streams()\n"
        "os._exit(0 if os.open('/dev/null', os.O_WRONLY) > 2 else 1)\n"
    )
    assert finish("-c", '"$0" -c "$1" <&- >&- 2>&-', sys.executable, code, program=["bash"]).code == 0


# ---- signals


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
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
        assert process.stdout is not None and process.stdout.read(1) == "x"
        time.sleep(0.005 + 0.144 * moment / moments)
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
        if "ttt_cli" not in err and err.endswith("in <module>\nKeyboardInterrupt\n"):
            continue  # it was not there yet
        assert process.returncode in (-number, 128 + number, 3)
        if "<string>" in err:  # it came before main()
            continue
        assert "Traceback" not in err and err.count("\n") <= 1


def test_a_trainer_that_is_hung_up_on_saves(tmp_path: Path):
    path = tmp_path / "q.json"
    process = start("train", "q", "--games", 10**9, "--checkpoint", "0.1", "-o", path)
    assert process.stderr is not None
    read_until(process, process.stderr, "saved")
    before = path.read_bytes()
    process.send_signal(signal.SIGHUP)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 129
    assert "stopped; resume with: ttt train q --resume" in " ".join(err.split())
    assert path.read_bytes() != before
