"""What the program writes today is what it wrote when this was recorded: states, exports, documents, pages.

A failing scene names the command and what differs first. Recorded results are not changed to make it pass;
``python -m tests.golden --record`` adds those of new commands.
"""

import shutil
from pathlib import Path

import pytest

from tests.golden import recorded
from tests.golden.running import play
from tests.golden.scenes import LONG, SCENES


def check(commands: list[str], scene: str, folder: Path) -> None:
    """Play a scene and compare what each command leaves with what is recorded."""
    known = recorded.load(scene)
    assert list(known) == commands, "commands and records differ: python -m tests.golden --record"
    found = [
        line
        for command, left in play(commands, folder)
        for line in recorded.differences(command, known[command], left)
    ]
    assert not found, f"{len(found)} results differ; the files are in {folder}\n" + "\n".join(found)
    shutil.rmtree(folder)


@pytest.mark.parametrize("scene", SCENES)
def test_as_recorded(scene: str, tmp_path: Path):
    check(SCENES[scene], scene, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("scene", LONG)
def test_long_runs_as_recorded(scene: str, tmp_path: Path):
    check(LONG[scene], scene, tmp_path)
