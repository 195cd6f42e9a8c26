"""How much the verdict on another program's table depends on how that program breaks ties."""

from typing import TYPE_CHECKING

from ttt_cli.engine.policy import Policy
from ttt_cli.engine.side import Side
from ttt_cli.engine.state_space import enumerated
from ttt_cli.errors import UsageError
from ttt_cli.evaluation.matchup import Rates, both_sides

if TYPE_CHECKING:
    from ttt_cli.agents.grammar import Agent

SAID = frozenset({"ties", "choice", "search", "epsilon"})
"""Options of an agent that settle how it breaks ties, or matter more."""

GUESSES = ("random", "first", "last")


def rates_by_ties(player: "Agent", opponent: Policy) -> dict[Side, dict[str, Rates]]:
    """Return a player's rates in each role of which it has learned something, by its way to break ties.

    Empty if that is no guess: if the player is no imported table, has no ties, or the user has chosen one.
    """
    from ttt_cli.agents.grammar import play_by

    loaded, space = player.loaded, enumerated(player.rules)
    if loaded is None or loaded.imported is None or loaded.imported.choice != "default" or space is None:
        return {}
    if SAID & player.options.keys():
        return {}
    try:
        policies = {ties: play_by(loaded.state, ties=ties, **player.options) for ties in GUESSES}
    except UsageError:
        return {}
    known = policies["random"].table(space).learned
    rates = {ties: both_sides(policy, opponent) for ties, policy in policies.items()}
    return {
        side: {ties: found[side] for ties, found in rates.items()}
        for side in Side
        if known is None or known[space.plies % 2 == side].any()
    }
