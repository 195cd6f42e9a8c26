"""Workers: however many there are, the bytes are the same."""

from pathlib import Path

import pytest

from tests.learners.fragile import Fragile, trained
from tests.ttt import finish
from ttt_cli.errors import TttError
from ttt_cli.learners.base import Shard
from ttt_cli.training import workers as training_workers
from ttt_cli.training.workers import local_workers


@pytest.mark.parametrize("count", [2, 7])
def test_the_number_of_workers_changes_no_byte(count: int) -> None:
    with local_workers(count) as workers:
        assert trained(Fragile(), workers) == trained(Fragile())


def test_what_goes_wrong_in_a_worker_is_told_and_the_others_end() -> None:
    class Broken(Fragile):
        def train(self, table: object, shard: Shard) -> object:
            raise MemoryError("no room")

    with pytest.raises(MemoryError, match="no room"), local_workers(2) as workers:
        trained(Broken(), workers)


@pytest.mark.long
@pytest.mark.parametrize("learner", ["q", "td", "book", "graph", "menace", "ntuple"])
def test_the_files_of_long_runs_are_the_same_for_1_2_and_7_workers(tmp_path: Path, learner: str) -> None:
    contents = set()
    for count in (1, 2, 7):
        path = tmp_path / f"{count}.json"
        call = ("train", learner, "--games", 10**7, "--seed", 1, "--workers", count, "-o", path)
        assert finish(*call).code == 0
        contents.add(path.read_bytes())
    assert len(contents) == 1


def test_a_worker_of_another_version_is_refused_before_its_first_shard(monkeypatch):
    monkeypatch.setattr(training_workers, "train_shard", lambda *_: pytest.fail("has trained"))
    with pytest.raises(TttError, match="runs another version of ttt"):
        training_workers.train_alike("another digest", None, None, None)
