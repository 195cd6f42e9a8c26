"""The uniform numbers: those of SplitMix64, the same however they are computed and cut."""

import numpy as np
import pytest

from ttt_cli.learners.loop import uniform

SEED = np.uint64(1234567)


def numbers(count: int, first: int = 0) -> np.ndarray:
    filled = np.empty(count)
    uniform(filled, SEED, first)
    return filled


def test_the_numbers_are_those_of_the_published_generator():
    """The first outputs for this seed of the authors' C program, by their upper 53 bits."""
    published = (6457827717110365317, 3203168211198807973, 9817491932198370423)
    assert numbers(3).tolist() == [(number >> 11) * 2.0**-53 for number in published]


@pytest.mark.parametrize("first", [0, 1, 4096])
def test_a_number_depends_on_its_place_alone(first: int):
    assert numbers(500, first).tolist() == numbers(first + 500)[first:].tolist()


def test_plain_python_gives_the_same_numbers(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(uniform, "_compiled", uniform.run_as_written)
    plain = numbers(100)
    monkeypatch.undo()
    assert plain.tolist() == numbers(100).tolist()


def test_they_fill_the_unit_interval_evenly():
    """Chi squared of 100 cells has mean 99 and standard deviation 14; the seed is fixed."""
    drawn = numbers(1_000_000)
    assert drawn.min() >= 0.0
    assert drawn.max() < 1.0
    counts, _ = np.histogram(drawn, 100, (0.0, 1.0))
    assert ((counts - 10_000) ** 2 / 10_000).sum() < 99 + 4 * 14
    assert abs(np.corrcoef(drawn[:-1], drawn[1:])[0, 1]) < 0.005
