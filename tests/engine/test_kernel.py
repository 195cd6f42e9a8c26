"""Kernels and their parts: compiled together, kept together, and compiled anew when any of them changes."""

import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from ttt_cli.engine import kernel
from ttt_cli.engine.kernel import Kernel, Part, as_written, log

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

COMPILING = "compiling walk, once, about 3 s\n"
Run = Callable[..., str]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "part.py").write_text(PART.format(step=1), encoding="utf-8")
    (tmp_path / "caller.py").write_text(CALLER, encoding="utf-8")
    return tmp_path


@pytest.fixture
def run(folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> Iterator[Run]:
    """Make the modules anew, as the next process would; run the kernel; what is logged."""
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(folder / "cache"))
    monkeypatch.setattr(kernel, "_warn", log.warning)
    monkeypatch.setattr(kernel, "announce", kernel._logged)  # a command run before listens in its own way
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
        return "".join(f"{record.getMessage()}\n" for record in caplog.records)

    yield again
    for name in ("part", "caller"):
        sys.modules.pop(name, None)


@Part
def double(number):
    return 2 * number


@Part
def turn(number):
    raise NotImplementedError


@Kernel
def apply(number):
    return turn(number) + 1


@Kernel
def mark(records):
    for place in range(len(records)):
        records[place].count += 250 + place
        records[place].pair[1] = records[place].count / 4
    records[2] = records[0]


def test_compiled_code_is_kept_until_a_part_of_it_changes(folder: Path, run: Run):
    assert run() == COMPILING
    assert run() == ""
    (folder / "part.py").write_text(PART.format(step=5), encoding="utf-8")
    assert run(step=5) == COMPILING
    (folder / "part.py").write_text(PART.format(step=1), encoding="utf-8")
    assert run() == "", "the versions lie side by side"


def test_without_numba_they_run_as_written(run: Run):
    assert run(compiled=False).count("switched off") == 1


def test_compositions_of_one_kernel_are_not_taken_for_each_other(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    """Numba keeps compiled code under a function's name and place, whatever its names are bound to."""
    pytest.importorskip("numba")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "0")
    said: list[str] = []
    monkeypatch.setattr(kernel, "announce", lambda name, seconds: said.append(name) or nullcontext())

    def results() -> list[int]:
        parts = {"default": double, "article": Part(lambda number: number * number)}
        one = [apply.composed(name, turn=part)(7) for name, part in parts.items()]
        return [*one, apply.composed("default", turn=parts["article"])(7)]  # one part changed

    assert results() == [15, 50, 50]
    assert said == ["default", "article", "default"]
    assert results() == [15, 50, 50]
    assert len(said) == 3


def test_records_are_the_same_compiled_and_as_written():
    kind = np.dtype([("count", "u1"), ("pair", "f8", (2,))], align=True)
    found = []
    for plain in (False, True):
        records = np.zeros(3, kind)
        with as_written(plain):
            mark(records)
        found.append(records.tobytes())
    assert found[0] == found[1]


def test_compiled_code_that_cannot_be_read_is_compiled_anew(folder: Path, run: Run):
    run()
    (path,) = (folder / "cache").rglob("walk-*")
    path.write_bytes(path.read_bytes()[:20])
    assert run() == COMPILING
    assert run() == ""


@pytest.mark.parametrize("others", ["own", "write"])
def test_a_folder_that_others_own_or_could_write_to_is_not_used(folder: Path, run: Run, others: str):
    run()
    if others == "write":
        (folder / "cache" / "ttt").chmod(0o777)
    elif os.geteuid() == 0:
        os.chown(folder / "cache" / "ttt", 12345, 12345)
    else:
        pytest.skip("only root can give a folder away")
    assert "others own the folder, or may write there" in run()


def test_a_cache_that_cannot_be_written_does_no_harm(folder: Path, run: Run):
    (folder / "cache").write_bytes(b"a file, not a folder")
    assert "compiled code cannot be kept" in run()


def test_no_compiled_code_is_taken_from_the_working_folder(folder: Path):
    """Numba reads ``.numba_config.yaml`` where it is started, if PyYAML is there, as it is with Dask."""
    pytest.importorskip("yaml")
    pytest.importorskip("numba")
    hostile = folder / "hostile"
    hostile.mkdir()
    (hostile / ".numba_config.yaml").write_text("cache_dir: ./evil\ndisable_jit: 1\n", encoding="utf-8")
    path = f"{Path(__file__).parents[2]}{os.pathsep}{folder}"
    relative = {"XDG_CACHE_HOME": "cache", "NUMBA_CACHE_DIR": "./numba", "HOME": str(folder / "home")}
    env = {**os.environ, "PYTHONPATH": path, **relative}
    env.pop("NUMBA_DISABLE_JIT", None)
    result = subprocess.run(
        [sys.executable, "-c", IN_A_PROCESS], capture_output=True, text=True, cwd=hostile, env=env, timeout=60
    )
    assert (result.returncode, result.stdout) == (0, "[2, 3, 4]\n")
    assert "compiling walk, once" in result.stderr
    assert [path.name for path in hostile.iterdir()] == [".numba_config.yaml"]
