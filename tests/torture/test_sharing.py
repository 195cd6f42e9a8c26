"""Many processes that write one state at the same time lose no game and count none twice."""

import os
import sys
from io import StringIO
from pathlib import Path

import pytest

from tests.torture.children import Child, command, litter
from tests.torture.test_kills import run_here
from ttt_cli.app import run
from ttt_cli.environment import Environment
from ttt_cli.errors import ExitCode
from ttt_cli.store import library
from ttt_cli.store.games import LOG, read_games

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here"),
]

PROCESSES = 8
GAMES = 20


def test_processes_merging_and_playing_into_one_state_lose_nothing(tmp_path, sized, capsys):
    """Each merges a run of its own into the state and plays a game for it, again and again."""
    rounds = sized(5, 50)
    store = tmp_path / "state_store"
    store.mkdir()
    run_here(["train", "td", "-n", GAMES, "--seed", 0, "-o", store / "td.json"])
    for process in range(PROCESSES):
        for turn in range(rounds):
            seed = 1 + process * rounds + turn
            run_here(["train", "td", "-n", GAMES, "--seed", seed, "-o", tmp_path / f"{seed}.json"])
    run_here(["play", "--x", "td", "--o", "random", "-n", 1, "--learn", "--store", tmp_path / "warm"])
    children = [writer(tmp_path, process, rounds) for process in range(PROCESSES)]
    for child in children:
        ended = child.wait()
        assert ended.code == 0, ended
    last = command(["play", "--x", "td", "--o", "random", "-n", 1, "--learn"], tmp_path, tmp_path / "streams")
    assert last.code == 0, last
    state = library.load(store / "td.json").state
    played = [record.id for record in read_games(store / LOG)]
    assert len(set(played)) == len(played) == PROCESSES * rounds + 1
    assert state.learned_games == set(played)
    total = GAMES * (1 + PROCESSES * rounds) + len(played)
    assert state.games == total
    assert openings(state) == total
    assert litter(tmp_path) == []
    with capsys.disabled():
        print(f" {PROCESSES} processes, {rounds} rounds each: {total} games, exactly")


def openings(state) -> int:
    """How often X has learned of a first move: once a game."""
    entries = dict(state.learner.to_entries(state.table))
    return sum(entry["x"][1] for text, entry in entries.items() if text.count(".") == 8)


def writer(folder: Path, process: int, rounds: int) -> Child:
    """A child that merges and plays in turn; it ends with 0 if every command did."""

    def around(work) -> int:
        for turn in range(rounds):
            seed = 1 + process * rounds + turn
            merging = ["merge", "td", folder / f"{seed}.json", "-o", folder / "state_store" / "td.json"]
            while (code := run_again(merging)) == ExitCode.BUSY:
                pass
            if code:
                return code
            if code := run_again(["play", "--x", "td", "--o", "random", "-n", "1", "--learn"]):
                return code
        return 0

    return Child([], folder, folder / f"streams{process}", around)


def run_again(words: list[object]) -> int:
    """Run one command in this child, errors going to its stderr."""
    return run([str(word) for word in words], Environment(StringIO(), StringIO(), sys.stderr))
