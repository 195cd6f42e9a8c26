"""Reviews of finished games."""

from dataclasses import replace

import pytest

from tests.learners.common import game
from ttt_cli import Game, Position, Positions, Rules, Side, play_game
from ttt_cli.evaluation.analysis import analyse
from ttt_cli.evaluation.review import Choices, review


def at_random(rules: Rules, seed: int) -> Game:
    return play_game("random", "random", rules=rules, seed=seed).game()


def test_a_game_without_choices_has_no_accuracy():
    found = review(Game.of(Rules(1, 2, 2), [0, 1]))
    assert found.choices == dict.fromkeys("xo", Choices(0, 0, 0))
    assert found.accuracy["o"] is None


@pytest.mark.parametrize(
    ("cells", "value", "turning_point"),
    [
        ((1, 5), 0, None),
        ((1, 2, 4), -1, 2),
        ((1, 2, 3), 0, None),  # the mistake was forgiven
    ],
)
def test_resigning_is_not_a_move_and_a_draw_given_up_has_no_turning_point(cells, value, turning_point):
    found = review(game(*cells, resigned=True))
    assert (found.resigned, found.turning_point) == (value, turning_point)
    assert len(found.moves) == len(cells)


@pytest.mark.parametrize("seed", range(1, 13))
def test_a_review_agrees_with_the_analysis(seed: int):
    rules = (Rules(), Rules(3, 4, 3))[seed % 2]
    game = at_random(rules, seed)
    found = review(game)
    kept = {side: [] for side in Side}
    for ply, (text, cell) in enumerate(zip(game.texts(), game.moves, strict=False)):
        position = Position(text, rules)
        (truth,) = analyse(Positions.batch([position], rules))
        values = {move.cell: move.value for move in truth.moves}
        move = found.moves[ply]
        assert (move.before, move.after) == (max(values.values()), values[cell])
        assert move.best == tuple(option for option in values if values[option] == max(values.values()))
        if len(set(values.values())) > 1:
            kept[Side.to_move(ply)].append(values[cell] == max(values.values()))
    for side in Side:
        assert found.choices[side.key] == Choices(sum(kept[side]), len(kept[side]), 0)
    winner = game.result.winner  # after it the loser never has a better result in reach
    own = [number for number, move in enumerate(found.moves, 1) if move.side is not winner]
    chances = [number for number in own if found.moves[number - 1].before > -1]
    assert found.turning_point == (chances[-1] if winner is not None and chances else None)


@pytest.mark.parametrize("seed", range(1, 3))
def test_on_large_boards_only_proved_mistakes_count(seed: int):
    """With few nodes less is known than with many, and nothing else."""
    game = at_random(Rules(5, 5, 4), seed)
    little, much = review(game, nodes=3), review(game, nodes=5_000)
    for few, many in zip(little.moves, much.moves, strict=True):
        for name in ("before", "after"):
            assert getattr(few, name) in (None, getattr(many, name))
        assert set(few.best) <= set(many.best)
        assert not few.proven or many.proven
        unknown = replace(many.here, value=None)
        assert replace(many, here=unknown, after=1).before == 1  # a move that wins proves its position
    unproven = [sum(side.unproven for side in found.choices.values()) for found in (little, much)]
    assert unproven[0] > unproven[1]
    assert sum(move.proven for move in little.moves) + unproven[0] == len(game.moves)
