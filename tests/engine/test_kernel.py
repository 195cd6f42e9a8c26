"""Kernels and their parts: compiled together, kept together, and compiled anew when any of them changes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

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

if __name__ == "__main__":
    import logging
    import numpy as np

    logging.basicConfig(level=logging.INFO, format="%(message)s")
    for run in (walk, walk.python):
        numbers = np.arange(3)
        run(numbers)
        print(*numbers)
"""


def run(folder: Path, **environment: str) -> tuple[list[str], str]:
    """What the caller prints, compiled and as written, and what is logged."""
    root = Path(__file__).parents[2]
    env = os.environ | {"PYTHONPATH": f"{root}{os.pathsep}{folder}"} | environment
    call = [sys.executable, str(folder / "caller.py")]
    result = subprocess.run(call, capture_output=True, text=True, check=True, env=env)
    return result.stdout.splitlines(), result.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "part.py").write_text(PART.format(step=1), encoding="utf-8")
    (tmp_path / "caller.py").write_text(CALLER, encoding="utf-8")
    return tmp_path


def test_compiled_code_is_kept_until_a_part_of_it_changes(folder: Path):
    pytest.importorskip("numba")
    kept = {"NUMBA_DISABLE_JIT": "0", "NUMBA_CACHE_DIR": str(folder / "cache")}
    assert run(folder, **kept)[0] == ["2 3 4", "2 3 4"]
    printed, logged = run(folder, **kept)
    assert printed == ["2 3 4", "2 3 4"]
    assert "compiled" not in logged
    (folder / "part.py").write_text(PART.format(step=5), encoding="utf-8")
    printed, logged = run(folder, **kept)
    assert printed == ["10 11 12", "10 11 12"]
    assert "compiled" in logged


def test_without_numba_they_run_as_written(folder: Path):
    printed, logged = run(folder, NUMBA_DISABLE_JIT="1")
    assert printed == ["2 3 4", "2 3 4"]
    assert logged.count("switched off") == 1


def kept_in(cache: Path) -> dict[str, str]:
    pytest.importorskip("numba")
    return {"NUMBA_DISABLE_JIT": "0", "NUMBA_CACHE_DIR": str(cache)}


def flipped(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 16]) + data[middle + 1 :]


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
@pytest.mark.parametrize("damage", [lambda data: b"", lambda data: data[: len(data) // 2], flipped])
def test_damaged_compiled_code_is_compiled_anew_once(folder: Path, suffix: str, damage):
    kept = kept_in(folder / "cache")
    run(folder, **kept)
    (path,) = (folder / "cache").rglob(f"*{suffix}")
    path.write_bytes(damage(path.read_bytes()))
    printed, logged = run(folder, **kept)
    assert printed == ["2 3 4", "2 3 4"]
    assert logged.count("is damaged, and compiled anew") == 1
    assert run(folder, **kept) == (["2 3 4", "2 3 4"], "")


def test_compiled_code_that_cannot_be_read_is_compiled_anew(folder: Path):
    """Its digests fit, but this version of Numba, or Python, cannot load it."""
    import hashlib

    kept = kept_in(folder / "cache")
    run(folder, **kept)
    (path,) = (folder / "cache").rglob("*.nbc")
    (sums,) = (folder / "cache").rglob("sha256sums")
    old = path.read_bytes()
    path.write_bytes(b"not pickled")
    old_sum, new_sum = (hashlib.sha256(data).hexdigest() for data in (old, b"not pickled"))
    sums.write_text(sums.read_text(encoding="utf-8").replace(old_sum, new_sum), encoding="utf-8")
    printed, logged = run(folder, **kept)
    assert printed == ["2 3 4", "2 3 4"]
    assert "damaged" in logged
    assert run(folder, **kept) == (["2 3 4", "2 3 4"], "")


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a folder away"
)
def test_compiled_code_of_others_is_not_loaded(folder: Path):
    kept = kept_in(folder / "cache")
    run(folder, **kept)
    (code,) = (folder / "cache").rglob("sha256sums")
    os.chown(code.parent, 12345, 12345)
    printed, logged = run(folder, **kept)
    assert printed == ["2 3 4", "2 3 4"]
    assert f"it cannot be kept ({code.parent}: the folder belongs to another user)" in logged


@pytest.mark.skipif(os.name == "nt", reason="POSIX modes")
def test_compiled_code_that_others_could_write_is_not_loaded(folder: Path):
    kept = kept_in(folder / "cache")
    run(folder, **kept)
    (code,) = (folder / "cache").rglob("sha256sums")
    code.parent.chmod(0o777)
    assert "compiled the walk kernel" in run(folder, **kept)[1]
    assert code.parent.stat().st_mode & 0o777 == 0o700
    assert run(folder, **kept)[1] == ""


@pytest.mark.skipif(os.name == "nt", reason="POSIX modes")
def test_a_cache_that_cannot_be_written_does_no_harm(folder: Path):
    (folder / "cache").write_bytes(b"a file, not a folder")
    printed, logged = run(folder, **kept_in(folder / "cache"))
    assert printed == ["2 3 4", "2 3 4"]
    assert "it cannot be kept" in logged
    assert str(folder / "cache") in logged


def test_numba_takes_no_settings_from_the_working_folder(folder: Path, monkeypatch):
    """Numba reads ``.numba_config.yaml`` where it is started, if PyYAML is there, as it is with Dask."""
    pytest.importorskip("yaml")
    hostile = folder / "hostile"
    hostile.mkdir()
    settings = "cache_dir: ./evil\ndisable_jit: 1\ndump_bytecode: 1\n"
    (hostile / ".numba_config.yaml").write_text(settings, encoding="utf-8")
    monkeypatch.chdir(hostile)
    printed, logged = run(folder, **kept_in(folder / "cache"))
    assert printed == ["2 3 4", "2 3 4"]
    assert [path.name for path in hostile.iterdir()] == [".numba_config.yaml"]
    monkeypatch.delenv("NUMBA_DISABLE_JIT", raising=False)
    assert "compiled the walk kernel" in logged
    monkeypatch.setenv("XDG_CACHE_HOME", "cache")  # relative
    run(folder, NUMBA_DISABLE_JIT="0", NUMBA_CACHE_DIR="./numba", HOME=str(folder / "home"))
    assert [path.name for path in hostile.iterdir()] == [".numba_config.yaml"]
