"""A trainer that is killed, interrupted or terminated loses nothing that it has announced as saved."""

import os
import random
import re
import shlex
import shutil
import signal
import sys
from contextlib import chdir
from pathlib import Path
from time import monotonic, sleep

import pytest

from tests.torture.children import Child, command, litter
from tests.ttt import finish, read_until, start
from ttt_cli.store import library

pytestmark = [
    pytest.mark.long,
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
    kills = sized(12, 1000)
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


GAMES = 600_000
STORE = ("--store", "my store", "--opponent", "opponent")
OPPONENT = ("train", "q", "-n", "300", "--seed", "5", "-o", "my store/opponent.json")
TRAIN = ("train", "td", "-n", f"{GAMES}", "--seed", "3", "--checkpoint", "0", *STORE)

SLOW = """
import sys, time
from pathlib import Path
from ttt_cli import app
from ttt_cli.learners.td import Td
train = Td.train
def slow(self, table, shard):
    results = train(self, table, shard)
    if shard.first >= 200_000 and not Path("go on").exists():
        print("in a block", file=sys.stderr, flush=True)
        for _ in range(1200):
            time.sleep(0.1)  # not long at once: a signal that comes just before a sleep is heard after it
            if Path("go on").exists():
                break
    return results
Td.train = slow
app.main()
"""
"""The program of the shell, but a block amid the run takes two minutes, or until it may go on."""


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> Path:
    """A folder with an opponent's state and that of a whole run against it."""
    folder = tmp_path_factory.mktemp("undisturbed")
    (folder / "my store").mkdir()
    with chdir(folder):
        run_here(OPPONENT)
        run_here(TRAIN)
    return folder


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stopped_trainer_prints_what_goes_on_from_there(tmp_path, undisturbed, number, code):
    """The command that it prints is executed as it stands."""
    stopped = tmp_path / "stopped"
    (stopped / "my store").mkdir(parents=True)
    shutil.copy(undisturbed / OPPONENT[-1], stopped / OPPONENT[-1])
    process = start(*TRAIN, cwd=stopped, program=[sys.executable, "-c", SLOW])
    err = read_until(process, process.stderr, "in a block")
    process.send_signal(number)
    err += read_until(process, process.stderr, "stopping after this block (again: at once)")
    (stopped / "go on").touch()
    err += process.communicate(timeout=60)[1]
    assert process.returncode == code, err
    path = Path("my store/td.json")
    assert 0 < announced(err) <= library.load(stopped / path).state.games < GAMES
    again = shlex.split(re.search(r"resume with:\s+(.*)", err)[1])
    assert again[0] == "ttt"
    assert finish(*again[1:], cwd=stopped).code == 0
    assert (stopped / path).read_bytes() == (undisturbed / path).read_bytes()


def test_a_second_ctrl_c_leaves_at_once(tmp_path):
    """Also in the middle of a long block; the last checkpoint stays."""
    train = ["train", "td", "-n", "3000000", "--seed", "3", "--checkpoint", "0", "-o", "td.json"]
    process = start(*train, cwd=tmp_path, program=[sys.executable, "-c", SLOW])
    err = read_until(process, process.stderr, "in a block")
    process.send_signal(signal.SIGINT)
    err += read_until(process, process.stderr, "again: at once")
    sleep(0.2)
    assert process.poll() is None, "the first lets the block end"
    process.send_signal(signal.SIGINT)
    err += process.communicate(timeout=60)[1]
    assert process.returncode == 130
    assert "Traceback" not in err
    assert library.load(tmp_path / "td.json").state.games == announced(err) > 0
