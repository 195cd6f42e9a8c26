"""The README and the pages in ``docs/``: every command runs, and what they show is what is printed."""

import doctest
import os
import re
import shutil
import sys
from collections.abc import Iterable
from contextlib import chdir
from itertools import pairwise
from json import loads
from pathlib import Path
from shlex import split
from unittest.mock import patch

import pytest

from tests.ttt import GAME_KEYS, ROOT, Stream, finish
from ttt_cli.app import run as ttt
from ttt_cli.commands import COMMANDS, HIDDEN
from ttt_cli.environment import Environment

PAGES = {path.name: path.read_text("utf-8") for path in (ROOT / "README.md", *(ROOT / "docs").glob("*.md"))}


def blocks(page: str, fence: str) -> list[str]:
    return re.findall(rf"^```{fence}\n(.*?)^```", PAGES[page], re.MULTILINE | re.DOTALL)


def commands(fence: str) -> dict[str, list[str]]:
    """The command lines of pages, but for the README's first two, which make an environment of their own."""
    found = {page: "".join(blocks(page, fence)).splitlines() for page in PAGES}
    del found["README.md"][: 2 * (fence == "sh")]
    return {page: lines for page, lines in found.items() if lines}


FAST, SLOW = commands("sh"), commands("sh slow")
TRAINED = ["q --seed 1", "q --preset article --seed 1", "td --games 500", "graph --games 500"]
"""What the pages rely on."""


def run_each(work: Path, lines: Iterable[str], keys: str = GAME_KEYS) -> str:
    """What command lines print; those of ``ttt`` alone run in this process, which costs a tenth."""
    printed = ""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for line in lines:
        if not line.startswith("ttt ") or {"|", ">"} & {*line}:
            done = finish("-euc", line, program=["bash"], cwd=work, env={**os.environ, "PATH": path})
            assert done.code == 0, (line, done)
            printed += done.out
            continue
        env = Environment(Stream(keys), Stream(), Stream())
        with chdir(work), patch.dict(os.environ):
            os.environ.pop("TTT_STORE", None)
            assert ttt(split(line)[1:], env) == 0, (line, env.stderr.getvalue())
        printed += env.stdout.getvalue()
    return printed


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    work = tmp_path_factory.mktemp("pages") / "work"
    work.mkdir()
    (work / "examples").symlink_to(ROOT / "examples")
    run_each(work, [*(f"ttt train {line}" for line in TRAINED), "ttt play easy --games 1"])
    return work


@pytest.fixture
def work(trained: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(trained, tmp_path / "work", symlinks=True))


def test_every_command_of_the_readme_runs(work: Path):
    articles = re.findall(r"\| `(ttt .+)` \|$", PAGES["README.md"], re.MULTILINE)
    assert len(articles) == 5
    run_each(work, [*FAST["README.md"], *articles])


@pytest.mark.long
@pytest.mark.parametrize("page", sorted(FAST.keys() - {"README.md"}))
def test_every_command_runs(work: Path, page: str):
    run_each(work, FAST[page])


@pytest.mark.long
@pytest.mark.parametrize("page", SLOW)
def test_every_slow_command_runs(work: Path, page: str, sized):
    lines = "\n".join(SLOW[page]).replace("ttt study --presets\n", "")  # whose table is looked at below
    for full, small in (("--seeds 20 ", "--seeds 2 "), ("--games 5000 ", "--games 500 "), ("4x4", "3x4")):
        lines = lines.replace(full, sized(small, full))
    run_each(work, lines.splitlines())


def test_the_readme_begins_with_the_two_commands_and_is_short():
    lasts = ("ttt evaluate q", "python -m pytest -n auto")
    for block, last in zip(blocks("README.md", "sh"), lasts, strict=False):
        assert block.startswith("python3 -m venv .venv && .venv/bin/pip install ")
        assert block.count("\n") == 1 and block.endswith(f"{last}\n")
    assert PAGES["README.md"].count("\n") <= 180


def test_the_readme_names_every_command_and_page_and_links_lead_somewhere():
    listed = re.findall(r"^\| `ttt (\w+)", PAGES["README.md"], re.MULTILINE)
    assert listed == [name for name in COMMANDS if name not in HIDDEN]
    assert all(f"(docs/{page})" in PAGES["README.md"] for page in PAGES if page != "README.md")
    for page, text in PAGES.items():
        folder = ROOT if page == "README.md" else ROOT / "docs"
        for target in re.findall(r"\]\((?!https:)([^)#]+)", text):
            assert (folder / target).exists(), (page, target)


def test_the_picture_is_what_b_shows(work: Path):
    shown = run_each(work, ["ttt play q.article --as o --seed 3 --quiet"], "1\nb\nq\n").splitlines()
    assert {line.strip() for line in blocks("README.md", "text")[0].splitlines()} <= {*map(str.strip, shown)}


def test_the_readmes_surprising_figures_are_true(work: Path):
    for line in blocks("README.md", "text")[1].splitlines()[2:]:
        name, games, *figures = line.split()
        found = loads(run_each(work, [f"ttt evaluate {name} random --json"]))
        assert found["agent"]["games"] == int(games.replace(",", ""))
        rates, worst = found["results"][0], found["worst_case"]
        sides = ("as_x", "as_o")
        shares = [*(rates[side]["win"] for side in sides), *(worst[side]["loss"] for side in sides)]
        shown = [float(part) for part, unit in pairwise(figures) if unit == "%"]
        assert shown == [round(100 * share, 2) for share in shares]
        for side in sides:
            assert " ".join(map(str, worst[side]["line"] or [])) in line


def test_the_verdict_is_what_is_printed(work: Path):
    assert run_each(work, ["ttt evaluate q"]) == blocks("judging.md", "text")[0]


@pytest.mark.long
def test_the_table_of_methods_is_what_is_printed(work: Path):
    printed = run_each(work, ["ttt study --presets"])
    assert all(line.strip() in printed for line in blocks("training.md", "text")[0].splitlines())


def test_the_library_page_is_true(tmp_path: Path):
    with chdir(tmp_path):
        found = doctest.testfile(str(ROOT / "docs" / "library.md"), module_relative=False)
    assert found.attempted > 8 and not found.failed


def test_the_library_example_of_the_readme_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    with chdir(tmp_path):
        exec(blocks("README.md", "python")[0], {})
    assert capsys.readouterr().out == "False\n1.0\n"
