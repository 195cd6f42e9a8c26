"""A trainer that is killed, interrupted or terminated loses nothing that it has announced as saved."""

import os
import random
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep

import pytest

from tests.torture.children import Child, command, litter
from ttt_cli.store import library

pytestmark = [
    pytest.mark.long,
    pytest.mark.timeout(7200),
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here"),
]

SAVED = re.compile(r"^saved ([\d,]+) games$", re.MULTILINE)


def announced(err: str) -> int:
    """The games of the last checkpoint that was announced."""
    return max((int(games.replace(",", "")) for games in SAVED.findall(err)), default=0)


@pytest.fixture(scope="module")
def streams(tmp_path_factory) -> Path:
    """Where children write; a first run in this process loads and compiles what they need."""
    folder = tmp_path_factory.mktemp("streams")
    run_here(["train", "td", "-n", "300", "--seed", "1", "-o", folder / "warm.json"])
    return folder


def run_here(words: list[object]) -> None:
    from io import StringIO

    from ttt_cli.app import run
    from ttt_cli.environment import Environment

    assert run([str(word) for word in words], Environment(StringIO(), StringIO(), StringIO())) == 0


def test_a_trainer_killed_at_random_moments_loses_no_checkpoint(tmp_path, streams, sized, capsys):
    kills = sized(30, 1000)
    rng = random.Random(1)
    work, path = tmp_path / "work", tmp_path / "work" / "td.json"
    work.mkdir()
    done, runs, seed, checkpoints = 0, 0, 1, 0
    start = ["train", "td", "--checkpoint", "0.05", "-o", "td.json"]
    fresh = ["-n", "400000", "--seed"]
    undisturbed = tmp_path / "undisturbed"
    undisturbed.mkdir()
    while done < kills:
        assert command([*start, *fresh, seed], undisturbed, streams).code == 0
        expected, floor = (undisturbed / "td.json").read_bytes(), 0
        while True:
            words = [*start, "--resume"] if path.exists() else [*start, *fresh, seed]
            child = Child(words, work, streams)
            until = monotonic() + rng.uniform(0.0, 0.8)
            while monotonic() < until and not child.over:
                sleep(0.001)
            child.send(signal.SIGKILL)
            ended = child.wait()
            assert ended.code in (0, -signal.SIGKILL), ended
            checkpoints += len(SAVED.findall(ended.err))
            floor = max(floor, announced(ended.err))
            if ended.code == 0:
                break
            done += 1
            if path.exists():
                state = library.load(path).state
                assert (state.games or 0) >= floor
                floor = state.games or 0
                if state.unfinished is None:  # killed on its way out
                    break
            else:
                assert floor == 0
        assert path.read_bytes() == expected, "a run killed and resumed ends at other bytes"
        assert litter(work) == [], "what killed processes left is cleared by the next save"
        for left in (path, undisturbed / "td.json"):
            left.unlink()
        runs, seed = runs + 1, seed + 1
    with capsys.disabled():
        print(f" {done} kills in {runs} runs, {checkpoints} checkpoints announced")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stopped_trainer_prints_what_goes_on_from_there(tmp_path, number, code):
    """The program of the shell itself; the command that it prints is executed as it stands."""
    store = ["--store", "my store", "--opponent", "opponent"]
    first = ["train", "q", "-n", "300", "--seed", "5", "-o", "my store/opponent.json"]
    for folder in ("stopped", "undisturbed"):
        (tmp_path / folder).mkdir()
        assert ttt(first, tmp_path / folder).returncode == 0
    train = ["train", "td", "-n", "1500000", "--seed", "3", "--checkpoint", "0.05", *store]
    assert ttt(train, tmp_path / "undisturbed").returncode == 0
    process = popen(train, tmp_path / "stopped")
    err = ""
    while "saved" not in err:
        err += process.stderr.readline()
    process.send_signal(number)
    err += process.communicate(timeout=60)[1]
    assert process.returncode == code, err
    assert "stopping after this block (again: at once)" in err
    path = tmp_path / "stopped" / "my store" / "td.json"
    assert announced(err) <= library.load(path).state.games < 1_500_000
    again = shlex.split(re.search("resume with: (.*)", err)[1])
    assert again[0] == "ttt"
    assert ttt(again[1:], tmp_path / "stopped").returncode == 0
    assert path.read_bytes() == (tmp_path / "undisturbed" / "my store" / "td.json").read_bytes()


def test_a_second_ctrl_c_leaves_at_once(tmp_path, streams):
    """Also in the middle of a long block; the last checkpoint stays."""
    code = (
        "import sys, time\n"
        "from ttt_cli.learners.td import Td\n"
        "from ttt_cli import app\n"
        "real = Td.train\n"
        "def slow(self, table, block):\n"
        "    results = real(self, table, block)\n"
        "    if block.first >= 200_000:\n"
        "        print('in a block', file=sys.stderr, flush=True)\n"
        "        time.sleep(600)\n"
        "    return results\n"
        "Td.train = slow\n"
        "app.main()\n"
    )
    train = ["train", "td", "-n", "3000000", "--seed", "3", "--checkpoint", "0", "-o", "td.json"]
    process = popen(train, tmp_path, program=["-c", code])
    err = ""
    while "in a block" not in err:
        err += process.stderr.readline()
    process.send_signal(signal.SIGINT)
    while "again: at once" not in err:
        err += process.stderr.readline()
    sleep(0.2)
    assert process.poll() is None, "the first lets the block end"
    began = monotonic()
    process.send_signal(signal.SIGINT)
    err += process.communicate(timeout=60)[1]
    assert monotonic() - began < 3
    assert process.returncode == 130
    assert "Traceback" not in err
    assert library.load(tmp_path / "td.json").state.games == announced(err) > 0


def popen(words: list[str], folder: Path, program: list[str] | None = None) -> subprocess.Popen[str]:
    command = [sys.executable, *(program or ["-m", "ttt_cli"]), *words]
    return subprocess.Popen(command, cwd=folder, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def ttt(words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ttt_cli", *words], cwd=folder, text=True, capture_output=True, timeout=120
    )
