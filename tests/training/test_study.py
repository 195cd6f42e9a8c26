"""What is read from the trainings of a study."""

from dataclasses import replace

import pytest

from ttt_cli.engine.rules import Rules
from ttt_cli.learners.graph import Graph
from ttt_cli.training.curve import measure
from ttt_cli.training.study import point_medians, unbeatable_from

LOST = measure(0, Graph().policy(Graph().empty(Rules(2, 3))))


def test_unbeatable_counts_from_the_look_after_the_last_defeat():
    held = [replace(LOST, games=games, unbeatable=games in (100, 300, 400)) for games in range(0, 500, 100)]
    assert [unbeatable_from(held[:looks]) for looks in (1, 2, 3, 5)] == [None, 100, None, 300]


@pytest.mark.parametrize(
    ("verdicts", "together"), [([1, 1], 1), ([1, 0], 0), ([0, 0], 0), ([1, None], None), ([0, None], None)]
)
def test_seeds_are_unbeatable_together_if_each_is(verdicts: list[int | None], together: int | None):
    (found,) = point_medians([[replace(LOST, unbeatable=verdict)] for verdict in verdicts])
    assert found.unbeatable == together
