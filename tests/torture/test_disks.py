"""File systems that are really full and really read-only, under the commands that write."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.store.faults import litter
from tests.ttt import Run

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts file systems"),
]

WRITING = {
    "train": "train td -n 20000 --seed 9 -o disk/td.json",
    "train new": "train td -n 20000 --seed 9 -o disk/new.json",
    "merge": "merge big.json disk/td.json -o disk/td.json",
    "import": "import table.csv -o disk/td.json",
    "export": "export big.json -o disk/table.csv --format value-table",
    "explore": "explore big.json -o disk/page.html",
    "curve": "train td -n 300 --seed 9 -o beside.json --curve disk/curve.csv",
    "play": "play --x random --o random -n 2 --learn --store disk",
}


@contextmanager
def mounted(ttt: Run, size: str) -> Iterator[Path]:
    """A small file system in memory, with a state on it and other files beside it."""
    disk = Path("disk")
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", "disk"]
    made = subprocess.run(mount, capture_output=True, text=True)
    if made.returncode:
        pytest.skip(f"no file system can be mounted here: {made.stderr.strip()}")
    try:
        for words in (
            "train td -n 20 --seed 2 -o disk/td.json",
            "train td -n 20000 --seed 1 -o big.json",
            "export big.json -o table.csv --format value-table",
        ):
            assert ttt(*words.split()).code == 0
        yield disk
    finally:
        subprocess.run(["umount", "disk"], check=True)


def refused(ttt: Run, words: str, disk: Path, why: str) -> None:
    """A command ends with one line, and all files on the disk are as they were; before it a game that was
    finished but could not be recorded is printed, with the command that records it."""
    before = {path.name: path.read_bytes() for path in disk.iterdir() if path.is_file()}
    ended = ttt(*words.split(), "--quiet")
    assert ended.code == 1, ended
    *printed, error = ended.err.splitlines()
    assert error.startswith("Error: ") and why in error and "disk" in error, ended
    assert not printed or (words.startswith("play") and len(printed) == 2 and "games.jsonl" in printed[1])
    assert litter(disk) == []
    after = {path.name: path.read_bytes() for path in disk.iterdir() if path.is_file()}
    assert after == before


@pytest.mark.parametrize("name", WRITING)
def test_a_full_disk(ttt, name):
    with mounted(ttt, "64k") as disk:
        with (disk / "rest").open("wb", buffering=0) as rest:
            for step in (4096, 1):
                try:
                    while rest.write(b"x" * step):
                        pass
                except OSError:
                    pass
        refused(ttt, WRITING[name], disk, "no space left on device")


@pytest.mark.parametrize("name", WRITING)
def test_a_read_only_disk(ttt, name):
    with mounted(ttt, "1m") as disk:
        subprocess.run(["mount", "-o", "remount,ro", "disk"], check=True)
        refused(ttt, WRITING[name], disk, "read-only file system")
