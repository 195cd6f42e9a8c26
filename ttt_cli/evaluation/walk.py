"""The walk: ply by ply, the distinct positions that can be reached when policies meet, or when one policy
meets anything at all, and the moves between them.

Each policy is asked once a ply, for the positions in which it is to move. Whatever an evaluation computes is
a sum or a maximum over a walk, forwards or backwards; so it costs what can happen, not what exists. Sums are
taken in the order of positions, and for each position in the order of its cells, whatever a walk holds
besides: a longer walk through the same positions gives the same digits.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from math import comb

import numpy as np

from ttt_cli.engine.arrays import Bools, Floats, Int8s, Int32s, Int64s
from ttt_cli.engine.policy import Policy, PolicyTable, uniform
from ttt_cli.engine.position import Position
from ttt_cli.engine.positions import CACHED, Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.side import Side
from ttt_cli.engine.state_space import StateSpace, enumerated
from ttt_cli.errors import TttError

BUDGET = 10_000_000
"""Positions that a walk goes through at most, by default: all of 4x4 with four in a row."""

BATCH = 1 << 13
"""Positions that a policy is asked for at a time, so that temporary arrays stay in the processor's cache."""

MARGIN = 4.0
"""A walk is given up when its forecast, which is rough, exceeds the budget by this factor."""


class OutgrownError(TttError):
    """A walk goes through more positions than it may.

    :ivar plies: the layers it went through.
    :ivar positions: in them.
    """

    def __init__(self, plies: int, positions: int, budget: int) -> None:
        super().__init__(
            f"more than {budget:,} positions can be reached ({positions:,} within {plies} plies)",
            hint="--positions N allows more",
        )
        self.plies, self.positions = plies, positions


@dataclass(frozen=True, eq=False)
class Layer:
    """The ``k`` positions of a walk with equally many stones, in their order, and the ``m`` moves that can be
    made in them, in the order of positions and cells as seen from either end.

    :ivar rows: int32[m], in which position.
    :ivar cells: int8[m].
    :ivar targets: int32[m], which position of the next layer the move leads to.
    :ivar probabilities: float64[m], of the policy that is to move; None where anything can be played.
    """

    positions: Positions
    rows: Int32s
    cells: Int8s
    targets: Int32s
    probabilities: Floats | None

    def __len__(self) -> int:
        return len(self.positions)

    @property
    def pieces(self) -> Iterator[slice]:
        """The moves in turn, as many at a time as are gone through in the processor's cache."""
        return (slice(start, start + CACHED) for start in range(0, len(self.rows), CACHED))

    @cached_property
    def resigning(self) -> Bools:
        """bool[k]: the open positions in which the policy that is to move resigns."""
        goes_on = self.positions.terminal.copy()
        goes_on[self.rows] = True
        return ~goes_on


@dataclass(frozen=True, eq=False)
class Walk:
    """Everything that can happen between two players.

    :ivar players: X and O; None: a player of whom nothing is known, who may play anything.
    :ivar layers: the positions ply by ply, from the first one on, as far as any game can go.
    """

    players: tuple[Policy | None, Policy | None]
    layers: list[Layer]

    @property
    def rules(self) -> Rules:
        """The game."""
        return self.layers[0].positions.rules

    @property
    def side(self) -> Side:
        """The side of the one player who is known."""
        return Side.O if self.players[0] is None else Side.X

    def __len__(self) -> int:
        return sum(map(len, self.layers))

    @property
    def own(self) -> Iterator[tuple[int, Positions]]:
        """The open positions in which the one player who is known is to move, by plies."""
        for layer in self.layers:
            if layer.probabilities is not None:
                yield int(layer.positions.plies[0]), layer.positions[~layer.positions.terminal]

    @classmethod
    def of(
        cls,
        x: Policy | None,
        o: Policy | None,
        *,
        start: Position | None = None,
        budget: int = BUDGET,
        tick: Callable[[int], None] = lambda positions: None,
    ) -> "Walk":
        """Everything that can happen between X and O, at least one of whom is given.

        :param start: where play begins; the empty board if not given.
        :param tick: called after each ply with the number of positions so far.
        :raises OutgrownError: if there are more positions than ``budget`` allows, as soon as that is seen.
        """
        policy = x or o
        assert policy is not None
        space = enumerated(policy.rules)
        positions = Positions.batch([start or Position.start(policy.rules)], policy.rules)
        ply = int(positions.plies[0])
        layers: list[Layer] = []
        sizes: list[int] = []
        while len(positions):
            sizes.append(len(positions))
            hopeless = not (space or ply) and forecast(sizes, policy.rules) > MARGIN * budget
            if sum(sizes) > budget or hopeless:
                raise OutgrownError(len(sizes), sum(sizes), budget)
            rows, cells, probabilities = _moves(positions, (x, o)[(ply + len(layers)) % 2])
            step = positions.after if space is None else partial(space.successors_of, positions)
            after, targets = step(rows, cells)
            layers.append(Layer(_lean(positions), rows, cells, targets, probabilities))
            positions = after
            tick(sum(sizes))
        return cls((x, o), layers)

    @classmethod
    def alone(
        cls,
        policy: Policy,
        side: Side,
        *,
        start: Position | None = None,
        budget: int = BUDGET,
        tick: Callable[[int], None] = lambda positions: None,
    ) -> "Walk":
        """Everything that can happen to a policy as one side, whatever the other side does; see ``of``."""
        x, o = (policy, None) if side == Side.X else (None, policy)
        return cls.of(x, o, start=start, budget=budget, tick=tick)


