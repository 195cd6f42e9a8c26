"""``ttt review``, and the review after a game of ``ttt play``."""

import re
from itertools import product
from pathlib import Path

from ttt_cli.store.games import GameRecord, record_game

STORE = Path("state_store")
LOST = GameRecord((4, 8, 1, 2, 3, 7, 5, 6, 9), "x", "random", "human", id="aa")
DRAWN = GameRecord((1, 5, 9, 2, 8, 7, 3, 6, 4), "draw", "human", "minimax", id="bb")
RESIGNED = GameRecord((1, 5), "o", "human", "menace", end="resigned", id="cc")


def test_the_last_or_the_numbered_game_is_reviewed(ttt):
    for record in (LOST, DRAWN, RESIGNED):
        record_game(STORE, record)
    assert "Game 3 (cc)" in ttt("review").out
    for wanted in ("1", "aa"):
        found = ttt("review", "--game", wanted).out
        assert "Game 1 (aa): X is random, O is human; X wins" in found
        assert re.search(r"^ +8 +O +6 +win +loss +turning point: 9 kept the win$", found, re.MULTILINE)
        assert "Move 8, O on 6, turned a win into a loss; 9 kept the win" in found
        assert "Accuracy where it mattered: X (random) 0 of 2 (0 %); O (human) 1 of 4 (25 %)" in found
    assert "No move gave anything away" in ttt("review", STORE / "games.jsonl", "--game", 2).out
    assert "X (human) resigned what was still a draw" in ttt("review").out


def test_the_document(ttt):
    record_game(STORE, LOST)
    found = ttt("review", "--json").json
    assert (found["game"], found["result"], found["turning_point"]) == ("aa", "x", 8)
    slip = {"cell": 6, "side": "o", "before": "win", "after": "loss", "best": [9], "proven": True}
    assert slip.items() <= found["moves"][7].items()
    assert found["accuracy"] == {"x": 0.0, "o": 0.25}
    record_game(STORE, DRAWN)
    assert ttt("review", "--json").json["turning_point"] is None


def test_impossible_reviews_say_why(ttt):
    result = ttt("review")
    assert (result.code, result.out) == (3, "") and "no game has been recorded yet" in result.err
    record_game(STORE, LOST)
    result = ttt("review", "--game", 2)
    assert (result.code, result.out) == (2, "") and "no game '2' among the 1" in result.err
    Path("empty.jsonl").touch()
    assert "is empty (ttt restore lists backups" in ttt("verify", "empty.jsonl").out
    Path("state.json").write_text('{"format":"ttt-state",\n"version":1}\n')
    Path("wrong.jsonl").write_bytes(LOST.to_line().replace(b'"x",', b'"o",', 1) + b"\n")
    faults = {"empty.jsonl": "holds no games", "state.json": "is a state, not a log of games"}
    faults |= {"wrong.jsonl": "line 1: \"result\" is 'o'"}
    for call, (file, fault) in product((["review"], ["train", "q", "--games-from"]), faults.items()):
        result = ttt(*call, file)
        assert result.code == 3 and fault in result.err
    Path("other.json").write_text('{"a":1,\n"b":2}\n')
    assert "expected one game per line" in ttt("review", "other.json").err


def test_after_a_game_in_two_lines(ttt):
    keys = "1\n3\n4\n"
    short = ttt("play", "minimax:ties=first", "--as", "x", "--games", 1, stdin=keys).out.splitlines()
    score = next(at for at, line in enumerate(short) if line.startswith("Score"))
    assert "turned a draw into a loss" in short[score + 1]
    assert short[score + 2].startswith("Accuracy where it mattered: X (you) ")


def test_the_last_games_board_by_board(ttt):
    for number in range(3):
        record_game(STORE, GameRecord((1, 4, 2, 5, 3), "x", "a", "human", id=f"id{number}"))
    record_game(STORE, GameRecord((1, 4, 2, 5, 3), "x", "a", "b", id="machines"))
    assert "Game 3 (id2)" in ttt("review").out  # the last that a person played
    assert "Game 4 (machines)" in ttt("review", "--last", 1).out
    two = ttt("review", "--last", 2, "--boards").out
    assert "(id1)" not in two and two.index("Game 3 (id2)") < two.index("Game 4 (machines)")
    assert two.count("*X*│*X*│*X*") == 2
    assert ttt("review", "--last", 9, "--json").out.count('"schema":"ttt-review"') == 4
    narrow = ttt("review", "--game", 1, "--boards", COLUMNS="30").out.splitlines()
    assert max(len(line) for line in narrow if "│" in line) <= 30
    assert ttt("review", "--game", 1, "--last", 2).code == 2
