"""Kernels and their parts: compiled together, kept together, and compiled anew when any of them changes."""

import hashlib
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from tests.torture.test_disks import mounted
from ttt_cli.engine.kernel import log

PART = """
from ttt_cli.engine.kernel import Part

@Part
def step(number):
    return number + {step}
"""
CALLER = """
from part import step
from ttt_cli.engine.kernel import Kernel

@Kernel
def walk(numbers):
    for place in range(len(numbers)):
        numbers[place] = step(step(numbers[place]))
"""
IN_A_PROCESS = """
import logging
import numpy as np
from caller import walk

logging.basicConfig(level=logging.INFO, format="%(message)s")
numbers = np.arange(3)
walk(numbers)
print(numbers.tolist())
"""

Run = Callable[..., str]
"""Make the modules anew, as the next process would; run the kernel; what is logged."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "part.py").write_text(PART.format(step=1), encoding="utf-8")
    (tmp_path / "caller.py").write_text(CALLER, encoding="utf-8")
    return tmp_path


@pytest.fixture
def run(folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> Iterator[Run]:
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(folder / "cache"))
    monkeypatch.setattr("ttt_cli.engine.kernel._warn", log.warning)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # sources change faster than it notices
    caplog.set_level(logging.INFO, logger="ttt_cli")

    def again(step: int = 1, *, compiled: bool = True) -> str:
        if compiled:
            pytest.importorskip("numba")
        monkeypatch.setenv("NUMBA_DISABLE_JIT", "0" if compiled else "1")
        for name in ("part", "caller"):
            sys.modules.pop(name, None)
        walk = import_module("caller").walk
        caplog.clear()
        for call in (walk, walk.python):
            numbers = np.arange(3)
            call(numbers)
            assert numbers.tolist() == [2 * step, 1 + 2 * step, 2 + 2 * step]
        return caplog.text

    yield again
    for name in ("part", "caller"):
        sys.modules.pop(name, None)


def test_compiled_code_is_kept_until_a_part_of_it_changes(folder: Path, run: Run):
    assert "compiled the walk kernel" in run()
    assert run() == ""
    (folder / "part.py").write_text(PART.format(step=5), encoding="utf-8")
    assert "compiled the walk kernel" in run(step=5)


def test_without_numba_they_run_as_written(run: Run):
    assert run(compiled=False).count("switched off") == 1


def flipped(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 16]) + data[middle + 1 :]


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
@pytest.mark.parametrize("damage", [lambda data: b"", lambda data: data[: len(data) // 2], flipped])
def test_damaged_compiled_code_is_compiled_anew_once(folder: Path, run: Run, suffix: str, damage):
    run()
    (path,) = (folder / "cache").rglob(f"*{suffix}")
    path.write_bytes(damage(path.read_bytes()))
    assert run().count("is damaged, and compiled anew") == 1
    assert run() == ""


def test_compiled_code_that_cannot_be_read_is_compiled_anew(folder: Path, run: Run):
    """Its digests fit, but this version of Numba, or Python, cannot load it."""
    run()
    (path,) = (folder / "cache").rglob("*.nbc")
    (sums,) = (folder / "cache").rglob("sha256sums")
    old = path.read_bytes()
    path.write_bytes(b"not pickled")
    old_sum, new_sum = (hashlib.sha256(data).hexdigest() for data in (old, b"not pickled"))
    sums.write_text(sums.read_text(encoding="utf-8").replace(old_sum, new_sum), encoding="utf-8")
    assert "damaged" in run()
    assert run() == ""


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a folder away"
)
def test_compiled_code_of_others_is_not_loaded(folder: Path, run: Run):
    run()
    (code,) = (folder / "cache").rglob("sha256sums")
    os.chown(code.parent, 12345, 12345)
    assert f"it cannot be kept ({code.parent}: the folder belongs to another user)" in run()


@pytest.mark.skipif(os.name == "nt", reason="POSIX modes")
def test_compiled_code_that_others_could_write_is_not_loaded(folder: Path, run: Run):
    run()
    (code,) = (folder / "cache").rglob("sha256sums")
    code.parent.chmod(0o777)
    assert "compiled the walk kernel" in run()
    assert code.parent.stat().st_mode & 0o777 == 0o700
    assert run() == ""


@pytest.mark.skipif(os.name == "nt", reason="POSIX modes")
def test_a_cache_that_cannot_be_written_does_no_harm(folder: Path, run: Run):
    (folder / "cache").write_bytes(b"a file, not a folder")
    logged = run()
    assert "it cannot be kept" in logged
    assert str(folder / "cache") in logged


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root mounts file systems")
def test_a_cache_on_a_full_disk_does_no_harm(folder: Path, run: Run):
    with mounted(folder / "cache", "size=8k"):
        assert "No space left on device" in run()
        assert "it cannot be kept" in run()


def test_numba_takes_no_settings_from_the_working_folder(folder: Path):
    """Numba reads ``.numba_config.yaml`` where it is started, if PyYAML is there, as it is with Dask."""
    pytest.importorskip("yaml")
    pytest.importorskip("numba")
    hostile = folder / "hostile"
    hostile.mkdir()
    settings = "cache_dir: ./evil\ndisable_jit: 1\ndump_bytecode: 1\n"
    (hostile / ".numba_config.yaml").write_text(settings, encoding="utf-8")
    path = f"{Path(__file__).parents[2]}{os.pathsep}{folder}"
    relative = {"XDG_CACHE_HOME": "cache", "NUMBA_CACHE_DIR": "./numba", "HOME": str(folder / "home")}
    env = {**os.environ, "PYTHONPATH": path, **relative}
    env.pop("NUMBA_DISABLE_JIT", None)
    result = subprocess.run(
        [sys.executable, "-c", IN_A_PROCESS], capture_output=True, text=True, cwd=hostile, env=env, timeout=60
    )
    assert (result.returncode, result.stdout) == (0, "[2, 3, 4]\n")
    assert "compiled the walk kernel" in result.stderr
    assert [path.name for path in hostile.iterdir()] == [".numba_config.yaml"]
