"""Exported policies are players: what is read back plays as what was written, to the last digit."""

from pathlib import Path

import numpy as np
import orjson
import pytest

from tests.ttt import Run
from ttt_cli.store import source

FORMATS = {"policy-csv": "csv", "policy-json": "json", "npz": "npz"}
JUDGED = ("method", "results", "worst_case", "unbeatable", "nash_conv", "exploitability", "mistakes")


def judged_alike(ttt: Run, one: str, other: str, *more: str) -> None:
    found = [ttt("evaluate", name, "random", *more, "--json").json for name in (one, other)]
    for key in JUDGED:
        assert found[0][key] == found[1][key], key


@pytest.mark.parametrize(
    ("format_name", "player"),
    [("policy-csv", "search:depth=2"), ("policy-json", "menace.article"), ("npz", "q:epsilon=0.1")],
)
def test_a_policy_read_back_is_the_same_player(format_name: str, player: str, ttt: Run, store: Path) -> None:
    path, again = (f"./{name}.{FORMATS[format_name]}" for name in ("policy", "again"))
    assert ttt("export", player, "-f", format_name, "-o", path).code == 0
    judged_alike(ttt, player, path)
    assert ttt("export", path, "-f", format_name, "-o", again).code == 0
    if format_name != "npz":  # an archive has a time in it
        assert Path(again).read_bytes() == Path(path).read_bytes()
    assert b",-0.0\n" not in Path(path).read_bytes()
    if format_name == "policy-json":  # as a tool may lay it out
        sorted_by_name = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS
        Path(path).write_bytes(orjson.dumps(orjson.loads(Path(path).read_bytes()), option=sorted_by_name))
    call = ("analyze", "X...O....", "--agent", player, "--agent", path, "--json")
    ours, theirs = (agent["moves"] for agent in ttt(*call).json["agents"])
    assert ours == theirs


@pytest.mark.parametrize("format_name", ["policy-csv", "policy-json"])
def test_a_policy_needs_only_the_positions_within_reach(format_name: str, ttt: Run) -> None:
    Path("bot.py").write_text("def choose(text): return text.index('.') + 1\n")
    player, path = "py:bot.py:choose", f"./policy.{FORMATS[format_name]}"
    assert ttt("export", player, "-f", format_name, "-o", path).code == 0
    judged_alike(ttt, player, path)
    assert ttt("move", path, "..X......").out == "1\n"
    absent = ttt("move", path, "..X.O....")
    assert absent.code == 1 and "holds no move for '..X.O....'" in absent.err
    sided, whole = (ttt("evaluate", name, "random", "--json").json for name in (f"{path}:side=x", player))
    assert sided["results"][0]["as_x"] == whole["results"][0]["as_x"]
    assert ttt("train", "q", "--opponent", path, "--games", "30").code == 0
    assert ttt("play", "--x", path, "--o", "random", "--games", "3", "--seed", "1").code == 0


def test_other_boards(ttt: Run) -> None:
    for format_name, ending in FORMATS.items():
        path = f"./policy.{ending}"
        board = ("--board", "2x3", "--line", "2")
        assert ttt("export", "heuristic", *board, "-f", format_name, "-o", path).code == 0
        judged_alike(ttt, "heuristic", path, *board)
        assert "scores no positions" in ttt("export", path, *board, "-f", "dot", "-o", "-").out
        unnamed = ttt("evaluate", path, "random")
        if format_name == "policy-json":
            assert unnamed.code == 0
            assert ttt("evaluate", path, "--board", "3x2", "--line", "2").code == 3
        else:
            assert unnamed.code == 2 and "--board ROWSxCOLS" in unnamed.err


