"""The graph of positions as dot and SVG."""

import re
from math import isnan
from xml.etree import ElementTree

import numpy as np

from tests import tables
from ttt_cli.engine.policy import PolicyTable
from ttt_cli.engine.position import Position
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.store.formats.format import ExportSource
from ttt_cli.store.formats.position_graph import Dot, PositionGraph, Svg

SPACE = StateSpace.of()
NASTY = '<script>alert("x")</script> & "quoted\\"'
SVG = "{http://www.w3.org/2000/svg}"


def test_a_learner_s_graph_holds_what_it_knows():
    """A hand-made player that knows two positions: it has seen X in the middle lose, O beside it win."""
    values, known = np.full((len(SPACE), 9), np.nan), np.zeros(len(SPACE), np.bool_)
    for text, cell, value in ((".........", 5, -0.5), ("....X....", 1, 0.75), ("....X....", 9, 0.25)):
        index = SPACE.index_of[text]
        values[index, cell - 1] = value
        known[index] = True
    player = PolicyTable(SPACE, tables.uniform(SPACE).played, values, known)
    graph = PositionGraph(ExportSource("a player", None, player))
    found = graph.scores.tolist()
    scores = {text: None if isnan(found[index]) else found[index] for index, text, *_ in graph.boards()}
    # X's side: at the root X's largest value; after it O's largest, turned; the others it has no opinion on.
    assert scores == {".........": -0.5, "....X....": -0.75, "O...X....": None, "....X...O": None}
    edges = zip(graph.starts.tolist(), graph.cells.tolist(), strict=True)
    moves = [(SPACE.text(start), cell + 1) for start, cell in edges]
    assert moves == [(".........", 5), ("....X....", 1), ("....X....", 9)]


def test_names_are_escaped_and_scores_are_in_words():
    """Boards, moves and their styles: the recordings in ``tests/golden``."""
    source = ExportSource(NASTY, None, tables.minimax(SPACE), start=Position("XX.OO...."), depth=2)
    text, picture = (b"".join(form.write(source)).decode() for form in (Dot(), Svg()))
    label = re.search(r"label=(\"(?:[^\"\\]|\\.)*\"), labelloc", text)
    assert label and label[1].startswith('"<script>alert(\\"x\\")</script>')
    tree = ElementTree.fromstring(picture)
    assert not list(tree.iter(f"{SVG}script"))
    titles = [element.text for element in tree.iter(f"{SVG}title")]
    assert titles[0].startswith(NASTY)
    assert "XXXOO.... +1.00" in titles  # X has won: the sign is there in words
