"""What the learners' tests share: the learners, the games they are put to, and exact verdicts."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from tests import tables
from ttt_cli.agents.grammar import resolve
from ttt_cli.engine.game import Game
from ttt_cli.engine.policy import Policy, PolicyTable, TabularPolicy
from ttt_cli.engine.position import Position
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import STANDARD, Rules
from ttt_cli.engine.side import Side
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.engine.symmetry import classes
from ttt_cli.evaluation.walk import Walk
from ttt_cli.evaluation.worst_case import guaranteed_result, worst_case
from ttt_cli.learners import LEARNERS, learner_class
from ttt_cli.learners.base import Learner, Shard
from ttt_cli.training.runs import Plan, run

NAMES = list(LEARNERS)
PRESETS = ("default", "article")


def made(name: str, preset: str = "default") -> Learner[Any]:
    """The learner, with its own or its author's parameters."""
    kind = learner_class(name)
    return kind.from_params(**kind.article) if preset == "article" else kind.from_params()


@cache
def exchanged(space: StateSpace) -> StateSpace:
    """The same game with the wins of X and O exchanged: who completes a line has lost."""
    return StateSpace.of(replace(space.rules, misere=True), space.symmetric)


@cache
def _moves_of_class(position: Position) -> list[int]:
    """The cell of the class's board that each cell corresponds to."""
    found = classes(Positions.of([position], position.rules)).moves[0].tolist()
    return list(found)


def game_on(space: StateSpace, cells: Sequence[int], *, resigned: bool = False) -> Game:
    """The game whose moves, as a table over ``space`` knows them, are these."""
    if space.symmetric:
        game = Game(space.rules)
        for cell in cells:
            moves = _moves_of_class(game.position)
            game.push(next(at for at in game.legal_moves if moves[at] == cell))
        cells = game.moves
    return Game.of(space.rules, cells, resigned=resigned)


def space_for(name: str, rules: Rules = STANDARD, *, symmetric: bool = False) -> StateSpace:
    """The space of the learner's tables."""
    return StateSpace.of(rules, symmetric or learner_class(name).symmetric_only)


def empty_table(learner: Learner[Any], space: StateSpace) -> Any:
    """The learner's empty table over the positions, or the classes, of a space."""
    return learner.empty(space.rules, space.symmetric)


def policy_of(learner: Learner[Any], table: Any) -> PolicyTable:
    """What the learner plays, in all positions."""
    policy = learner.policy(table)
    return policy.table(StateSpace.of(policy.rules))


def read_table(learner: Learner[Any], space: StateSpace, entries: Mapping[str, Any]) -> Any:
    """The learner's table of these entries."""
    return learner.from_entries(space.rules, space.symmetric, entries.items())


def agent(name: str | None, space: StateSpace) -> Policy | None:
    """The policy of an agent that needs no file; none for ``self``."""
    if name in (None, "self"):
        return None
    return resolve(name, Path("nowhere"), space.rules).policy


def resigning(space: StateSpace) -> Policy:
    """Plays anywhere, but gives up in every third position from the fifth ply on."""
    full = StateSpace.of(space.rules)
    policy = PolicyTable(full, tables.uniform(full).probabilities.copy())
    policy.probabilities[(full.plies >= 4) & (full.codes % 3 == 0)] = 0
    return TabularPolicy(policy)


def block(learner: Learner[Any], space: StateSpace, games: int, seed: int = 1, **changes: Any) -> Shard:
    """A block as in the learner's own training, or its author's."""
    fixed = {"opponent": None, "behaviour": None}
    if learner.choice == "article":
        fixed = {"opponent": learner.article_opponent, "behaviour": learner.article_behaviour}
    sides = {name: agent(value, space) for name, value in fixed.items()} | changes
    return Shard(first=0, games=games, rng=np.random.default_rng(seed), **sides)


def after(learner: Learner[Any], space: StateSpace, games: int, seed: int = 1, **changes: Any) -> Any:
    """The table after a block."""
    table = empty_table(learner, space)
    learner.train(table, block(learner, space, games, seed, **changes))
    return table


def content(learner: Learner[Any], table: Any) -> bytes:
    """What a table holds, to the byte."""
    return orjson.dumps(dict(learner.to_entries(table)), option=orjson.OPT_SORT_KEYS)


@cache
def trained(name: str, seed: int, *, turned: bool = False, symmetric: bool = False) -> PolicyTable:
    """What the learner plays after its default training, at the usual game or with the wins exchanged."""
    learner, space = made(name), space_for(name, symmetric=symmetric)
    if turned:
        space = exchanged(space)
    *_, last = run(Plan(learner, learner.default_games, seed), empty_table(learner, space))
    return policy_of(learner, last.table)


def is_unbeatable(policy: PolicyTable) -> bool:
    """Whether no opponent can make it lose, on either side."""
    return (
        guaranteed_result(Walk.alone(policy, Side(0))) >= 0
        and guaranteed_result(Walk.alone(policy, Side(1))) >= 0
    )


def exploitability(policy: PolicyTable) -> float:
    """The mean of what best responses gain against either side."""
    return sum(worst_case(Walk.alone(policy, side)).gain for side in Side) / 2
