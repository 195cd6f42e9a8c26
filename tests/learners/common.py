"""What the learners' tests share: the learners, the games they are put to, and exact verdicts."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from tests import tables
from ttt_cli.agents.grammar import resolve
from ttt_cli.engine.game import Game
from ttt_cli.engine.policy import PolicyTable
from ttt_cli.engine.rules import STANDARD, Rules
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.evaluation.worst_case import guaranteed_result, worst_case
from ttt_cli.learners import LEARNERS, learner_class
from ttt_cli.learners.base import Block, Learner
from ttt_cli.training.runs import Plan, run

NAMES = [name for name, module in LEARNERS.items() if find_spec(module)]
PRESETS = ("default", "article")


def made(name: str, preset: str = "default") -> Learner[Any]:
    """The learner, with its own or its author's parameters."""
    kind = learner_class(name)
    return kind.made(**kind.article) if preset == "article" else kind.made()


@cache
def exchanged(space: StateSpace) -> StateSpace:
    """The same game with the wins of X and O exchanged: who completes a line has lost."""
    return StateSpace.of(replace(space.rules, misere=True), space.symmetric)


def game_on(space: StateSpace, cells: Sequence[int], *, resigned: bool = False) -> Game:
    """The game whose moves, as a table over ``space`` knows them, are these."""
    if space.symmetric:
        quotient, game = StateSpace.of(space.rules).quotient, Game(space.rules)
        for cell in cells:
            index = quotient.full.index(game.position)
            game.push(next(at for at in game.legal_moves if quotient.moves[index, at] == cell))
        cells = game.moves
    return Game.of(space.rules, cells, resigned=resigned)


def space_for(name: str, rules: Rules = STANDARD, *, symmetric: bool = False) -> StateSpace:
    """The space of the learner's tables."""
    return StateSpace.of(rules, symmetric or learner_class(name).symmetric_only)


def agent(name: str | None, space: StateSpace) -> PolicyTable | None:
    """The policy of an agent that needs no file, on a space of positions or of classes; none for ``self``."""
    if name in (None, "self"):
        return None
    full = StateSpace.of(space.rules)
    found = resolve(name, Path("nowhere"), space.rules).policy.table(full)
    if not space.symmetric:
        return found
    return PolicyTable(space, full.quotient.project_probabilities(found.probabilities))


def resigning(space: StateSpace) -> PolicyTable:
    """Plays anywhere, but gives up in every third position from the fifth ply on."""
    policy = PolicyTable(space, tables.uniform(space).probabilities.copy())
    policy.probabilities[(space.plies >= 4) & (space.codes % 3 == 0)] = 0
    return policy


def block(learner: Learner[Any], space: StateSpace, games: int, seed: int = 1, **changes: Any) -> Block:
    """A block as in the learner's own training, or its author's."""
    fixed = {"opponent": None, "behaviour": None}
    if learner.choice == "article":
        fixed = {"opponent": learner.article_opponent, "behaviour": learner.article_behaviour}
    sides = {name: agent(value, space) for name, value in fixed.items()} | changes
    return Block(first=0, games=games, rng=np.random.default_rng(seed), **sides)


def after(learner: Learner[Any], space: StateSpace, games: int, seed: int = 1, **changes: Any) -> Any:
    """The table after a block."""
    table = learner.empty(space)
    learner.train(table, block(learner, space, games, seed, **changes))
    return table


def content(learner: Learner[Any], table: Any) -> bytes:
    """What a table holds, to the byte."""
    return orjson.dumps(learner.to_entries(table), option=orjson.OPT_SORT_KEYS)


def on_all_positions(policy: PolicyTable, full: StateSpace) -> PolicyTable:
    """A policy on all positions, lifted from the classes if need be."""
    if not policy.space.symmetric:
        return policy
    return PolicyTable(full, StateSpace.of(full.rules).quotient.lift_probabilities(policy.probabilities))


@cache
def trained(name: str, seed: int, *, turned: bool = False, symmetric: bool = False) -> PolicyTable:
    """What the learner plays after its default training, at the usual game or with the wins exchanged."""
    learner, space, full = made(name), space_for(name, symmetric=symmetric), StateSpace.of()
    if turned:
        space, full = exchanged(space), exchanged(full)
    *_, last = run(Plan(learner, learner.default_games, seed), learner.empty(space))
    return on_all_positions(learner.policy(last.table), full)


def is_unbeatable(policy: PolicyTable) -> bool:
    """Whether no opponent can make it lose, on either side."""
    return guaranteed_result(policy, 0) >= 0 and guaranteed_result(policy, 1) >= 0


def exploitability(policy: PolicyTable) -> float:
    """The mean of what best responses gain against either side."""
    return (worst_case(policy, 0).gain + worst_case(policy, 1).gain) / 2
