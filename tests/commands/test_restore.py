"""``ttt restore`` lists what was replaced, and brings it back."""

from itertools import product
from pathlib import Path

import pytest

from tests.ttt import Run
from ttt_cli.store.locks import lock


@pytest.fixture
def replaced(ttt: Run) -> Run:
    """A store in which a large state was replaced twice."""
    for games in ("1000", "10", "20"):
        small = ("--board", "2x3", "-o", "state_store/q.json")
        trained = ttt("train", "q", *small, "--fresh", "--games", games, "--seed", games)
    assert "the previous file is kept as state_store/q.json.bak\n" in trained.err
    return ttt


def test_a_million_games_survive_two_fresh_starts(replaced: Run):
    listed = replaced("restore", "q")
    assert listed.out == "state_store/q.json.bak: 10 games\nstate_store/q.json.1.bak: 1,000 games\n"
    assert listed.err == "to bring one back: ttt restore state_store/q.json.1.bak\n"
    back = replaced("restore", "state_store/q.json.1.bak")
    assert back.err == "the previous file is kept as state_store/q.json.bak\n"
    assert back.out == "restored state_store/q.json\n"
    assert replaced("show", "q", "--json").json["games"] == 1000
    newest = replaced("restore", "q", "--json").json["backups"][0]
    assert newest == {"file": "state_store/q.json.bak", "games": 20}


def test_a_state_that_is_gone_is_brought_back(replaced: Run):
    Path("state_store/q.json").rename("state_store/the\nsame.json")
    Path("state_store/q.json.1.bak").rename(odd := "state_store/the\nsame.json.bak")
    assert replaced("restore").out.count("the\\nsame") == 1 and replaced("restore", odd).code == 0
    assert replaced("restore", "q").out.startswith("state_store/q.json.bak")
    assert replaced("restore", "state_store/q.json.bak").code == 0
    assert replaced("show", "q", "--json").json["games"] == 10
    with lock(Path("state_store/q.json"), "trained"):
        busy = replaced("restore", "state_store/q.json.bak")
    assert busy.code == 4 and "trained by process" in busy.err and "; try again when it is free" in busy.err
    Path("state_store/q.json").write_bytes(b"")  # damaged
    assert replaced("restore", "q").out.startswith("state_store/q.json.bak: 10 games\n")
    Path("state_store/q.json.bak").write_bytes(b"damaged")
    assert replaced("restore", "state_store/q.json.bak").code == 3
    assert Path("state_store/q.json").read_bytes() == b""


def test_a_state_replaces_nothing_but_states(ttt: Run):
    ttt("train", "q", "--games", "9", "--seed", "1")
    for made in ("export random --board 2x3 -o p.json -f policy-json", "export q -o foreign.json -f q-table"):
        assert ttt(*made.split()).code == 0
    for call in ("merge q -o p.json", "import foreign.json -o p.json", "train q --fresh -o foreign.json"):
        before = Path(name := call.split()[-1]).read_bytes()
        refused = ttt(*call.split())
        assert refused.code == 3 and f"{name}: is not a state, and a state may replace" in refused.err
        assert Path(name).read_bytes() == before and not Path(f"{name}.bak").exists()


def test_a_name_with_a_board_means_the_state_for_it(ttt: Run):
    board = ("--board", "2x3", "--line", "2")
    for game, games in product((board, ("--games", "5")), ("30", "20")):
        assert ttt("train", "q", "--games", games, *game, "--fresh").code == 0
    assert ttt("restore", "q", *board).out == "state_store/q.2x3-2.json.bak: 30 games\n"
    assert ttt("verify", "q", *board).out.startswith("state_store/q.2x3-2.json: ")
    assert ttt("curve", "q", *board, "--json").json["curves"][0]["file"] == "state_store/q.2x3-2.json"


def test_there_is_nothing_to_restore(ttt: Run):
    assert ttt("restore").err.startswith("no backups") and ttt("restore").code == 0
    assert ttt("restore", "q").code == 2
    Path("mine.json").write_bytes(b"")
    mine = ttt("restore", "mine.json", "--quiet")
    assert mine.err.startswith("Error: mine.json: there are no backups") and mine.code == 1
    assert [ttt("restore", folder).code for folder in ("", ".", "/")] == [3, 3, 3]
    assert ttt("play", "--x", "random", "--o", "random", "--learn").code == 0
    assert "games.jsonl: there are no backups" in ttt("restore", "games.jsonl").err
    damaged = b"x\n" + Path("state_store/games.jsonl").read_bytes()
    Path("state_store/games.jsonl.bak").write_bytes(damaged)
    assert ttt("restore", "games.jsonl.bak").code == 0
    assert Path("state_store/games.jsonl").read_bytes() == damaged
