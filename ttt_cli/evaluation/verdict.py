"""The verdict on a policy: everything that ``ttt evaluate`` reports, computed over all it can reach."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ttt_cli.documents import Count
from ttt_cli.engine.perfect import game_value
from ttt_cli.engine.policy import Policy, PolicyTable
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.side import Side
from ttt_cli.engine.state_space import enumerated
from ttt_cli.errors import UsageError
from ttt_cli.evaluation.blunders import wrong_moves
from ttt_cli.evaluation.matchup import Games, Rates
from ttt_cli.evaluation.refutation import losing_line
from ttt_cli.evaluation.walk import BUDGET, Layer, OutgrownError, Tick, layers_of, walk
from ttt_cli.evaluation.worst_case import WorstCase, worst_case

MAX_PROVED = 20_000
"""The most positions in each role whose mistakes are counted, on a board without a state space."""

MISTAKE_NODES = 2_000
"""Nodes that the proof of each value may take."""


@dataclass(frozen=True)
class Result:
    """How the policy fares against one opponent."""

    opponent: str
    as_x: Rates
    as_o: Rates


@dataclass(frozen=True)
class WorstCases:
    """The worst case in each role."""

    as_x: WorstCase
    as_o: WorstCase


@dataclass(frozen=True)
class MistakeCount:
    """Open positions in which the policy can give up game value, those among them that its own play can
    reach, and all open positions. Only the second are known of a player that is not asked about the whole
    state space: the first are the same, and the third is null."""

    positions: Count
    reachable: Count
    of: Count | None


@dataclass(frozen=True)
class Coverage:
    """Of the open positions that the policy's own play can reach, those of which it has learned something."""

    known: Count
    of: Count


@dataclass(frozen=True)
class Verdict:
    """The truth about a policy.

    :ivar mistakes: None if not all values of positions are known.
    :ivar coverage: None for players that need no experience.
    """

    DOCUMENT: ClassVar = (
        *("results", "worst_case", "unbeatable", "nash_conv", "exploitability"),
        *("mistakes", "coverage"),
    )

    rules: Rules
    results: tuple[Result, ...]
    as_x: WorstCase
    as_o: WorstCase
    mistakes: MistakeCount | None
    coverage: Coverage | None

    def against(self, opponent: str) -> Result:
        """Return the result against the opponent of this name.

        :raises UsageError: if there is none.
        """
        results = {result.opponent: result for result in reversed(self.results)}
        if opponent not in results:
            names = ", ".join(result.opponent for result in self.results) or "nobody"
            raise UsageError(f"no result against {opponent!r}: judged against {names}")
        return results[opponent]

    @property
    def worst_case(self) -> WorstCases:
        """The worst case in each role."""
        return WorstCases(self.as_x, self.as_o)

    @property
    def lines(self) -> dict[Side, tuple[int, ...]]:
        """Lines of play by which it loses, by side."""
        cases = zip(Side, (self.as_x.line, self.as_o.line), strict=True)
        return {side: line for side, line in cases if line is not None}

    def holds_as(self, side: Side) -> bool | None:
        """Whether the guaranteed result is no worse than the game's value; None if that is not known."""
        return holds(self.rules, side, (self.as_x, self.as_o)[side].guaranteed)

    @property
    def unbeatable(self) -> bool | None:
        """Whether it holds the game's value in both roles against any opponent; None if not known."""
        return _all(map(self.holds_as, Side))

    @property
    def nash_conv(self) -> float:
        """The gains of best responses to the policy, summed over both sides (Lanctot et al., 2017)."""
        return self.as_x.gain + self.as_o.gain

    @property
    def exploitability(self) -> float:
        """Half of NashConv."""
        return self.nash_conv / 2


