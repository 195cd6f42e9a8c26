"""Kernels and their parts: compiled together, kept together, and compiled anew when any of them changes."""

import os
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from tests.ttt import ROOT, finish
from ttt_cli.engine import kernel
from ttt_cli.engine.kernel import Kernel, Part


@Part
def double(number):
    return 2 * number


@Part
def square(number):
    return number * number


@pytest.fixture
def messages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which kernels are compiled, and what is warned of, where compiled code is kept in ``tmp_path``."""
    pytest.importorskip("numba")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "0")
    messages: list[str] = []
    monkeypatch.setattr(kernel, "announce", lambda name: messages.append(name) or nullcontext())
    monkeypatch.setattr(kernel, "_warn", messages.append)
    monkeypatch.setattr(kernel.notices, "info", lambda text, *values: messages.append(text % values))
    return messages


def run(name: str = "default", part: Part = double) -> int:
    """Run a kernel with this part as the next process would."""

    def apply(number):
        return part(number) + 1

    return Kernel(apply, name)(7)


def test_compiled_code_is_kept_until_a_part_of_it_changes(messages: list[str]):
    """Numba would keep it under a function's name and place, whatever its names are bound to."""
    for _ in range(2):
        assert [run(), run("article", square), run("default", square)] == [15, 50, 50]
    assert messages == ["default", "article", "default"], "the versions lie side by side"


def test_without_numba_kernels_run_as_written(messages: list[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    assert run() == 15
    assert len(messages) == 1 and "switched off" in messages[0]


def test_compiled_code_that_cannot_be_read_is_compiled_anew(messages: list[str], tmp_path: Path):
    run()
    (path,) = (tmp_path / "cache").rglob("default-*")
    path.write_bytes(path.read_bytes()[:20])
    assert [run(), run()] == [15, 15]
    assert messages == ["default", "default"]


def test_compiled_code_is_loaded_without_the_compiler(messages: list[str]):
    """What Numba needs to compile takes a fifth of the time of a short command."""
    run()
    script = "from tests.engine.test_kernel import run; import sys; print(run(), *sys.modules)"
    result, *modules = finish(program=[sys.executable, "-c", script]).out.split()
    assert (result, messages) == ("15", ["default"])
    assert "numba" in modules and "numba.cpython.listobj" not in modules


@pytest.mark.parametrize("others", [0o720, 0o702, None], ids=["group", "world", "owned"])
def test_a_folder_that_others_own_or_could_write_to_is_not_used(
    messages: list[str], tmp_path: Path, others: int | None
):
    run()
    if others:
        (tmp_path / "cache" / "ttt").chmod(others)
    elif os.geteuid() == 0:
        os.chown(tmp_path / "cache" / "ttt", 12345, 12345)
    else:
        pytest.skip("only root can give a folder away")
    assert run() == 15
    assert "others own the folder, or may write there" in "".join(messages)


def test_a_cache_that_cannot_be_written_does_no_harm(messages: list[str], tmp_path: Path):
    (tmp_path / "cache").write_bytes(b"a file, not a folder")
    assert run() == 15
    assert "compiled code cannot be kept" in "".join(messages)


@pytest.mark.long
def test_no_compiled_code_is_taken_from_the_working_folder(tmp_path: Path):
    """Numba reads ``.numba_config.yaml`` where it is started, if PyYAML is there, as it is with Dask."""
    pytest.importorskip("yaml")
    pytest.importorskip("numba")
    hostile = tmp_path / "hostile"
    hostile.mkdir()
    (hostile / ".numba_config.yaml").write_text("cache_dir: ./evil\ndisable_jit: 1\n", encoding="utf-8")
    relative = {"XDG_CACHE_HOME": "cache", "NUMBA_CACHE_DIR": "./numba", "HOME": str(tmp_path / "home")}
    env = {**os.environ, "PYTHONPATH": str(ROOT), **relative}
    env.pop("NUMBA_DISABLE_JIT", None)
    program = [sys.executable, "-m", "ttt_cli", "move", "search:depth=2", "XX.OO...."]
    result = finish(program=program, cwd=hostile, env=env)
    assert (result.code, result.out) == (0, "3\n")
    assert "compiling search, once" in result.err
    assert [path.name for path in hostile.iterdir()] == [".numba_config.yaml"]
