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
from ttt_cli.views.plot import text_plot

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
        Path(name).write_bytes(to_csv(rows))


def test_one_curve_in_the_terminal(ttt, curves):
    lines = ttt("curve", "fast.csv", COLUMNS="100").out.splitlines()
    assert "wins against random play" in lines[0] and "losses that can be forced" in lines[0]
    assert all(len(line) <= 100 for line in lines)
    top, bottom = lines[1].split("│"), lines[9].split("│")
    assert top[0].strip() == "100%" and "X" in top[1]  # perfect play wins nearly all
    assert bottom[2].rstrip(" \n").endswith("*")  # nothing can be forced in the end, as X or O
    assert "50k games" in lines[11]
    assert "0.960 → 0.000" in lines[-2] and "unbeatable from 1,000 games on" in lines[-2]


def test_several_curves_and_a_poor_terminal(ttt, curves):
    out = ttt("curve", "fast.csv", "slow.csv", COLUMNS="60").out
    assert ttt("curve", "fast.csv", "fast.csv").out == ttt("curve", "fast.csv").out
    assert "1  fast: exploitability" in out and "2  slow: exploitability" in out and "2M games" in out
    assert out.count("unbeatable from") == 1 and "beatable\n" in out
    plot = out.split("exploitability 0")[0]
    assert max(map(len, plot.splitlines())) <= 60
    assert len(re.findall("^ +└─+$", plot, re.MULTILINE)) == 2  # one below the other


@pytest.mark.parametrize(("width", "last"), [(1, 0), (75, 1), (76, 7), (300, 10**12)])
def test_any_width_and_any_length(width, last):
    rows = [RANDOM, replace(PERFECT, games=last)] if last else [RANDOM]
    assert any("games" in line for line in text_plot([("a", rows)], width))


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
    assert outcome.err == "Error: pictures need matplotlib (pip install matplotlib)\n"


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
    assert "3  both, part 3: " in ttt("curve", "both.json").out
    assert "curve" not in ttt("show", "td", "--json").json["runs"][0]


def test_a_large_board_keeps_a_curve_if_asked_to(ttt):
    small = ("--board", "2x5", "--games", 10, "--seed", 1)
    assert "ttt curve" not in ttt("train", "td", *small).err
    refused = ttt("curve", "td.2x5-3")
    assert refused.code == 3
    (advised,) = re.findall(r"ttt (train td -o \S+ --curve td.2x5-3-curve.csv)", refused.err)
    assert ttt(*advised.split(), "--games", 10).code == 0
    (curve,) = ttt("curve", "td.2x5-3", "--json").json["curves"]
    assert [point["games"] for point in curve["points"]] == [10, 20]
