"""Exact results of one policy against another, from the probability of every position that they can reach."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ttt_cli.documents import Share
from ttt_cli.engine.arrays import Floats
from ttt_cli.engine.policy import Policy, PolicyTable, uniform
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.side import Side
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.evaluation.walk import BUDGET, Layer, Tick, walk


@dataclass(frozen=True)
class Rates:
    """How likely a player's games end in each way."""

    win: Share
    draw: Share
    loss: Share

    @classmethod
    def summing_to_one(cls, *rates: float) -> "Rates":
        """Rates whose largest takes up the rounding errors, so that a certainty is exactly 1."""
        most = rates.index(max(rates))
        rest = sum(rate for at, rate in enumerate(rates) if at != most)
        return cls(*(1 - rest if at == most else rate for at, rate in enumerate(rates)))

    @property
    def points(self) -> float:
        """Expected points: a win is worth 1, a draw one half."""
        return self.win + self.draw / 2

    def turned(self) -> "Rates":
        """The rates of the same games for the opponent."""
        return Rates(self.loss, self.draw, self.win)


class ExactGames:
    """The games of a walk's policy against some opponents, played as it walks.

    :ivar reach: float64[opponents, k], how likely each position of the next layer is reached.
    """

    def __init__(self, opponents: Sequence[Policy | None]) -> None:
        """:param opponents: who plays the side that can play anything; None in a walk with an opponent."""
        self._opponents = opponents
        self.reach = np.ones((len(opponents), 1))
        self._ends = np.zeros((len(opponents), 3))  # probabilities that O wins, a draw, that X wins

    def play(self, positions: Positions, layer: Layer) -> None:
        """Play one ply. To resign (no moves in an open position) is to lose."""
        after = np.zeros((len(self.reach), layer.following))
        for some, part in layer.parts():
            batch, over = positions[some], ~part.open
            at = None if part.probabilities is not None else part.rows * batch.cells + part.cells
            for game, opponent in enumerate(self._opponents):
                reach, chances, gone = self.reach[game, some], part.probabilities, part.resigning
                if chances is None:
                    assert opponent is not None and at is not None
                    live = part.open & (reach > 0)
                    played = np.zeros((len(batch), batch.cells))
                    played[live] = opponent.probabilities(batch if live.all() else batch[live])
                    gone = live & (played @ np.ones(batch.cells) == 0)
                    chances = played.ravel().take(at)
                np.add.at(after[game], part.targets, reach.repeat(part.counts) * chances)
                np.add.at(self._ends[game], part.results[over] + 1, reach[over])
                self._ends[game, layer.ply % 2 * 2] += reach[gone].sum()
        self.reach = after

    @property
    def rates(self) -> list[Rates]:
        """How the games have ended for X against each opponent."""
        return [Rates.summing_to_one(*ends[::-1]) for ends in self._ends.tolist()]


def play_exact(x: Policy, o: Policy, *, budget: int = BUDGET) -> Rates:
    """Return how games between ``x`` as X and ``o`` as O end for ``x``.

    :raises OutgrownError: if more positions can be reached than ``budget`` allows.
    """
    games = ExactGames([None])
    for positions, layer in walk(x, Side.X, o, budget=budget):
        games.play(positions, layer)
    return games.rates[0]


def both_sides(policy: Policy, opponent: Policy) -> tuple[Rates, Rates]:
    """Return the rates of ``policy`` as X and as O against ``opponent``."""
    return play_exact(policy, opponent), play_exact(opponent, policy).turned()


def own_play(
    policy: Policy,
    opponents: Sequence[Policy] = (),
    *,
    budget: int = BUDGET,
    tick: Tick = lambda positions: None,
) -> tuple[Positions, Floats]:
    """Return the open positions in which the policy can be to move in either role, in their order; and
    float64[k, opponents], how likely they are reached against each opponent.

    :raises OutgrownError: if more positions can be reached than ``budget`` allows.
    """
    parts: list[tuple[int, Positions, Floats]] = []
    for side in Side:
        games = ExactGames(opponents)
        for positions, layer in walk(policy, side, budget=budget, tick=tick):
            if layer.ply % 2 == side:
                parts.append((layer.ply, positions[layer.open], games.reach[:, layer.open].T))
            games.play(positions, layer)
    parts.sort(key=lambda part: part[0])
    return Positions.concatenate([part[1] for part in parts]), np.concatenate([part[2] for part in parts])


def within_reach(policy: Policy) -> PolicyTable:
    """Return a policy as a table, asked once for each position that it can reach; uniform elsewhere.

    :raises OutgrownError: if it can reach too many positions.
    """
    space, (own, _) = StateSpace.of(policy.rules), own_play(policy)
    rows = space.rows(own)
    played, known = uniform(space.legal), np.zeros(len(space), np.bool_)
    played[rows], known[rows] = policy.probabilities(own), True
    values, own_values = np.full(played.shape, np.nan), policy.values(own)
    if own_values is not None:
        values[rows] = own_values
    return PolicyTable(space, played, None if own_values is None else values, known)
