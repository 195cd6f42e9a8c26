"""The walk: ply by ply, the distinct positions that can be reached when a policy plays against another one,
or against anything, and the moves between them.

All evaluations are sums or maxima over a walk, forwards or backwards, so their cost depends on what can
happen rather than on what exists. Sums are taken in the order of positions and, within a position, of cells,
so that a longer walk through the same positions gives the same digits.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import comb

import numpy as np

from ttt_cli.engine.arrays import Bools, Floats, Int8s, Int32s, Int64s
from ttt_cli.engine.policy import Policy
from ttt_cli.engine.position import Position
from ttt_cli.engine.positions import CACHED_MOVES, Positions
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


@dataclass(frozen=True, eq=False)
class Layer:
    """The ``k`` positions of a walk with equally many stones, in their order, and their ``m`` moves. The
    moves of a position, and those that lead to a position, are in the order of cells and of positions.

    :ivar rows: int32[m], the position in which each move is made.
    :ivar cells: int8[m].
    :ivar targets: int32[m], the position of the next layer that each move leads to.
    :ivar probabilities: float64[m], from the policy to move; None where anything can be played.
    :ivar known: the number of open positions of which the policy to move has learned something; None where
        anything can be played, and for players that need no experience.
    """

    positions: Positions
    rows: Int32s
    cells: Int8s
    targets: Int32s
    probabilities: Floats | None
    known: int | None

    def __len__(self) -> int:
        return len(self.positions)

    @property
    def pieces(self) -> Iterator[slice]:
        """The moves, as many at a time as fit in the processor's cache."""
        starts = range(0, len(self.rows), CACHED_MOVES)
        return (slice(start, start + CACHED_MOVES) for start in starts)

    @cached_property
    def resigning(self) -> Bools:
        """bool[k]: the open positions in which the policy to move resigns."""
        goes_on = self.positions.terminal.copy()
        for some in self.pieces:
            goes_on[self.rows[some]] = True
        return ~goes_on

    def played_by(
        self, policies: Sequence[Policy], reach: Sequence[Floats], resigns: Sequence[Bools]
    ) -> Iterator[tuple[int, slice, Floats]]:
        """Yield the number of a policy, a slice of the moves, which are all legal ones, and how likely the
        policy makes each.

        :param reach: float64[k] for each policy; it is only asked about positions that it can reach.
        :param resigns: bool[k] for each policy; set where it resigns.
        """
        place = np.empty(len(self), np.int32)  # the row in its batch, times the number of cells
        start, cells, anything = 0, self.positions.cells, np.ones(self.positions.cells)
        for numbers, batch in _open_batches(self.positions):
            moves = slice(start, start := start + len(numbers) * (cells - int(batch.plies[0])))
            place[numbers] = np.arange(0, len(numbers) * cells, cells)
            places = place.take(self.rows[moves]) + self.cells[moves]
            for at, policy in enumerate(policies):
                if (live := reach[at][numbers] > 0).all():
                    played = policy.probabilities(batch)
                elif live.any():
                    played = np.zeros((len(batch), cells))
                    played[live] = policy.probabilities(batch[live])
                else:
                    continue
                resigns[at][numbers] = live & (played @ anything == 0)
                yield at, moves, played.ravel().take(places)


@dataclass(frozen=True, eq=False)
class Walk:
    """Everything that can happen to a policy as one side, ply by ply."""

    side: Side
    layers: list[Layer]

    def __len__(self) -> int:
        return sum(map(len, self.layers))

    @property
    def own(self) -> Iterator[tuple[int, Positions]]:
        """The policy's plies and open positions there, in a walk from the empty board."""
        for ply in range(self.side, len(self.layers), 2):
            positions = self.layers[ply].positions
            yield ply, positions[~positions.terminal]

    @classmethod
    def of(
        cls,
        policy: Policy,
        side: Side,
        opponent: Policy | None = None,
        *,
        start: Position | None = None,
        budget: int = BUDGET,
        tick: Tick = lambda positions: None,
    ) -> "Walk":
        """Walk through everything that can happen when a policy plays ``side``.

        :param opponent: the other side; None: anything.
        :param start: the first position; None: the empty board.
        :raises OutgrownError: if there are more positions than ``budget`` allows, or will be.
        """
        space = enumerated(policy.rules)
        positions = Positions.batch([start or Position.start(policy.rules)], policy.rules)
        first = int(positions.plies[0])
        layers: list[Layer] = []
        sizes: list[int] = []
        while len(positions):
            sizes.append(len(positions))
            hopeless = not (space or first) and forecast(sizes, policy.rules) > FORECAST_MARGIN * budget
            if sum(sizes) > budget or hopeless:
                raise OutgrownError(len(sizes), sum(sizes), budget)
            own = (first + len(layers)) % 2 == side
            rows, cells, probabilities, known = _moves(positions, policy if own else opponent)
            step = positions.after if space is None else partial(space.successors_of, positions)
            after, targets = step(rows, cells)
            layers.append(Layer(_lean(positions), rows, cells, targets, probabilities, known))
            positions = after
            tick(sum(sizes))
        return cls(side, layers)


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


def _moves(positions: Positions, policy: Policy | None) -> tuple[Int32s, Int8s, Floats | None, int | None]:
    """The ``rows``, ``cells``, ``probabilities`` and ``known`` of a ``Layer``: the moves that a policy makes,
    or all legal ones."""
    rows, cells, chances = [np.zeros(0, np.int32)], [np.zeros(0, np.int8)], [np.zeros(0)]
    known = None
    for numbers, batch in _open_batches(positions):
        played = None if policy is None else policy.probabilities(batch)
        chosen = batch.legal if played is None else played > 0
        at_cells, at_rows = np.divmod(np.flatnonzero(chosen.T), len(batch))  # cell by cell
        rows.append(numbers[at_rows])
        cells.append(at_cells.astype(np.int8))
        if policy is not None and played is not None:
            chances.append(played.ravel().take(at_rows * batch.cells + at_cells))
            if (learned := policy.known(batch)) is not None:
                known = (known or 0) + int(learned.sum())
    probabilities = None if policy is None else np.concatenate(chances)
    return np.concatenate(rows), np.concatenate(cells), probabilities, known


def _open_batches(positions: Positions) -> Iterator[tuple[Int32s, Positions]]:
    """The open positions of a layer with their numbers, in the batches in which moves are listed."""
    still_open = np.flatnonzero(~positions.terminal).astype(np.int32)
    for start in range(0, len(still_open), WALK_BATCH):
        numbers = still_open[start : start + WALK_BATCH]
        yield numbers, positions[numbers]


def _lean(positions: Positions) -> Positions:
    """The positions without cached properties that take much memory."""
    known = {name: getattr(positions, name) for name in ("plies", "results", "terminal")}
    return Positions(positions.rules, positions.x, positions.o, **known)


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
