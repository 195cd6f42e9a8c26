"""What kernels share: bitboards and symmetry."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.test_positions import sample
from ttt_cli import Positions, Rules
from ttt_cli.engine import bits
from ttt_cli.engine.symmetry import classes


@given(board=st.integers(1, 2**64 - 1))
@np.errstate(over="ignore")
def test_bitboards(board: int):
    assert bits.popcount(np.uint64(board)) == board.bit_count()
    assert bits.first(np.uint64(board)) == (board & -board).bit_length() - 1


@pytest.mark.parametrize("rules", [Rules(), Rules(3, 4, 3), Rules(5, 5, 4)], ids=str)
def test_kernels_and_arrays_agree_on_classes(rules: Rules):
    positions = Positions.batch(sample(rules), rules)[:30]
    found, sources = classes(positions), np.array(rules.sources, np.int8)
    for row, (x, o) in enumerate(zip(positions.x, positions.o, strict=True)):
        image = bits.image_of_class(sources, x, o)
        own = bits.turned(sources, x, image), bits.turned(sources, o, image)
        assert own == (found.positions.x[row], found.positions.o[row])
        for cell in range(rules.cells):
            goal = rules.symmetries[image][cell]
            assert bits.lowest_of(sources, *own, goal) == found.moves[row, cell]