def test_a_policy_file_is_a_player_but_no_state(ttt: Run) -> None:
    Path("bot.py").write_text("def choose(position):\n    return position.index('.') + 1\n")
    ttt("export", "py:./bot.py:choose", "-o", "policy.csv")
    Path("link.svg").symlink_to("curve.csv")
    ttt("train", "td", "--games", 9, "--board", "2x3", "--curve", "curve.csv")
    for report, file in (
        ("export ./policy.csv -f policy-json -o", "policy.csv"),
        ("evaluate ./policy.csv --mistakes", "policy.csv"),
        ("evaluate random ./policy.csv -n 1 --games-to", "policy.csv"),
        ("diff random ./policy.csv --csv", "policy.csv"),
        ("evaluate py:./bot.py:choose random --mistakes", "bot.py"),
        ("curve curve.csv -o", "link.svg"),
    ):
        over = ttt(*report.split(), file)
        assert over.code == 2 and f"{file}: is the input file" in over.err
    for command in ("show policy.csv", "import policy.csv -o s.json"):
        found = ttt(*command.split())
        assert found.code == 3 and "holds a policy" in found.err, command
    assert ttt("verify", "policy.csv", "--json").json["positions"] == 232
    assert ttt("verify", "policy.csv").out == "policy.csv: policy-csv, 232 positions, valid\n"
    listed = {row["name"]: row for row in ttt("show", "--formats", "--json").json["formats"]}
    assert all(listed[name]["plays"] and listed[name]["reads"] for name in FORMATS)


def test_the_rules_in_a_file_hold(ttt: Run) -> None:
    """Here a line loses."""
    rules = '{"rows":1,"cols":2,"line":1,"misere":1}'
    Path("exchanged.json").write_text(
        f'{{"schema":"ttt-policy","rules":{rules},"positions":{{"..":{{"1":{{"probability":1,"value":0}}}}}}}}'
    )
    assert ttt("evaluate", "./exchanged.json", "random", "--json").json["results"][0]["as_x"]["loss"] == 1.0
    assert [ttt("export", "./exchanged.json", "-o", f"p.{end}").code for end in FORMATS.values()] == [2, 0, 2]


def test_probabilities_may_be_rounded(ttt: Run) -> None:
    Path("thirds.csv").write_text(HEADER + "".join(f".........,{cell},0.1111,\n" for cell in range(1, 10)))
    assert ttt("move", "./thirds.csv", ".........").out == "1\n"


ROW = ".........,5,1.0,\n"
HEADER = "position,move,probability,value\n"
RULES = '{"schema":"ttt-policy","rules":{"rows":3,"cols":3,"line":3},"positions":{".........":'


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (HEADER, "holds no positions"),
        (HEADER + ".........,5,1.0\n", "line 2: expected 4 fields"),
        (HEADER + ".........,5,0.5,\n.........,5,0.5,\n", "position '.........': has move 5 twice"),
        (HEADER + ".........,5,nan,\n", "'nan' is not a number"),
        (HEADER + "X........,1,1.0,\n", "'X........': has numbers that are not probabilities of its"),
        (HEADER + "XXX.OO...,4,1.0,\n", "is not an open position"),
        (HEADER + ROW + "\0,5,1.0,\n", "line 3, byte 1: holds a NUL"),
        (RULES.replace('"rules"', '"version":2,"rules"') + "{}}}", "is of version 2, not 1"),
        ('{"schema":"ttt-policy"}', "has no valid rules"),
        (RULES.replace('"rows":3', '"rows":0') + "{}}}", "rules: rows must be"),
        (RULES + '{"5":{"probability":"1","value":true}}}}', "position '.........': expected"),
        (RULES + '{"0":{"probability":1,"value":null}}}}', "'.........': '0' is not a cell from 1 to 9"),
    ],
)
def test_faults_are_named(content: str, told: str, ttt: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "BLOCK", 10)
    Path("policy.txt").write_text(content)
    found = ttt("evaluate", "./policy.txt", "random")
    assert found.code == 3 and told in found.err, found.err
    assert found.err.count("\n") == 1 and "internal" not in found.err
    assert ttt("verify", "./policy.txt").code == 3


def test_damaged_archives_are_refused(ttt: Run) -> None:
    ttt("export", "minimax", "-o", "policy.npz")
    whole = dict(np.load("policy.npz"))
    for name, array, told in (
        ("positions", np.array(["?" * 9] * 5478), "is not a position"),
        ("probabilities", np.zeros((3, 9)), "expected float64 of shape"),
        ("values", np.array([{}]), "holds Python objects"),
        ("positions", np.array(["XXXOO...."] * 5478), "holds only positions in which the game is over"),
    ):
        np.savez("bad.npz", **{**whole, name: array})
        found = ttt("evaluate", "./bad.npz", "random")
        assert found.code == 3 and told in found.err and "internal" not in found.err, found.err
    data = Path("policy.npz").read_bytes()
    Path("cut.npz").write_bytes(data[: len(data) // 2])
    assert ttt("evaluate", "./cut.npz").code == 3
