"""``random``: every legal cell with the same probability."""

from ttt_cli.engine.policy import Policy, uniform
from ttt_cli.engine.state_space import StateSpace


def policy(space: StateSpace) -> Policy:
    """The uniform policy."""
    return Policy(space, uniform(space.legal))