def own_positions(
    policy: Policy, *, budget: int = BUDGET, tick: Callable[[int], None] = lambda positions: None
) -> Positions:
    """The open positions in which the policy can be to move, whatever the other side plays, both roles
    together, in their order.

    :param tick: called after each ply of a role with the number of positions so far.
    :raises OutgrownError: if more positions can be reached than ``budget`` allows.
    """
    parts = [part for side in Side for part in Walk.alone(policy, side, budget=budget, tick=tick).own]
    parts.sort(key=lambda part: part[0])
    return Positions.concatenate([positions for _, positions in parts])


def within_reach(policy: Policy) -> PolicyTable:
    """A player on a board with a state space, asked once, and only where its own play can lead; elsewhere any
    move stands for what nobody knows.

    :raises OutgrownError: if that is in too many positions.
    """
    space, own = StateSpace.of(policy.rules), own_positions(policy)
    rows = space.rows(own)
    played, known = uniform(space.legal), np.zeros(len(space), np.bool_)
    played[rows], known[rows] = policy.probabilities(own), True
    values, own_values = np.full(played.shape, np.nan), policy.values(own)
    if own_values is not None:
        values[rows] = own_values
    return PolicyTable(space, played, None if own_values is None else values, known)


def forecast(sizes: list[int], rules: Rules) -> float:
    """How many positions a walk will have gone through, given its layers so far: as if growth over two plies
    went down as it does where both sides can play anything."""
    total, plies = float(sum(sizes)), len(sizes)
    if plies < 4:  # too early to tell
        return total
    sizes = sizes[-4:]
    growth = sizes[-1] / max(sizes[-3], 1)
    for ply in range(plies, rules.cells + 1):
        growth *= _growth(rules.cells, ply) / _growth(rules.cells, ply - 1)
        sizes.append(min(int(sizes[-2] * growth), _boards(rules.cells, ply)))
        total += sizes[-1]
    return total


def _growth(cells: int, plies: int) -> float:
    """The ratio of the number of boards with this many stones to that with two fewer."""
    return _boards(cells, plies) / _boards(cells, plies - 2)


def _boards(cells: int, plies: int) -> int:
    """The number of boards with this many stones: no fewer than the positions."""
    return comb(cells, plies) * comb(plies, plies // 2)


def _moves(positions: Positions, policy: Policy | None) -> tuple[Int32s, Int8s, Floats | None]:
    """The moves of one layer, as ``Layer`` holds them: those that the policy makes, or all."""
    rows, cells, chances = [np.zeros(0, np.int32)], [np.zeros(0, np.int8)], [np.zeros(0)]
    for numbers, batch in open_batches(positions):
        played = None if policy is None else policy.probabilities(batch)
        at_rows, at_cells = by_cell(batch.legal if played is None else played > 0)
        rows.append(numbers[at_rows])
        cells.append(at_cells.astype(np.int8))
        if played is not None:
            chances.append(chosen_of(played, at_rows, at_cells))
    return np.concatenate(rows), np.concatenate(cells), None if policy is None else np.concatenate(chances)


def open_batches(positions: Positions) -> Iterator[tuple[Int32s, Positions]]:
    """The open positions of a layer in turn, with their numbers, in the batches in which moves are listed."""
    still_open = np.flatnonzero(~positions.terminal).astype(np.int32)
    for start in range(0, len(still_open), BATCH):
        numbers = still_open[start : start + BATCH]
        yield numbers, positions[numbers]


def by_cell(chosen: Bools) -> tuple[Int64s, Int64s]:
    """The rows and the cells of the chosen moves of a batch, cell by cell."""
    cells, rows = np.divmod(np.flatnonzero(chosen.T), len(chosen))
    return rows, cells


def chosen_of(played: Floats, rows: Int64s, cells: Int64s) -> Floats:
    """``played[rows, cells]``, but faster."""
    return played.ravel().take(rows * played.shape[1] + cells)


def _lean(positions: Positions) -> Positions:
    """The positions without what was only needed to go on from them."""
    known = {name: getattr(positions, name) for name in ("plies", "results", "terminal")}
    return Positions(positions.rules, positions.x, positions.o, **known)
