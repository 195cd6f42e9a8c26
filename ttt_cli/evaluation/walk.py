"""The walk: ply by ply, the distinct positions that a policy can reach against another policy, or against
every opponent, and the moves between them.

All evaluations are sums or maxima over a walk, forwards or backwards, so their cost depends on what can
happen rather than on how many positions the game has. Sums are taken in the order of positions and, within a
position, of cells, so that a longer walk through the same positions gives the same digits.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttt_cli.engine.arrays import Floats, Int8s, Int32s, Int64s
from ttt_cli.engine.policy import Policy, count_chosen
from ttt_cli.engine.position import Position
from ttt_cli.engine.positions import Positions, slices
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.side import Side
from ttt_cli.engine.state_space import enumerated
from ttt_cli.errors import TttError

BUDGET = 10_000_000
"""The most positions in a walk by default: all of 4x4 with four in a row."""

WALK_BATCH = 1 << 13
"""Positions that a policy is asked about at once, so that temporary arrays stay in the processor's cache."""

FORECAST_MARGIN = 4.0
"""A walk is given up when its forecast, which is rough, exceeds the budget by this factor."""

Tick = Callable[[int], None]
"""Called after each ply of a walk with the number of positions so far; may raise ``UnfinishedError``."""


class UnfinishedError(TttError):
    """A walk was ended early."""


class OutgrownError(UnfinishedError):
    """A walk goes through more positions than its budget allows, or by its forecast will."""

    def __init__(self, plies: int, positions: int, budget: int) -> None:
        probably = "" if positions > budget else "probably "
        reached = f"{positions:,} of them within {plies} plies"
        super().__init__(
            f"{probably}more than {budget:,} positions can be reached, {reached}",
            hint="budget=N allows more",
            cli_hint="--positions N allows more",
        )


@dataclass(frozen=True, eq=False)
class Layer:
    """One ply of a walk: its ``k`` positions, in order, and their ``m`` moves, by position and then by cell.

    Columns, not records: a walk has millions of moves, and sums and maxima over a column are one call.

    :ivar ply: the number of stones.
    :ivar results: int8[k], as ``Positions.results``; where the policy to move resigns, it has lost.
    :ivar counts: int8[k], the number of moves in each position.
    :ivar cells: int8[m], the cell of each move.
    :ivar targets: int32[m], the position of the next layer that each move leads to.
    :ivar probabilities: float64[m], the probability of each move by the policy to move; None where every
        legal move can be played.
    :ivar known: the number of open positions about which the policy to move has learned something; None where
        every legal move can be played, and for players that need no experience.
    """

    ply: int
    results: Int8s
    counts: Int8s
    cells: Int8s
    targets: Int32s
    probabilities: Floats | None
    known: int | None

    def __len__(self) -> int:
        return len(self.results)

    @cached_property
    def starts(self) -> Int64s:
        """int64[k]: the index of the first move of each position."""
        return np.cumsum(self.counts, dtype=np.int64) - self.counts

    @cached_property
    def rows(self) -> Int64s:
        """int64[m]: the position in which each move is made."""
        return np.repeat(np.arange(len(self)), self.counts)

    def results_for(self, side: Side) -> Int8s:
        """int8[k]: the results for a side: +1 it has won, -1 it has lost, 0 drawn or open."""
        return self.results * np.int8(side.sign)

    def parts(self) -> Iterator[tuple[slice, "Layer"]]:
        """The layer in parts, so that temporary arrays stay in the processor's cache: the range of positions
        in each part, and the part."""
        first_move = np.concatenate([[0], np.cumsum(self.counts, dtype=np.int64)])
        for rows in slices(0, len(self), WALK_BATCH):
            moves = slice(first_move[rows.start], first_move[rows.stop])
            part = replace(
                self,
                results=self.results[rows],
                counts=self.counts[rows],
                cells=self.cells[moves],
                targets=self.targets[moves],
                probabilities=None if self.probabilities is None else self.probabilities[moves],
            )
            yield rows, part

    def max_over_moves(self, values: NDArray[Any], otherwise: NDArray[Any]) -> NDArray[Any]:
        """[k]: the largest of the ``values`` [m] of each position's moves; ``otherwise`` [k] in positions
        without moves."""
        largest = otherwise.copy()
        moving = np.flatnonzero(self.counts)
        if len(moving) and len(values) == len(moving) * int(self.counts.max()):
            # As many moves in each position: column by column takes a third of the time.
            largest[moving] = reduce(np.maximum, values.reshape(len(moving), -1).T)
        elif len(moving):
            largest[moving] = np.maximum.reduceat(values, self.starts[moving])
        return largest


