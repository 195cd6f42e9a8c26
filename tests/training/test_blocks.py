"""Runs as sequences of blocks."""

from itertools import pairwise
from pathlib import Path

import pytest

from ttt_cli.engine.rules import STANDARD
from ttt_cli.evaluation.verdict import is_unbeatable
from ttt_cli.learners.q import Q
from ttt_cli.store.state import State
from ttt_cli.training.trainer import FIRST_BLOCK, TrainingRun, advance, new_run


def planned(learner: Q, games: int) -> TrainingRun:
    return new_run(Path(), State.empty(learner, STANDARD), games=games, seed=1)


def test_blocks_double_up_to_their_full_size_and_shards_follow_from_the_call_alone():
    assert [planned(Q(), games).shards for games in (9_999_999, 10_000_000)] == [1, 8]
    assert planned(Q.from_params(**Q.article), 10_000_000).shards == 1
    plan, again = planned(Q(), 100_000_000), planned(Q(), 100_000_000)
    bounds = [(index, *block) for index, block in enumerate(plan.blocks())][:20]
    blocks = [plan.block(*block) for block in bounds]
    assert {len(block) for block in blocks} == {1, 8}
    sizes = [sum(shard.games for shard in block) for block in blocks]
    assert sizes[0] == FIRST_BLOCK
    assert all(other == min(2 * one, plan.block_games) for one, other in pairwise(sizes))
    for (index, *whole), block in zip(bounds, blocks, strict=True):
        assert (len(block) == 8) == (sizes[index] >= Q.block_games)
        draws = [shard.rng.random() for shard in block]
        assert draws == [shard.rng.random() for shard in again.block(index, *whole)]
        assert len(set(draws)) == len(block)


@pytest.mark.compiled
def test_sharding_does_not_cost_learning():
    learner = type("Sharded", (Q,), {"block_games": 4096, "shard_games": 512}).from_params()
    run = planned(learner, 32_768)
    run.shards = 8
    list(advance(run))
    assert is_unbeatable(run.state.policy)
