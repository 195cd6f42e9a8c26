"""Training the shards of a block in parallel: in threads of this process, or on a cluster.

The shards, not the workers, decide the result. Threads do better than processes: kernels run without the
interpreter's lock, nothing is loaded twice or sent, and no worker can die alone. On a cluster Dask replaces
workers that die, and repeats their shards.
"""

import hashlib
import logging
import platform
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path

from ttt_cli.errors import TttError, UsageError, notices
from ttt_cli.learners.base import Shard
from ttt_cli.training.trainer import ShardMap, ShardResult

RESUME = "--resume continues from the last save, if there was one"
PATIENCE = 10
"""Seconds to wait for a cluster's scheduler, for its first worker, and before asking whether one is left."""


@cache
def code_digest(module: str) -> str:
    """The digest of the sources that decide what a shard learns: those of the engine, of the learners, and of
    a plug-in.

    :param module: the learner's module.
    """
    ours = Path(__file__).parents[1]
    sources = [ours / "engine", ours / "learners"]
    package = module.partition(".")[0]
    if package != "ttt_cli":
        file = Path(import_module(package).__file__ or "")
        sources.append(file.parent if file.name == "__init__.py" else file)
    digest = hashlib.sha256()
    for source in sources:
        for path in [source] if source.is_file() else sorted(source.rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def train_alike(code: str, module: str, train: Callable[[Shard], ShardResult], shard: Shard) -> ShardResult:
    """Train a shard if this is the same version of the program, and of the learner's ``module``.

    :param code: the ``code_digest`` where the shard comes from.
    :raises TttError: if it is another version, whose arithmetic may differ.
    """
    if code_digest(module) != code:
        what = f"the worker on {platform.node()} runs another version of ttt, or of the learner"
        raise TttError(
            what, where="--cluster", hint="install the same version everywhere and restart the workers"
        )
    return train(shard)


@contextmanager
def local_workers(count: int) -> Iterator[ShardMap]:
    pool = ThreadPoolExecutor(count)
    try:
        yield pool.map
    finally:  # at once: nobody waits for shards that are no longer needed
        pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def cluster_workers(
    address: str, module: str = "ttt_cli", stopping: Callable[[], object] = lambda: False
) -> Iterator[ShardMap]:
    """The workers of the Dask cluster whose scheduler listens at ``address``.

    :param module: the learner's.
    :param stopping: whether not to wait for new workers where none is left.
    :raises UsageError: if Dask is not installed.
    :raises TttError: if no scheduler answers, or no worker is connected.
    """
    try:
        from distributed import Client
        from distributed.comm import CommClosedError
        from distributed.scheduler import KilledWorker
    except ImportError:
        raise UsageError("a cluster needs Dask", where="--cluster", hint="pip install distributed") from None
    for name in ("distributed", "distributed.client", "tornado.application"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # errors that matter are raised too
    notices.info("waiting for the cluster and its first worker, up to %s s each", PATIENCE)
    where = f"--cluster {address}"
    try:
        client = Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        reason = str(error).strip().splitlines() or [type(error).__name__]
        raise TttError(f"no scheduler answers: {reason[0]}", where=where) from None
    with client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            hint = f"dask worker {address} starts one"
            raise TttError("no worker is connected", where=where, hint=hint) from None
        # Dask itself repeats a shard whose worker dies, as often as its ``allowed-failures`` says.
        executor = client.get_executor(pure=False)
        code = code_digest(module)
        warned = False

        def spread(train: Callable[[Shard], ShardResult], shards: Sequence[Shard]) -> list[ShardResult]:
            nonlocal warned
            futures = [executor.submit(train_alike, code, module, train, shard) for shard in shards]
            while wait(futures, PATIENCE).not_done:
                if client.nthreads():
                    continue
                if stopping():
                    raise TttError("no worker is left to finish the block", where=where, hint=RESUME)
                if not warned:
                    warned = True
                    command = f"dask worker {address}"
                    notices.warning("the cluster has no workers left; to go on, start one: %s", command)
            return [future.result() for future in futures]

        try:
            yield spread
        except KilledWorker:
            hint = "do they have enough memory?"
            raise TttError("workers died too often", where=where, hint=hint) from None
        except (CancelledError, CommClosedError):
            raise TttError("the connection to the scheduler was lost", where=where, hint=RESUME) from None
        finally:
            executor.shutdown(wait=False)
