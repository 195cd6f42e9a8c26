"""What the learners' tests share: the learners, the games they are put to, and exact verdicts."""

from dataclasses import replace
from functools import cache
from typing import Any

from ttt_cli.conformance import empty_table
from ttt_cli.engine.game import Game
from ttt_cli.engine.policy import PolicyTable
from ttt_cli.engine.rules import STANDARD, Rules
from ttt_cli.engine.side import Side
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.evaluation.walk import Walk
from ttt_cli.evaluation.worst_case import worst_case
from ttt_cli.learners import LEARNERS, learner_class
from ttt_cli.learners.base import Learner
from ttt_cli.training.runs import Plan, run

NAMES = list(LEARNERS)
PRESETS = ("default", "article")


def policy_of(learner: Learner[Any], table: Any) -> PolicyTable:
    """The learner's policy, in all positions."""
    policy = learner.policy(table)
    return policy.table(StateSpace.of(policy.rules))


def made(name: str, preset: str = "default") -> Learner[Any]:
    """The learner, with its own or its author's parameters."""
    kind = learner_class(name)
    return kind.from_params(**kind.article) if preset == "article" else kind.from_params()


@cache
def exchanged(space: StateSpace) -> StateSpace:
    """The same game with the wins of X and O exchanged: who completes a line has lost."""
    return StateSpace.of(replace(space.rules, misere=True), space.symmetric)


def space_for(name: str, rules: Rules = STANDARD, *, symmetric: bool = False) -> StateSpace:
    """The space of the learner's tables."""
    return StateSpace.of(rules, symmetric or learner_class(name).symmetric_only)


def game(*cells: int, rules: Rules = STANDARD, resigned: bool = False) -> Game:
    """A game from its cells, from 1."""
    return Game.of(rules, [cell - 1 for cell in cells], resigned=resigned)


def table_after(learner: Learner[Any], games: int, seed: int, space: StateSpace, **plan: Any) -> Any:
    """The learner's table after a run."""
    table = empty_table(learner, space)
    for progress in run(Plan(learner, games, seed, **plan), table):
        table = progress.table
    return table


@cache
def trained(name: str, seed: int, *, turned: bool = False, symmetric: bool = False) -> PolicyTable:
    """What the learner plays after its default training, at the usual game or with the wins exchanged."""
    learner, space = made(name), space_for(name, symmetric=symmetric)
    if turned:
        space = exchanged(space)
    return policy_of(learner, table_after(learner, learner.default_games, seed, space))


def exploitability(policy: PolicyTable) -> float:
    """The mean of what best responses gain against either side."""
    return sum(worst_case(Walk.of(policy, side)).gain for side in Side) / 2
