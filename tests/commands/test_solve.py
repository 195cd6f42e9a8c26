"""``ttt solve``: values, lines and limits, on screen and as documents."""

import pytest

from tests.ttt import Run
from ttt_cli.engine.position import Position
from ttt_cli.engine.rules import Rules


def test_a_position_as_a_document(ttt: Run):
    found = ttt("solve", "XX./OO./...", "--json")
    assert found.code == 0
    assert found.json.pop("seconds") >= 0
    assert {key: value for key, value in found.json.items() if key != "seconds"} == {
        "schema": "ttt-solution",
        "version": 1,
        "position": "XX.OO....",
        "rules": {"rows": 3, "cols": 3, "line": 3},
        "to_move": "x",
        "value": "win",
        "proven": True,
        "line": [3],
        "nodes": 1,
    }


def test_without_a_position_it_is_the_empty_board(ttt: Run):
    document = ttt("solve", "--board", "3x4", "--json").json
    assert (document["position"], document["value"]) == ("." * 12, "win")
    position = Position.start(Rules(3, 4))
    for cell in document["line"]:
        position = position.play(cell - 1)
    assert position.winner == "X"


def test_a_draw_on_the_screen(ttt: Run):
    lines = ttt("solve", "X........").out.splitlines()
    assert lines[0].split("│")[0].strip() == "X"
    assert lines[-2].startswith("O to move draws: proven (")
    assert lines[-1].startswith("best play: 5 ")


@pytest.mark.parametrize(("text", "says"), [("XXXOO....", "X has won"), ("XOXXOOOXX", "a draw")])
def test_terminal_positions(ttt: Run, text: str, says: str):
    assert ttt("solve", text).out.splitlines()[-1] == says
    document = ttt("solve", text, "--json").json
    assert (document["to_move"], document["proven"], document["line"]) == (None, True, [])


def test_limits_that_do_not_suffice(ttt: Run):
    found = ttt("solve", "--board", "5x5", "--line", "4", "--nodes", "20")
    assert found.code == 1
    assert "not known within these limits (20 nodes, " in found.out
    document = ttt("solve", "--board", "5x5", "--line", "4", "--seconds", "0", "--json")
    assert document.code == 1
    assert (document.json["value"], document.json["proven"], document.json["line"]) == (None, False, [])


def test_progress_is_shown_at_a_terminal_alone(ttt: Run):
    call = ("solve", "--board", "4x5", "--line", "4")
    assert "nodes" in ttt(*call, terminal=True).err
    assert "nodes" not in ttt(*call).err
    assert "nodes" not in ttt(*call, "--quiet", terminal=True).err
