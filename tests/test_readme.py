"""The documents tell the truth: every command in README.md and docs/*.md runs, from top to bottom of each.

A block that takes long is fenced as ``sh slow``; the long tests run it, after the others of its document.
"""

import os
import re
import shutil
import subprocess
import sys
from contextlib import chdir
from io import StringIO
from pathlib import Path
from shlex import split
from unittest.mock import patch

import pytest

from tests.ttt import ROOT
from ttt_cli.app import run as ttt
from ttt_cli.environment import Environment

DOCUMENTS = {
    path.name: path.read_text(encoding="utf-8") for path in (ROOT / "README.md", *ROOT.glob("docs/*.md"))
}
README = DOCUMENTS["README.md"]


def blocks(text: str, kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def shell(folder: Path, script: str) -> str:
    """What a shell script prints in ``folder``, where ``ttt`` is this program."""
    tools = folder.parent / "bin"
    if not tools.exists():
        tools.mkdir()
        (tools / "ttt").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ttt_cli "$@"\n')
        (tools / "ttt").chmod(0o755)
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"
    result = subprocess.run(
        ["bash", "-euc", script],
        cwd=folder,
        env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)},
        input="",
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert result.returncode == 0, (script, result.stdout, result.stderr)
    return result.stdout


def run_each(folder: Path, script: str) -> str:
    """Run command lines in a folder, those of ``ttt`` alone in this process, which costs a tenth.

    :return: what they print.
    """
    printed = ""
    for command in script.splitlines():
        words = split(command, comments=True)
        if not words:
            continue
        if words[0] != "ttt" or {"|", "<", ">", "&&"} & {*words}:
            printed += shell(folder, command)
            continue
        keys = StringIO("\n".join("512346789qqq") if words[1] == "play" else "")  # one game
        env = Environment(keys, StringIO(), StringIO())
        with chdir(folder), patch.dict(os.environ):
            os.environ.pop("TTT_STORE", None)
            assert ttt(words[1:], env) == 0, (command, env.stderr.getvalue())
        printed += env.stdout.getvalue()
    return printed


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the README's first command has run, as every document takes for granted."""
    folder = tmp_path_factory.mktemp("documents") / "work"
    folder.mkdir()
    (folder / "examples").symlink_to(ROOT / "examples")
    first = blocks(README, "sh")[0].partition("&& .venv/bin/ttt")[2]
    run_each(folder, f"ttt{first}".replace(" && .venv/bin/", "\n"))
    return folder


@pytest.fixture
def work(trained: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(trained, tmp_path / "work", symlinks=True))


def commands(name: str, kind: str) -> str:
    """The commands of a document; the two that make an environment are the README's own affair."""
    return "".join(block for block in blocks(DOCUMENTS[name], kind) if "-m venv" not in block)


def test_the_first_two_blocks_are_the_two_commands():
    """One line each, that makes its own environment."""
    for block, last in zip(
        blocks(README, "sh"), ("ttt evaluate q", "python -m pytest -n auto"), strict=False
    ):
        assert block.count("\n") == 1
        assert block.startswith("python3 -m venv .venv && .venv/bin/pip install ")
        assert block.rstrip().endswith(last)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_command_runs(work: Path, name: str):
    run_each(work, commands(name, "sh"))


@pytest.mark.long
@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_slow_command_runs(work: Path, name: str):
    run_each(work, commands(name, "sh") + commands(name, "sh slow"))


def test_the_picture_is_what_is_printed(tmp_path: Path):
    """All but the time, which depends on the machine, for the seed 1."""
    printed = run_each(tmp_path, "ttt train q --seed 1\nttt evaluate q")

    def without_time(text: str) -> list[str]:
        lines = [line.rstrip() for line in text.splitlines()]
        return [re.sub(r"in .* second\)", "", lines[0]), *lines[1:]]

    assert without_time(printed) == without_time(blocks(README, "text")[0])


def test_the_library_example_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    example = blocks(README, "python")[-1]
    assert len(example.strip().splitlines()) <= 11
    with chdir(tmp_path):
        exec(example, {})
    assert capsys.readouterr().out == "False\n1.0\n"
