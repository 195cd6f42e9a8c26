"""Worker processes: however many there are, and whatever happens to them, the bytes are the same."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.learners.fragile import Fragile, trained
from ttt_cli.engine.space import Space
from ttt_cli.errors import TttError
from ttt_cli.learners import workers as workers_module
from ttt_cli.learners.base import Block
from ttt_cli.learners.workers import local_workers


@pytest.mark.parametrize("count", [2, 7])
def test_the_number_of_workers_changes_no_byte(count: int) -> None:
    with local_workers(count) as workers:
        assert trained(Fragile(), workers) == trained(Fragile())


def test_a_worker_that_dies_is_replaced_and_its_shard_repeated(tmp_path: Path) -> None:
    with local_workers(2) as workers:
        assert trained(Fragile(deaths=str(tmp_path), fatal=1), workers) == trained(Fragile())
    assert len(list(tmp_path.iterdir())) == 1


def test_workers_that_always_die_are_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers_module, "ATTEMPTS", 2)
    learner = Fragile(deaths=str(tmp_path), fatal=1000)
    shards = [Block(first=10**6, games=1, rng=np.random.default_rng(number)) for number in range(2)]
    with local_workers(1) as workers, pytest.raises(TttError, match="died 2 times"):
        workers(learner, learner.empty(Space.of()), shards)
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.long
def test_the_files_of_long_runs_are_the_same_for_1_2_and_7_workers(tmp_path: Path) -> None:
    contents = set()
    for count in (1, 2, 7):
        path = tmp_path / f"{count}.json"
        call = [sys.executable, "-m", "ttt_cli", "train", "q", "--games", "10000000", "--seed", "1"]
        subprocess.run([*call, "--workers", str(count), "-o", path], check=True, capture_output=True)
        contents.add(path.read_bytes())
    assert len(contents) == 1
