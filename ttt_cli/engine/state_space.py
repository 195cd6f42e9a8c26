"""All positions of one game as arrays.

Positions are in order (``engine.positions``); index 0 is the empty board.
"""

from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from ttt_cli.engine.arrays import Int32s, Int64s
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import STANDARD, Rules
from ttt_cli.errors import UsageError, notices

SMALL_SPACE = 200_000
"""The largest ``Rules.positions_bound`` of a board that is enumerated unasked, which takes an instant."""

MAX_POSITIONS = 12_000_000
"""Boards of a larger bound are refused, since a position takes about 100 bytes of memory."""


class StateSpace(Positions):
    """All ``n`` positions of one game, in order.

    :ivar successors: int32[n, cells], the index after the mover takes a cell, -1 if it may not.
    """

    def __init__(self, positions: Positions, successors: Int32s) -> None:
        super().__init__(positions.rules, positions.x, positions.o, positions.results)
        self.successors = successors

    @classmethod
    def of(cls, rules: Rules = STANDARD) -> "StateSpace":
        """The space of these rules, built once in a process.

        :raises UsageError: if there are too many positions to hold in memory.
        """
        return _build(rules)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle a space by its rules, without its arrays."""
        return StateSpace.of, (self.rules,)

    @cached_property
    def powers(self) -> Int64s:
        """int64[cells]: what a stone of O on each cell adds to a code."""
        return 3 ** np.arange(self.cells - 1, -1, -1, dtype=np.int64)

    @cached_property
    def _sums(self) -> Int64s:
        """int64[2**cells]: what the stones of O add to a code, by their bitboard."""
        boards = np.arange(2**self.cells)[:, None]
        return (boards >> np.arange(self.cells) & 1) @ self.powers

    def _codes_of(self, positions: Positions) -> Int64s:
        """int64[k]: the texts as numbers in base 3 (``.`` 0, ``O`` 1, ``X`` 2)."""
        return 2 * self._sums[positions.x] + self._sums[positions.o]

    @cached_property
    def layers(self) -> list[slice]:
        """The positions with 0, 1, 2 … stones, as slices."""
        starts = np.searchsorted(self.plies, np.arange(self.cells + 2))
        return [slice(int(start), int(stop)) for start, stop in pairwise(starts)]

    def rows(self, positions: Positions) -> Int64s:
        """int64[k]: the index of each position, all of them in this space."""
        return self.find(self._codes_of(positions))

    @cached_property
    def index_of(self) -> dict[str, int]:
        """The index of each position by its text."""
        return {text: index for index, text in enumerate(self.texts())}

    @cached_property
    def _index(self) -> Int32s:
        """int32[3**cells + 1]: the index of each code, -1 if it is not a position."""
        index = np.full(3**self.cells + 1, -1, np.int32)  # the last place is for all other numbers
        index[self._codes_of(self)] = np.arange(len(self))
        return index

    def find(self, codes: Int64s) -> Int64s:
        """int64[k]: the index of each code, -1 if it is not a position of this space."""
        last = len(self._index) - 1
        return self._index[np.where((codes >= 0) & (codes < last), codes, last)].astype(np.int64)


def enumerated(rules: Rules) -> StateSpace | None:
    """The state space of a board small enough to enumerate in an instant; None for larger boards."""
    return StateSpace.of(rules) if rules.positions_bound <= SMALL_SPACE else None


@lru_cache(maxsize=8)
def _build(rules: Rules) -> StateSpace:
    """Play every legal move from every open position, layer by layer."""
    if rules.positions_bound > MAX_POSITIONS:
        raise UsageError(
            f"the game {rules.describe()} has up to {rules.positions_bound:,} positions, "
            f"more than the {MAX_POSITIONS:,} that fit in memory",
            hint="choose a smaller board, such as 4x4",
        )
    if rules.positions_bound > SMALL_SPACE:
        notices.info("listing all positions of %s, which takes seconds and gigabytes", rules.describe())
    layers, successors = [], []
    stop = 0  # the number of positions up to this layer
    layer = Positions.start(rules)
    while len(layer):
        stop += len(layer)
        rows, cells = np.nonzero(layer.legal)
        after, places = layer.after(rows, cells)
        indices = np.full((len(layer), rules.cells), -1, np.int32)
        indices[rows, cells] = stop + places
        layers.append(layer)
        successors.append(indices)
        layer = after
    return StateSpace(Positions.concatenate(layers), np.concatenate(successors))
