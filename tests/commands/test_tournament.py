"""``ttt tournament``: everyone against everyone."""

import pytest

from tests.ttt import Run


def test_a_tournament(ttt: Run) -> None:
    document = ttt("tournament", "random", "minimax", "heuristic", "--json").json
    assert document["method"] == "exact"
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
    exact = ttt("tournament", "random", "heuristic", "--json").json
    played = ttt("tournament", "random", "heuristic", "--positions", "10", "--json")
    assert "sampled, by a match of 10,000 games: heuristic and random; too much" in played.err
    assert [pairing["games"] for pairing in played.json["pairings"]] == [5000, 5000]
    assert (exact["method"], played.json["method"]) == ("exact", "sampled")
    for one, other in zip(exact["pairings"], played.json["pairings"], strict=True):
        assert abs(one["win"] - other["win"]) < 0.03