def judge(
    policy: Policy,
    opponents: Sequence[tuple[str, Policy]] = (),
    *,
    budget: int = BUDGET,
    tick: Tick = lambda positions: None,
) -> Verdict:
    """Judge a policy, in general and against each of the named opponents.

    :param budget: the most positions to visit in each role.
    :param tick: called with the number of positions visited so far.
    :raises OutgrownError: if there are more.
    """
    policy, against = policy.tabulated(), [opponent.tabulated() for _, opponent in opponents]
    own: list[Positions] = []  # the open positions in which it can be to move
    few = True  # whether they are few enough to count mistakes
    rates: list[list[Rates]] = []  # for X
    worst: list[WorstCase] = []
    asked: list[int] = []  # how many such positions there are
    known: list[int] = []  # and of how many it knows something, by layers
    for side in Side:
        games, layers = Games(against), list[Layer]()
        asked.append(0)
        for positions, layer in walk(policy, side, budget=budget, tick=tick):
            games.play(positions, layer)
            layers.append(layer)
            if layer.ply % 2 == side:
                asked[side] += int(layer.open.sum())
                known += [] if layer.known is None else [layer.known]
                few &= enumerated(policy.rules) is not None or asked[side] <= MAX_PROVED
                own = [*own, positions[layer.open]] if few else []
            del positions  # their memory is needed for the next ply
        rates.append(games.rates)
        worst.append(worst_case(layers, side))
        del layers, layer  # and that of all layers for the other side
    as_x, as_o = worst
    return Verdict(
        policy.rules,
        tuple(Result(name, x, o.turned()) for (name, _), x, o in zip(opponents, *rates, strict=True)),
        as_x,
        as_o,
        _mistakes(policy, own) if few else None,
        Coverage(sum(known), sum(asked)) if known else None,
    )


def _mistakes(policy: Policy, own: Sequence[Positions]) -> MistakeCount | None:
    """Count the positions in which the policy can give up game value; None if not all values are proved."""
    if isinstance(policy, PolicyTable):
        space = policy.space
        still_open = np.flatnonzero(~space.terminal)
        rows = still_open[np.unique(wrong_moves(policy, space[still_open])[0]["row"])]
        reachable = np.isin(rows, space.rows(Positions.concatenate(own))).sum()
        return MistakeCount(len(rows), int(reachable), len(still_open))
    count = 0
    for positions in own:
        wrong, proved = wrong_moves(policy, positions, nodes=MISTAKE_NODES)
        if not proved:
            return None
        count += len(np.unique(wrong["row"]))
    return MistakeCount(count, count, None)


def holds(rules: Rules, side: Side, guaranteed: int) -> bool | None:
    """Whether a guaranteed result is no worse for ``side`` than the game's value; None if not proved."""
    bounds = (-1 if rules.misere else 0), 1  # of the game's value for X, by strategy stealing
    lowest, highest = sorted(side.sign * bound for bound in bounds)
    if not lowest <= guaranteed < highest:  # whatever the value is
        return guaranteed >= highest
    value = game_value(rules)
    return None if value is None else guaranteed >= side.sign * value


def is_unbeatable(policy: Policy, *, budget: int = BUDGET) -> bool | None:
    """Return ``Verdict.unbeatable`` alone: by a losing line if one is found quickly, else by a walk; None if
    the walk takes more than ``budget`` positions or the game's value is not known."""
    policy = policy.tabulated()
    if enumerated(policy.rules) is None and next(losing_lines(policy), None):
        return False

    def holds_as(side: Side) -> bool | None:
        try:
            found = worst_case(layers_of(policy, side, budget=budget), side)
        except OutgrownError:
            return None
        return holds(policy.rules, side, found.guaranteed)

    return _all(map(holds_as, Side))


def _all(held: Iterable[bool | None]) -> bool | None:
    """Whether all of these hold, which the first that does not settles; None if that is not known."""
    known = True
    for each in held:
        if each is False:
            return False
        known &= each is not None
    return True if known else None


def losing_lines(policy: Policy) -> Iterator[tuple[Side, tuple[int, ...]]]:
    """Yield lines of play (cells from 1) by which the policy loses as a side that need not lose, as far as a
    quick search finds them; X, whose game needs no proof of its value, comes first."""
    for side in Side:
        if holds(policy.rules, side, -1) is False and (line := losing_line(policy, side)) is not None:
            yield side, line
