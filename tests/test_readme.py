"""The README tells the truth: every command in it runs."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from contextlib import chdir
from functools import partial
from io import StringIO
from pathlib import Path
from shlex import split
from unittest.mock import patch

import pytest

from ttt_cli.app import run as ttt
from ttt_cli.environment import Environment

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = {
    kind: re.findall(rf"^```{kind}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    for kind in ("sh", "text", "python")
}


def run(folder: Path, script: str) -> subprocess.CompletedProcess[str]:
    """Run a shell script in ``folder/work``, where ``ttt`` is this program."""
    tools, work = folder / "bin", folder / "work"
    work.mkdir(exist_ok=True)
    if not tools.exists():
        tools.mkdir()
        (tools / "ttt").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ttt_cli "$@"\n')
        (tools / "ttt").chmod(0o755)
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-euc", script],
        cwd=work,
        env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)},
        input="",
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
    heading.split("\n")[0]: "".join(re.findall(r"^```sh\n(.*?)^```", heading, re.MULTILINE | re.DOTALL))
    for heading in README.split("\n## ")[1:]
}
COMMANDS = {title: block.splitlines() for title, block in SECTIONS.items() if block}
TRAIN = "Train"
"""The section whose states the others use."""

SLOW = (
    "ttt study q --seeds 20 --games 20k --vary alpha=0.05,0.1,0.2 -o study.csv",
    "ttt curve study.csv -o study.svg",
    "ttt evaluate heuristic:ties=first random --board 4x4 --line 4",
    "ttt train q --games 12000000 --workers 2 --seed 1 -o long.json",
    "ttt train ./examples/my_learner.py:MonteCarlo --games 5000 --seed 1",
    "ttt evaluate mc random --learner ./examples/my_learner.py:MonteCarlo",
)
"""Commands that take more than a few seconds, or need one that does; the long tests run them."""


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the first command and those of the section on training have run."""
    folder = tmp_path_factory.mktemp("readme")
    first = BLOCKS["sh"][0].strip().split(" && ", 2)[2].replace(".venv/bin/", "")
    run_each(folder, [*first.split(" && "), *COMMANDS[TRAIN]])
    return folder


def run_each(folder: Path, commands: Iterable[str]) -> str:
    """Run command lines in ``folder/work``, those of ``ttt`` alone in this process, which costs a tenth.

    :return: what they print.
    """
    work, printed = folder / "work", ""
    if not work.exists():
        work.mkdir()
        (work / "examples").symlink_to(ROOT / "examples")
    for command in commands:
        if not command.startswith("ttt ") or "|" in command:
            result = run(folder, command)
            assert result.returncode == 0, (command, result.stdout, result.stderr)
            printed += result.stdout
            continue
        keys = StringIO("5\nq\n" if command == "ttt play q" else "")
        env = Environment(keys, StringIO(), StringIO())
        with chdir(work), patch.dict(os.environ):
            os.environ.pop("TTT_STORE", None)
            assert ttt(split(command)[1:], env) == 0, (command, env.stderr.getvalue())
        printed += env.stdout.getvalue()
    return printed


@pytest.mark.parametrize("section", COMMANDS)
def test_every_command_runs(trained: Path, tmp_path: Path, section: str):
    """Each section on its own, after training."""
    if section == TRAIN:
        assert (trained / "work" / "state_store" / "td.json").exists()
        return
    shutil.copytree(trained, tmp_path / "copy", symlinks=True)
    run_each(tmp_path / "copy", [command for command in COMMANDS[section] if command not in SLOW])


@pytest.mark.long
def test_every_slow_command_runs(tmp_path: Path):
    assert set(SLOW) <= {command for commands in COMMANDS.values() for command in commands}
    run_each(tmp_path, SLOW)


def test_the_picture_is_what_is_printed(tmp_path: Path):
    """All but the time, which depends on the machine, for the seed 1."""
    printed = run_each(tmp_path, ["ttt train q --seed 1", "ttt evaluate q"])

    def without_time(text: str) -> list[str]:
        lines = [line.rstrip() for line in text.splitlines()]
        return [re.sub(r"in .* second\)", "", lines[0]), *lines[1:]]

    assert without_time(printed) == without_time(BLOCKS["text"][0])


def test_the_library_example_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    example = BLOCKS["python"][-1]
    assert len(example.strip().splitlines()) <= 11
    with chdir(tmp_path):
        exec(example, {})
    assert capsys.readouterr().out == "False\n1.0\n"
