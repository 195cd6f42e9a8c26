"""The distinct positions after some moves: on bitboards, by index, and against plain sets."""

import numpy as np
import pytest

from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import StateSpace, enumerated


@pytest.mark.parametrize("rules", [Rules(), Rules(3, 4, 3), Rules(3, 3, 3, misere=True)], ids=str)
def test_by_index_and_on_bitboards(rules: Rules):
    space = StateSpace.of(rules)
    assert enumerated(rules) is space
    layer = Positions.start(rules)
    while len(layer):
        rows, cells = np.nonzero(layer.legal)
        after, places = layer.after(rows, cells)
        again, places_again = space.successors_of(layer, rows, cells)
        assert after.texts() == again.texts()
        assert np.array_equal(places, places_again)
        layer = after


@pytest.mark.parametrize("rules", [Rules(4, 4, 4), Rules(6, 6, 5), Rules(8, 8, 5)], ids=str)
def test_on_large_boards(rules: Rules):
    assert enumerated(rules) is None
    layer = Positions.start(rules)
    rng = np.random.default_rng(1)
    for _ in range(6):
        rows, cells = np.nonzero(layer.legal & (rng.random(layer.legal.shape) < 0.2))
        after, places = layer.after(rows, cells)
        texts = [str(layer.position(row).play(int(cell))) for row, cell in zip(rows, cells, strict=True)]
        assert after.texts() == sorted(set(texts))
        assert [after.text(place) for place in places.tolist()] == texts
        layer = after[:50]
