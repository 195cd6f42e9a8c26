"""``heuristic``, the rule that beginners learn: complete a line, else block a line, else play anywhere."""

from typing import Literal

import numpy as np

from ttt_cli.agents.registry import FLAG, AgentType, one_of
from ttt_cli.engine.arrays import Floats
from ttt_cli.engine.policy import Policy, uniform
from ttt_cli.engine.positions import Positions, completing, unpacked
from ttt_cli.engine.rules import Rules


class Heuristic(Policy):
    """Completes a line if it can (and so loses a misère game), else blocks a line, else plays anywhere.

    :param centre: prefer the middle cell, if the board has one, to other cells that neither win nor block.
    :param ties: which of several winning or blocking cells to play.
    """

    def __init__(
        self, rules: Rules, *, centre: bool = False, ties: Literal["random", "first"] = "random"
    ) -> None:
        self.rules = rules
        self._centre = centre and rules.centre >= 0
        self._ties = ties

    def probabilities(self, positions: Positions) -> Floats:
        chosen = free = ~(positions.x | positions.o)
        if self._centre:
            centre = free & np.uint64(1 << self.rules.centre)
            chosen = np.where(centre, centre, free)
        mine, theirs = positions.stones_by_turn
        for stones in (theirs, mine):  # completing a line prevails, as the later one
            lines = completing(self.rules, stones) & free
            if self._ties == "first":
                lines &= -lines  # the lowest bit
            chosen = np.where(lines, lines, chosen)
        return uniform(unpacked(chosen, self.rules.cells) & positions.legal)


AGENT = AgentType(
    "heuristic",
    "wins if it can, else blocks, else plays anywhere",
    Heuristic,
    {"centre": FLAG, "ties": one_of("random", "first")},
)