def walk(
    policy: Policy,
    side: Side,
    opponent: Policy | None = None,
    *,
    start: Position | None = None,
    budget: int = BUDGET,
    tick: Tick = lambda positions: None,
) -> Iterator[tuple[Positions, Layer]]:
    """A walk through everything that can happen when a policy plays ``side``: ply by ply, the positions and
    their layer.

    :param opponent: the policy of the other side; None: every legal move.
    :param start: the first position; None: the empty board.
    :raises OutgrownError: if there are more positions than ``budget`` allows, or by a forecast will be.
    """
    positions = Positions.batch([start or Position.start(policy.rules)], policy.rules)
    foreseeable = not positions.plies[0] and enumerated(policy.rules) is None
    sizes: list[int] = []
    while len(positions):
        sizes.append(len(positions))
        may_grow = foreseeable and not positions.terminal.all()
        hopeless = may_grow and forecast(sizes, policy.rules) > FORECAST_MARGIN * budget
        if sum(sizes) > budget or hopeless:
            raise OutgrownError(len(sizes), sum(sizes), budget)
        policy_moves = int(positions.plies[0]) % 2 == side
        layer, after = step(positions, policy if policy_moves else opponent)
        tick(sum(sizes))
        yield positions, layer
        positions = after


def layers_of(policy: Policy, side: Side, **more: Any) -> list[Layer]:
    """The layers of a ``walk`` against every opponent."""
    return [layer for _, layer in walk(policy, side, **more)]


def forecast(sizes: list[int], rules: Rules) -> float:
    """The number of positions of a walk, estimated from the sizes of its first layers: over every two plies
    their share of all boards with as many stones is assumed to change by the same factor as it last did."""
    plies = len(sizes)
    if plies < 4:  # too early to tell
        return sum(sizes)
    boards = [comb(rules.cells, stones) * comb(stones, stones // 2) for stones in range(rules.cells + 1)]
    shares = [size / number for size, number in zip(sizes, boards, strict=False)]
    change = shares[-1] / shares[-3]
    for ply in range(plies, rules.cells + 1):
        shares.append(min(shares[ply - 2] * change, 1.0))
    return sum(share * number for share, number in zip(shares, boards, strict=True))


def step(positions: Positions, policy: Policy | None) -> tuple[Layer, Positions]:
    """The layer of these positions, with the moves of a policy (None: all legal moves), and the
    positions of the next layer."""
    still_open = ~positions.terminal
    open_rows = np.flatnonzero(still_open)
    counts = np.zeros(len(positions), np.int8)
    cell_of = np.tile(np.arange(positions.cells, dtype=np.int8), min(len(positions), WALK_BATCH))
    cells = [np.zeros(0, np.int8)]
    probabilities = [np.zeros(0)]
    known: list[int] = []
    for part in slices(0, len(open_rows), WALK_BATCH):
        rows = open_rows[part]
        batch = positions[rows]
        played: NDArray[Any] = batch.legal if policy is None else policy.probabilities(batch)
        chosen = played > 0
        counts[rows] = count_chosen(chosen)
        moves = np.flatnonzero(chosen)
        cells.append(cell_of.take(moves))
        if policy is not None:
            probabilities.append(played.ravel().take(moves))
            learned = policy.known(batch)
            if learned is not None:
                known.append(int(learned.sum()))
    played_cells = np.concatenate(cells)
    # The rows have no name here, so that ``after`` can let go of them.
    after, targets = positions.after(np.repeat(np.arange(len(counts), dtype=np.int32), counts), played_cells)
    layer = Layer(
        ply=int(positions.plies[0]),
        results=np.where(still_open & (counts == 0), -positions.movers[0], positions.results),
        counts=counts,
        cells=played_cells,
        targets=targets,
        probabilities=None if policy is None else np.concatenate(probabilities),
        known=sum(known) if known else None,
    )
    return layer, after
