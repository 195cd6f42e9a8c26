"""What a table that does not say how its program breaks ties leaves open."""

from collections.abc import Iterator, Mapping
from typing import Any

from ttt_cli.agents.state_player import play_by
from ttt_cli.engine.policy import Policy
from ttt_cli.engine.state_space import enumerated
from ttt_cli.evaluation.matchup import both_sides
from ttt_cli.store.formats.format import Loaded
from ttt_cli.store.plays import TIES
from ttt_cli.views.numbers import percent


def about_ties(loaded: Loaded, options: Mapping[str, Any], opponent: str, policy: Policy) -> Iterator[str]:
    """Say how the rates of another program's table depend on how it breaks ties, unless that is stated."""
    state = loaded.state
    if loaded.native or enumerated(state.rules) is None:
        return
    stated = options.keys() & {"ties", "search", "epsilon"} or options.get("choice", "most") != "most"
    without_ties = not state.learner.values_of or state.learner.choice in state.learner.without_ties
    draws = state.plays is not None and state.plays.choice == "draw" and "choice" not in options
    if stated or without_ties or draws:
        return
    ties_by_rates: dict[str, str] = {}  # names equal rates once
    for ties in TIES:
        as_x, as_o = both_sides(play_by(state, ties=ties, **options), policy)
        wins = f"wins {percent(as_x.win)} as X and {percent(as_o.win)} as O"
        losses = f"loses {percent(as_x.loss)} and {percent(as_o.loss)}"
        ties_by_rates.setdefault(f"{wins}, {losses}", ties)
    if len(ties_by_rates) > 1:
        what = "its program is assumed to take the largest value, and of equal values any"
        yield f"{what} (ties=random; Python's max() and NumPy's argmax take the first: ties=first)"
        for rates, ties in ties_by_rates.items():
            yield f"against {opponent}, with ties={ties} it {rates}"
