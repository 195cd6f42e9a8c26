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
    """The probabilities of each result of a player's games."""

    win: Share
    draw: Share
    loss: Share

    @classmethod
    def summing_to_one(cls, *rates: float) -> "Rates":
        """Rates of which the largest takes up the rounding errors, so that a certainty is exactly 1."""
        exact = list(rates)
        largest = rates.index(max(rates))
        exact[largest] = 1 - sum(rate for at, rate in enumerate(rates) if at != largest)
        return cls(*exact)

    @property
    def points(self) -> float:
        """Expected points: a win is worth 1, a draw one half."""
        return self.win + self.draw / 2

    def turned(self) -> "Rates":
        """The rates of the same games for the opponent."""
        return Rates(self.loss, self.draw, self.win)


class ExactGames:
    """A policy's games against several opponents, played ply by ply along its walk.

    :ivar reach: float64[opponents, k], the probability of reaching each position of the next layer.
    """

    def __init__(self, opponents: Sequence[Policy]) -> None:
        """:param opponents: who chooses where the walk follows every legal move."""
        self._opponents = opponents
        self.reach = np.ones((len(opponents), 1))
        self._ends = np.zeros((len(opponents), 3))  # probabilities: O wins, draw, X wins

    def play(self, positions: Positions, layer: Layer) -> None:
        """Play one ply. A player without a move in an open position resigns, and loses."""
        after = np.zeros((len(self.reach), int(layer.targets.max(initial=-1)) + 1))
        for rows, part in layer.parts():
            batch = positions[rows]
            over = positions.terminal[rows]
            for game, opponent in enumerate(self._opponents):
                reach = self.reach[game, rows]
                if part.probabilities is not None:  # the policy whose walk it is moves
                    probabilities = part.probabilities
                    resigning = ~over & (part.counts == 0)
                else:
                    moving = ~over & (reach > 0)
                    played = np.zeros((len(batch), batch.cells))
                    played[moving] = opponent.probabilities(batch[moving])
                    probabilities = played[part.rows, part.cells]
                    resigning = moving & ~played.any(axis=1)
                np.add.at(after[game], part.targets, reach.repeat(part.counts) * probabilities)
                np.add.at(self._ends[game], part.results[over] + 1, reach[over])
                self._ends[game, layer.ply % 2 * 2] += reach[resigning].sum()  # the other side wins
        self.reach = after

    @property
    def rates(self) -> list[Rates]:
        """The rates of X against each opponent, after the last ply."""
        return [Rates.summing_to_one(*ends[::-1]) for ends in self._ends.tolist()]


def play_exact(x: Policy, o: Policy, *, budget: int = BUDGET) -> Rates:
    """The rates of ``x`` as X against ``o`` as O.

    :raises OutgrownError: if more positions can be reached than ``budget`` allows.
    """
    games = ExactGames([o])
    for positions, layer in walk(x, Side.X, o, budget=budget):
        games.play(positions, layer)
    return games.rates[0]


def both_sides(policy: Policy, opponent: Policy) -> tuple[Rates, Rates]:
    """The rates of ``policy`` as X and as O against ``opponent``."""
    return play_exact(policy, opponent), play_exact(opponent, policy).turned()


def own_play(
    policy: Policy,
    opponents: Sequence[Policy] = (),
    *,
    budget: int = BUDGET,
    tick: Tick = lambda positions: None,
) -> tuple[Positions, Floats]:
    """The ``k`` open positions in which the policy can be to move in either role, in order; and
    float64[k, opponents], the probability of reaching each of them against each opponent.

    :raises OutgrownError: if more positions can be reached than ``budget`` allows.
    """
    plies: dict[int, tuple[Positions, Floats]] = {}
    for side in Side:
        games = ExactGames(opponents)
        for positions, layer in walk(policy, side, budget=budget, tick=tick):
            if layer.ply % 2 == side:
                still_open = ~positions.terminal
                plies[layer.ply] = positions[still_open], games.reach[:, still_open].T
            games.play(positions, layer)
    own, reach = zip(*(plies[ply] for ply in sorted(plies)), strict=True)
    return Positions.concatenate(own), np.concatenate(reach)


def within_reach(policy: Policy) -> PolicyTable:
    """A policy as a table, asked once about each position that it can reach; uniform elsewhere.

    :raises OutgrownError: if it can reach too many positions.
    """
    space = StateSpace.of(policy.rules)
    own, _ = own_play(policy)
    rows = space.rows(own)
    played = uniform(space.legal)
    played[rows] = policy.probabilities(own)
    known = np.zeros(len(space), np.bool_)
    known[rows] = True
    values = None
    own_values = policy.values(own)
    if own_values is not None:
        values = np.full(played.shape, np.nan)
        values[rows] = own_values
    return PolicyTable(space, played, values, known)
