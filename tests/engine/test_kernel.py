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
