"""How much depends on which of several equal values another program takes, where its file does not say."""

from typing import TYPE_CHECKING

from ttt_cli.engine.policy import Policy
from ttt_cli.engine.side import Side
from ttt_cli.engine.state_space import enumerated
from ttt_cli.errors import UsageError
from ttt_cli.evaluation.matchup import Rates, both_sides

if TYPE_CHECKING:
    from ttt_cli.agents.grammar import Agent

SAID = frozenset({"ties", "choice", "search", "epsilon"})
"""Options behind the colon of an agent after which ties are no guess, or not all that counts."""
GUESSES = ("random", "first", "last")


def rates_by_ties(player: "Agent", opponent: Policy) -> dict[Side, dict[str, Rates]]:
    """How a player fares, in each role of which it has learned something, by which of equal values it takes.

    Empty where nothing is guessed: it plays by no table of unknown origin, draws beads, or the user has said.
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
