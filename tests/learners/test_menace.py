"""Boxes of beads: what a game changes, what an empty box does, and what comes of a million games."""

import re

import numpy as np
import pytest

from tests import tables
from tests.learners.common import game, policy_of, table_after
from ttt_cli.conformance import empty_table, read_table
from ttt_cli.engine.game import Game
from ttt_cli.engine.policy import PolicyTable, uniform
from ttt_cli.engine.position import Position
from ttt_cli.engine.side import Side
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.engine.symmetry import classes
from ttt_cli.errors import InvalidFileError
from ttt_cli.evaluation.matchup import both_sides
from ttt_cli.evaluation.walk import Walk
from ttt_cli.evaluation.worst_case import worst_case
from ttt_cli.learners.base import Shard
from ttt_cli.learners.growth import FIRST
from ttt_cli.learners.menace import Menace
from ttt_cli.learners.table import Table

FULL = StateSpace.of()
SPACE = StateSpace.of(symmetric=True)
ROWS = FIRST + np.arange(len(SPACE))
DRAWING, MOST, MICHIE = Menace(), Menace(choice="most"), Menace.from_params(**Menace.article)
BOXES = DRAWING.holds(SPACE.legal)


def all_beads(table: Table) -> np.ndarray:
    """The beads in all boxes, by class and cell."""
    return DRAWING.beads(table, ROWS, SPACE, SPACE.legal)


def changes(table: Table) -> np.ndarray:
    """By how much they have changed."""
    return table.by_cell(table.moves["change"], ROWS, SPACE.legal)


def put(table: Table, at: int, row: list[int]) -> None:
    """Change a box, by cell."""
    changed = changes(table)
    changed[at] = row
    table.moves["change"][:] = changed[SPACE.legal]


def box(table: Table, text: str) -> dict[int, int]:
    """The beads in a box by cell, from 1."""
    row = all_beads(table)[SPACE.index(Position(text))]
    return {cell + 1: beads for cell, beads in enumerate(row.tolist()) if beads}


def on_classes(learner: Menace, table: Table) -> PolicyTable:
    """What the learner plays on the classes' boards, equivalent cells taken together."""
    policy, boards = learner.policy(table), SPACE[:]  # with all moves of the boards
    return PolicyTable(SPACE, classes(boards).project(policy.probabilities(boards)), policy.values(boards))


RANDOM = PolicyTable(FULL, uniform(FULL.legal))


# --- the boxes ---


def test_first_beads():
    table = empty_table(DRAWING, SPACE)
    assert box(table, "." * 9) == {1: 4, 2: 4, 5: 4}  # three kinds: corner, edge, centre
    assert box(table, "........X") == {1: 4, 2: 4, 3: 4, 5: 4, 6: 4}  # O's first move
    assert set(all_beads(table)[SPACE.plies == 2].ravel()) == {0, 3}
    assert set(all_beads(table)[SPACE.plies == 5].ravel()) <= {0, 2, 1}
    assert set(all_beads(table)[SPACE.plies == 6].ravel()) == {0, 1}


def test_there_is_no_box_for_a_single_move():
    single = SPACE.legal.sum(axis=1) == 1
    assert not BOXES[single].any() and BOXES[SPACE.legal.sum(axis=1) > 1].all()
    assert (BOXES & tables.to_move(SPACE, 0)).sum() == 304  # as many as Michie had
    table = table_after(DRAWING, 2000, 1, SPACE)
    assert not changes(table)[single].any()
    assert (on_classes(DRAWING, table).played[single].max(axis=1) == 1).all()


def test_drawing_goes_by_the_number_of_beads():
    table = empty_table(DRAWING, SPACE)
    DRAWING.learn(table, game(5, 1, 2, 9, 8))  # X wins
    at = SPACE.index(Position("." * 9))
    assert on_classes(DRAWING, table).played[at, [0, 1, 4]].tolist() == [4 / 15, 4 / 15, 7 / 15]
    assert policy_of(MOST, table).played[at, [0, 1, 4]].tolist() == [0, 0, 1]
    assert on_classes(DRAWING, table).worth[at, [0, 1, 4]].tolist() == [4, 4, 7]


