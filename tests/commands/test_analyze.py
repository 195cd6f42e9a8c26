"""``ttt analyze`` and ``ttt move``, also as filters."""

import os
import subprocess
import sys
import time
from pathlib import Path

import orjson
import pytest

from tests.ttt import Run
from ttt_cli.engine.state_space import StateSpace


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


def test_filters_answer_each_line_with_a_line(ttt: Run) -> None:
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
    assert ttt("move", "minimax:ties=first", "-", stdin="X........\n.........\n").out == "5\n1\n"


@pytest.mark.parametrize("command", [["analyze", "-"], ["move", "minimax", "-"]])
def test_a_filter_stops_at_what_is_no_position(ttt: Run, command: list[str]) -> None:
    found = ttt(*command, stdin="X........\n\nXO\nX........\n")
    assert found.code == 2
    assert len(found.out.splitlines()) == 1
    assert "line 3" in found.err and "'XO'" in found.err and found.err.count("\n") == 1
    assert ttt(*command, stdin="").out == ""


def test_moves_are_drawn_as_likely_as_they_are(ttt: Run) -> None:
    lines = ".........\n" * 3000
    drawn = ttt("move", "random", "-", "--seed", 1, stdin=lines).out.split()
    assert all(280 < drawn.count(str(cell)) < 390 for cell in range(1, 10))
    assert ttt("move", "random", "-", "--seed", 1, stdin=lines).out.split() == drawn
    assert ttt("move", "random", "-", "--seed", 2, stdin=lines).out.split() != drawn
    one = ttt("move", "random", ".........", "--seed", 1).out.strip()
    assert one == drawn[0]


def test_a_move_as_a_document(ttt: Run) -> None:
    expected = {
        **{"schema": "ttt-move", "version": 1, "agent": "minimax:ties=first"},
        **{"position": "X...O....", "cell": 2, "probability": 1.0},
    }
    assert ttt("move", "minimax:ties=first", "X...O....", "--json").json == expected
    found = ttt("move", "minimax:ties=first", "-", "--json", stdin="X...O....\n")
    assert orjson.loads(found.out) == expected


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["analyze", "XXXXXXXXX"], 2, "X moves first"),
        (["analyze", "hello"], 2, "expected 9 cells"),
        (["analyze", "X...O....", "--board", "3x4"], 2, "expected 12 cells"),
        (["analyze", "X...O....", "--agent", "human"], 2, "person"),
        (["analyze", "X...O....", "--agent", "nobody"], 2, "no agent is called"),
        (["move", "minimax", "XXX.OO..."], 2, "the game is over"),
        (["move", "human", "X........"], 2, "person"),
        (["move", "random", "X.......O", "--seed", "-1"], 2, "--seed"),
        (["move", "none.json", "X........"], 3, "no such file"),
    ],
)
def test_what_cannot_be_answered(ttt: Run, arguments: list[str], code: int, says: str) -> None:
    found = ttt(*arguments)
    assert (found.code, found.out) == (code, "")
    assert says in found.err and found.err.count("\n") == 1


def test_a_game_ends_in_the_middle_of_a_filter(ttt: Run) -> None:
    found = ttt("move", "minimax", "-", stdin="X........\nXXX.OO...\nX........\n")
    assert (found.code, found.out) == (2, "5\n")
    assert "the game is over in 'XXX.OO...'" in found.err


def test_a_filter_answers_before_it_is_asked_again() -> None:
    """A program that waits for each answer gets it."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    with subprocess.Popen(
        [sys.executable, "-m", "ttt_cli", "move", "minimax", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
    ) as process:
        assert process.stdin and process.stdout
        for position, answer in (("X........", b"5\n"), ("XX.OO....", b"3\n")):
            process.stdin.write(position.encode() + b"\n")
            process.stdin.flush()
            assert process.stdout.readline() == answer
        process.stdin.close()
        assert process.wait(60) == 0


@pytest.mark.parametrize("command", [["analyze", "-", "--json"], ["move", "minimax", "-", "--json"]])
def test_a_hundred_thousand_positions_take_no_time(ttt: Run, command: list[str]) -> None:
    """At least 100,000 a second is the aim; a busy machine gets ten times as long."""
    space = StateSpace.of()
    texts = [text for text, ended in zip(space.texts, space.terminal, strict=True) if not ended]
    lines = (texts * 23)[:100_000]
    start = time.perf_counter()
    found = ttt(*command, stdin="\n".join(lines))
    assert time.perf_counter() - start < 10
    assert found.out.count("\n") == 100_000
