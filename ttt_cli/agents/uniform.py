"""``random``: every legal cell with the same probability."""

from ttt_cli.engine.policy import PolicyTable, uniform
from ttt_cli.engine.state_space import StateSpace


def policy(space: StateSpace) -> PolicyTable:
    """The uniform policy."""
    return PolicyTable(space, uniform(space.legal))
