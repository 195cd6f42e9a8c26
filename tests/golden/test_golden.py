"""What the program writes today is what it wrote when this was recorded: states, exports, documents.

A failing scene names the command and what differs. Results are recorded anew only where games or files change
on purpose: ``python -m tests.golden --record``.
"""

import shutil
from pathlib import Path

import pytest

from tests.golden import recorded
from tests.golden.running import perform
from tests.golden.scenes import LARGE, LONG, QUICK


def check(commands: list[str], scene: str, folder: Path, *, within: float = 0.0) -> None:
    """Run a scene and compare what each command leaves with what is recorded."""
    known = recorded.load(scene)
    assert list(known) == commands, "the commands are not those recorded: python -m tests.golden --record"
    found = [
        line
        for command, left in perform(commands, folder)
        for line in recorded.differences(command, known[command], left, within=within)
    ]
    if found:
        pytest.fail(
            "\n".join([f"{len(found)} differences; the files are in {folder}", *found[:20]]), pytrace=False
        )
    shutil.rmtree(folder)


@pytest.mark.parametrize("scene", [*QUICK, *(pytest.param(scene, marks=pytest.mark.long) for scene in LONG)])
def test_calls_match_their_recordings(scene: str, tmp_path: Path):
    check({**QUICK, **LONG}[scene], scene, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("scene", LARGE)
def test_calls_on_large_boards_match_their_recordings(scene: str, tmp_path: Path, sized):
    """4x4 with four in line: exact rates and worst cases of players who know little, and the bytes of young
    states, as they were recorded from arrays over all 9.7 million positions.

    A walk adds probabilities up in an order of its own, which may change their last digit.
    """
    if not sized(False, True):
        pytest.skip("takes a minute and two gigabytes: --size full")
    check(LARGE[scene], scene, tmp_path, within=1e-12)


def test_a_recording_allows_new_fields_but_no_other_difference():
    left = {"exit": 0, "stdout": [{"win": 0.5, "line": [1, 5]}], "a.csv": "cell\n1\n2"}
    more = {**left, "stdout": [{"win": 0.5, "line": [1, 5], "draw": 0.25}]}
    assert not list(recorded.differences("evaluate q", left, more))
    for name, value, place in (
        ("exit", 1, "exit: 1 instead of 0"),
        ("stdout", [{"win": 0.6, "line": [1, 5]}], "stdout[0][win]: 0.6 instead of 0.5"),
        ("stdout", [{"win": 0.5, "line": [1, 7]}], "stdout[0][line][1]: 7 instead of 5"),
        ("stdout", [{"win": 0.5}], "stdout[0][line][1]: 'nothing' instead of 5"),
        ("a.csv", "cell\n1\n3", "a.csv[2]: '3' instead of '2'"),
        ("b.csv", "", "b.csv: '' instead of 'nothing'"),
    ):
        found = list(recorded.differences("evaluate q", left, {**left, name: value}))
        assert any(line == f"ttt evaluate q: {place}" for line in found), found
