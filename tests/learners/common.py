"""What the learners' tests share."""

from functools import cache
from typing import Any

from ttt_cli import Game, Rules, State, train
from ttt_cli.engine.policy import PolicyTable
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.learners.base import Learner


def policy_of(learner: Learner[Any], table: Any) -> PolicyTable:
    """The learner's policy, in all positions."""
    learner.derive(table)  # it may have been learned by another choice rule
    policy = learner.policy(table)
    return policy.table(StateSpace.of(policy.rules))


def game(*cells: int, resigned: bool = False) -> Game:
    """A game from its cells, from 1."""
    return Game.of(Rules(), [cell - 1 for cell in cells], resigned=resigned)


@cache
def trained(name: str, seed: int = 1, **options: Any) -> State:
    """The learner after its default training, or what the options say."""
    return train(name, seed=seed, **options)
