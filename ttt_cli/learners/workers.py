"""Training the shards of a block in other processes, on this machine or a cluster.

Both are a ``concurrent.futures.Executor``; the shards, not the workers, decide the result, so a worker that
dies is replaced and its shard repeated.
"""

import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any

from ttt_cli.errors import TttError, UsageError
from ttt_cli.learners.base import Block, Learner, Table
from ttt_cli.learners.training import Shard

ATTEMPTS = 5
"""How often in a row workers may die without a single shard getting done."""


def train_shard(learner: Learner[Any], table: Table, shard: Block) -> Shard:
    """What a worker does."""
    return table, learner.train(table, shard)


class Workers:
    """Trains shards by an executor that ``make`` makes, and makes anew when its processes die."""

    def __init__(self, make: Callable[[], Executor]) -> None:
        self._make = make
        self._executor = make()
        self._futures: dict[int, Future[Shard]] = {}

    def __call__(self, learner: Learner[Any], table: Table, shards: Sequence[Block]) -> list[Shard]:
        """The shards' tables and results, each trained from ``table``."""
        done: dict[int, Shard] = {}
        attempts = 0
        while len(done) < len(shards):
            before = len(done)
            missing = [number for number in range(len(shards)) if number not in done]
            try:
                self._futures = {
                    number: self._executor.submit(train_shard, learner, table, shards[number])
                    for number in missing
                }
                for number, future in self._futures.items():
                    done[number] = future.result()
            except BrokenExecutor as error:
                attempts = attempts + 1 if len(done) == before else 0
                self.close()
                if attempts == ATTEMPTS:
                    raise TttError(
                        f"the workers died {ATTEMPTS} times in a row",
                        hint="is there enough memory? try --workers 1",
                    ) from error
                self._executor = self._make()
        return [done[number] for number in range(len(shards))]

    def close(self) -> None:
        """Let the workers go."""
        for future in self._futures.values():
            future.cancel()
        self._executor.shutdown(wait=False)


@contextmanager
def local_workers(count: int) -> Iterator[Workers]:
    """``count`` processes on this machine."""

    def make() -> Executor:
        return ProcessPoolExecutor(count, mp_context=get_context("spawn"), initializer=_ignore_interrupts)

    workers = Workers(make)
    try:
        yield workers
    finally:
        workers.close()


@contextmanager
def cluster_workers(address: str) -> Iterator[Workers]:
    """The workers of the Dask cluster whose scheduler listens at ``address``.

    :raises UsageError: without the extra ``cluster``.
    :raises TttError: if nobody answers there.
    """
    try:
        from distributed import Client
        from distributed.comm import CommClosedError
        from distributed.scheduler import KilledWorker
    except ImportError:
        raise UsageError(
            "a cluster needs Dask", where="--cluster", hint="pip install 'ttt-cli[cluster]'"
        ) from None
    try:
        client = Client(address, timeout=10, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        reason = str(error).strip().splitlines() or [type(error).__name__]
        raise TttError(f"no scheduler answers: {reason[0]}", where=f"--cluster {address}") from None
    with client:
        workers = Workers(lambda: client.get_executor(pure=False, retries=ATTEMPTS))
        try:
            yield workers
        except KilledWorker:
            raise TttError(
                "the workers died too often", where=f"--cluster {address}", hint="have they enough memory?"
            ) from None
        except (CancelledError, CommClosedError):
            raise TttError("the scheduler is gone", where=f"--cluster {address}") from None
        finally:
            workers.close()


def _ignore_interrupts() -> None:
    """Ctrl-C reaches every process of a terminal; only the main one decides what it means."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
