"""``ttt show``: what is in a state."""

import re
from pathlib import Path

from ttt_cli.commands.show import MOST_RUNS


def test_sittings_of_play_are_one_line(ttt):
    for number in range(4):
        ttt("play", "--x", "td", "--o", "random", "--games", 2, "--seed", number, "--learn")
    out = ttt("show", "td").out
    lines = [line for line in out.splitlines() if line.startswith("run")]
    assert len(lines) == 1
    found = re.fullmatch(r"run +4 sittings of play, 8 games: X won (\d), O won (\d), (\d) drawn", lines[0])
    assert found and sum(map(int, found.groups())) == 8
    assert len(ttt("show", "td", "--json").json["runs"]) == 4


def test_the_longest_runs_are_told_and_the_rest_counted(ttt):
    for number in range(MOST_RUNS + 3):
        ttt("train", "q", "--games", 10 + number, "--seed", number)
    lines = [line for line in ttt("show", "q").out.splitlines() if line.startswith("run")]
    assert len(lines) == MOST_RUNS + 1
    assert " 22 games against self" in lines[0]
    assert lines[-1] == "run       and 3 more, 33 games; --json lists them"


def test_of_a_log_the_players_and_their_results_are_told(ttt):
    ttt("play", "--x", "td", "--o", "random", "--games", 2, "--learn")
    ttt("play", "--x", "minimax", "--o", "minimax", "--games", 1, "--learn")
    log = "state_store/games.jsonl"
    found = ttt("show", log, "--json").json
    assert (found["games"], found["unreadable"]) == (3, 0)
    assert sum(found["results"].values()) == 3
    players = {one.pop("name"): one for one in found["players"]}
    assert players["minimax"] == {"won": 0, "drawn": 2, "lost": 0}
    assert players["td"]["won"] == players["random"]["lost"]
    with Path(log).open("a", encoding="utf-8") as file:
        file.write("{}\n")
    told = ttt("show", log)
    assert "games     3: X won" in told.out and "faults    1 line cannot be read" in told.out
    assert "player    minimax won 0, drew 2, lost 0" in told.out
    assert f"next: ttt review {log}" in told.err


def test_the_record_against_people_is_told_here_and_before_a_game(ttt):
    keys = "1\n2\n9\n8\n7\n6\n4\n3\n5\n"
    for seed in range(3):
        ttt("play", "td", "--as", "x", "--games", 1, "--seed", seed, stdin=keys)
    ttt("play", "--x", "td", "--o", "random", "--games", 2, "--learn")
    told = r"^people +won (\d) games against people, drew (\d), lost (\d)$"
    found = re.search(told, ttt("show", "td").out, re.MULTILINE)
    assert found and sum(map(int, found.groups())) == 3
    assert re.search(
        r"^td against people: won \d, drew \d, lost \d$", ttt("play", "td", stdin="").err, re.MULTILINE
    )
    assert "against people" not in ttt("play", "random", stdin="").err


def test_a_file_of_the_store_is_called_by_its_name(ttt):
    ttt("train", "q", "--games", 10, "--seed", 1)
    assert "(did you mean 'q'?)" in ttt("show", "q.json").err
