"""``heuristic``: what beginners learn. Complete a line if you can, else block a line, else play anywhere."""

from typing import Literal

import numpy as np

from ttt_cli.agents.registry import FLAG, AgentType, one_of
from ttt_cli.engine.arrays import Bools, Floats
from ttt_cli.engine.policy import Policy, counted, first, uniform
from ttt_cli.engine.positions import Positions, completing
from ttt_cli.engine.rules import Rules


class Heuristic(Policy):
    """Win, else block, else play anywhere.

    :param centre: prefer the middle cell to other cells that neither win nor block, if there is one.
    :param ties: which of several winning or blocking cells to play.
    """

    def __init__(
        self, rules: Rules, *, centre: bool = False, ties: Literal["random", "first"] = "random"
    ) -> None:
        self.rules = rules
        self._centre = centre and rules.rows % 2 == 1 and rules.cols % 2 == 1
        self._ties = ties

    def probabilities(self, positions: Positions) -> Floats:
        chosen = positions.legal
        if self._centre:
            chosen = _prefer(chosen & (np.arange(self.rules.cells) == self.rules.cells // 2), chosen)
        mine, theirs = positions.stones_of_sides
        for stones in (theirs, mine):  # the last preference wins
            lines = completing(self.rules, stones) & positions.legal
            chosen = _prefer(first(lines) if self._ties == "first" else lines, chosen)
        return uniform(chosen)


def _prefer(chosen: Bools, otherwise: Bools) -> Bools:
    """Each row of ``chosen`` that has any cell, else that of ``otherwise``."""
    return np.where(counted(chosen)[:, None] > 0, chosen, otherwise)


AGENT = AgentType(
    "heuristic",
    "wins if it can, else blocks, else plays anywhere",
    Heuristic,
    {"centre": FLAG, "ties": one_of("random", "first")},
)
