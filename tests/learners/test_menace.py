"""Boxes of beads: what a game changes, what an empty box does, and what comes of a million games."""

import re

import numpy as np
import pytest

from tests import tables
from tests.learners.common import game, policy_of, trained
from ttt_cli import Game, Positions, Rules
from ttt_cli.conformance import empty_table, read_table, shard, trained_table
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.errors import InvalidFileError
from ttt_cli.evaluation.matchup import both_sides
from ttt_cli.evaluation.verdict import is_unbeatable
from ttt_cli.learners.growth import FIRST
from ttt_cli.learners.loop import table_cells
from ttt_cli.learners.menace import Menace
from ttt_cli.learners.table import Table, complete_table
from ttt_cli.store.games import GameRecord
from ttt_cli.store.state import State
from ttt_cli.store.teaching import teach

SPACE = StateSpace.of()
CLASSES = complete_table(Rules(), symmetric=True)
BOARDS = CLASSES.positions(slice(FIRST, None))
LEGAL, ROWS = CLASSES.legal(BOARDS), CLASSES.find(BOARDS)
DRAWING, MOST, MICHIE = Menace(), Menace(choice="most"), Menace.from_params(**Menace.article)
BOXES = LEGAL.sum(axis=1) > 1


def places(*texts: str) -> list[int]:
    """Where the classes of some boards are among all."""
    rows: list[int] = (CLASSES.rows_of(Positions.unchecked(texts, Rules())) - FIRST).tolist()
    return rows


def changes(table: Table) -> np.ndarray:
    return table.by_cell(table.moves["change"], ROWS, LEGAL)


def box(table: Table, text: str) -> dict[int, int]:
    """The beads in a box by cell, from 1."""
    (at,), values = places(text), DRAWING.answer(table, ROWS, BOARDS, LEGAL)[1]
    row = np.where(np.isnan(values[at]), LEGAL[at], values[at])
    return {cell + 1: beads for cell, beads in enumerate(row.tolist()) if beads}


def test_a_forced_move_has_no_box():
    boxes = ~np.isnan(DRAWING.answer(empty_table(DRAWING), ROWS, BOARDS, LEGAL)[1]).all(axis=1)
    assert np.array_equal(boxes, BOXES)
    assert (BOXES & (BOARDS.movers > 0)).sum() == 304  # as many as Michie had
    assert not changes(trained_table(DRAWING, 2000))[~BOXES].any()


def test_moves_are_drawn_in_proportion_to_beads():
    table = empty_table(DRAWING)
    DRAWING.learn(table, game(5, 1, 2, 9, 8))  # X wins
    drawing = policy_of(DRAWING, table)
    assert drawing.played[0] * 15 == pytest.approx([1, 1, 1, 1, 7, 1, 1, 1, 1])  # four for four corners
    assert drawing.worth[0, [0, 1, 4]].tolist() == [4, 4, 7]
    assert policy_of(MOST, table).played[0, [0, 1, 4]].tolist() == [0, 0, 1]


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
def test_a_game_changes_the_boxes_it_passed(played: Game, x_change: int, o_change: int):
    learner = Menace.from_params(win=5, draw=2, loss=4)
    for sides in ("xo", "x", "o"):
        table = empty_table(learner)
        learner.learn(table, played, sides)
        expected = np.zeros_like(changes(table))
        moves = table_cells(played, True)
        for ply, (node, cell) in enumerate(zip(places(*played.texts()), moves, strict=False)):
            if "xo"[ply % 2] in sides and BOXES[node]:
                expected[node, cell] = (x_change, o_change)[ply % 2]
        assert np.array_equal(changes(table), expected)


def test_an_empty_box_resigns():
    table = empty_table(DRAWING)
    centre, emptied = places("....X....")[0], [-4, -5, 0, 0, 0, 0, 0, 0, 0]
    changed = changes(table)
    changed[centre] = emptied
    table.moves["change"][:] = changed[LEGAL]
    for learner in (DRAWING, MOST):
        assert not policy_of(learner, table).played[SPACE.index_of["....X...."]].any()
    journal: list[Game] = []
    results = MICHIE.train(table, shard(MICHIE, 50, journal=journal))
    resigned = [played for played in journal if played.moves == (4,)]
    assert 0 < len(resigned) <= results[2]
    assert changes(table)[centre].tolist() == emptied  # no move was made from it
    assert box(table, "." * 9)[5] >= 4 + 3 * len(resigned)


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.long)])
def test_the_commonest_beads_of_a_default_run_are_perfect_play(seed: int):
    table = trained("menace", seed).table
    most, drawing = policy_of(MOST, table), policy_of(DRAWING, table)
    assert is_unbeatable(most)
    as_x, as_o = both_sides(most, tables.uniform(SPACE))
    assert as_x.win > 0.98 and as_o.win > 0.87
    as_x, as_o = both_sides(drawing, tables.uniform(SPACE))
    assert as_x.win > 0.94 and as_o.win > 0.8 and max(as_x.loss, as_o.loss) < 0.02


def test_michies_machine_learns_from_its_own_moves_alone():
    state = State.empty(MICHIE, Rules(), symmetric=True)
    resigned = GameRecord((5,), "x", "human", "menace.article", end="resigned")
    assert not changes(teach(state, [resigned], "menace.article").state.table).any()


def test_beads_never_become_negative():
    parts = [empty_table(DRAWING) for _ in range(3)]
    for table in parts:
        for _ in range(3):
            DRAWING.learn(table, game(1, 5, 2, 3, 4, 7), "x")
    together = DRAWING.merge(empty_table(DRAWING), parts)
    assert dict(DRAWING.to_entries(together))["." * 9] == {"1": -9}
    assert box(together, "." * 9) == {2: 4, 5: 4}


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"." * 9: {}}, "expected a whole number other than 0 for some of the moves"),
        ({"." * 9: {"1": 0}}, "a whole number other than 0"),
        ({"X........": {"2": 1}}, "smallest text"),
    ],
)
def test_entries_that_make_no_boxes_are_refused(entries: dict, message: str):
    with pytest.raises(InvalidFileError, match=re.escape(message)) as caught:
        read_table(DRAWING, entries)
    assert caught.value.where.startswith('"entries"')
