"""``ttt analyze``: what positions are worth."""

import orjson

from tests.ttt import Run


def test_agents_are_shown_beside_the_values(ttt: Run) -> None:
    text = ttt("analyze", "X...O...X", "--agent", "minimax", "--agent", "heuristic").out
    assert "25.00 %" in text and "16.67 %" in text and "cells that keep this: 2 4 6 8" in text


def test_the_board_with_its_values(ttt: Run) -> None:
    lines = ttt("analyze", "X........").out.splitlines()
    assert lines[1].split("│")[1].strip() == "loss 6"
    assert "O to move draws; cells that keep this: 5" in lines
    assert "X to move wins in 1 ply" in ttt("analyze", "XX.OO....").out
    assert "X has won" in ttt("analyze", "XXX.OO...").out


def test_a_filter_answers_each_line_with_a_line(ttt: Run) -> None:
    positions = ["X........", "x--/-o-/---", "", "XXX.OO...", "X........"]
    found = ttt("analyze", "-", "--json", stdin="\n".join(positions) + "\n")
    documents = [orjson.loads(line) for line in found.out.splitlines()]
    asked = ["X........", "X...O....", "XXX.OO...", "X........"]
    assert [document["position"] for document in documents] == asked
    assert documents[0] == ttt("analyze", "X........", "--json").json
    plain = ttt("analyze", "-", "--agent", "minimax", stdin="X........\r\nXX.OO....").out
    assert plain.splitlines() == [
        "X........ o draw 2:loss:6 3:loss:6 4:loss:6 5:draw:8 6:loss:6 7:loss:6 8:loss:6 9:loss:6 minimax=5",
        "XX.OO.... x win 3:win:1 6:draw:5 7:loss:2 8:loss:2 9:loss:2 minimax=3",
    ]
