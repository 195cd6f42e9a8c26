"""``ttt solve``: values, lines and limits, on screen and as documents."""

from tests.ttt import Run
from ttt_cli.engine.game import Game
from ttt_cli.engine.rules import Rules


def test_a_position_as_a_document(ttt: Run):
    found = ttt("solve", "XX./OO./...", "--json").json
    assert found.pop("seconds") >= 0
    assert found == {
        **{"schema": "ttt-solution", "version": 1, "rules": {"rows": 3, "cols": 3, "line": 3}},
        **{"position": "XX.OO....", "to_move": "x", "value": "win", "proven": True, "line": [3], "nodes": 1},
    }


def test_without_a_position_it_is_the_empty_board(ttt: Run):
    document = ttt("solve", "--board", "3x4", "--json").json
    assert (document["position"], document["value"]) == ("." * 12, "win")
    assert Game.of(Rules(3, 4), [cell - 1 for cell in document["line"]]).position.winner == "X"


def test_a_draw_on_the_screen_and_an_ended_game(ttt: Run):
    lines = ttt("solve", "X........").out.splitlines()
    assert lines[-2].startswith("O to move draws: proved (") and lines[-1].startswith("best play: 5 ")
    assert ttt("solve", ".XXO..OXO...", "--board", "3x4").out.endswith("best play: 1\n"), "a win at once"
    assert ttt("solve", "XXXOO....").out.splitlines()[-1] == "X has won"
    document = ttt("solve", "XOXXOOOXX", "--json").json
    assert (document["to_move"], document["proven"], document["line"]) == (None, True, [])


def test_an_unproved_position_says_so(ttt: Run):
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
