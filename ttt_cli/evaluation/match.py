"""Sampled matches, with confidence intervals.

The games of a batch are played at the same time, ply by ply. The agent is X in the 1st, 3rd, 5th … game. Two
greedy players repeat a few games, so distinct games are counted. Intervals are Wilson's (1927), which
hold for rates of 0 and 1 too.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ttt_cli.documents import CellFromOne, Count, Share, note
from ttt_cli.engine.arrays import Bools, Floats, Int8s
from ttt_cli.engine.policy import Policy
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.side import Side
from ttt_cli.evaluation.verdict import MistakeCount

GAMES = 10_000
"""The games of a match by default."""

MATCH_BATCH = 1 << 14
"""Games played at a time. Changing it changes the games that a seed gives."""

Interval = Annotated[tuple[Share, ...], note(minItems=2, maxItems=2)]


def wilson(count: int, games: int) -> tuple[float, float]:
    """Wilson's 95 % interval for the probability of an event seen in ``count`` of ``games``."""
    if not games:
        return 0.0, 1.0
    z = 1.959963984540054  # the 97.5 % quantile of the standard normal distribution
    z2 = z**2
    rate = count / games
    middle = (rate + z2 / (2 * games)) / (1 + z2 / games)
    half = z * sqrt(rate * (1 - rate) / games + z2 / (4 * games**2)) / (1 + z2 / games)
    return (0.0 if count == 0 else middle - half), (1.0 if count == games else middle + half)


@dataclass(frozen=True)
class Games:
    """A batch of ``k`` games.

    :ivar first: the number of the first game in the match, from 0; the agent is X in games 0, 2, 4 …
    :ivar moves: int8[k, cells], cells from 0, -1 after the end.
    :ivar results: int8[k], +1 X won, -1 O won, 0 drawn.
    :ivar resigned: bool[k].
    """

    first: int
    moves: Int8s
    results: Int8s
    resigned: Bools

    def as_side(self, side: Side) -> "Games":
        """Every other game, those that the agent plays as ``side``; filling these views fills the batch."""
        own = slice(side, None, 2)
        return Games(self.first + side, self.moves[own], self.results[own], self.resigned[own])

    def losing_line(self, side: Side) -> tuple[int, ...] | None:
        """The cells (from 1) of the first game that the agent lost as ``side`` without resigning."""
        own = self.as_side(side)
        lost = own.moves[(own.results * side.sign < 0) & ~own.resigned]
        return tuple(cell + 1 for cell in lost[0].tolist() if cell >= 0) if len(lost) else None


@dataclass(frozen=True)
class SampledRates:
    """The shares of games won, drawn and lost, with 95 % intervals; None if there are no games."""

    win: Share | None
    draw: Share | None
    loss: Share | None
    win_ci: Interval
    draw_ci: Interval
    loss_ci: Interval
    games: Count

    @classmethod
    def of(cls, counts: Sequence[int]) -> "SampledRates":
        """The rates for these numbers of wins, draws and losses."""
        games = sum(counts)
        win, draw, loss = (count / games if games else None for count in counts)
        win_ci, draw_ci, loss_ci = (wilson(count, games) for count in counts)
        return cls(win, draw, loss, win_ci, draw_ci, loss_ci, games)


@dataclass(frozen=True)
class Match:
    """The results of a match against an opponent.

    :ivar distinct_games: the number of games that differ in their moves or in who is X.
    """

    opponent: str
    as_x: SampledRates
    as_o: SampledRates
    games: Count
    distinct_games: Count


@dataclass(frozen=True)
class LosingLine:
    """A line of play by which a player loses; with what probability it can be made to lose is not known."""

    loss: None
    line: tuple[CellFromOne, ...] | None


@dataclass(frozen=True)
class Sample:
    """A player's match results, and lines of play by which it loses; None for what matches cannot tell.

    :ivar lines: the line as each side, where one was found.
    """

    DOCUMENT = (
        "results",
        "games",
        "distinct_games",
        "seed",
        "worst_case",
        "unbeatable",
        "nash_conv",
        "exploitability",
        "mistakes",
    )

    results: list[Match]
    seed: Count
    lines: dict[Side, tuple[int, ...]]
    nash_conv: None = None
    exploitability: None = None
    mistakes: MistakeCount = field(default_factory=MistakeCount)

    @property
    def games(self) -> Count:
        return sum(match.games for match in self.results)

    @property
    def distinct_games(self) -> Count:
        return sum(match.distinct_games for match in self.results)

    @property
    def worst_case(self) -> dict[str, LosingLine] | None:
        if not self.lines:
            return None
        return {f"as_{side.key}": LosingLine(None, self.lines.get(side)) for side in Side}

    @property
    def unbeatable(self) -> Literal[False] | None:
        """False if a losing line was found."""
        return False if self.lines else None


def play_match(
    agent: Policy,
    opponent: Policy,
    games: int,
    seed: int | None,
    watch: Callable[[Games], None] = lambda batch: None,
    *,
    name: str = "",
    tick: Callable[[int], None] = lambda games: None,
) -> Match:
    """Play a match against an opponent called ``name``.

    :param watch: called with each batch of games.
    :param tick: called after each ply with the number of games that have ended so far.
    """
    agent, opponent = (player.tabulated().forfeiting() for player in (agent, opponent))
    cells = agent.rules.cells
    rng = np.random.default_rng(seed)
    counts = np.zeros((2, 3), np.int64)  # wins, draws and losses of the agent as each side
    seen: tuple[set[bytes], set[bytes]] = (set(), set())  # the games as each side
    ended = 0
    for first in range(0, games, MATCH_BATCH):
        number = min(MATCH_BATCH, games - first)
        batch = Games(
            first,
            moves=np.full((number, cells), -1, np.int8),
            results=np.zeros(number, np.int8),
            resigned=np.zeros(number, np.bool_),
        )
        uniforms = rng.random((number, cells))
        for side in Side:
            own = batch.as_side(side)
            xo = (agent, opponent) if side is Side.X else (opponent, agent)
            for over in _play(xo, own, uniforms[side::2]):
                tick(ended + over)
            ended += len(own.results)
            np.add.at(counts[side], 1 - side.sign * own.results, 1)
            seen[side].update((own.moves + 1).view(f"S{cells}").ravel().tolist())  # games as bytes
        watch(batch)
    as_x, as_o = map(SampledRates.of, counts.tolist())
    return Match(name, as_x, as_o, games, sum(map(len, seen)))


def _play(xo: tuple[Policy, Policy], games: Games, uniforms: Floats) -> Iterator[int]:
    """Play games between X and O, asking them once about each distinct position; yield after each ply how
    many have ended."""
    positions = Positions.start(xo[0].rules)
    open_games = np.arange(len(games.results))
    rows: NDArray[Any] = np.zeros_like(open_games)  # the position of each open game
    for ply in range(positions.cells):
        cells = xo[ply % 2].choose(positions, rows, uniforms[open_games, ply])
        plays = cells >= 0
        games.resigned[open_games[~plays]] = True
        games.results[open_games[~plays]] = -1 if ply % 2 == 0 else 1
        open_games, cells = open_games[plays], cells[plays]
        games.moves[open_games, ply] = cells
        positions, rows = positions.after(rows[plays], cells)
        over = positions.terminal[rows]
        games.results[open_games[over]] = positions.results[rows[over]]
        open_games, rows = open_games[~over], rows[~over]
        yield len(games.results) - len(open_games)
        if not len(open_games):
            break
