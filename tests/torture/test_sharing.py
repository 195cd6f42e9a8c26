"""Many processes that write one state at the same time lose no game and count none twice."""

import sys
from io import StringIO

import pytest

from tests.store.conftest import continued
from tests.store.faults import ended, forked, litter
from tests.tables import empty_state
from ttt_cli.app import run
from ttt_cli.environment import Environment
from ttt_cli.errors import ExitCode
from ttt_cli.store import library
from ttt_cli.store.games import LOG, SoundGames

PROCESSES = 4
GAMES = 20
MERGE = ("merge", "td", "-o", "state_store/td.json")
PLAY = ("play", "--x", "td", "--o", "random", "-n", "1", "--learn")


def command(*words: str) -> int:
    return run(words, Environment(StringIO(), StringIO(), sys.stderr))


@pytest.mark.long
def test_processes_that_merge_and_play_into_one_state_lose_nothing(tmp_path, monkeypatch, sized):
    monkeypatch.chdir(tmp_path)
    rounds = sized(4, 100)
    store = tmp_path / "state_store"
    store.mkdir()
    for seed in range(PROCESSES * rounds + 1):
        state = continued(empty_state("td"), GAMES, seed)
        library.save(state, tmp_path / f"{seed}.json" if seed else store / "td.json")
    assert command(*PLAY) == 0  # compiled before the others begin

    def writer(process: int) -> None:
        for seed in range(process * rounds + 1, (process + 1) * rounds + 1):
            while (code := command(*MERGE, f"{seed}.json")) == ExitCode.BUSY:
                pass
            assert code == 0 and command(*PLAY) == 0

    children = [forked(lambda process=process: writer(process)) for process in range(PROCESSES)]
    assert [ended(child) for child in children] == [0] * PROCESSES
    assert command(*PLAY) == 0
    state = library.load(store / "td.json").state
    played = [record.id for record in SoundGames(store / LOG)]
    assert len(set(played)) == len(played) == PROCESSES * rounds + 2
    assert state.learned_games == set(played)
    entries = dict(state.learner.to_entries(state.table))
    openings = sum(entry["x"][1] for text, entry in entries.items() if text.count(".") == 8)
    assert state.games == openings == GAMES * (1 + PROCESSES * rounds) + len(played)
    assert litter(tmp_path) == []
