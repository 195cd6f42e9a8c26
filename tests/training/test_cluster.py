"""A cluster: a real scheduler and real worker processes on this machine, one of them killed."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from threading import Thread

import pytest

from tests.learners.fragile import Fragile, trained
from ttt_cli.errors import TttError
from ttt_cli.training.workers import cluster_workers

pytest.importorskip("distributed")

SECONDS = 120
"""How long to wait for a process to come up."""


@contextmanager
def dask(*arguments: str, until: str) -> Iterator[str]:
    """One of Dask's own commands, running: what ``until`` found in what it prints."""
    variables = {**os.environ, "PYTHONPATH": str(Path.cwd()), "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        [sys.executable, "-m", "dask", *arguments],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        env=variables,
        text=True,
    )
    found: Queue[str] = Queue()

    def read() -> None:
        assert process.stderr
        for line in process.stderr:
            if match := re.search(until, line):
                found.put(match.group())

    Thread(target=read, daemon=True).start()
    try:
        yield found.get(timeout=SECONDS)
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of a scheduler with two workers."""
    scheduler = ("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
    with dask(*scheduler, until=r"tcp://127\.0\.0\.1:\d+") as at:
        worker = ("worker", at, "--nthreads", "1", "--no-dashboard")
        with dask(*worker, until="Registered to"), dask(*worker, until="Registered to"):
            yield at


@pytest.mark.long
def test_a_cluster_gives_the_same_bytes(address: str) -> None:
    with cluster_workers(address) as workers:
        assert trained(Fragile(), workers) == trained(Fragile())


@pytest.mark.long
def test_a_killed_worker_changes_nothing(address: str, tmp_path: Path) -> None:
    with cluster_workers(address) as workers:
        assert trained(Fragile(deaths=str(tmp_path), fatal=1), workers) == trained(Fragile())
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.long
def test_the_command_writes_the_same_file(address: str, tmp_path: Path) -> None:
    contents = []
    for name, where in {"cluster": ["--cluster", address], "here": []}.items():
        path = tmp_path / f"{name}.json"
        call = [sys.executable, "-m", "ttt_cli", "train", "q", "--games", "10000000", "--seed", "1"]
        subprocess.run([*call, *where, "-o", path], check=True, timeout=2 * SECONDS)
        contents.append(path.read_bytes())
    assert contents[0] == contents[1]


@pytest.mark.long
def test_a_cluster_that_does_not_answer_is_named() -> None:
    with pytest.raises(TttError, match="no scheduler answers"), cluster_workers("tcp://127.0.0.1:9"):
        pass
