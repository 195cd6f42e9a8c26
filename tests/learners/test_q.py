"""Q-learning: the author's rule against a literal reading of it; exploration; resigned games."""

from collections import defaultdict

import numpy as np

from ttt_cli import Game, Position
from ttt_cli.conformance import empty_table, trained_table
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.learners import learner_of
from ttt_cli.learners.base import Shard

SPACE = StateSpace.of()


def test_the_article_is_its_rule_taken_literally():
    learner, journal = learner_of("q", "article"), []
    table = trained_table(learner, 500, journal=journal)
    values: dict[tuple[Position, int], float] = defaultdict(float)
    for number, played in enumerate(journal):
        side, position, turns = "XO"[number % 2], Position(), []
        for cell in played.moves:
            if position.mover == side:
                turns.append((position, cell))
            position = position.play(cell)
        reward = 0.0 if position.winner is None else 1.0 if position.winner == side else -1.0
        for turn, later in zip(turns, [*turns[1:], None], strict=True):
            target = reward if later is None else 0.9 * max(values[later[0], cell] for cell in later[0].legal)
            values[turn] += 0.1 * (target - values[turn])
    moves, rows = table.moves, table.find(SPACE)
    found, visits = (table.by_cell(moves[name], rows, SPACE.legal) for name in ("value", "visits"))
    assert visits.sum() > 1500
    for index, cell in np.argwhere(visits > 0).tolist():
        assert found[index, cell] == values[SPACE.position(index), cell]


def test_exploration_decays_with_the_games():
    learner, favourite = learner_of("q", "default"), []
    for first in (0, 10_000_000):
        journal = []
        learner.train(empty_table(learner), Shard(first, 600, np.random.default_rng(1), journal=journal))
        favourite.append(np.bincount([played.moves[0] for played in journal]).max() / 600)
    assert favourite[0] < 0.2 and favourite[1] > 0.4


def test_a_resigned_game_teaches_nothing():
    learner = learner_of("q", "default")
    table = empty_table(learner)
    learner.learn(table, Game.of(SPACE.rules, [0, 3, 1], resigned=True))
    assert not table.moves["visits"].any()
