"""The verdict on a policy: everything ``ttt evaluate`` reports, computed over all positions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ttt_cli.documents import Count
from ttt_cli.engine.perfect import game_bounds, game_value
from ttt_cli.engine.policy import Policy, PolicyTable
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.side import Side
from ttt_cli.engine.state_space import enumerated
from ttt_cli.errors import UsageError
from ttt_cli.evaluation.blunders import wrong_moves
from ttt_cli.evaluation.matchup import Rates, play_on
from ttt_cli.evaluation.refutation import losing_line
from ttt_cli.evaluation.walk import BUDGET, OutgrownError, Tick, Walk
from ttt_cli.evaluation.worst_case import WorstCase, guaranteed_result, worst_case

MOST_PROVED = 20_000
"""Positions whose mistakes are counted, on a board without a state space, for each role."""

NODES = 2_000
"""Nodes that the proof of the value of each may take."""


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
    """Open positions in which the policy can give up game value, those among them in which its own play can
    find itself, and all open positions. Without a state space, and for a player who is not asked about all of
    it, the first are the second, and the third is not known."""

    positions: Count
    reachable: Count
    of: Count | None


@dataclass(frozen=True)
class Coverage:
    """Of the open positions in which the policy's own play can find itself: of how many it knows anything."""

    known: Count
    of: Count


@dataclass(frozen=True)
class Verdict:
    """The truth about a policy.

    :ivar holds: as X and as O: whether the guaranteed result is no worse than the game's value; None where
        that value is not known.
    :ivar mistakes: None where the values of its positions are not known.
    :ivar coverage: None for players that need no experience.
    """

    DOCUMENT: ClassVar = (
        *("results", "worst_case", "unbeatable", "nash_conv", "exploitability"),
        *("mistakes", "coverage"),
    )

    results: tuple[Result, ...]
    as_x: WorstCase
    as_o: WorstCase
    holds: tuple[bool | None, bool | None]
    mistakes: MistakeCount | None
    coverage: Coverage | None

    def against(self, opponent: str) -> Result:
        """How the policy fares against the opponent of this name.

        :raises UsageError: if it has not been judged against it.
        """
        for result in self.results:
            if result.opponent == opponent:
                return result
        names = ", ".join(result.opponent for result in self.results) or "nobody"
        raise UsageError(f"no result against {opponent!r}: judged against {names}")

    @property
    def worst_case(self) -> WorstCases:
        """The worst case in each role."""
        return WorstCases(self.as_x, self.as_o)

    @property
    def lines(self) -> dict[Side, tuple[int, ...]]:
        """The lines of play by which it loses, by side."""
        cases = zip(Side, (self.as_x.line, self.as_o.line), strict=True)
        return {side: line for side, line in cases if line is not None}

    @property
    def unbeatable(self) -> bool | None:
        """Whether it holds its own in both roles, whoever plays against it; None: that is not known."""
        return False if False in self.holds else None if None in self.holds else True

    @property
    def nash_conv(self) -> float:
        """The gains of best responses to the policy, summed over both sides (Lanctot et al., 2017)."""
        return self.as_x.gain + self.as_o.gain

    @property
    def exploitability(self) -> float:
        """NashConv a player."""
        return self.nash_conv / 2


def judge(
    policy: Policy,
    opponents: Sequence[tuple[str, Policy]] = (),
    *,
    budget: int = BUDGET,
    tick: Tick = lambda positions: None,
) -> Verdict:
    """Judge a policy, and how it fares against each of the named opponents.

    :param budget: positions that it may take in each role; ``tick`` is called with their number so far.
    :raises OutgrownError: if it takes more.
    """
    policy, against = policy.tabulated(), [opponent.tabulated() for _, opponent in opponents]
    own: list[Positions] = []  # the open positions in which it can be to move
    few = True  # whether they are few enough to count mistakes
    rates: list[list[Rates]] = []  # for X
    worst: list[WorstCase] = []
    asked, known = 0, None  # open positions in which it can be to move, and those it knows anything of
    for side in Side:
        walk = Walk.of(policy, side, budget=budget, tick=tick)
        rates.append(play_on(walk, against) if against else [])
        worst.append(worst_case(walk))
        open_positions = 0
        for layer in walk.layers[side::2]:
            open_positions += int((~layer.positions.terminal).sum())
            if layer.known is not None:
                known = (known or 0) + layer.known
        asked += open_positions
        few &= enumerated(policy.rules) is not None or open_positions <= MOST_PROVED
        own = [*own, *(positions for _, positions in walk.own)] if few else []
        del walk  # before the next
    as_x, as_o = worst
    return Verdict(
        tuple(Result(name, x, o.turned()) for (name, _), x, o in zip(opponents, *rates, strict=True)),
        as_x,
        as_o,
        (holds(policy.rules, Side.X, as_x.guaranteed), holds(policy.rules, Side.O, as_o.guaranteed)),
        _mistakes(policy, own) if few else None,
        None if known is None else Coverage(known, asked),
    )


def _mistakes(policy: Policy, own: Sequence[Positions]) -> MistakeCount | None:
    """The positions in which the policy can give up game value, if the values are proved."""
    if isinstance(policy, PolicyTable):
        space = policy.space
        still_open = np.flatnonzero(~space.terminal)
        rows = still_open[np.unique(wrong_moves(policy, space[still_open])[0]["row"])]
        reachable = np.isin(rows, space.rows(Positions.concatenate(own))).sum()
        return MistakeCount(len(rows), int(reachable), len(still_open))
    count = 0
    for positions in own:
        wrong, proved = wrong_moves(policy, positions, nodes=NODES)
        if not proved:
            return None
        count += len(np.unique(wrong["row"]))
    return MistakeCount(count, count, None)


def holds(rules: Rules, side: Side, guaranteed: int) -> bool | None:
    """Whether a guaranteed result is no worse for ``side`` than the game's value; None: that could not be
    proved."""
    lowest, highest = sorted(side.sign * bound for bound in game_bounds(rules))
    if not lowest <= guaranteed < highest:  # no need to know the value
        return guaranteed >= highest
    value = game_value(rules)
    return None if value is None else guaranteed >= side.sign * value


def is_unbeatable(
    policy: Policy, sides: Sequence[Side] = tuple(Side), *, budget: int = BUDGET
) -> bool | None:
    """``Verdict.unbeatable`` alone, of some sides: by one line of play where that is enough, else by a walk
    through what can happen; None where it would take more than ``budget`` positions or the game's value is
    not known."""
    policy = policy.tabulated()
    if enumerated(policy.rules) is None and any(losing_lines(policy, [side]) for side in sides):
        return False  # mostly as X, which needs no proof of the game's value
    held: list[bool | None] = []
    for side in sides:
        try:
            guaranteed = guaranteed_result(Walk.of(policy, side, budget=budget))
            held.append(holds(policy.rules, side, guaranteed))
        except OutgrownError:
            held.append(None)
        if held[-1] is False:
            return False
    return None if None in held else True


def losing_lines(policy: Policy, sides: Sequence[Side] = tuple(Side)) -> dict[Side, tuple[int, ...]]:
    """Lines of play (cells from 1) the policy can lose as a side that need not lose, where a quick search
    finds one: they show that it is beatable on boards that no walk covers."""
    lines = ((side, losing_line(policy, side)) for side in sides if holds(policy.rules, side, -1) is False)
    return {side: line for side, line in lines if line is not None}
