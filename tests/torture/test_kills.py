"""A trainer that is killed loses nothing that it has announced as saved."""

import random
import re
import signal
from time import monotonic, sleep

import pytest

from tests.store.faults import litter
from tests.ttt import finish, start
from ttt_cli.store import library

pytestmark = pytest.mark.long

SAVED = re.compile(r"^saved ([\d,]+) games$", re.MULTILINE)


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
            announced = [int(games.replace(",", "")) for games in SAVED.findall(err)]
            over, floor = process.returncode == 0, max([floor, *announced])
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
