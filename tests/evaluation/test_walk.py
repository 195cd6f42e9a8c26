"""Walks: within their budget, and on boards that nobody enumerates."""

import numpy as np
import pytest

from ttt_cli import Game, Positions, Rules, Side
from ttt_cli.agents.heuristic import Heuristic
from ttt_cli.agents.uniform import Uniform
from ttt_cli.engine.alpha_beta import Search
from ttt_cli.engine.policy import PolicyTable, uniform
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.evaluation import walk
from ttt_cli.evaluation.refutation import losing_line
from ttt_cli.evaluation.verdict import judge
from ttt_cli.evaluation.walk import OutgrownError, layers_of
from ttt_cli.store.plays import BreakingTies


def test_a_walk_that_would_grow_too_large_is_given_up_at_once() -> None:
    visited: list[int] = []
    with pytest.raises(OutgrownError, match="more than 10,000,000 positions"):
        layers_of(Uniform(Rules(5, 5, 4)), Side.X, tick=visited.append)
    assert visited[-1] < 1_000_000  # long before the budget was spent
    assert sum(map(len, layers_of(Search(Rules(6, 6, 3), depth=1), Side.X))) == 8485  # all games are over


def test_a_spent_budget_ends_a_walk() -> None:
    assert sum(map(len, layers_of(Uniform(Rules()), Side.X, budget=5478))) == 5478
    with pytest.raises(OutgrownError, match="more than 5,477 positions can be reached"):
        layers_of(Uniform(Rules()), Side.X, budget=5477)


def test_the_size_of_batches_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    space = StateSpace.of()
    policy = PolicyTable(space, uniform(space.legal), known=np.arange(len(space)) % 3 > 0)
    whole = judge(policy, [("random", policy)])
    monkeypatch.setattr(walk, "WALK_BATCH", 64)
    assert judge(policy, [("random", policy)]) == whole


@pytest.mark.parametrize("rules", [Rules(), Rules(8, 8, 5), Rules(4, 4, 3, misere=True)], ids=str)
@pytest.mark.parametrize("side", Side)
def test_a_weak_players_loss_is_found_at_once(rules: Rules, side: Side) -> None:
    for policy in (Uniform(rules), Heuristic(rules), BreakingTies(Uniform(rules), "first")):
        line = losing_line(policy, side)
        if line is None:
            assert isinstance(policy, Heuristic)  # which knows how to block
            continue
        game = Game.of(rules, [cell - 1 for cell in line])
        assert game.outcome(side) == -1
        played = policy.probabilities(Positions.parse(game.texts()[:-1], rules))
        assert all(played[ply, cell] > 0 for ply, cell in enumerate(game.moves) if ply % 2 == side)
