"""The walk: ply by ply, the distinct positions that can be reached when a policy plays against another one,
or against anything, and the moves between them.

All evaluations are sums or maxima over a walk, forwards or backwards, so their cost depends on what can
happen rather than on what exists. Sums are taken in the order of positions and, within a position, of cells,
so that a longer walk through the same positions gives the same digits.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttt_cli.engine.arrays import Bools, Floats, Int8s, Int32s, Int64s
from ttt_cli.engine.policy import Policy, counted
from ttt_cli.engine.position import Position
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.side import Side
from ttt_cli.engine.state_space import enumerated
from ttt_cli.errors import TttError

BUDGET = 10_000_000
"""Positions that a walk goes through at most, by default: all of 4x4 with four in a row."""

WALK_BATCH = 1 << 13
"""Positions in one question to a policy, so that temporary arrays stay in the processor's cache."""

FORECAST_MARGIN = 4.0
"""A walk is given up when its forecast, which is rough, exceeds the budget by this factor."""

Tick = Callable[[int], None]
"""Called after each ply of a walk with the number of positions so far."""


class OutgrownError(TttError):
    """A walk goes through more positions than its budget allows."""

    def __init__(self, plies: int, positions: int, budget: int) -> None:
        super().__init__(
            f"more than {budget:,} positions can be reached ({positions:,} within {plies} plies)",
            hint="budget=N allows more",
            flags="--positions N allows more",
        )
        self.positions = positions


@dataclass(frozen=True, eq=False)
class Layer:
    """The ``k`` positions of a walk with equally many stones, which are in order, and their ``m`` moves, in
    the order of positions and cells.

    :ivar ply: the number of stones.
    :ivar results: int8[k], as ``Positions.results``.
    :ivar open: bool[k], the positions in which the game goes on.
    :ivar counts: int8[k], the number of moves in each position.
    :ivar cells: int8[m], the cell of each move.
    :ivar targets: int32[m], the position of the next layer that it leads to.
    :ivar probabilities: float64[m], from the policy to move; None where anything can be played.
    :ivar known: the number of open positions of which the policy to move has learned something; None where
        anything can be played, and for players that need no experience.
    """

    ply: int
    results: Int8s
    open: Bools
    counts: Int8s
    cells: Int8s
    targets: Int32s
    probabilities: Floats | None
    known: int | None

    def __len__(self) -> int:
        return len(self.results)

    @property
    def following(self) -> int:
        """The number of positions of the next layer."""
        return int(self.targets.max(initial=-1)) + 1

    @cached_property
    def starts(self) -> Int64s:
        """int64[k]: where the moves of each position begin."""
        return np.cumsum(self.counts, dtype=np.int64) - self.counts

    @cached_property
    def rows(self) -> Int64s:
        """int64[m]: the position in which each move is made."""
        return np.repeat(np.arange(len(self)), self.counts)

    @cached_property
    def resigning(self) -> Bools:
        """bool[k]: the open positions in which the policy to move resigns."""
        return self.open & (self.counts == 0)

    def parts(self) -> Iterator[tuple[slice, "Layer"]]:
        """The layer by parts, so that temporary arrays stay in the processor's cache: the positions of each,
        and the part."""
        ends = np.concatenate([[0], np.cumsum(self.counts, dtype=np.int64)])
        for first in range(0, len(self), WALK_BATCH):
            last = min(first + WALK_BATCH, len(self))
            some, moves = slice(first, last), slice(ends[first], ends[last])
            yield (
                some,
                replace(
                    self,
                    results=self.results[some],
                    open=self.open[some],
                    counts=self.counts[some],
                    cells=self.cells[moves],
                    targets=self.targets[moves],
                    probabilities=None if self.probabilities is None else self.probabilities[moves],
                ),
            )

    def most(self, of_moves: NDArray[Any], otherwise: NDArray[Any]) -> NDArray[Any]:
        """[k]: the largest of what is given for the moves of each position; for positions without any, what
        is given for the position itself."""
        found, moving = otherwise.copy(), np.flatnonzero(self.counts)
        if len(moving):
            found[moving] = np.maximum.reduceat(of_moves, self.starts[moving])
        return found


