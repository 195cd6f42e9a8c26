"""Runs as sequences of blocks."""

from itertools import pairwise

import pytest

from ttt_cli.engine.rules import STANDARD
from ttt_cli.evaluation.verdict import is_unbeatable
from ttt_cli.learners.q import Q
from ttt_cli.training.blocks import FIRST_BLOCK, Plan, train_blocks


def test_blocks_double_up_to_their_full_size_and_shards_follow_from_the_call_alone():
    assert Plan(Q(), 9_999_999, 1).shards_a_block == 1
    assert Plan(Q(), 10_000_000, 1).shards_a_block == 8
    assert Plan(Q.from_params(**Q.article), 10_000_000, 1).shards_a_block == 1
    plan, again = Plan(Q(), 100_000_000, 1), Plan(Q(), 100_000_000, 1)
    blocks = [plan.block(index) for index in range(20)]
    assert {len(block) for block in blocks} == {1, 8}
    sizes = [sum(shard.games for shard in block) for block in blocks]
    assert sizes[0] == FIRST_BLOCK
    assert all(other == min(2 * one, plan.block_games) for one, other in pairwise(sizes))
    for index, block in enumerate(blocks):
        assert (len(block) == 8) == (sizes[index] >= Q.block_games)
        draws = [shard.rng.random() for shard in block]
        assert draws == [shard.rng.random() for shard in again.block(index)]
        assert len(set(draws)) == len(block)


@pytest.mark.compiled
def test_sharding_does_not_cost_learning():
    learner = type("Sharded", (Q,), {"block_games": 4096, "shard_games": 512}).from_params()
    *_, last = train_blocks(Plan(learner, 32_768, seed=1, shards=8), learner.empty(STANDARD))
    assert is_unbeatable(learner.policy(last.table))
