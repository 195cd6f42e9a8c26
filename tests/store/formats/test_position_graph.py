"""The graph of positions as dot and SVG."""

import re
from math import isnan
from xml.etree import ElementTree

import numpy as np

from tests import tables
from ttt_cli.engine.policy import PolicyTable
from ttt_cli.engine.position import Position
from ttt_cli.engine.scores import solve
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.store.formats.format import ExportSource
from ttt_cli.store.formats.position_graph import Dot, PositionGraph, Svg

SPACE = StateSpace.of()
NASTY = '<script>alert("x")</script> & "quoted\\"'
SVG = "{http://www.w3.org/2000/svg}"


def source_of(name: str, policy: PolicyTable, start: str = "." * 9, depth: int | None = None) -> ExportSource:
    return ExportSource(name, None, policy, start=Position.parse(start), depth=depth)


def graph_of(policy: PolicyTable) -> PositionGraph:
    return PositionGraph(source_of("a player", policy))


def beginner() -> PolicyTable:
    """A hand-made player that knows two positions: it has seen X in the middle lose, O beside it win."""
    values = np.full((len(SPACE), 9), np.nan)
    known = np.zeros(len(SPACE), np.bool_)
    for text, cell, value in ((".........", 5, -0.5), ("....X....", 1, 0.75), ("....X....", 9, 0.25)):
        index = SPACE.index(Position(text))
        values[index, cell - 1] = value
        known[index] = True
    return PolicyTable(SPACE, tables.uniform(SPACE).played, values, known)


def test_everything_a_perfect_player_knows_is_the_whole_game():
    graph = graph_of(tables.minimax(SPACE))
    assert (len(graph.nodes), len(graph.starts)) == (5478, 16167)
    edges = list(zip(graph.starts.tolist(), graph.cells.tolist(), graph.ends.tolist(), strict=True))
    for start, cell, end in edges[::29]:
        assert SPACE.position(start).play(cell).text == SPACE.text(end)
    values = np.sign(solve(SPACE))
    for index in (0, 100, 2000, 5477):
        side = 1 if SPACE.position(index).mover == "X" else -1
        assert graph.scores[index] == values[index] * side


def test_a_learner_s_graph_holds_what_it_knows():
    graph = graph_of(beginner())
    values = graph.scores.tolist()
    scores = {text: None if isnan(values[index]) else values[index] for index, text, _, _ in graph.boards()}
    # X's side: at the root X's largest value; after it O's largest, turned; the others it has no opinion on.
    assert scores == {".........": -0.5, "....X....": -0.75, "O...X....": None, "....X...O": None}
    edges = zip(graph.starts.tolist(), graph.cells.tolist(), strict=True)
    moves = [(SPACE.text(start), cell + 1) for start, cell in edges]
    assert moves == [(".........", 5), ("....X....", 1), ("....X....", 9)]


def test_dot_names_each_board_and_move_once():
    source = source_of(NASTY, tables.heuristic(SPACE), "XX.OO....", 2)
    graph, text = PositionGraph(source), b"".join(Dot().write(source)).decode()
    nodes = re.findall(r'^    "([XO.]{9})" \[', text, re.MULTILINE)
    edges = re.findall(r'^  "([XO.]{9})" -> "([XO.]{9})" \[label="(\d)", style=(\w+)\]', text, re.MULTILINE)
    assert sorted(nodes) == sorted(SPACE.text(index) for index in graph.nodes)
    assert len(edges) == len(graph.starts)
    styles = {(start, cell): style for start, _, cell, style in edges}
    assert styles["XX.OO....", "3"] == "solid"  # the heuristic wins
    assert styles["XX.OO....", "6"] == "dotted"
    assert text.count("{") == text.count("}")
    label = re.search(r"label=(\"(?:[^\"\\]|\\.)*\"), labelloc", text)
    assert label and label[1].startswith('"<script>alert(\\"x\\")</script>')


def test_svg_is_well_formed_and_says_everything_without_colour():
    source = source_of(NASTY, tables.minimax(SPACE), "XX.OO....", 2)
    graph, data = PositionGraph(source), b"".join(Svg().write(source))
    tree = ElementTree.fromstring(data)
    assert tree.tag == f"{SVG}svg"
    assert not list(tree.iter(f"{SVG}script"))
    titles = [element.text for element in tree.iter(f"{SVG}title")][1:]
    assert sorted(title.split()[0] for title in titles) == sorted(SPACE.text(i) for i in graph.nodes)
    assert "XXXOO.... +1.00" in titles  # X has won: the sign is there in words
    assert len(list(tree.iter(f"{SVG}path"))) == len(graph.starts) + 2  # and the two symbols
    used = {use.get("href") for use in tree.iter(f"{SVG}use")}
    assert used == {"#grid", "#x", "#o"}
    assert b"http" not in data.replace(b"http://www.w3.org/2000/svg", b"")
