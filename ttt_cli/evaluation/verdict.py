"""The verdict on a policy: everything that ``ttt evaluate`` reports, computed over all positions that it can
reach; and its blunders, the moves that give up game value, whether or not an opponent punishes them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttt_cli.agents.asked import RESIGNS
from ttt_cli.documents import Count
from ttt_cli.engine.arrays import Bools, Floats
from ttt_cli.engine.perfect import FEW_NODES, NODES, UNPROVEN, game_value, negated, values_of
from ttt_cli.engine.policy import ROUNDING, Policy, PolicyTable
from ttt_cli.engine.positions import Positions, slices
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.side import Side
from ttt_cli.engine.state_space import enumerated
from ttt_cli.errors import UsageError
from ttt_cli.evaluation.matchup import ExactGames, Rates, own_play
from ttt_cli.evaluation.refutation import losing_line
from ttt_cli.evaluation.walk import BUDGET, Layer, Tick, UnfinishedError, layers_of, walk
from ttt_cli.evaluation.worst_case import WorstCase, worst_case

MAX_PROVED = 20_000
"""On a board without a state space, mistakes are counted only if the policy can be to move in at most this
many positions in each role."""

BLUNDER = np.dtype([("row", "i8"), ("cell", "i1"), ("probability", "f8"), ("before", "i1"), ("after", "i1")])
"""A blunder: the number of its position; its cell, from 0, or ``RESIGNS``; its probability; the mover's game
value, +1, 0 or -1, before and after the move."""


@dataclass(frozen=True)
class OpponentRates:
    opponent: str
    as_x: Rates
    as_o: Rates


@dataclass(frozen=True)
class WorstCases:
    as_x: WorstCase
    as_o: WorstCase


@dataclass(frozen=True)
class MistakeCount:
    """The open positions in which the policy can give up game value; None for what is not known.

    :ivar reachable: how many of them its own play can reach: all, where only such positions were examined.
    :ivar of: all open positions of the state space; None if they were not examined.
    """

    positions: Count | None = None
    reachable: Count | None = None
    of: Count | None = None


@dataclass(frozen=True)
class Coverage:
    """The open positions that the policy's own play can reach, and how many of them it has learned about."""

    known: Count
    of: Count