def walk(
    policy: Policy,
    side: Side,
    opponent: Policy | None = None,
    *,
    start: Position | None = None,
    budget: int = BUDGET,
    tick: Tick = lambda positions: None,
) -> Iterator[tuple[Positions, Layer]]:
    """Walk through everything that can happen when a policy plays ``side``: yield, ply by ply, the positions
    and their layer.

    :param opponent: the other side; None: anything.
    :param start: the first position; None: the empty board.
    :raises OutgrownError: if there are more positions than ``budget`` allows, or will be.
    """
    positions = Positions.batch([start or Position.start(policy.rules)], policy.rules)
    foreseeable = not positions.plies[0] and enumerated(policy.rules) is None
    sizes: list[int] = []
    while len(positions):
        sizes.append(len(positions))
        hopeless = foreseeable and forecast(sizes, policy.rules) > FORECAST_MARGIN * budget
        if sum(sizes) > budget or hopeless:
            raise OutgrownError(len(sizes), sum(sizes), budget)
        own = int(positions.plies[0]) % 2 == side
        layer, after = _step(positions, policy if own else opponent)
        tick(sum(sizes))
        yield positions, layer
        positions = after


def layers_of(
    policy: Policy, side: Side, *, start: Position | None = None, budget: int = BUDGET
) -> list[Layer]:
    """Return the layers of a walk against anything."""
    return [layer for _, layer in walk(policy, side, start=start, budget=budget)]


def forecast(sizes: list[int], rules: Rules) -> float:
    """Estimate the positions of a walk from its first layers: their share of all boards with so many stones
    is assumed to go on changing, over two plies, as it did last."""
    plies = len(sizes)
    if plies < 4:  # too early to tell
        return sum(sizes)
    boards = [comb(rules.cells, stones) * comb(stones, stones // 2) for stones in range(rules.cells + 1)]
    shares = [size / number for size, number in zip(sizes, boards, strict=False)]
    change = shares[-1] / shares[-3]
    for ply in range(plies, rules.cells + 1):
        shares.append(min(shares[ply - 2] * change, 1.0))
    return sum(share * number for share, number in zip(shares, boards, strict=True))


def _step(positions: Positions, policy: Policy | None) -> tuple[Layer, Positions]:
    """The layer of these positions, with the moves that a policy makes or else all legal ones, and the
    positions after them."""
    still_open, counts = np.flatnonzero(~positions.terminal), np.zeros(len(positions), np.int8)
    board = np.tile(np.arange(positions.cells, dtype=np.int8), min(len(positions), WALK_BATCH))
    cells, shares, known = [np.zeros(0, np.int8)], [np.zeros(0)], list[int]()
    for start in range(0, len(still_open), WALK_BATCH):
        numbers = still_open[start : start + WALK_BATCH]
        batch = positions[numbers]
        played: NDArray[Any] = batch.legal if policy is None else policy.probabilities(batch)
        counts[numbers] = counted(played > 0)
        moves = np.flatnonzero(played > 0)
        cells.append(board.take(moves))
        if policy is not None:
            shares.append(played.ravel().take(moves))
            known += [] if (learned := policy.known(batch)) is None else [int(learned.sum())]
    made = np.concatenate(cells)
    after, targets = positions.after(np.repeat(np.arange(len(counts), dtype=np.int32), counts), made)
    layer = Layer(
        ply=int(positions.plies[0]),
        results=positions.results,
        open=~positions.terminal,
        counts=counts,
        cells=made,
        targets=targets,
        probabilities=None if policy is None else np.concatenate(shares),
        known=sum(known) if known else None,
    )
    return layer, after
