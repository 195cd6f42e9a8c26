"""``search``: looks some plies ahead, and beyond that goes by the lines that are still open.

It learns nothing. The same search goes on top of a player that has values of its own (``AGENT:search=N``),
which then judge what is not seen to its end: where they come from a network by alpha-beta, else by looking at
all that can happen within those plies, many positions at a time. Of equally good moves it plays any.
"""

import numpy as np

from ttt_cli.agents.registry import WHOLE, AgentType
from ttt_cli.engine.alpha_beta import search
from ttt_cli.engine.look_ahead import look_ahead
from ttt_cli.engine.network import line_network
from ttt_cli.engine.policy import Policy, best, uniform
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import Bools, Floats
from ttt_cli.engine.symmetry import classes

NODES = 2_000
"""Positions that the search for a move visits, unless told otherwise."""


class Search(Policy):
    """Alpha-beta search, with a network for what it does not see to its end.

    Symmetric positions are searched as one, so that it plays all of them alike.

    :param depth: plies to look ahead, the move itself included; None: to the end.
    :param nodes: positions that the search for a move may visit; None: all that ``depth`` takes, without
        one ``NODES``.
    :param player: whose network it is, and what is known; None: that of the lines.
    """

    def __init__(
        self,
        rules: Rules,
        *,
        depth: int | None = None,
        nodes: int | None = None,
        player: Policy | None = None,
    ) -> None:
        self.rules = rules
        self._player = player
        self._network = (player.network if player else None) or line_network(rules)
        self._depth = rules.cells if depth is None else depth
        self._nodes = NODES if depth is None and nodes is None else nodes

    def probabilities(self, positions: Positions) -> Floats:
        return uniform(best(self._scores(positions, exact=False), positions.legal))

    def values(self, positions: Positions) -> Floats:
        """1 a win, -1 a loss; what is not seen to its end lies between."""
        scores = self._scores(positions, exact=True)
        return np.where(positions.legal, np.clip(scores, -1.0, 1.0), np.nan)

    def known(self, positions: Positions) -> Bools | None:
        return None if self._player is None else self._player.known(positions)

    def _scores(self, positions: Positions, *, exact: bool) -> Floats:
        """float64[k, cells]: as ``engine.alpha_beta.search`` has them."""
        if not len(positions):
            return np.zeros((0, self.rules.cells))
        found = classes(positions)
        _, rows, places = np.unique(found.positions.keys, axis=0, return_index=True, return_inverse=True)
        scores = search(
            found.positions[rows], self._network, depth=self._depth, nodes=self._nodes, exact=exact
        )
        return found.lift(scores[places.reshape(-1)])


class LookingAhead(Policy):
    """A player that looks some plies further than it does by itself.

    :param depth: plies in all: the player judges the last one.
    :param scale: what its values give for a sure loss and a sure win.
    """

    def __init__(self, player: Policy, depth: int, scale: tuple[float, float]) -> None:
        self.rules = player.rules
        self._player, self._depth, self._scale = player, depth, scale

    def probabilities(self, positions: Positions) -> Floats:
        return uniform(best(self._scores(positions), positions.legal))

    def values(self, positions: Positions) -> Floats:
        lowest, highest = self._scale
        scores = np.clip(2 * self._scores(positions), -1.0, 1.0)
        values = (lowest + highest) / 2 + scores * ((highest - lowest) / 2)
        return np.where(positions.legal, values, np.nan)

    def known(self, positions: Positions) -> Bools | None:
        return self._player.known(positions)

    def _scores(self, positions: Positions) -> Floats:
        """float64[k, cells]: as ``engine.look_ahead`` has them, the player's values between -0.5 and 0.5."""
        return look_ahead(positions, self._depth, self._opinion).astype(np.float64)

    def _opinion(self, positions: Positions) -> Floats:
        values, (lowest, highest) = self._player.values(positions), self._scale
        assert values is not None
        within = np.clip((values - lowest) / (highest - lowest) - 0.5, -0.5, 0.5)
        return np.where(np.isnan(values), 0.0, within)


AGENT = AgentType(
    "search",
    "alpha-beta search, by the open lines beyond",
    Search,
    {"depth": WHOLE, "nodes": WHOLE},
)