@dataclass(frozen=True)
class Verdict:
    """The truth about a policy.

    :ivar mistakes: not known if there are too many positions to examine, or not all their values are proved.
    :ivar coverage: None for players that need no experience.
    """

    DOCUMENT = (
        "results",
        "worst_case",
        "unbeatable",
        "nash_conv",
        "exploitability",
        "mistakes",
        "coverage",
    )

    rules: Rules
    results: tuple[OpponentRates, ...]
    as_x: WorstCase
    as_o: WorstCase
    mistakes: MistakeCount
    coverage: Coverage | None

    def against(self, opponent: str) -> OpponentRates:
        """The result against the opponent of this name.

        :raises UsageError: if there is none, or if there are several.
        """
        found = [result for result in self.results if result.opponent == opponent]
        if len(found) != 1:
            names = ", ".join(result.opponent for result in self.results) or "nobody"
            raise UsageError(f"{len(found) or 'no'} results against {opponent!r}: judged against {names}")
        return found[0]

    @property
    def worst_case(self) -> WorstCases:
        return WorstCases(self.as_x, self.as_o)

    @property
    def lines(self) -> dict[Side, tuple[int, ...]]:
        """The lines of play by which it loses, by its side."""
        cases = zip(Side, (self.as_x.line, self.as_o.line), strict=True)
        return {side: line for side, line in cases if line is not None}

    def holds_as(self, side: Side) -> bool | None:
        """Whether the guaranteed result is no worse than the game's value; None if that is not known."""
        return holds(self.rules, side, (self.as_x, self.as_o)[side].guaranteed)

    @property
    def unbeatable(self) -> bool | None:
        """Whether it holds the game's value in both roles against any opponent; None if not known."""
        if any(self.holds_as(side) is False for side in Side):  # X first, whose case needs no proof
            return False
        return None if any(self.holds_as(side) is None for side in Side) else True

    @property
    def nash_conv(self) -> float:
        """The gains of best responses to the policy, summed over both sides (Lanctot et al., 2017)."""
        gains = self.as_x.gain + self.as_o.gain
        return gains if gains > ROUNDING else 0.0

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
    policy = policy.tabulated()
    players = [opponent.tabulated() for _, opponent in opponents]
    most_examined = MAX_PROVED if enumerated(policy.rules) is None else budget
    own: list[Positions] = []  # the open positions where it is to move, unless they are too many to examine
    sizes = [0, 0]  # how many there are, by side
    known: list[int] = []
    cases: list[WorstCase] = []
    rates: list[list[Rates]] = []
    for side in Side:
        games = ExactGames(players)
        layers: list[Layer] = []
        for positions, layer in walk(policy, side, budget=budget, tick=tick):
            games.play(positions, layer)
            layers.append(layer)
            if layer.ply % 2 == side:
                still_open = ~positions.terminal
                sizes[side] += int(still_open.sum())
                if layer.known is not None:
                    known.append(layer.known)
                if max(sizes) <= most_examined:
                    own.append(positions[still_open])
                else:
                    own = []
            del positions  # their memory is needed for the next ply
        cases.append(worst_case(layers, side))
        rates.append([one if side is Side.X else one.turned() for one in games.rates])
    as_x, as_o = cases
    results = tuple(OpponentRates(name, x, o) for (name, _), x, o in zip(opponents, *rates, strict=True))
    mistakes = _mistakes(policy, own) if max(sizes) <= most_examined else MistakeCount()
    coverage = Coverage(sum(known), sum(sizes)) if known else None
    return Verdict(policy.rules, results, as_x, as_o, mistakes, coverage)


def _mistakes(policy: Policy, own: Sequence[Positions]) -> MistakeCount:
    """Count the positions in which the policy can give up game value, if all their values are proved.

    :param own: the open positions in which its own play can be to move. A table is examined everywhere.
    """
    if isinstance(policy, PolicyTable):
        space = policy.space
        still_open = np.flatnonzero(~space.terminal)
        blunders, _ = blunders_in(policy, space[still_open])
        rows = still_open[np.unique(blunders["row"])]
        reachable = np.isin(rows, space.rows(Positions.concatenate(own))).sum()
        return MistakeCount(len(rows), int(reachable), len(still_open))
    count = 0
    for positions in own:
        blunders, proved = blunders_in(policy, positions, nodes=FEW_NODES)
        if not proved:
            return MistakeCount()
        count += len(np.unique(blunders["row"]))
    return MistakeCount(count, count)


def holds(rules: Rules, side: Side, guaranteed: int) -> bool | None:
    """Whether a guaranteed result is no worse for ``side`` than the game's value; None if this depends on a
    value that is not proved."""
    bounds = (-1 if rules.misere else 0), 1  # of the game's value for X, by strategy stealing
    lowest, highest = sorted(side.sign * bound for bound in bounds)
    if guaranteed < lowest:
        return False
    if guaranteed >= highest:
        return True
    value = game_value(rules)
    return None if value is None else guaranteed >= side.sign * value


def is_unbeatable(
    policy: Policy, *, budget: int = BUDGET, tick: Tick = lambda positions: None
) -> bool | None:
    """``Verdict.unbeatable`` alone: by a losing line if one is found quickly, else by a walk; None if
    the walk takes more than ``budget`` positions or ``tick`` ends it, or the game's value is not known."""
    policy = policy.tabulated()
    if enumerated(policy.rules) is None and next(losing_lines(policy), None):
        return False
    held: list[bool | None] = []
    for side in Side:
        try:
            worst = worst_case(layers_of(policy, side, budget=budget, tick=tick), side)
            held.append(holds(policy.rules, side, worst.guaranteed))
        except UnfinishedError:
            held.append(None)
        if held[-1] is False:
            return False
    return None if None in held else True


