"""Any bytes are a valid object or one typed error, soon and in little memory, whichever reader gets them."""

import random
import resource
import zlib
from pathlib import Path
from time import process_time

import pytest

from tests.torture.readers import CORPUS, NAMES, mutated, samples
from ttt_cli.errors import TttError

SECONDS = 1.0
MEGABYTES = 200


def fuzzed(name: str, data: bytes) -> bool:
    """Whether a reader takes the bytes; what it does not take it refuses in one line."""
    reader, _ = samples()[name]
    try:
        reader(data)
    except TttError as error:
        assert str(error) and "\n" not in str(error) and "\x1b" not in str(error)
        return False
    return True


def test_every_format_has_samples():
    assert tuple(samples()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_samples_are_valid(name):
    assert all(fuzzed(name, data) for data in samples()[name][1])


@pytest.mark.parametrize(
    "path", sorted(CORPUS.glob("*/*")), ids=lambda path: f"{path.parent.name}/{path.name}"
)
def test_what_broke_a_reader_once_is_refused_or_read(path: Path):
    fuzzed(path.parent.name, path.read_bytes())


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_mutated_files_are_read_or_refused(name, sized, capsys):
    """What fails is left in ``corpus/new`` for whoever mends it."""
    count = sized(100, 100_000)
    rng = random.Random(zlib.crc32(name.encode()))
    files = samples()[name][1]
    everything = [data for _, each in samples().values() for data in each]
    fuzzed(name, files[0])
    taken, slowest, before = 0, 0.0, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(count):
        data = mutated(rng.choice(files), everything if rng.random() < 0.1 else files, rng)
        began = process_time()
        try:
            taken += fuzzed(name, data)
            seconds = process_time() - began
            assert seconds < SECONDS or again(name, data) < SECONDS, f"{seconds:.1f} s"
        except BaseException:
            keep(name, data)
            raise
        slowest = max(slowest, seconds)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert grown < MEGABYTES
    with capsys.disabled():
        print(f" {name}: {count:,} files, {taken:,} taken, slowest {slowest:.3f} s, {grown:.0f} MB more")


def again(name: str, data: bytes) -> float:
    """The seconds of computing that a reader needs: the best of three."""
    times = []
    for _ in range(3):
        began = process_time()
        fuzzed(name, data)
        times.append(process_time() - began)
    return min(times)


def keep(name: str, data: bytes) -> None:
    folder = CORPUS / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{zlib.crc32(data):08x}").write_bytes(data)
