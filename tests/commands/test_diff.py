"""``ttt diff``: where two players choose differently."""

from pathlib import Path

from tests.ttt import ROOT, Run


def test_a_difference_is_shown(ttt: Run) -> None:
    found = ttt("diff", "heuristic", "minimax", "--csv", "d.csv", "--json")
    assert [found.json[key] for key in ("a_better", "a_only", "b_only")] == [0] * 3
    assert len(found.json["rows"]) == 10
    assert ttt("diff", "heuristic", "minimax", "--csv", "-").out == Path("d.csv").read_text(encoding="utf-8")
    text = ttt("diff", "heuristic", "minimax").out
    assert "differently in 879 of 4,520" in text and "467  where the choice of minimax is worth more" in text
    assert "these 10 come first;" in ttt("diff", "minimax", "minimax:ties=last").err
    ttt("train", "q", "--games", 1, "--seed", 1, "--board", "4x4", "--line", 3, "-o", "seen.json")
    found = ttt("diff", "./seen.json", "random", "--json")
    assert "compared in the 8 positions seen" in found.err
    assert found.json["rows"] and None not in [row["b_worth"] for row in found.json["rows"]]
    large = ttt("diff", f"py:{ROOT}/examples/bot.py:choose", "random", "--board", "8x8", "--line", 5)
    assert "positions can be reached" in large.err and "--positions" not in large.err
