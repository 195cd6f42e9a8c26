"""``ttt show``: what is in a state; bare, what there is at all."""

import os
import re
from pathlib import Path

MAX_RUNS = 3


def test_the_runs_with_most_games_are_listed(ttt, monkeypatch):
    monkeypatch.setattr("ttt_cli.commands.show.MAX_RUNS", MAX_RUNS)
    name, board = "td.2x3-3", ("--board", "2x3")
    for number in range(2):
        ttt("play", "--x", "td", "--o", "random", *board, "--games", 2, "--seed", number, "--learn")
    for number in range(MAX_RUNS + 2):
        ttt("train", "td", *board, "--games", 10 + number, "--seed", number)
    lines = [line for line in ttt("show", name).out.splitlines() if line.startswith("run")]
    assert len(lines) == MAX_RUNS + 1 and " 14 games against self" in lines[0]
    assert re.fullmatch(r"run +and 4 more, \d+ games; --json lists them", lines[-1])
    monkeypatch.setattr("ttt_cli.store.source.LARGE", 80)
    assert len((shown := ttt("show", name, "--json")).json["runs"]) == MAX_RUNS + 4
    assert f"reading state_store/{name}.json, 0 MB" in shown.err
    assert f"(did you mean '{name}'?)" in ttt("show", f"{name}.json").err
    Path("state_store/td.json").touch()
    assert f"(did you mean '{name}'?)" in ttt("verify", "td.2x3").err


def test_the_store_is_listed_with_verdicts_and_worst_cases(ttt, monkeypatch):
    ttt("train", "q", "--games", "500", "--seed", "1")
    ttt("train", "td", "--games", "2k", "--seed", "1", "--board", "2x3")
    ttt("train", "q", "--games", "50", "--seed", "1", "--board", "4x4", "--line", "3", "--opponent", "random")
    Path("state_store/broken.json").write_text("{")
    Path("state_store/loop.json").symlink_to("loop.json")
    Path("state_store/td.2x3-3.json").rename("td.json")
    Path("state_store/td.2x3-3.json").symlink_to("../td.json")
    os.utime("td.json", (0, 0))
    out = ttt("show").out
    for line in (
        r"state +games +verdict +lose as X +lose as O +last written",
        r"q +500 +beatable +[\d.]+ % +[\d.]+ % +20\d\d-\d\d-\d\d \d\d:\d\d",
        r"td.2x3-3 +2,000 +unbeatable +0 % +0 % +1970-.*",
        r"q.4x4-3 +50 +(beatable|not known) +20.*",  # by a line of play
        r"broken +cannot be read +20.*",
        r"broken: state_store/broken.json.*",
        r"loop: state_store/loop.json: cannot be read: .*",
        r"hard +the same as minimax; on large boards, as search",
    ):
        assert re.search(f"^{line}$", out, re.MULTILINE), line
    assert f"in {Path('state_store').resolve()}" in out
    found = ttt("show", "--json").json
    broken, _, q, _, _ = found["states"]
    assert (q["name"], q["games"], q["unbeatable"]) == ("q", 500, False) and q["worst_case"]["as_o"] > 0
    assert broken["fault"] and broken["unbeatable"] is None
    minimax = next(one for one in found["players"] if one["name"] == "minimax")
    assert minimax["options"]["depth"] == "N (from 1)"
    Path("minimax").touch()  # names win over paths
    assert {key: ttt("show", "minimax", "--json").json[key] for key in minimax} == minimax
    assert "option    depth=N (from 1)" in ttt("show", "minimax:depth=2").out
    monkeypatch.setenv("TTT_STORE", "elsewhere")
    assert "elsewhere" in ttt("show").out
    assert f"in {Path('here').resolve()}" in ttt("show", "--store", "here").out


def test_the_formats_are_listed(ttt):
    listed = ttt("show", "--formats").out
    assert re.search(r"^q-table +yes +yes +yes +q +JSON", listed, re.MULTILINE)
    assert re.search(r"^game-records +yes {10,}yes +any", listed, re.MULTILINE)  # a log plays nothing
    narrow = ttt("show", "--formats", terminal=True, COLUMNS="60", NO_COLOR="1").out
    assert all(len(line) <= 60 for line in narrow.splitlines())
    assert ttt("show", "q", "--formats").code == 2
