"""``heuristic``, the rule that beginners learn: complete a line, else block a line, else play anywhere."""

from typing import Literal

import numpy as np

from ttt_cli.agents.registry import FLAG, AgentType, one_of
from ttt_cli.engine.arrays import Bools, Floats
from ttt_cli.engine.policy import Policy, first, uniform
from ttt_cli.engine.positions import Positions, completing
from ttt_cli.engine.rules import Rules


class Heuristic(Policy):
    """A policy that wins if it can, else blocks, else plays anywhere.

    :param centre: prefer the middle cell, if the board has one, to other cells that neither win nor block.
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
        mine, theirs = positions.stones_by_turn
        for stones in (theirs, mine):  # the last preference wins
            lines = completing(self.rules, stones) & positions.legal
            chosen = _prefer(first(lines) if self._ties == "first" else lines, chosen)
        return uniform(chosen)


def _prefer(chosen: Bools, otherwise: Bools) -> Bools:
    """bool[k, cells]: the rows of ``chosen``; where they have no cell, those of ``otherwise``."""
    return np.where(np.any(chosen, axis=1, keepdims=True), chosen, otherwise)


AGENT = AgentType(
    "heuristic",
    "wins if it can, else blocks, else plays anywhere",
    Heuristic,
    {"centre": FLAG, "ties": one_of("random", "first")},
)
