"""The walk: ply by ply, the distinct positions that can be reached when a policy plays against another one,
or against anything, and the moves between them.

All evaluations are sums or maxima over a walk, forwards or backwards, so their cost depends on what can
happen rather than on what exists. Sums are taken in the order of positions and, within a position, of cells,
so that a longer walk through the same positions gives the same digits.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import comb
from typing import NamedTuple

import numpy as np

from ttt_cli.engine.arrays import Bools, Floats, Int8s, Int32s, Int64s, Uint8s
from ttt_cli.engine.policy import Policy
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
            hint="--positions N allows more",
        )
        self.positions = positions


class Moves(NamedTuple):
    """The moves in some open positions of a layer.

    :ivar numbers: int64[k], the positions.
    :ivar some: which of the layer's moves they are.
    :ivar at: int64[m], the place among ``numbers`` of the position in which each is made.
    :ivar cells: int64[m].
    """

    numbers: Int64s
    some: slice
    at: Int64s
    cells: Int64s

    @property
    def rows(self) -> Int64s:
        """int64[m]: the position in which each is made."""
        return self.numbers[self.at]


@dataclass(frozen=True, eq=False)
class Layer:
    """The ``k`` positions of a walk with equally many stones, which are in order, and their ``m`` moves. The
    moves of a position, and those that lead to a position, are in the order of cells and of positions.

    :ivar cells: the number of the board's cells; ply: of stones.
    :ivar results: int8[k], as ``Positions.results``.
    :ivar open: bool[k], the positions in which the game goes on.
    :ivar chosen: uint8, the moves in each batch of open positions, bool[cells, batch], as bits.
    :ivar targets: int32[m], the position of the next layer that each move leads to.
    :ivar probabilities: float64[m], from the policy to move; None where anything can be played.
    :ivar resigning: int64[r], the open positions in which the policy to move resigns.
    :ivar known: the number of open positions of which the policy to move has learned something; None where
        anything can be played, and for players that need no experience.
    """

    cells: int
    ply: int
    results: Int8s
    open: Bools
    chosen: Uint8s
    targets: Int32s
    probabilities: Floats | None
    resigning: Int64s
    known: int | None

    def __len__(self) -> int:
        return len(self.results)

    @property
    def following(self) -> int:
        """The number of positions of the next layer."""
        return int(self.targets.max(initial=-1)) + 1

    @property
    def moves(self) -> Iterator[Moves]:
        """Yield the moves, as many at a time as the policy is asked about."""
        first = 0
        for at_batch, numbers in enumerate(_batches(self.open)):
            start, count = at_batch * self.cells * WALK_BATCH // 8, self.cells * len(numbers)
            bits = np.unpackbits(self.chosen[start:], count=count)
            cells, at = _cell_by_cell(bits.view(np.bool_), len(numbers))
            yield Moves(numbers, slice(first, first := first + len(at)), at, cells)


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
    """Estimate the positions of a walk from its first layers: growth over two plies is assumed to fall as it
    does where both sides can play anything."""
    total, plies = float(sum(sizes)), len(sizes)
    if plies < 4:  # too early to tell
        return total
    # The boards with so many stones: no fewer than the positions.
    boards = [comb(rules.cells, stones) * comb(stones, stones // 2) for stones in range(rules.cells + 1)]
    last, growth = sizes[-2:], sizes[-1] / max(sizes[-3], 1)
    for ply in range(plies, rules.cells + 1):
        growth *= (boards[ply] / boards[ply - 2]) / (boards[ply - 1] / boards[ply - 3])
        last = [last[1], min(int(last[0] * growth), boards[ply])]
        total += last[1]
    return total


def _step(positions: Positions, policy: Policy | None) -> tuple[Layer, Positions]:
    """The layer of these positions, with the moves that a policy makes or else all legal ones, and the
    positions after them."""
    ply, still_open = int(positions.plies[0]), ~positions.terminal
    most = int(still_open.sum()) * (positions.cells - ply)
    rows, cells = np.empty(most, np.int32), np.empty(most, np.int8)
    probabilities = None if policy is None else np.empty(most)
    chosen: list[Uint8s] = [np.zeros(0, np.uint8)]
    resigning: list[Int64s] = [np.zeros(0, np.int64)]
    known, first = None, 0
    for numbers in _batches(still_open):
        batch = positions[numbers]
        played = batch.legal if policy is None else policy.probabilities(batch)
        moves = np.ascontiguousarray(played.T > 0)
        chosen.append(np.packbits(moves))
        at_cells, at = _cell_by_cell(moves, len(batch))
        some = slice(first, first := first + len(at))
        rows[some], cells[some] = numbers[at], at_cells
        if policy is not None and probabilities is not None:
            probabilities[some] = played.ravel().take(at * batch.cells + at_cells)
            resigning.append(numbers[~moves.any(axis=0)])
            if (learned := policy.known(batch)) is not None:
                known = (known or 0) + int(learned.sum())
    if probabilities is not None:
        probabilities.resize(first, refcheck=False)  # in place: what it does not need is free
    after, targets = positions.after(rows[:first], cells[:first])
    layer = Layer(
        cells=positions.cells,
        ply=ply,
        results=positions.results,
        open=still_open,
        chosen=np.concatenate(chosen),
        targets=targets,
        probabilities=probabilities,
        resigning=np.concatenate(resigning),
        known=known,
    )
    return layer, after


def _batches(still_open: Bools) -> Iterator[Int64s]:
    """The numbers of a layer's open positions, as many at a time as a policy is asked about."""
    numbers = np.flatnonzero(still_open)
    return (numbers[start : start + WALK_BATCH] for start in range(0, len(numbers), WALK_BATCH))


def _cell_by_cell(moves: Bools, size: int) -> tuple[Int64s, Int64s]:
    """int64[m] each: the cells and the rows of the moves in a batch, bool[cells, size]."""
    at = np.flatnonzero(moves)
    cells = at // size
    return cells, at - cells * size


def line_to(steps: Sequence[tuple[Int32s | Int64s, Int8s]], row: int) -> tuple[int, ...]:
    """Return the cells, from 1, of a line of play.

    :param steps: for each ply the parents of its positions, int64[k], and the cells that led there, int8[k].
    :param row: the position of the last ply.
    """
    line: list[int] = []
    for parents, cells in reversed(steps):
        line.append(int(cells[row]) + 1)
        row = int(parents[row])
    return tuple(reversed(line))
