"""What the program writes today is what it wrote when this was recorded: states, exports, documents.

A failing scene names the command and what differs. Results are recorded anew only where games or files change
on purpose: ``python -m tests.golden --record``.
"""

import shutil
from pathlib import Path

import pytest

from tests.golden import recorded
from tests.golden.running import perform
from tests.golden.scenes import LONG, QUICK


@pytest.mark.parametrize("scene", [*QUICK, *(pytest.param(scene, marks=pytest.mark.long) for scene in LONG)])
def test_calls_match_their_recordings(scene: str, tmp_path: Path):
    commands, known = {**QUICK, **LONG}[scene], recorded.load(scene)
    assert list(known) == commands, "the commands are not those recorded: python -m tests.golden --record"
    found = [
        line
        for command, left in perform(commands, tmp_path)
        for line in recorded.differences(command, known[command], left)
    ]
    if found:
        pytest.fail("\n".join([f"the files are in {tmp_path}", *found[:40]]), pytrace=False)
    shutil.rmtree(tmp_path)