@pytest.mark.parametrize(
    ("played", "x_change", "o_change"),
    [
        (game(5, 1, 2, 9, 8), 5, -4),
        (game(1, 5, 2, 3, 4, 7), -4, 5),
        (game(1, 5, 9, 2, 8, 7, 3, 6, 4), 2, 2),
        (game(5, 1, 2, resigned=True), 5, -4),
        (game(5, 1, resigned=True), -4, 5),
    ],
    ids=["won by X", "won by O", "drawn", "resigned by O", "resigned by X"],
)
def test_what_a_game_changes(played: Game, x_change: int, o_change: int):
    learner = Menace.from_params(win=5, draw=2, loss=4)
    for sides in ("xo", "x", "o"):
        table = empty_table(learner, SPACE)
        learner.learn(table, played, sides)
        expected = np.zeros_like(changes(table))
        moves = table.options(played)
        for ply, (node, cell) in enumerate(zip(tables.path(SPACE, moves), moves, strict=False)):
            if "xo"[ply % 2] in sides and BOXES[node]:
                expected[node, cell] = (x_change, o_change)[ply % 2]
        assert np.array_equal(changes(table), expected)


def test_an_empty_box_resigns():
    table = empty_table(DRAWING, SPACE)
    at = SPACE.index(Position("....X...."))
    put(table, at, [-4, -5, 0, 0, 0, 0, 0, 0, 0])
    for learner in (DRAWING, MOST):
        assert on_classes(learner, table).played[at].tolist() == [0] * 9
    journal: list[np.ndarray] = []
    results = MICHIE.train(table, Shard(0, 50, np.random.default_rng(1), journal=journal))
    resigned = [moves for moves in np.concatenate(journal).tolist() if moves[:2] == [4, -1]]
    assert resigned
    assert results[2] >= len(resigned)
    assert changes(table)[at].tolist() == [-4, -5, 0, 0, 0, 0, 0, 0, 0]  # no move was made from it
    assert box(table, "." * 9)[5] >= 4 + 3 * len(resigned)


# --- training ---


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 6))])
def test_the_commonest_beads_of_a_default_run_are_perfect_play(seed: int):
    table = table_after(DRAWING, DRAWING.default_games, seed, SPACE)
    most, drawing = policy_of(MOST, table), policy_of(DRAWING, table)
    assert worst_case(Walk.of(most, Side(0))).loss == worst_case(Walk.of(most, Side(1))).loss == 0
    as_x, as_o = both_sides(most, RANDOM)
    assert as_x.win > 0.98 and as_o.win > 0.87 and as_x.loss == as_o.loss == 0
    as_x, as_o = both_sides(drawing, RANDOM)
    assert as_x.win > 0.94 and as_o.win > 0.8 and max(as_x.loss, as_o.loss) < 0.02


# --- merging and files ---


def test_fewer_than_no_beads_are_none():
    tables = [empty_table(DRAWING, SPACE) for _ in range(3)]
    for table in tables:
        for _ in range(3):
            DRAWING.learn(table, game(1, 5, 2, 3, 4, 7), "x")
    together = DRAWING.merge(empty_table(DRAWING, SPACE), tables)
    assert changes(together)[0, 8 if SPACE.legal[0, 8] else 0] == -9
    assert box(together, "." * 9) == {2: 4, 5: 4}


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"." * 9: {}}, "expected a whole number other than 0 for some of the cells 1, 2, 5"),
        ({"." * 9: {"3": 1}}, "expected a whole number"),
        ({"." * 9: {"1": 0}}, "a whole number other than 0"),
        ({"." * 9: {"1": 2**60}}, "a whole number other than 0"),
        ({"X........": {"2": 1}}, "smallest text"),
        ({".OOXXOXX.": {"1": 1}}, "no choice between moves"),
    ],
)
def test_entries_that_are_no_boxes_are_refused(entries: dict, message: str):
    with pytest.raises(InvalidFileError, match=re.escape(message)) as caught:
        read_table(DRAWING, SPACE, entries)
    assert caught.value.where.startswith('"entries"')
