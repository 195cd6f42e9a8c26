"""A cluster: a real scheduler and real worker processes on this machine, one of them killed."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.ttt import ROOT, finish, read_until, start
from ttt_cli import Rules, TttError
from ttt_cli.conformance import content
from ttt_cli.engine.kernel import prefer_uncompiled
from ttt_cli.learners.base import Shard
from ttt_cli.learners.q import Q
from ttt_cli.store.state import State
from ttt_cli.training import workers
from ttt_cli.training.trainer import ShardMap, advance, new_run
from ttt_cli.training.workers import cluster_workers

missing = pytest.mark.skipif(not find_spec("distributed"), reason="distributed is not installed")
pytestmark = [pytest.mark.long, missing]

GAMES = 8000


@dataclass(frozen=True)
class Fragile(Q):
    """Q-learning whose workers die at will, in shards so small that its kernel need not be compiled.

    :ivar deaths: a folder with a file for each time that a worker was killed in the middle of a shard.
    :ivar fatal: how often that happens.
    """

    block_games = 1000
    shard_games = 500
    deaths: str = ""
    fatal: int = 0

    def train(self, table: Any, shard: Shard) -> Any:
        with prefer_uncompiled():
            counted = super().train(table, shard)
        died = len(list(Path(self.deaths).iterdir())) if self.deaths else 0
        if died < self.fatal and shard.first >= GAMES // 2:
            Path(self.deaths, str(died)).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return counted


def trained(learner: Fragile, spread: ShardMap = map) -> tuple[bytes, list[int]]:
    """The learner's table after blocks of one and of eight shards, and the results of its games."""
    run = new_run(Path(), State.empty(learner, Rules()), games=GAMES, seed=1)
    run.shards = 8
    list(advance(run, spread))
    return content(learner, run.state.table), list(run.results.values())


@contextmanager
def dask(*words: str, until: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """One of Dask's own commands, running: what it says up to the line with ``until``, and the process."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
    program = [sys.executable, "-m", "dask"]
    with start(*words, program=program, env=env, stdout=subprocess.DEVNULL) as process:
        try:
            yield read_until(process, process.stderr, until), process
        finally:
            process.kill()


@contextmanager
def scheduler() -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A scheduler that this machine alone reaches: its address and its process."""
    where = ("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
    with dask(*where, until="tcp://127.0.0.1:") as (said, process):
        yield re.findall(r"tcp://127\.0\.0\.1:\d+", said)[-1], process


def worker(at: str) -> AbstractContextManager[object]:
    """A worker for the scheduler at an address."""
    return dask("worker", at, "--nthreads", "1", "--no-nanny", "--no-dashboard", until="Registered to")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of a scheduler with two workers."""
    with scheduler() as (at, _), worker(at), worker(at):
        yield at


def test_a_killed_worker_changes_nothing(address: str, tmp_path: Path) -> None:
    with cluster_workers(address) as cluster:
        assert trained(Fragile(deaths=str(tmp_path), fatal=1), cluster) == trained(Fragile())
    assert len(list(tmp_path.iterdir())) == 1


def test_a_cluster_worker_of_another_version_trains_nothing(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "code_digest", lambda _: "another digest")
    with pytest.raises(TttError, match="runs another version of ttt"), cluster_workers(address) as cluster:
        trained(Fragile(), cluster)


def test_a_killed_scheduler_is_reported_and_the_run_resumes_without_it(tmp_path: Path) -> None:
    path = tmp_path / "td.json"
    with scheduler() as (at, process), worker(at):
        new = ("--games", "4000000", "--seed", "1", "--checkpoint", "0.1", "--cluster", at)
        with start("train", "td", "-o", path, *new) as trainer:
            said = read_until(trainer, trainer.stderr, "saved")
            process.kill()
            said += trainer.communicate(timeout=120)[1]
    assert trainer.returncode == 1, said
    assert "Traceback" not in said, said
    assert "the connection to the scheduler was lost (--resume continues from the last save" in said
    assert finish("train", "td", "-o", path, "--resume").code == 0


def test_a_cluster_that_does_not_answer_is_named(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("ttt_cli.training.workers.PATIENCE", 1)
    with scheduler() as (at, _), pytest.raises(TttError, match="no worker is connected"), cluster_workers(at):
        pass
    caplog.set_level("INFO")
    with pytest.raises(TttError, match="no scheduler answers"), cluster_workers("tcp://127.0.0.1:9"):
        pass
    assert "waiting for the cluster" in caplog.text
