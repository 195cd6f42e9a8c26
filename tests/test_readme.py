"""The README tells the truth: every command in it runs, and its comparison is what the program measures."""

import os
import re
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = {
    kind: re.findall(rf"^```{kind}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    for kind in ("sh", "text", "python")
}


def run(folder: Path, script: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run a shell script in ``folder/work``, where ``ttt`` is this program."""
    tools, work = folder / "bin", folder / "work"
    if not tools.exists():
        tools.mkdir()
        (tools / "ttt").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ttt_cli "$@"\n')
        (tools / "ttt").chmod(0o755)
        work.mkdir()
        (work / "examples").symlink_to(ROOT / "examples")
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-euc", script],
        cwd=work,
        env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)},
        input=stdin,
        capture_output=True,
        text=True,
        timeout=280,
    )


@pytest.fixture
def shell(tmp_path: Path):
    return partial(run, tmp_path)


def test_the_first_two_blocks_are_the_two_commands():
    """One line each, that makes its own environment."""
    for block, last in zip(BLOCKS["sh"], ("ttt evaluate q", "python -m pytest -n auto"), strict=False):
        assert block.count("\n") == 1
        assert block.startswith("python3 -m venv .venv && .venv/bin/pip install ")
        assert block.rstrip().endswith(last)


SECTIONS = {
    heading.split("\n")[0]: re.findall(r"^```sh\n(.*?)^```", heading, re.MULTILINE | re.DOTALL)
    for heading in README.split("\n## ")[1:]
}
TRAIN = "Train"
"""The section whose states the others use."""


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the first command and those of the section on training have run."""
    folder = tmp_path_factory.mktemp("readme")
    first = BLOCKS["sh"][0].strip().split(" && ", 2)[2].replace(".venv/bin/", "")
    for block in [first, *SECTIONS[TRAIN]]:
        run_each(folder, block)
    return folder


def run_each(folder: Path, block: str) -> None:
    for command in block.strip().splitlines():
        result = run(folder, command, stdin="5\nq\n" if command == "ttt play q" else "")
        assert result.returncode == 0, (command, result.stdout, result.stderr)
        assert "Traceback" not in result.stderr


@pytest.mark.first
@pytest.mark.parametrize("section", [title for title, blocks in SECTIONS.items() if blocks])
def test_every_command_runs(trained: Path, tmp_path: Path, section: str):
    """Each section on its own, after training."""
    if section == TRAIN:
        assert (trained / "work" / "state_store" / "td.json").exists()
        return
    shutil.copytree(trained, tmp_path / "copy")
    for block in SECTIONS[section]:
        run_each(tmp_path / "copy", block)


def test_the_picture_is_what_is_printed(shell):
    """All but the time, which depends on the machine, for the seed 1."""
    result = shell("ttt train q --seed 1 && ttt evaluate q")

    def without_time(text: str) -> list[str]:
        lines = [line.rstrip() for line in text.splitlines()]
        return [re.sub(r"in .* second\)", "", lines[0]), *lines[1:]]

    assert without_time(result.stdout) == without_time(BLOCKS["text"][0])


def test_the_library_example_runs(shell):
    assert len(BLOCKS["python"][-1].strip().splitlines()) <= 11
    result = shell(f"'{sys.executable}' - <<'END'\n{BLOCKS['python'][-1]}END\n")
    assert result.returncode == 0, result.stderr
    assert result.stdout == "False\n1.0\n"


@pytest.mark.long
def test_the_comparison_is_what_the_program_measures(shell):
    """All but the last column, the time."""
    printed = shell("ttt agents --compare").stdout
    shown = next(block for block in BLOCKS["text"] if "menace.article" in block)

    def numbers(table: str) -> list[str]:
        return [line.rpartition(" ")[0].rstrip() for line in table.splitlines()[2:]]

    assert numbers(printed) == numbers(shown)
