"""File systems that are really full and really read-only, under the commands that write."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.torture.children import litter
from tests.ttt import Outcome, finish

pytestmark = pytest.mark.long

WRITING = {
    "train": "train td -n 20000 --seed 9 -o DISK/td.json",
    "train new": "train td -n 20000 --seed 9 -o DISK/new.json",
    "merge": "merge big.json DISK/td.json -o DISK/td.json",
    "import": "import table.csv -o DISK/td.json",
    "export": "export big.json -o DISK/table.csv --format value-table",
    "explore": "explore big.json -o DISK/page.html",
    "curve": "train td -n 300 --seed 9 -o beside.json --curve DISK/curve.csv",
    "play": "play --x random --o random -n 2 --learn --store DISK",
}


def ttt(words: str, folder: Path, disk: Path) -> Outcome:
    return finish(*words.replace("DISK", str(disk)).split(), "--quiet", cwd=folder)


@contextmanager
def mounted(disk: Path, options: str) -> Iterator[None]:
    """A small file system in memory."""
    disk.mkdir(exist_ok=True)
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(disk)], capture_output=True, text=True
    )
    if made.returncode:
        pytest.skip(f"no file system can be mounted here: {made.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("beside")
    for words in (
        "train td -n 20000 --seed 1 -o big.json",
        "train td -n 20 --seed 2 -o small.json",
        "export big.json -o table.csv --format value-table",
    ):
        assert ttt(words, folder, folder).code == 0
    return folder


def refused(words: str, folder: Path, disk: Path, said: str) -> None:
    """A command ends with one line, and all files on the disk are as they were; before it a game that was
    finished but could not be recorded is told, with the command that records it."""
    before = {path.name: path.read_bytes() for path in disk.iterdir() if path.is_file()}
    ended = ttt(words, folder, disk)
    assert ended.code == 1, ended
    *told, error = ended.err.splitlines()
    assert error.startswith("Error: ") and said in error and str(disk) in error, ended
    assert not told or (words.startswith("play") and len(told) == 2 and "games.jsonl" in told[1]), ended
    assert litter(disk) == []
    after = {path.name: path.read_bytes() for path in disk.iterdir() if path.is_file()}
    assert after == before


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root mounts file systems")
@pytest.mark.parametrize("name", WRITING)
def test_a_full_disk(folder, tmp_path, name):
    disk = tmp_path / "disk"
    with mounted(disk, "size=64k"):
        (disk / "td.json").write_bytes((folder / "small.json").read_bytes())
        with (disk / "rest").open("wb", buffering=0) as rest:
            for step in (4096, 1):
                try:
                    while rest.write(b"x" * step):
                        pass
                except OSError:
                    pass
        refused(WRITING[name], folder, disk, "no space left on device")
        (disk / "rest").unlink()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root mounts file systems")
@pytest.mark.parametrize("name", WRITING)
def test_a_read_only_disk(folder, tmp_path, name):
    disk = tmp_path / "disk"
    with mounted(disk, "size=1m"):
        (disk / "td.json").write_bytes((folder / "small.json").read_bytes())
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        refused(WRITING[name], folder, disk, "read-only file system")
