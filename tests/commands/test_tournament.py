"""``ttt tournament``: everyone against everyone."""

import pytest

from tests.ttt import Run


def test_a_tournament(ttt: Run) -> None:
    document = ttt("tournament", "random", "minimax", "heuristic", "--json").json
    assert (document["schema"], document["method"]) == ("ttt-tournament", "exact")
    assert [player["name"] for player in document["players"]] == ["minimax", "heuristic", "random"]
    assert sum(player["points"] for player in document["players"]) == pytest.approx(6)
    assert sum(player["rating"] for player in document["players"]) == pytest.approx(0, abs=1e-9)
    assert len(document["pairings"]) == 6
    pairing = next(p for p in document["pairings"] if (p["x"], p["o"]) == ("random", "minimax"))
    assert pairing["win"] == 0 and pairing["loss"] == pytest.approx(0.7775, abs=1e-4)
    text = ttt("tournament", "random", "minimax", "heuristic").out
    assert text.splitlines()[1].split()[:2] == ["1", "minimax"]
    assert max(map(len, text.splitlines())) <= 80


def test_players_who_can_bring_about_too_much_play_a_match(ttt):
    played = ttt("tournament", "random", "heuristic", "--board", "5x5", "--line", "4", "--json")
    assert played.code == 0
    assert "1 of the pairings are matches of 10,000 games" in played.err
    assert played.json["method"] == "sampled"
    assert [player["name"] for player in played.json["players"]] == ["heuristic", "random"]
    exact = ttt("tournament", "random", "heuristic", "--json").json
    sampled = ttt("tournament", "random", "heuristic", "--positions", "10", "--json").json
    assert exact["method"] == "exact"
    for one, other in zip(exact["pairings"], sampled["pairings"], strict=True):
        assert abs(one["win"] - other["win"]) < 0.03
