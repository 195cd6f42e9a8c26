"""Compile the kernels before the tests, each in one of the processes that share them: else all compile all.

Where they are compiled already this takes a second, which the first tests would take otherwise.
"""

import os
from io import StringIO
from pathlib import Path
from time import monotonic, sleep

from ttt_cli.app import run
from ttt_cli.environment import Environment

PATIENCE = 120
"""Seconds in which other processes may compile; after that whoever needs their kernels compiles them too."""

GAMES = Path(__file__).parents[1] / "state_store" / "samples" / "games.jsonl"
CALLS = [
    "train ntuple --games 20",
    f"train ntuple --games-from {GAMES} -o FOLDER/lesson.json",
    "solve --board 5x5 --line 4 --nodes 1000",
    "train q --games 20 --board 4x4 --line 4 --opponent random",
    *(f"train {learner} --games 20" for learner in ("q", "td", "graph", "menace", "book")),
    "train q --games 20 --preset article",
]
"""What makes each kernel compile, those that take longest first."""


def compile_in_turn(folder: Path) -> None:
    """Compile this process' share, and wait for the others.

    :param folder: the processes' own, empty at first.
    """
    own = int(os.environ["PYTEST_XDIST_WORKER"].removeprefix("gw"))
    for number in range(own, len(CALLS), int(os.environ["PYTEST_XDIST_WORKER_COUNT"])):
        words = CALLS[number].replace("FOLDER", str(folder)).split()
        run([*words, "--store", str(folder / "store")], Environment(StringIO(), StringIO(), StringIO()))
        (folder / f"{number}.done").touch()
    end = monotonic() + PATIENCE
    while len(list(folder.glob("*.done"))) < len(CALLS) and monotonic() < end:
        sleep(0.05)
