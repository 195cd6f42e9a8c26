"""A trainer that is killed, interrupted or terminated loses nothing that it has announced as saved."""

import random
import re
import shlex
import signal
from pathlib import Path
from time import monotonic, sleep

import pytest

from tests.store.faults import litter
from tests.ttt import finish, read_until, start
from ttt_cli.store import library

pytestmark = pytest.mark.long

SAVED = re.compile(r"^saved ([\d,]+) games$", re.MULTILINE)


def announced(err: str) -> int:
    """The games of the last checkpoint that was announced."""
    return max((int(games.replace(",", "")) for games in SAVED.findall(err)), default=0)


def test_a_trainer_killed_at_random_moments_loses_no_checkpoint(tmp_path, sized):
    rng, kills, seed = random.Random(1), sized(4, 500), 0
    train = ["train", "td", "--checkpoint", "0.05", "-o", "td.json"]
    work, undisturbed = tmp_path / "work", tmp_path / "undisturbed"
    work.mkdir()
    undisturbed.mkdir()
    path = work / "td.json"
    while kills > 0:
        seed += 1
        fresh = [*train, "-n", 400_000, "--seed", seed]
        began = monotonic()
        assert finish(*fresh, cwd=undisturbed).code == 0
        takes, floor, over = monotonic() - began, 0, False
        while not over:
            process = start(*([*train, "--resume"] if path.exists() else fresh), cwd=work)
            sleep(rng.uniform(0.3, 1.1) * takes)
            process.kill()
            err = process.communicate()[1]
            assert process.returncode in (0, -signal.SIGKILL), err
            over, floor = process.returncode == 0, max(floor, announced(err))
            kills -= not over
            if path.exists():
                state = library.load(path).state
                assert (state.games or 0) >= floor
                over |= state.unfinished is None  # killed on its way out
            else:
                assert floor == 0
        assert path.read_bytes() == (undisturbed / "td.json").read_bytes(), "resumed, it ends at other bytes"
        assert litter(work) == [], "the next save clears what killed processes have left"
        path.unlink()
        (undisturbed / "td.json").unlink()


STORE = ("--store", "my store", "--opponent", "opponent")
OPPONENT = ("train", "q", "-n", "300", "--seed", "5", "-o", "my store/opponent.json")
TRAIN = ("train", "td", "-n", "4000000", "--seed", "3", "--checkpoint", "0", *STORE)


def test_a_stopped_trainer_prints_the_command_that_continues(tmp_path):
    """The command that it prints is executed as it stands."""
    folders = [tmp_path / name for name in ("stopped", "undisturbed")]
    for folder in folders:
        (folder / "my store").mkdir(parents=True)
        assert finish(*OPPONENT, cwd=folder).code == 0
    stopped, undisturbed = folders
    assert finish(*TRAIN, cwd=undisturbed).code == 0
    process = start(*TRAIN, cwd=stopped)
    err = read_until(process, process.stderr, "saved")
    process.send_signal(signal.SIGTERM)
    err += process.communicate(timeout=60)[1]
    assert process.returncode == 128 + signal.SIGTERM, err
    assert "stopping after this block (Ctrl-C again:" in err
    path = Path("my store/td.json")
    assert 0 < announced(err) <= library.load(stopped / path).state.games < 4_000_000
    again = shlex.split(re.search(r"resume with:\s+(.*)", err)[1])
    assert again[0] == "ttt"
    assert finish(*again[1:], cwd=stopped).code == 0
    assert (stopped / path).read_bytes() == (undisturbed / path).read_bytes()
