"""``random``: every legal cell with the same probability."""

from ttt_cli.engine.policy import Policy, uniform
from ttt_cli.engine.space import Space


def policy(space: Space) -> Policy:
    """The uniform policy."""
    return Policy(space, uniform(space.legal))
