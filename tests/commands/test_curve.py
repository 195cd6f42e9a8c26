"""``ttt curve``: plots in the terminal and pictures."""

import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests import tables
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.store.curves import to_csv
from ttt_cli.training.curve import measure
from ttt_cli.views.plot import PlottedCurve, text_plot

SPACE = StateSpace.of()
RANDOM = measure(0, tables.uniform(SPACE))
RULES = measure(0, tables.heuristic(SPACE))
PERFECT = measure(0, tables.minimax(SPACE))


@pytest.fixture
def curves(ttt):
    """Two curves of hand-made runs in the working directory."""
    fast = [RANDOM, replace(RULES, games=100), replace(PERFECT, games=1000), replace(PERFECT, games=50_000)]
    slow = [RANDOM, replace(RANDOM, games=100), replace(RULES, games=2_000_000)]
    for name, rows in (("fast.csv", fast), ("slow.csv", slow), ("_odd$x$<b>&.csv", slow)):
        Path(name).write_bytes(b"".join(to_csv(rows)))


def test_one_curve_in_the_terminal(ttt, curves):
    first, *lines, last = ttt("curve", "fast.csv").out.splitlines()
    assert "judged unbeatable from 1,000 games on; exploitability 0.960 → 0.000" in first
    assert [line.strip() for line in lines[::3]] == ["wins against random play", "losses that can be forced"]
    wins, losses = lines[1], lines[4]
    assert wins == "    as X  ▅▅▅█████████  58.5 % → 96.8 %"
    assert losses == "    as X  ███▄▄▄        93.9 % → 0 %"
    assert last == "bars: from 0 to 50k games, on a logarithmic scale"


def test_several_curves_and_a_poor_terminal(ttt, curves):
    out = ttt("curve", "fast.csv", "slow.csv", COLUMNS="40").out
    assert ttt("curve", "fast.csv", "fast.csv").out == ttt("curve", "fast.csv").out
    assert "\nslow: beatable; exploitability" in out and "to 2M games" in out
    assert max(map(len, out.splitlines())) <= 40
    fast, slow = (line for line in out.splitlines() if line.startswith("    as X") and "58.5 %" in line)
    assert fast.index("58") < slow.index("58")  # each ends after its own games


@pytest.mark.parametrize("width", [1, 40, 300])
def test_bars_are_thinned_on_a_narrow_screen(width):
    rows = [replace(PERFECT, games=games) for games in range(100)]
    lines = text_plot([PlottedCurve(Path("a"), "a", rows, [rows])], width)
    assert max(map(len, lines[2:4])) <= max(width + 10, 50) and "█" in lines[2]


@pytest.mark.long
def test_pictures(ttt, curves):
    files = ["fast.csv", "slow.csv", "_odd$x$<b>&.csv"]
    assert ttt("curve", *files, "-o", "plot.svg").code == 0
    content = Path("plot.svg").read_bytes()
    texts = [element.text for element in ElementTree.fromstring(content).iter() if element.text]
    for text in ("wins against random play, as X", "losses that can be forced, as O", "fast", "slow", "10k"):
        assert text in texts
    assert any("_odd$x$<b>&" in text for text in texts)
    assert ttt("curve", "fast.csv", "-o", "plot.png").code == 0
    assert Path("plot.png").read_bytes().startswith(b"\x89PNG")


def test_without_matplotlib_one_line_says_what_to_do(ttt, curves, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    outcome = ttt("curve", "fast.csv", "-o", "plot.svg")
    assert outcome.code == 1 and not Path("plot.svg").exists()
    assert outcome.err == "drawing a picture\nError: pictures need matplotlib (pip install matplotlib)\n"
    assert "there is no folder no" in ttt("curve", "fast.csv", "-o", "no/plot.svg").err


def test_a_state_has_its_own_curve(ttt):
    ttt("train", "td", "--games", 300, "--seed", 1)
    assert "exploitability 0.956 → 0.958" in ttt("curve", "td").out
    ttt("train", "td", "--games", 300, "--seed", 2)
    ttt("train", "td", "--games", 100, "--seed", 3, "-o", "other.json")
    found = ttt("curve", "td", "./other.json", "--json").json["curves"]
    games = [[point["games"] for point in curve["points"]] for curve in found]
    assert games == [[0, 256, 300, 556, 600], [0, 100]]
    assert ttt("merge", "td", "./other.json", "-o", "both.json").code == 0
    found = ttt("curve", "both.json", "--json").json["curves"]
    assert [curve["points"][-1]["games"] for curve in found] == [100, 300, 600]  # whose run came after whose?
    assert "both, part 3: " in ttt("curve", "both.json").out
    assert "curve" not in ttt("show", "td", "--json").json["runs"][0]


def test_a_large_board_keeps_a_curve_if_asked_to(ttt):
    small = ("--board", "2x5", "--games", 10, "--seed", 1)
    assert "ttt curve" not in ttt("train", "td", *small).err
    refused = ttt("curve", "td.2x5-3")
    assert refused.code == 3
    assert "is a directory" in ttt("curve", ".", code=3).err
    (advised,) = re.findall(r"ttt (train td -o \S+ --curve td.2x5-3-curve.csv)", refused.err)
    assert ttt(*advised.split(), "--games", 10).code == 0
    (curve,) = ttt("curve", "td.2x5-3", "--json").json["curves"]
    assert [point["games"] for point in curve["points"]] == [10, 20]
