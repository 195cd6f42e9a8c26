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


@pytest.mark.parametrize(
    "scene", [*QUICK, *(pytest.param(scene, marks=pytest.mark.long) for scene in [*LONG, *LARGE])]
)
def test_calls_match_their_recordings(scene: str, tmp_path: Path, sized):
    """What is large was recorded from arrays over all positions; a walk adds probabilities up in an order of
    its own, which may change their last digit."""
    if scene in LARGE and not sized(False, True):
        pytest.skip("takes a minute and two gigabytes: --size full")
    commands, known = {**QUICK, **LONG, **LARGE}[scene], recorded.load(scene)
    assert list(known) == commands, "the commands are not those recorded: python -m tests.golden --record"
    found = [
        line
        for command, left in perform(commands, tmp_path)
        for line in recorded.differences(command, known[command], left, within=1e-12 * (scene in LARGE))
    ]
    if found:
        pytest.fail(
            "\n".join([f"{len(found)} differences; the files are in {tmp_path}", *found[:20]]), pytrace=False
        )
    shutil.rmtree(tmp_path)


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
