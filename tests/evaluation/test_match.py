"""Sampled matches."""

import numpy as np
import pytest

from tests import tables
from tests.evaluation.reference import some_policy
from ttt_cli import Game, Rules
from ttt_cli.engine.policy import PolicyTable, draw_cells, thresholds
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.evaluation.match import Games, play_match, wilson


@pytest.mark.parametrize("rules", [Rules(), Rules(2, 3, 2)], ids=str)
def test_games_follow_the_rules(rules: Rules) -> None:
    space = StateSpace.of(rules)
    agent, opponent = some_policy(space, 1), some_policy(space, 2, resigning=0.05)
    batches, ended, wins = list[Games](), list[int](), 0
    match = play_match(agent, opponent, 501, 7, batches.append, tick=ended.append)
    assert ended == sorted(ended) and ended[-1] == 501 and len({*ended}) > 4  # not only when all have
    for number, (row, result, resigned) in enumerate(
        game for batch in batches for game in zip(batch.moves, batch.results, batch.resigned, strict=True)
    ):
        game = Game.of(space.rules, [int(cell) for cell in row if cell >= 0], resigned=bool(resigned))
        assert game.result == result
        for ply, (index, cell) in enumerate(zip(tables.path(space, game.moves), game.moves, strict=False)):
            player = agent if (ply + number) % 2 == 0 else opponent
            assert player.played[index, cell] > 0
        wins += game.result == (1 if number % 2 == 0 else -1)
    assert match.games == 501 == number + 1
    assert (match.as_x.games, match.as_o.games) == (251, 250)
    assert match.as_x.win * 251 + match.as_o.win * 250 == pytest.approx(wins)


def test_the_seed_fixes_every_game_and_a_longer_match_begins_with_the_same_ones() -> None:
    space = StateSpace.of()
    agent, opponent = tables.heuristic(space), tables.uniform(space)

    def moves(games: int, seed: int) -> list[list[int]]:
        batches: list[Games] = []
        play_match(agent, opponent, games, seed, batches.append)
        return np.concatenate([batch.moves for batch in batches]).tolist()

    many = moves(20_000, 1)
    assert len(many) == 20_000 and many[:300] == moves(300, 1) != moves(300, 2)
    assert many[-300:] != many[:300]


def test_greedy_players_repeat_one_game_and_who_resigns_loses() -> None:
    space = StateSpace.of()
    first, random = tables.minimax(space, ties="first"), tables.uniform(space)
    match = play_match(first, first, 1000, 1)
    assert match.as_x.draw == match.as_o.draw == 1
    assert match.distinct_games == 2  # one as X, one as O
    assert play_match(random, first, 1000, 1).distinct_games > 50
    nobody = PolicyTable(space, np.zeros(space.legal.shape))
    match = play_match(random, nobody, 3, 1)
    assert match.as_x.win == match.as_o.win == 1
    one = play_match(random, nobody, 1, 1)
    assert one.as_o.win is None and one.as_o.win_ci == (0, 1)


def test_rounding_neither_adds_nor_loses_a_cell() -> None:
    short = np.array([[0.1] * 9 + [0.1 - 1e-12, 0.0]])
    assert draw_cells(thresholds(short), np.array([1 - 2.0**-53])).tolist() == [9]
    assert thresholds(short)[0, 9:].tolist() == [2.0, 2.0]


def test_wilsons_interval() -> None:
    """The values in the literature; and exactly nothing, or all, at the ends."""
    for count, games, low, high in ((0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (1, 2, 0.0945, 0.9055)):
        assert wilson(count, games) == pytest.approx((low, high), abs=5e-5)
    assert {(wilson(0, games)[0], wilson(games, games)[1]) for games in range(1, 2000)} == {(0, 1)}
