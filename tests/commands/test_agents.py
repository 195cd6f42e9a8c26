"""``ttt agents``: the built-in players, and the states of the store at a glance."""

import re
from pathlib import Path


def test_the_states_with_games_verdict_and_worst_case(ttt):
    ttt("train", "q", "--games", "500", "--seed", "1")
    ttt("train", "td", "--games", "200k", "--seed", "1", "--board", "2x3")
    Path("state_store/broken.json").write_text("{")
    out = ttt("agents").out
    assert re.search(r"^state +games +verdict +lose as X +lose as O +last written$", out, re.MULTILINE)
    assert re.search(r"^q +500 +beatable +[\d.]+ % +[\d.]+ % +20\d\d-\d\d-\d\d \d\d:\d\d$", out, re.MULTILINE)
    assert re.search(r"^td.2x3-3 +200,000 +unbeatable +0 % +0 % +20", out, re.MULTILINE)
    assert re.search(r"^broken +not a state +20", out, re.MULTILINE)
    assert f"in {Path('state_store').resolve()}" in out
    assert re.search(r"^hard +the same as minimax$", out, re.MULTILINE)


def test_on_a_narrow_screen_nothing_is_cut_off(ttt):
    ttt("train", "q", "--games", "1500", "--seed", "1")
    out = ttt("agents", terminal=True, COLUMNS="40").out
    assert "…" not in out and "1,500" in out and re.search(r"20\d\d-\d\d-\d\d \d\d:\d\d$", out, re.MULTILINE)


def test_a_large_board_is_judged_by_a_line_of_play(ttt):
    ttt("train", "q", "--games", "50", "--seed", "1", "--board", "4x4", "--line", "3", "--opponent", "random")
    assert re.search(r"^q.4x4-3 +50 +(beatable|not known) +20", ttt("agents").out, re.MULTILINE)


def test_an_empty_store_says_where_it_would_be(ttt):
    assert f"no states in {Path('state_store').resolve()}" in ttt("agents").out
