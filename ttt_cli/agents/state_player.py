"""The policy of a state: what the options of an AGENT say about how it plays and how its file is read."""

import numpy as np

from ttt_cli.agents.registry import PROBABILITY, WHOLE, Option, number, one_of
from ttt_cli.engine.alpha_beta import Search
from ttt_cli.engine.arrays import Floats
from ttt_cli.engine.policy import Exploring, Modified, OneSided, Policy, best_moves, uniform
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.scores import move_scores
from ttt_cli.engine.side import Side
from ttt_cli.errors import UsageError
from ttt_cli.store.plays import TIES, BreakingTies
from ttt_cli.store.state import State

STATE_OPTIONS = {
    "epsilon": PROBABILITY,
    "choice": Option("RULE (default, article, …)", str),
    "side": one_of("x", "o"),
    "ties": one_of(*TIES),
    "search": WHOLE,
}
"""The options of every state, as in ``play_by``."""

ANY_NUMBER = number("NUMBER", float, -1e300, 1e300)

FILE_OPTIONS = {
    "values": one_of("x", "o", "mover", "moved", "owner", "cost"),
    "unknown": Option("NUMBER|random", lambda text: text if text == "random" else ANY_NUMBER.read(text)),
    "wins": one_of("known", "unknown"),
    "spelling.": Option("VALUE", str),
    "visits": WHOLE,
}
"""How to read another program's file: for whom its values are good; the value of a move that it lacks;
whether the player sees a win that it lacks; a detail of its spelling, such as ``spelling.first=O``; and the
visits of an entry without a count."""


def play_by(
    state: State,
    *,
    choice: str | None = None,
    side: str | None = None,
    ties: str | None = None,
    epsilon: float = 0.0,
    search: int | None = None,
) -> Policy:
    """Return the policy of a state under these options.

    :param choice: another choice rule.
    :param side: the only side whose moves it knows (a table made for one side knows the other's by chance).
    :param ties: which of equal moves it plays; ``first-learned``: the first, but any where none is learned.
    :param epsilon: the probability of a uniformly random move instead.
    :param search: plies to search with its values, the move itself included.
    :raises UsageError: if it has no such choice rule, or no ties, or no values to search with.
    """
    state = state.with_choice(choice) if choice else state
    if search is not None:
        policy = _searching(state, search, ties or "random")
    else:
        policy = state.policy_with_ties(ties) if ties else state.policy
    return limited(policy, side, epsilon)


def limited(policy: Policy, side: str | None = None, epsilon: float = 0.0) -> Policy:
    """Return a policy that knows one side's moves only, if a side is named, and explores."""
    if side is not None:
        policy = OneSided(policy, Side[side.upper()])
    return Exploring(policy, epsilon) if epsilon else policy


def _searching(state: State, depth: int, ties: str) -> Policy:
    own = state.policy
    scale = None if state.plays else state.learner.value_scale
    if scale is None:
        why = "its values are in units of another program" if state.plays else "it values no positions"
        raise UsageError(f"{state.learner.name} cannot look ahead: {why}")
    searcher: Policy = LookingAhead(own, depth, scale)
    if isinstance(own, Search):  # which looks ahead by itself
        searcher = Search(own.rules, depth=depth, network=own.network)
    return searcher if ties == "random" else BreakingTies(searcher, ties)


class LookingAhead(Modified):
    """A player with a full-width search, of many positions at a time, on top of its values.

    :param depth: plies to search, the move itself included; the player's values rate the moves of the last.
    :param scale: the player's values of a certain loss and a certain win.
    """

    def __init__(self, player: Policy, depth: int, scale: tuple[float, float]) -> None:
        super().__init__(player)
        self._depth, self._scale = depth, scale

    def probabilities(self, positions: Positions) -> Floats:
        return uniform(best_moves(self._scores(positions), positions.legal))

    def values(self, positions: Positions) -> Floats:
        lowest, highest = self._scale
        scores = np.clip(2 * self._scores(positions), -1.0, 1.0)
        values = (lowest + highest) / 2 + scores * ((highest - lowest) / 2)
        return np.where(positions.legal, values, np.nan)

    def _scores(self, positions: Positions) -> Floats:
        """float64[k, cells]: as in ``engine.scores``, with the player's values between -0.5 and 0.5."""
        return move_scores(positions, self._depth, self._estimate)

    def _estimate(self, positions: Positions) -> Floats:
        values = self.player.values(positions)
        assert values is not None
        lowest, highest = self._scale
        scaled = np.clip((values - lowest) / (highest - lowest) - 0.5, -0.5, 0.5)
        return np.where(np.isnan(values), 0.0, scaled)
