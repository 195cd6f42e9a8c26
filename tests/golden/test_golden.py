"""What the program writes today is what it wrote when this was recorded: states, exports, documents, pages.

A failing scene names the command and what differs first. Recorded results are not changed to make it pass;
``python -m tests.golden --record`` adds those of new commands.
"""

import shutil
from pathlib import Path

import pytest

from tests.golden import recorded
from tests.golden.running import Left, perform
from tests.golden.scenes import LARGE, LONG, SCENES


def check(commands: list[str], scene: str, folder: Path, known: dict[str, Left] | None = None) -> None:
    """Run a scene and compare what each command leaves with what is recorded."""
    known = known or recorded.load(scene)
    if list(known) != commands:
        pytest.fail("the commands are not those recorded: python -m tests.golden --record", pytrace=False)
    found = [
        line
        for command, left in perform(commands, folder)
        for line in recorded.differences(command, known[command], left)
    ]
    if found:
        message = f"{len(found)} results differ; the files are in {folder}"
        pytest.fail("\n".join([message, *found]), pytrace=False)
    shutil.rmtree(folder)


@pytest.mark.parametrize("scene", SCENES)
def test_as_recorded(scene: str, tmp_path: Path):
    check(SCENES[scene], scene, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("scene", LONG)
def test_long_runs_as_recorded(scene: str, tmp_path: Path):
    check(LONG[scene], scene, tmp_path)


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("scene", LARGE)
def test_large_boards_as_recorded(scene: str, tmp_path: Path, sized):
    """4x4 with four in line: exact rates and worst cases of players who know little, to the last digit, and
    the bytes of young states.

    They were recorded from arrays over all 9.7 million positions, which takes 4 to 8 GB and a minute or two
    each, so they run at full size alone. Counts over all positions are not held: no player needs them.
    """
    if not sized(False, True):
        pytest.skip("takes gigabytes and minutes: --size full")
    known = recorded.load(scene)
    for left in known.values():
        for document in left["stdout"]:
            for key in ("positions", "of"):
                document.get("mistakes", {}).pop(key, None)
    check(LARGE[scene], scene, tmp_path, known)


def test_a_difference_is_found_and_a_longer_document_is_none():
    left = {"exit": 0, "stdout": [{"win": 0.5, "line": [1, 5]}], "a.csv": "cell\n1\n2"}
    more = {**left, "stdout": [{"win": 0.5, "line": [1, 5], "draw": 0.25}]}
    assert not list(recorded.differences("evaluate q", left, more))
    for name, value, told in (
        ("exit", 1, "exit: 1 instead of 0"),
        (
            "stdout",
            [{"win": 0.5000000000000001, "line": [1, 5]}],
            "stdout[0].win: 0.5000000000000001 instead",
        ),
        ("stdout", [{"win": 0.5, "line": [1, 5, 9]}], "stdout[0].line: 3 items instead of 2"),
        ("stdout", [{"win": 0.5}], "stdout[0].line: is gone"),
        ("a.csv", "cell\n1\n3", "a.csv line 3: '3' instead of '2'"),
        ("b.csv", "", "b.csv: was not written before"),
    ):
        (line,) = recorded.differences("evaluate q", left, {**left, name: value})
        assert line.startswith("ttt evaluate q") and told in line
