"""``ttt analyze``: what positions are worth."""

import orjson
import pytest

from tests.ttt import Run


def test_a_position_as_a_document(ttt: Run) -> None:
    found = ttt("analyze", "XX./OO./...", "--json")
    assert found.json == {
        "schema": "ttt-analysis",
        "version": 1,
        "position": "XX.OO....",
        "to_move": "x",
        "value": "win",
        "moves": [
            {"cell": 3, "value": "win", "plies": 1},
            {"cell": 6, "value": "draw", "plies": 5},
            {"cell": 7, "value": "loss", "plies": 2},
            {"cell": 8, "value": "loss", "plies": 2},
            {"cell": 9, "value": "loss", "plies": 2},
        ],
    }
    start = ttt("analyze", ".........", "--json").json
    assert start["moves"][4] == {"cell": 5, "value": "draw", "plies": 9}


def test_agents_beside_it(ttt: Run) -> None:
    found = ttt("analyze", "X...O...X", "--agent", "minimax", "--agent", "heuristic", "--json").json
    first, second = found["agents"]
    assert (first["name"], first["known"], first["resigns"]) == ("minimax", None, False)
    assert first["moves"][0] == {"cell": 2, "probability": 0.25, "value": 0.0}
    assert first["moves"][1] == {"cell": 3, "probability": 0.0, "value": -1.0}
    assert second["moves"][1] == {"cell": 3, "probability": pytest.approx(1 / 6), "value": None}
    text = ttt("analyze", "X...O...X", "--agent", "minimax", "--agent", "heuristic").out
    assert "25.00 %" in text and "16.67 %" in text and "cells that keep this: 2 4 6 8" in text


def test_the_board_with_its_values(ttt: Run) -> None:
    lines = ttt("analyze", "X........").out.splitlines()
    assert lines[0].split("│")[1].strip() == "2"
    assert lines[1].split("│")[1].strip() == "loss 6"
    assert "draw" in "".join(lines)
    assert "O to move draws; cells that keep this: 5" in lines
    assert "X to move wins in 1 ply" in ttt("analyze", "XX.OO....").out
    assert "X has won" in ttt("analyze", "XXX.OO...").out


def test_ended_positions(ttt: Run) -> None:
    won = ttt("analyze", "XXX.OO...", "--json").json
    assert (won["to_move"], won["value"], won["moves"], won["result"]) == (None, "loss", [], "x")
    assert ttt("analyze", "XOXXOXOXO", "--json").json["result"] == "draw"


def test_a_filter_answers_each_line_with_a_line(ttt: Run) -> None:
    positions = ["X........", "x--/-o-/---", "", "XXX.OO...", "X........"]
    found = ttt("analyze", "-", "--json", stdin="\n".join(positions) + "\n")
    documents = [orjson.loads(line) for line in found.out.splitlines()]
    assert [document["position"] for document in documents] == [
        *("X........", "X...O....", "XXX.OO...", "X........")
    ]
    assert documents[0] == ttt("analyze", "X........", "--json").json
    plain = ttt("analyze", "-", "--agent", "minimax", stdin="X........\r\nXX.OO....").out
    assert plain.splitlines() == [
        "X........ o draw 2:loss:6 3:loss:6 4:loss:6 5:draw:8 6:loss:6 7:loss:6 8:loss:6 9:loss:6 minimax=5",
        "XX.OO.... x win 3:win:1 6:draw:5 7:loss:2 8:loss:2 9:loss:2 minimax=3",
    ]
