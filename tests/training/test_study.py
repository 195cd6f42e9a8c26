"""Studies: what is trained, the same file for any number of workers, and what is read from it."""

from dataclasses import replace
from itertools import chain, repeat

import pytest

from ttt_cli.engine.rules import Rules
from ttt_cli.learners.graph import Graph
from ttt_cli.learners.q import Q
from ttt_cli.training.curve import measure
from ttt_cli.training.study import Design, Study, carry_out, middle, to_csv, unbeatable_from

BOARD = Rules(2, 3)


def design(**changes) -> Design:
    usual = {"varied": {"alpha": [0.1, 0.5]}, "seeds": range(1, 3), "games": 600}
    return Design(Q(), BOARD, **{**usual, **changes})


def empty(plan: Design) -> Study:
    return Study(tuple(plan.varied))


def done(plan: Design, workers: int = 1) -> Study:
    study = empty(plan)
    assert len(list(carry_out([plan], study, workers=workers))) == len(plan.keys)
    return study


def test_a_study_writes_the_same_file_however_it_is_run():
    plan, asked = design(), chain([False], repeat(True))
    whole = to_csv(done(plan))
    assert to_csv(done(plan, workers=2)) == whole
    part = empty(plan)
    assert not list(carry_out([plan], part, stopping=lambda: next(asked)))  # in the middle of the first
    for number, _ in enumerate(carry_out([plan], part)):
        if number == 1:
            break
    missing = 4 - len(part.runs)
    assert missing in (1, 2)
    assert len(list(carry_out([plan], part, workers=2))) == missing
    assert to_csv(part) == whole


def test_unbeatable_counts_from_the_look_after_the_last_defeat():
    lost = measure(0, Graph().policy(Graph().empty(BOARD)))
    held = [
        replace(lost, games=games, unbeatable=games in (100, 300, 400)) for games in (0, 100, 200, 300, 400)
    ]
    assert [unbeatable_from(held[:looks]) for looks in (1, 2, 3, 5)] == [None, 100, None, 300]


@pytest.mark.parametrize(
    ("verdicts", "together"), [([1, 1], 1), ([1, 0], 0), ([0, 0], 0), ([1, None], None), ([0, None], None)]
)
def test_seeds_are_unbeatable_together_if_each_is(verdicts: list[int | None], together: int | None):
    row = measure(0, Graph().policy(Graph().empty(BOARD)))
    (found,) = middle([[replace(row, unbeatable=verdict)] for verdict in verdicts])
    assert found.unbeatable == together
