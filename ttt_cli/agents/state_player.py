"""The policy of a state: how an AGENT's options change what it plays."""

from typing import TYPE_CHECKING

from ttt_cli.agents.registry import PROBABILITY, WHOLE, Option, one_of
from ttt_cli.engine.policy import Exploring, OneSided, Policy
from ttt_cli.engine.side import Side
from ttt_cli.errors import UsageError

if TYPE_CHECKING:
    from ttt_cli.store.state import State

STATE_OPTIONS = {
    "epsilon": PROBABILITY,
    "choice": Option("RULE (default, article, …)", str),
    "side": one_of("x", "o"),
    "ties": one_of("random", "first", "last", "first-learned"),
    "search": WHOLE,
}
"""The options of every state, as in ``play_by``."""


def play_by(
    state: "State",
    *,
    choice: str | None = None,
    side: str | None = None,
    ties: str | None = None,
    epsilon: float = 0.0,
    search: int | None = None,
) -> Policy:
    """Return the policy of a state under these options.

    :param choice: another choice rule.
    :param side: the only side whose moves it knows: what a table made for one side holds about the other is
        there by chance.
    :param ties: which of equal moves it plays; ``first-learned``: the first, but any where nothing has been
        learned.
    :param epsilon: the probability of a uniformly random move instead.
    :param search: plies to search with its values, the move itself included.
    :raises UsageError: if it has no such choice rule, or no ties, or no values to search with.
    """
    state = state.choosing(choice) if choice else state
    if search is not None:
        policy = _searching(state, search, ties or "random")
    else:
        policy = state.breaking(ties) if ties else state.policy
    return limited(policy, side, epsilon)


def limited(policy: Policy, side: str | None = None, epsilon: float = 0.0) -> Policy:
    """Return a policy that knows one side's moves only, if a side is named, and explores."""
    if side is not None:
        policy = OneSided(policy, Side[side.upper()])
    return Exploring(policy, epsilon) if epsilon else policy


def _searching(state: "State", depth: int, ties: str) -> Policy:
    from ttt_cli.agents.search import LookingAhead
    from ttt_cli.store.plays import BreakingTies

    scale = None if state.plays else state.learner.value_scale
    if scale is None:
        why = "its values are in units of another program" if state.plays else "it values no positions"
        raise UsageError(f"{state.learner.name} cannot be searched on top of: {why}")
    searcher = state.policy.looking_ahead(depth) or LookingAhead(state.policy, depth, scale)
    return searcher if ties == "random" else BreakingTies(searcher, ties)
