"""``ttt tournament``: everyone against everyone."""


def test_players_with_too_much_within_reach_play_a_match(ttt):
    shown = ttt("tournament", "random", "heuristic").out.splitlines()
    assert shown[1].split()[:2] == ["1", "heuristic"] and shown[-2].startswith("expected points in 2 games")
    exact = ttt("tournament", "random", "heuristic", "--json").json
    played = ttt("tournament", "random", "heuristic", "--positions", "10", "--json")
    assert "sampled, by a match of 10,000 games, since too many" in played.err
    assert [pairing["games"] for pairing in played.json["pairings"]] == [5000, 5000]
    assert (exact["method"], played.json["method"]) == ("exact", "sampled")
    for one, other in zip(exact["pairings"], played.json["pairings"], strict=True):
        assert abs(one["win"] - other["win"]) < 0.03
