"""Large boards take gigabytes: the memory is stated before it is taken."""

from typing import TYPE_CHECKING

from ttt_cli.environment import Environment

if TYPE_CHECKING:
    from ttt_cli.engine.rules import Rules

LARGE = 1_000_000
"""Positions from which on a board is large."""

SPACE = 10
"""Bytes the space itself takes for each cell of each position; a policy takes 8."""


def state_memory(env: Environment, rules: "Rules", policies: int) -> None:
    """Say on stderr what a space of these rules and so many policies over it take, if that is much."""
    from ttt_cli.engine.state_space import MAX_POSITIONS

    bound = rules.positions_bound
    if LARGE <= bound <= MAX_POSITIONS:  # what is larger is refused
        size = bound * rules.cells * (SPACE + 8 * policies) / 1e9
        positions = f"up to {bound / 1e6:.0f} million positions"
        env.say(f"{rules.describe()}: {positions}, which take about {size:.1f} GB of memory and some time")
