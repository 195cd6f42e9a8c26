"""The built-in players as tables over a whole state space, games as paths through it, and empty states."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from ttt_cli.agents.heuristic import Heuristic
from ttt_cli.agents.minimax import Minimax
from ttt_cli.agents.uniform import Uniform
from ttt_cli.engine.policy import PolicyTable
from ttt_cli.engine.rules import STANDARD, Rules
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.learners import learner_of
from ttt_cli.store.state import State


def _table(kind: type, space: StateSpace, **options: Any) -> PolicyTable:
    """A built-in player with these options."""
    return kind(space.rules, **options).table(space)


uniform, heuristic, minimax = (partial(_table, kind) for kind in (Uniform, Heuristic, Minimax))


def changed(policy: PolicyTable, text: str, cells: dict[int, float]) -> PolicyTable:
    """The policy with other probabilities (by cell from 1) in one position."""
    rows = policy.played.copy()
    index = policy.space.index_of[text]
    rows[index] = 0
    for cell, probability in cells.items():
        rows[index, cell - 1] = probability
    return PolicyTable(policy.space, rows)


def path(space: StateSpace, cells: Sequence[int]) -> list[int]:
    """The indexes of the positions that a game goes through, the empty board first."""
    found = [0]
    for cell in cells:
        found.append(int(space.successors[found[-1], cell]))
        assert found[-1] > 0, f"cell {cell + 1} cannot be played in {space.text(found[-2])}"
    return found


def empty_state(learner: str, rules: Rules = STANDARD) -> State:
    return State.empty(learner_of(learner, "default"), rules)
