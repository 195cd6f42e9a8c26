"""``ttt tournament`` and ``ttt diff``."""

import csv
from pathlib import Path

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


def test_a_tournament_of_equals(ttt: Run) -> None:
    document = ttt("tournament", "minimax", "minimax", "minimax:ties=last", "--json").json
    assert [player["rating"] for player in document["players"]] == pytest.approx([0, 0, 0], abs=1e-6)


def test_a_difference(ttt: Run) -> None:
    found = ttt("diff", "heuristic", "minimax", "--csv", "d.csv", "--json")
    document = found.json
    assert (document["schema"], document["a"]["name"], document["b"]["name"]) == (
        "ttt-diff",
        "heuristic",
        "minimax",
    )
    assert (document["positions"], document["different"]) == (4520, 879)
    assert (document["a_better"], document["b_better"]) == (0, 467)
    assert (document["a_only"], document["b_only"]) == (0, 0)
    assert len(document["rows"]) == 10
    with Path("d.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 879
    assert (rows[0]["a_worth"], rows[0]["b_worth"]) == ("-0.42857142857142855", "1.0")
    assert ttt("diff", "heuristic", "minimax", "--csv", "-").out == Path("d.csv").read_text(encoding="utf-8")
    text = ttt("diff", "heuristic", "minimax").out
    assert "differently in 879 of 4,520" in text and "467  where the choice of minimax is worth more" in text
    assert ttt("diff", "random", "random").out.startswith("random and random choose differently in 0 of")


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["tournament", "random"], 2, "two players"),
        (["tournament", "random", "human"], 2, "person"),
        (["tournament", "random", "minmax"], 2, "did you mean 'minimax'"),
        (["diff", "random", "human"], 2, "person"),
        (["diff", "random", "x.json"], 3, "no such file"),
        (["diff", "random", "minimax", "--csv", "nowhere/d.csv"], 1, "nowhere"),
    ],
)
def test_what_cannot_be_compared(ttt: Run, arguments: list[str], code: int, says: str) -> None:
    found = ttt(*arguments)
    assert (found.code, found.out) == (code, "")
    assert says in found.err and found.err.count("\n") == 1


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
