"""Games that are played and learned, the N-th call on the system failing, N = 1, 2, 3 … until none is left.

Whatever fails, and wherever the process is killed: a finished game is kept and learned once, nothing else is
touched or lies about, and the user gets one line and a documented exit code.
"""

import os
import shutil
from pathlib import Path

import orjson
import pytest

from tests.store.faults import FAULTS, Killed
from tests.torture.children import Ended, command, litter, with_fault
from tests.torture.test_kills import run_here
from ttt_cli.errors import ExitCode
from ttt_cli.store import library
from ttt_cli.store.games import LOG, read_games

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here"),
]

PLAY = "play --x td --o random -n 2 --seed 1 --learn"
CODES = {ExitCode.DONE, ExitCode.FAILED, ExitCode.INVALID_FILE, ExitCode.INTERRUPTED}


@pytest.fixture(scope="module")
def given(tmp_path_factory) -> Path:
    """A folder with a state; what a killed process left lies there too."""
    folder = tmp_path_factory.mktemp("given")
    store = folder / "state_store"
    store.mkdir()
    run_here(["train", "td", "-n", 60, "--seed", 1, "-o", store / "td.json"])
    (store / ".td.json.999999999-0123456789ab.ttt-tmp").write_bytes(b"half a fi")
    return folder


def points(given: Path, tmp_path: Path, words: list[str], small: bool):
    """Each fault at each call in turn: the folder after it, and how the command ended."""
    streams, number = tmp_path / "streams", 0
    streams.mkdir()
    faults = [*FAULTS, (Killed, False), (Killed, True)]
    while True:
        number += 1
        chosen = [faults[number % len(faults)]] if small else faults
        for what, after in chosen:
            folder = tmp_path / "work"
            shutil.copytree(given, folder)
            ended, reached = with_fault(words, folder, streams, number, what, after=after)
            if not reached:
                assert ended.code == 0, ended
                return
            yield number, what, folder, ended
            shutil.rmtree(folder)


def check_words(ended: Ended, what: object) -> None:
    """One line for the user, and an exit code that fits."""
    if what is Killed:
        assert ended.code == -9
        return
    assert ended.code in CODES, ended
    assert "Traceback" not in ended.err and "internal error" not in ended.err, ended
    rescued = ("the game could not be recorded", "printf ")  # and the command that records it
    lines = sum(not line.startswith(rescued) for line in ended.err.splitlines())
    assert lines == (ended.code != 0) or (lines == 0 and what is KeyboardInterrupt), ended
    if what is KeyboardInterrupt:
        assert ended.code in (0, ExitCode.INTERRUPTED), ended
    else:
        assert ended.code != ExitCode.INTERRUPTED, ended


def test_whatever_fails_games_are_played_and_learnt_once(given, tmp_path, sized, capsys):
    words, number, count = [*PLAY.split(), "--quiet"], 0, 0
    before = library.load(given / "state_store" / "td.json").state
    for number, what, folder, ended in points(given, tmp_path, words, sized(True, False)):
        check_words(ended, what)
        assert what is Killed or len(litter(folder)) <= 1, f"call {number}, {what}: {ended}"
        log = folder / "state_store" / LOG
        finished = finished_games(log)
        assert len(finished) <= 2
        assert ended.code != 0 or len(finished) == 2
        again = command(words, folder, tmp_path / "again")
        assert again.code == 0, again
        state = library.load(folder / "state_store" / "td.json").state
        played = [record.id for record in read_games(log)]
        assert set(finished) <= set(played), f"call {number}, {what}: a finished game is lost"
        assert len(played) == len(set(played)) == len(finished) + 2
        assert state.learned_games == set(played)
        assert state.games == before.games + len(played)
        assert litter(folder) == []
        count += 1
    with capsys.disabled():
        print(f" play: {number} calls, {count} faults")


def finished_games(log: Path) -> list[str]:
    """The ids of the whole lines of a log."""
    lines = log.read_bytes().split(b"\n")[:-1] if log.exists() else []
    return [orjson.loads(line)["id"] for line in lines]
