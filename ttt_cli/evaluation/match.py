"""Sampled matches: games really played, for those who want to see some, with what they can and cannot show.

All games of a match are played at the same time, ply by ply. The sides alternate: the agent is X in the 1st,
3rd, 5th … game. Two greedy players repeat a few games for ever, so the number of distinct games is given, and
intervals are Wilson's (1927), which stay sensible when everything is won or nothing is.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttt_cli.engine.arrays import Bools, Floats, Int8s
from ttt_cli.engine.policy import Policy
from ttt_cli.engine.positions import Positions

BATCH = 1 << 14
"""Games played at a time; part of what a seed means."""

QUANTILE = 1.959963984540054
"""Of the standard normal distribution: 95 % of it lies within this many standard deviations."""


@dataclass(frozen=True)
class Share:
    """How many of some games ended in a certain way."""

    count: int
    games: int

    @property
    def rate(self) -> float | None:
        """The share; None of no games."""
        return self.count / self.games if self.games else None

    @property
    def interval(self) -> tuple[float, float]:
        """Where the true probability lies, with 95 % confidence."""
        return wilson(self.count, self.games)


def wilson(count: int, games: int) -> tuple[float, float]:
    """Wilson's 95 % interval for a probability, ``count`` of ``games`` having been seen."""
    if not games:
        return 0.0, 1.0
    rate, z2 = count / games, QUANTILE**2
    middle = (rate + z2 / (2 * games)) / (1 + z2 / games)
    half = QUANTILE * sqrt(rate * (1 - rate) / games + z2 / (4 * games**2)) / (1 + z2 / games)
    return (0.0 if count == 0 else middle - half), (1.0 if count == games else middle + half)


@dataclass(frozen=True)
class Games:
    """The games of one batch, ``k`` of them.

    :ivar first: the number in the match of the first, from 0; in games 0, 2, 4 … the agent is X.
    :ivar moves: int8[k, cells], cells from 0, -1 after the end.
    :ivar results: int8[k], +1 X won, -1 O won, 0 drawn.
    :ivar resigned: bool[k].
    """

    first: int
    moves: Int8s
    results: Int8s
    resigned: Bools


@dataclass(frozen=True)
class Match:
    """The results of a match, from the agent's side.

    :ivar counts: of wins, draws and losses, as X and as O.
    :ivar distinct: how many of the games differ: in their moves, or in who was X.
    """

    counts: tuple[tuple[int, int, int], tuple[int, int, int]]
    distinct: int

    @property
    def games(self) -> int:
        """How many games were played."""
        return sum(sum(side) for side in self.counts)

    def shares(self, side: int) -> dict[str, Share]:
        """The shares of wins, draws and losses as X (0) or as O (1)."""
        counts = self.counts[side]
        return {
            name: Share(count, sum(counts))
            for name, count in zip(("win", "draw", "loss"), counts, strict=True)
        }


def play_match(
    agent: Policy,
    opponent: Policy,
    games: int,
    seed: int,
    watch: Callable[[Games], None] = lambda batch: None,
) -> Match:
    """Play a match.

    :param watch: called with each batch of games once it is played.
    """
    agent, opponent = (player.tabulated().forfeiting() for player in (agent, opponent))
    counts = np.zeros((2, 3), np.int64)
    seen: tuple[set[bytes], set[bytes]] = set(), set()
    for batch in _batches(agent, opponent, games, seed):
        sides = (batch.first + np.arange(len(batch.results))) % 2
        won = np.where(sides == 0, batch.results, -batch.results)
        np.add.at(counts, (sides, 1 - won), 1)
        for side, texts in enumerate(seen):  # a game as bytes, cells from 1
            texts.update((batch.moves[sides == side] + 1).view(f"S{agent.rules.cells}").ravel().tolist())
        watch(batch)
    (a, b, c), (d, e, f) = counts.tolist()
    return Match(((a, b, c), (d, e, f)), sum(map(len, seen)))


def _batches(agent: Policy, opponent: Policy, games: int, seed: int) -> Iterator[Games]:
    cells = agent.rules.cells
    rng = np.random.default_rng(seed)
    for first in range(0, games, BATCH):
        number = min(BATCH, games - first)
        uniforms = rng.random((number, cells))
        batch = Games(
            first,
            np.full((number, cells), -1, np.int8),
            np.zeros(number, np.int8),
            np.zeros(number, np.bool_),
        )
        for side in (0, 1):  # the agent's; every batch begins with a game in which it is X
            xo = (agent, opponent) if side == 0 else (opponent, agent)
            _play(xo, batch, np.arange(side, number, 2), uniforms)
        yield batch


def _play(xo: tuple[Policy, Policy], batch: Games, going: NDArray[np.intp], uniforms: Floats) -> None:
    """Play the games ``going`` of a batch between X and O; each is asked once for each distinct position."""
    rules = xo[0].rules
    positions = Positions.start(rules)
    at: NDArray[Any] = np.zeros(len(going), np.intp)  # the position each game is in
    for ply in range(rules.cells):
        cells = xo[ply % 2].choose(positions, at, uniforms[going, ply])
        plays = cells >= 0
        batch.resigned[going[~plays]] = True
        batch.results[going[~plays]] = -1 if ply % 2 == 0 else 1
        going, cells = going[plays], cells[plays]
        batch.moves[going, ply] = cells
        positions, at = positions.after(at[plays], cells)
        over = positions.terminal[at]
        batch.results[going[over]] = positions.results[at[over]]
        going, at = going[~over], at[~over]
        if not len(going):
            break
        positions, at = positions[~positions.terminal], (np.cumsum(~positions.terminal) - 1)[at]
