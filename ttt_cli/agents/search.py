"""``search``: alpha-beta search to a limited depth; leaves are evaluated by the lines that are still open.

It learns nothing. With ``AGENT:search=N`` a player's own values evaluate the leaves: by alpha-beta where they
come from a network, else by a full-width search of many positions at a time. Ties are broken at random.
"""

import numpy as np

from ttt_cli.agents.registry import WHOLE, AgentType
from ttt_cli.engine.alpha_beta import Search
from ttt_cli.engine.arrays import Floats
from ttt_cli.engine.policy import Modified, Policy, best, uniform
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.scores import move_scores


class LookingAhead(Modified):
    """A player with a full-width search on top of its values.

    :param depth: plies in all; the player's values are those of the last one.
    :param scale: its values of a sure loss and a sure win.
    """

    def __init__(self, player: Policy, depth: int, scale: tuple[float, float]) -> None:
        super().__init__(player)
        self._depth, self._scale = depth, scale

    def probabilities(self, positions: Positions) -> Floats:
        return uniform(best(self._scores(positions), positions.legal))

    def values(self, positions: Positions) -> Floats:
        lowest, highest = self._scale
        scores = np.clip(2 * self._scores(positions), -1.0, 1.0)
        values = (lowest + highest) / 2 + scores * ((highest - lowest) / 2)
        return np.where(positions.legal, values, np.nan)

    def _scores(self, positions: Positions) -> Floats:
        """float64[k, cells]: as in ``engine.scores``, the player's values between -0.5 and 0.5."""
        return move_scores(positions, self._depth, self._estimate)

    def _estimate(self, positions: Positions) -> Floats:
        values, (lowest, highest) = self.player.values(positions), self._scale
        assert values is not None
        scaled = np.clip((values - lowest) / (highest - lowest) - 0.5, -0.5, 0.5)
        return np.where(np.isnan(values), 0.0, scaled)


AGENT = AgentType(
    "search", "alpha-beta search, then judges by the open lines", Search, {"depth": WHOLE, "nodes": WHOLE}
)
