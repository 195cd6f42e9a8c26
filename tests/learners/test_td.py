"""TD learning: the author's rule against a literal reading of it, the default against a hand-worked table."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.learners.common import game
from ttt_cli import Game, Position, load, save, train
from ttt_cli.conformance import empty_table, trained_table
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.learners import learner_of
from ttt_cli.learners.growth import FIRST
from ttt_cli.learners.table import Table
from ttt_cli.learners.td import Td

SPACE = StateSpace.of()


def worth(table: Table, side: str, text: str) -> tuple[float, int]:
    """A value and its visits."""
    index, column = FIRST + SPACE.index_of[text], "xo".index(side)
    return float(table.rows["value"][index, column]), int(table.rows["visits"][index, column])


def test_a_draw_is_worth_nothing_to_the_author_and_half_by_default():
    draw = game(1, 5, 9, 2, 8, 7, 3, 6, 4)
    last = draw.texts()[-1]
    for preset, value in (("article", 0.0), ("default", 0.5)):
        learner = learner_of("td", preset)
        table = empty_table(learner)
        assert worth(table, "x", last) == worth(table, "o", last) == (value, 0)
        learner.learn(table, draw)
        assert worth(table, "x", last) == worth(table, "o", last) == (value, 1)
        before = draw.texts()[-2]
        assert worth(table, "o", before)[0] == (0.25 if preset == "article" else 0.5)


def test_a_drawn_board_not_yet_seen_is_worth_a_draw(tmp_path: Path):
    last = game(1, 5, 9, 2, 8, 7, 3, 6, 4).texts()[-1]
    assert worth(empty_table(Td.from_params(draw=0.3)), "o", last) == (0.3, 0)
    # A file says nothing of boards not yet seen; what they are worth follows from the runs.
    state = train("td", games=40, seed=1, draw=0.3)
    save(state, tmp_path / "td.json")
    assert np.array_equal(load(tmp_path / "td.json").table.rows, state.table.rows)


def test_the_authors_constants_neither_fall_nor_rise():
    for given, ends in (({"alpha": 0.9}, {"alpha_end": 0.9}), ({"epsilon": 0.0}, {"epsilon_end": 0.0})):
        low, both = (train("td", games=200, seed=1, preset="article", **given, **more) for more in ({}, ends))
        assert np.array_equal(low.table.rows, both.table.rows)


class Author:
    """The author's rule, read literally: dictionaries, no arrays."""

    def __init__(self) -> None:
        self.values: dict[tuple[str, Position], float] = {}

    def value(self, side: str, position: Position) -> float:
        start = 0.5 if not position.terminal else 1.0 if position.winner == side else 0.0
        return self.values.get((side, position), start)

    def play(self) -> list[int]:
        position, history, moves = Position(), [], []
        while not position.terminal:
            side = position.mover
            cell = max(position.legal, key=lambda cell: (self.value(side, position.play(cell)), -cell))
            moves.append(cell)
            position = position.play(cell)
            history.append(position)
        for side in "XO":
            target = 1.0 if position.winner == side else 0.0
            for seen in reversed(history):
                value = self.value(side, seen)
                self.values[side, seen] = target = value + 0.5 * (target - value)
        return moves


def test_the_article_without_exploration_is_its_rule_taken_literally():
    learner = replace(learner_of("td", "article"), epsilon=0.0, epsilon_end=0.0)
    literal = Author()
    journal: list[Game] = []
    table = trained_table(learner, 60, journal=journal)
    for played in journal:
        assert literal.play() == list(played.moves)
    assert np.count_nonzero(table.rows["visits"]) == len(literal.values)
    for (side, position), value in literal.values.items():
        assert worth(table, side.lower(), position.text)[0] == value
    tried = {position for side, position in literal.values if side != position.mover}
    boards = map(Position, SPACE.texts())
    known = {board.text for board in boards for cell in board.legal if board.play(cell) in tried}
    assert {*learner.seen(table).texts()} == known


def test_the_default_target_worked_by_hand():
    learner = Td.from_params(alpha=0.5, alpha_end=0.5, gamma=0.9, slips=0.25)
    table = empty_table(learner)
    # O to move after 1 4 2 5: X threatens 3, so X's best is a win, discounted once; four of the five moves of
    # X do not end the game and are worth 1/2 to O as yet.
    learner.learn(table, game(1, 4, 2, 5, 3), "x")
    before_last = 0.5 + 0.5 * (0.9 * 1.0 - 0.5)
    assert worth(table, "x", "XX.OO....") == (before_last, 1)
    # Two plies earlier O moves: the worst reply for X is worth 1/2, and of six replies only the one to 5 has
    # been looked at.
    target = 0.75 * 0.5 + 0.25 * ((5 * 0.5 + before_last) / 6)
    assert worth(table, "x", "XX.O.....")[0] == pytest.approx(0.5 + 0.5 * (target - 0.5), abs=1e-15)
    assert table.rows["visits"][:, 1].sum() == 0, "only X was to learn"
    learner.learn(table, game(1, 4, 2, 5, 3), "o")
    target = 0.75 * 0.0 + 0.25 * (4 * 0.5 + 0.0) / 5
    assert worth(table, "o", "XX.OO....")[0] == pytest.approx(0.5 + 0.5 * (target - 0.5), abs=1e-15)