def losing_lines(policy: Policy) -> Iterator[tuple[Side, tuple[int, ...]]]:
    """Lines of play (cells from 1) by which the policy loses as a side that need not lose, where a
    quick search finds them. X comes first: that it need not lose is known without a proof."""
    for side in Side:
        if holds(policy.rules, side, -1) is False:
            line = losing_line(policy, side)
            if line is not None:
                yield side, line


@dataclass(frozen=True, eq=False)
class Blunders:
    """``k`` blunders of a policy, the worst first.

    :ivar positions: the position of each blunder.
    :ivar moves: ``BLUNDER``[k].
    :ivar reach: float64[k, opponents], the probability of reaching the position against each opponent.
    :ivar reachable: bool[k], whether the policy's own play can reach the position.
    """

    positions: Positions
    moves: NDArray[Any]
    reach: Floats
    reachable: Bools


def find_blunders(
    policy: Policy,
    opponents: Sequence[Policy] = (),
    *,
    budget: int = BUDGET,
    tick: Tick = lambda positions: None,
) -> Blunders:
    """All blunders of a policy. A policy that can be tabulated is examined in all open positions, any
    other in those that its own play can reach and whose value is proved.

    They are ordered by expected cost against these opponents, then by whether its own play can reach them,
    then by cost times probability, then by position.

    :param tick: called with the number of positions visited so far.
    :raises OutgrownError: if its own play can reach more positions than ``budget`` allows.
    """
    policy = policy.tabulated()
    players = [opponent.tabulated() for opponent in opponents]
    positions, reach = own_play(policy, players, budget=budget, tick=tick)
    reachable = len(positions)
    if isinstance(policy, PolicyTable):
        elsewhere = ~policy.space.terminal
        elsewhere[policy.space.rows(positions)] = False
        positions = Positions.concatenate([positions, policy.space[elsewhere]])
        reach = np.pad(reach, ((0, len(positions) - reachable), (0, 0)))
    found: list[NDArray[Any]] = []
    for part in slices(0, len(positions)):
        blunders, _ = blunders_in(policy, positions[part])
        blunders["row"] += part.start
        found.append(blunders)
    blunders = np.concatenate(found)
    rows = blunders["row"]
    cost = (blunders["before"] - blunders["after"]) * blunders["probability"]
    order = np.lexsort((blunders["cell"], rows, -cost, rows >= reachable, -cost * reach[rows].sum(axis=1)))
    rows = rows[order]
    return Blunders(positions[rows], blunders[order], reach[rows], rows < reachable)


def blunders_in(policy: Policy, positions: Positions, *, nodes: int = NODES) -> tuple[NDArray[Any], bool]:
    """Find the blunders of a policy in some open positions, resigning included.

    :param nodes: the limit of each proof, on a board without a state space.
    :returns: the known blunders, ``BLUNDER``[k]; and whether the values of all positions and moves are known.
    """
    played = policy.probabilities(positions)
    values = values_of(positions, nodes=nodes)
    chosen = np.column_stack([played, ~played.any(axis=1)])  # with a column for resigning
    rows, cells = np.nonzero(chosen)
    moves = cells < positions.cells
    after = np.full(len(rows), -1, np.int8)
    after[moves] = negated(values_of(positions.play(rows[moves], cells[moves]), nodes=nodes))
    before = values[rows]
    cell_or_resigns = np.where(moves, cells, RESIGNS)
    choices = np.rec.fromarrays([rows, cell_or_resigns, chosen[rows, cells], before, after], BLUNDER)
    all_known = UNPROVEN not in values and UNPROVEN not in after
    return choices[(before != UNPROVEN) & (after < before)], all_known
