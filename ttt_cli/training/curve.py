"""Learning curves: the exact strength of a player as it learns, at logarithmically spaced points of a run."""

import math

from ttt_cli.agents.uniform import Uniform
from ttt_cli.engine.policy import Policy
from ttt_cli.evaluation.verdict import judge
from ttt_cli.store.curves import Point

PER_DECADE = 8
"""Points while the number of games grows tenfold, if a curve is requested."""

KEPT_PER_DECADE = 2
"""The same for a curve that is only kept in the record: few, so that training stays fast."""

KEPT_UP_TO = 10_000
"""Runs keep their curve on boards whose ``Rules.positions_bound`` is no larger: a point takes a few
milliseconds there."""


def measure(games: int, policy: Policy) -> Point:
    """The strength of a policy, ``games`` games into a run."""
    verdict = judge(policy, [("random", Uniform(policy.rules))])
    as_x, as_o = verdict.results[0].as_x, verdict.results[0].as_o
    return Point(
        games,
        *(as_x.win, as_x.draw, as_x.loss),
        *(as_o.win, as_o.draw, as_o.loss),
        *(verdict.as_x.loss, verdict.as_o.loss),
        *(verdict.mistakes.positions, verdict.mistakes.reachable),
        verdict.exploitability,
        None if verdict.unbeatable is None else int(verdict.unbeatable),
    )


def points(games: int, per_decade: int = PER_DECADE) -> list[int]:
    """The points of a run, in games: 0, even steps of the logarithm, and the end. As a run is only looked at
    between blocks, that is after the first block that reaches a point."""
    steps = math.ceil(per_decade * math.log10(max(games, 1)))
    return sorted({0, games, *(round(10 ** (step / per_decade)) for step in range(steps))})
