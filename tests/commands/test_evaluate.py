"""``ttt evaluate``."""

from pathlib import Path

import pytest

from tests.ttt import Run
from ttt_cli.engine.game import Game
from ttt_cli.engine.rules import STANDARD, Rules
from ttt_cli.engine.side import Side
from ttt_cli.store.games import SoundGames


def test_the_verdict_on_the_screen(ttt: Run) -> None:
    found = ttt("evaluate", "heuristic", "random", "minimax")
    assert found.code == 0
    assert max(map(len, found.out.splitlines())) <= 80
    for words in ("89.55 %", "9.14 %", "1.31 %", "loses 46.67 %", "1 9 2 3 6 7 5 8", "467 of 4,520"):
        assert words in found.out
    assert "beatable as X and as O" in found.out and "--explain" in found.err
    assert "unbeatable as X and as O" in ttt("evaluate", "minimax").out
    won = ttt("evaluate", "minimax", "--board", "3x4").out  # by the first player
    assert "unbeatable as X; as O even perfect play can be beaten" in won
    assert not ttt("evaluate", "heuristic", "--quiet").err


def test_a_lost_game_explained(ttt: Run) -> None:
    found = ttt("evaluate", "heuristic", "random", "--explain")
    assert "How heuristic loses as X: 1 9 2 3 6 7 5 8" in found.out
    assert "   3  X     2  win   loss  in 14.29 % of such games; 3 or 7 kept the win" in found.out
    assert "*O*" in found.out
    explained = ttt("evaluate", "minimax", "--explain", "--json").json["explanation"]
    assert explained == {"as_x": None, "as_o": None}


def test_a_sampled_match(ttt: Run) -> None:
    call = ("evaluate", "heuristic", "random", "minimax", "--games", 101, "--seed", 5)
    call += ("--games-to", "g.jsonl")
    first = ttt(*call, "--json").json["results"][0]
    low, high = first["as_x"]["win_ci"]
    assert 0 <= low < first["as_x"]["win"] < high <= 1
    records = list(SoundGames(Path("g.jsonl")))
    assert len({record.id for record in records}) == len(records) == 202
    wins = sum(record.result == "x" for record in records[:101:2])
    assert wins / 51 == pytest.approx(first["as_x"]["win"])
    written = Path("g.jsonl").read_bytes()
    for again in (call, ("export", "random", "--format", "policy-csv", "-o", "g.jsonl")):
        lost = ttt(*again)
        assert lost.code == 2 and "is a log of games, which would be lost" in lost.err
        assert Path("g.jsonl").read_bytes() == written
    text = ttt(*call[:-1], "again.jsonl").out
    assert "101 games against random" in text and "distinct" in text and "(--seed 5)" in text
    assert Path("again.jsonl").read_bytes() == written


def test_stdout_holds_the_mistakes_alone(ttt: Run) -> None:
    found = ttt("evaluate", "random", "--board", "2x3", "--mistakes", "-", "--json", "--check", "unbeatable")
    assert found.code == 1
    assert {line.count(",") for line in found.out.splitlines()} == {8}


def test_a_match_is_played_where_a_walk_is_too_large(ttt: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ttt_cli.commands.evaluate.GAMES", 100)
    board = ["--board", "5x5", "--line", "5", "--positions", "1000"]
    found = ttt("evaluate", "random", "heuristic", *board, "--seed", "1", "--json")
    assert "100 games are played instead" in found.err
    assert (found.json["method"], found.json["games"]) == ("sampled", 100)
    assert found.json["unbeatable"] is False
    assert found.json["nash_conv"] is found.json["mistakes"]["of"] is None
    sampled = ttt("evaluate", "minimax", "random", "--games", 10, "--json").json
    assert sampled["worst_case"] is sampled["unbeatable"] is None
    lost = ttt("evaluate", "random", "minimax", "--games", 100, "--seed", "1", "--json").json
    assert lost["unbeatable"] is False
    for side in Side:
        line = lost["worst_case"][f"as_{side.key}"]["line"]
        assert Game.of(STANDARD, [cell - 1 for cell in line]).result == -side.sign
    for needed in (["--exact"], ["--mistakes", "mistakes.csv"]):
        exact = ttt("evaluate", "random", "heuristic", *board, *needed)
        assert (exact.code, exact.out) == (1, "")
        assert "more than 1,000 positions can be reached" in exact.err and "--positions N" in exact.err
    checked = ttt("evaluate", "random", *board, "--check", "unbeatable", "--quiet", "--json")
    assert checked.code == 1
    assert [one["opponent"] for one in checked.json["results"]] == ["random", "heuristic"]  # by default


def test_a_line_that_beats_a_player_is_shown_where_no_walk_fits(
    ttt: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    board = ["--board", "4x5", "--line", "4", "--seed", "1"]
    monkeypatch.setattr("ttt_cli.commands.evaluate.GAMES", 20)
    found = ttt("evaluate", "random", "heuristic", *board, "--explain", "--json").json
    worst = found["worst_case"]
    for side, role in zip(Side, ("as_x", "as_o"), strict=True):
        game = Game.of(Rules(4, 5, 4), [cell - 1 for cell in worst[role]["line"]])
        assert worst[role]["loss"] is None
        assert game.outcome(side) == -1
        assert [step["cell"] for step in found["explanation"][role]] == worst[role]["line"]
    shown = " ".join(ttt("evaluate", "random", "heuristic", *board, "--explain").out.split())
    line = " ".join(map(str, worst["as_x"]["line"]))
    assert f"beatable as X, by this line of play: {line}" in shown
    assert f"How random loses as X: {line}" in shown


def test_a_match_is_played_only_beyond_the_stated_positions(ttt):
    call = ("evaluate", "random", "random", "--games", 20, "--json", "--positions")
    found = ttt(*call, 5)
    assert (found.json["method"], found.json["games"]) == ("sampled", 20)
    assert "20 games are played instead\n" in found.err and ttt(*call, 10_000).json["method"] == "exact"
