"""Workers: however many there are, the bytes are the same."""

from pathlib import Path

import pytest

from ttt_cli.conformance import content
from ttt_cli.engine.rules import STANDARD, Rules
from ttt_cli.errors import TttError
from ttt_cli.learners import LEARNERS, learner_class
from ttt_cli.learners.base import Shard
from ttt_cli.learners.q import Q
from ttt_cli.store.state import State
from ttt_cli.training import workers as training_workers
from ttt_cli.training.trainer import ShardMap, advance, new_run
from ttt_cli.training.workers import local_workers


@pytest.mark.parametrize("name", LEARNERS)
def test_the_number_of_workers_changes_no_byte(name: str) -> None:
    kind = learner_class(name)
    learner = type(kind.__name__, (kind,), {"block_games": 1000, "shard_games": 500}).from_params()

    def trained(spread: ShardMap) -> bytes:
        run = new_run(Path(), State.empty(learner, Rules(2, 4, 3)), games=4000, seed=1)
        run.shards = 8
        list(advance(run, spread))
        return content(learner, run.state.table)

    found = {trained(map)}
    for count in (2, 7):
        with local_workers(count) as workers:
            found.add(trained(workers))
    assert len(found) == 1


def test_an_error_in_a_worker_is_raised_and_stops_the_others() -> None:
    class Broken(Q):
        def train(self, table: object, shard: Shard) -> object:
            raise MemoryError("no room")

    with pytest.raises(MemoryError, match="no room"), local_workers(2) as workers:
        list(advance(new_run(Path(), State.empty(Broken(), STANDARD), games=10**7, seed=1), workers))


def test_a_version_is_told_by_the_code_that_plays_and_learns(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(training_workers, "__file__", str(tmp_path / "training" / "workers.py"))
    found = set()
    for room in ("agents", "engine", "learners", "views"):
        (tmp_path / room).mkdir()
        (tmp_path / room / "code.py").write_text(room)
        found.add(training_workers.code_digest.__wrapped__("ttt_cli"))
    found.add(training_workers.code_digest.__wrapped__("tests.training"))  # a plug-in's whole package
    assert len(found) == 4


def test_a_worker_of_another_version_is_refused_before_its_first_shard() -> None:
    with pytest.raises(TttError, match="runs another version of ttt"):
        training_workers.train_alike("other", "ttt_cli", lambda shard: pytest.fail("has trained"), None)
