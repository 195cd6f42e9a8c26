"""The built-in players as tables over a whole state space."""

from typing import Any

from ttt_cli.agents.heuristic import Heuristic
from ttt_cli.agents.minimax import Minimax
from ttt_cli.agents.uniform import Uniform
from ttt_cli.engine.policy import PolicyTable
from ttt_cli.engine.state_space import StateSpace


def uniform(space: StateSpace) -> PolicyTable:
    """``random``."""
    return Uniform(space.rules).table(space)


def heuristic(space: StateSpace, **options: Any) -> PolicyTable:
    """``heuristic`` with these options."""
    return Heuristic(space.rules, **options).table(space)


def minimax(space: StateSpace, **options: Any) -> PolicyTable:
    """``minimax`` with these options."""
    return Minimax(space.rules, **options).table(space)
