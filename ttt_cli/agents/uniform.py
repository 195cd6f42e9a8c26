"""``random``: every legal cell with the same probability."""

from ttt_cli.agents.registry import AgentType
from ttt_cli.engine.arrays import Floats
from ttt_cli.engine.policy import Policy, uniform
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules


class Uniform(Policy):
    def __init__(self, rules: Rules) -> None:
        self.rules = rules

    def probabilities(self, positions: Positions) -> Floats:
        return uniform(positions.legal)


AGENT = AgentType("random", "any free cell, all equally likely", Uniform)
