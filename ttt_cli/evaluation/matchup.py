"""Exact results of one policy against another, from the probability of every position that they can reach."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ttt_cli.documents import Share
from ttt_cli.engine.arrays import Floats
from ttt_cli.engine.policy import Policy, PolicyTable, uniform
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.side import Side
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.evaluation.walk import BUDGET, Tick, Walk


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


def play_on(
    walk: Walk,
    opponents: Sequence[Policy] = (),
    watch: Callable[[list[Floats]], None] = lambda reach: None,
) -> list[Rates]:
    """Return how games end for X against each opponent. To resign (no moves in an open position) is to lose.

    :param opponents: those who play the side that can play anything.
    :param watch: called for each layer with the probability that a game against each opponent reaches its
        positions, float64[k].
    """
    here = [np.ones(1) for _ in range(max(1, len(opponents)))]
    wins = np.zeros((len(here), 3))  # probabilities that O wins, a draw, that X wins
    resigned = np.zeros((len(here), 3))  # of these, by resigning
    for ply, layer in enumerate(walk.layers):
        watch(here)
        after = [np.zeros(sum(map(len, walk.layers[ply + 1 : ply + 2]))) for _ in here]
        if (own := layer.probabilities) is None:
            gone = [np.zeros(len(layer), np.bool_) for _ in here]
            played = layer.played_by(opponents, here, gone)
        else:
            gone = [layer.resigning for _ in here]
            played = ((at, some, own[some]) for some in layer.pieces for at in range(len(here)))
        for at, some, chances in played:
            np.add.at(after[at], layer.targets[some], here[at][layer.rows[some]] * chances)
        over = layer.positions.terminal
        for at, now in enumerate(here):
            np.add.at(wins[at], layer.positions.results[over] + 1, now[over])
            resigned[at, ply % 2 * 2] += now[gone[at] & (now > 0)].sum()
        here = after
    return [Rates.summing_to_one(*ends[::-1]) for ends in (wins + resigned).tolist()]


def play_exact(x: Policy, o: Policy, *, budget: int = BUDGET) -> Rates:
    """Return how games between ``x`` as X and ``o`` as O end for ``x``.

    :raises OutgrownError: if more positions can be reached than ``budget`` allows.
    """
    return play_on(Walk.of(x, Side.X, o, budget=budget))[0]


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
        walk = Walk.of(policy, side, budget=budget, tick=tick)
        reached: list[list[Floats]] = []
        if opponents:
            play_on(walk, opponents, reached.append)
        for ply, positions in walk.own:
            still_open = ~walk.layers[ply].positions.terminal
            reach = [each[still_open] for each in reached[ply]] if opponents else []
            parts.append((ply, positions, np.array(reach).reshape(len(reach), len(positions)).T))
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
