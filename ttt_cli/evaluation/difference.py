"""The positions in which two players choose differently, and the value of each choice."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np

from ttt_cli.documents import Cell, Count, PositionText, Share
from ttt_cli.engine.arrays import Bools, Floats, Int8s, Int64s
from ttt_cli.engine.perfect import UNPROVEN, move_values_of
from ttt_cli.engine.policy import Policy
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.side import Side
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.evaluation.walk import BATCH

EQUAL = 1e-12
"""Probabilities and values closer than this are equal but for rounding."""

MATTERING = 10
"""Rows in the document."""

Knowing = Literal["neither", "a", "b", "both"]
KNOWN_BY: tuple[Knowing, ...] = get_args(Knowing)


@dataclass(frozen=True)
class Row:
    """A position in which two players choose differently, or that only one of them knows: the cells that each
    plays (none: it resigns), their probabilities, and the value of the choice."""

    position: PositionText
    to_move: Side
    a: list[Cell]
    a_shares: list[Share]
    a_worth: float | None
    b: list[Cell]
    b_shares: list[Share]
    b_worth: float | None
    known: Knowing


@dataclass(frozen=True, eq=False)
class Difference:
    """Two policies compared in ``n`` open positions.

    :ivar asked: the positions.
    :ivar differs: bool[n], whether their probabilities differ.
    :ivar worth: float64[n] for each: the expected game value of its choice for the mover; -1 if it resigns;
        NaN where it is not known.
    :ivar known: bool[n] for each: what it has learned about; everything for players that need no experience.
    :ivar order: int64[k]: the positions in which they differ or that only one of them knows, by difference in
        value.
    """

    DOCUMENT: ClassVar = (*("positions", "different", "a_better", "b_better", "a_only", "b_only", "rows"),)

    asked: Positions
    players: tuple[Policy, Policy]
    differs: Bools
    worth: tuple[Floats, Floats]
    known: tuple[Bools, Bools]
    order: Int64s
    positions: Count
    different: Count
    a_better: Count
    b_better: Count
    unproven: Count
    a_only: Count
    b_only: Count

    @property
    def rows(self) -> list[Row]:
        """The first rows."""
        return list(self.listed(self.order[:MATTERING]))

    def listed(self, places: Int64s) -> Iterator[Row]:
        """Yield the rows of some positions."""
        for start in range(0, len(places), BATCH):
            some = places[start : start + BATCH]
            positions = self.asked[some]
            played = [player.probabilities(positions) for player in self.players]
            for at, (place, text) in enumerate(zip(some.tolist(), positions.texts(), strict=True)):
                side = Side.to_move(int(positions.plies[at]))
                a, b = (
                    (*_choice(shares[at]), None if np.isnan(worth[place]) else float(worth[place]) + 0.0)
                    for shares, worth in zip(played, self.worth, strict=True)
                )
                by = KNOWN_BY[int(self.known[0][place]) + 2 * int(self.known[1][place])]
                yield Row(text, side, *a, *b, by)


def compare(a: Policy, b: Policy, positions: Positions | None = None) -> Difference:
    """Compare two policies of one game.

    :param positions: in their order; None: all, on a board with a state space.
    """
    if positions is None:
        positions = StateSpace.of(a.rules)
    positions = positions[~positions.terminal]
    parts = [_compared(a, b, part) for part in positions.parts()]
    differs, worth_a, worth_b, known_a, known_b = map(np.concatenate, zip(*parts, strict=True))
    only_a, only_b = known_a & ~known_b, known_b & ~known_a
    found = np.flatnonzero(differs | only_a | only_b)
    stake = np.nan_to_num(np.round(np.abs(worth_a - worth_b)[found], 12))
    better = worth_a > worth_b + EQUAL, worth_b > worth_a + EQUAL, np.isnan(worth_a - worth_b)
    counts = (differs, *(differs & where for where in better), only_a, only_b)
    return Difference(
        positions,
        (a, b),
        differs,
        (worth_a, worth_b),
        (known_a, known_b),
        found[np.lexsort((found, ~differs[found], -stake))],
        len(positions),
        *(int(where.sum()) for where in counts),
    )


def _compared(a: Policy, b: Policy, positions: Positions) -> tuple[Bools, Floats, Floats, Bools, Bools]:
    """The ``differs``, ``worth`` and ``known`` of a ``Difference`` in some open positions."""
    played_a, played_b = a.probabilities(positions), b.probabilities(positions)
    values = move_values_of(positions)
    differs: Bools = np.any(np.abs(played_a - played_b) > EQUAL, axis=1)
    worth = _worth(played_a, values), _worth(played_b, values)
    return differs, *worth, _known(a, positions), _known(b, positions)


def _known(policy: Policy, positions: Positions) -> Bools:
    known = policy.known(positions)
    return np.ones(len(positions), np.bool_) if known is None else known


def _worth(probabilities: Floats, values: Int8s) -> Floats:
    """float64[n]: the expected values of a policy's choices, given the value of each move."""
    played = probabilities > 0
    after = (probabilities * np.where(played, values, 0)).sum(axis=1)
    after[(played & (values == UNPROVEN)).any(axis=1)] = np.nan
    return np.where(played.any(axis=1), after, -1.0)


def _choice(row: Floats) -> tuple[list[int], list[float]]:
    cells = np.flatnonzero(row)
    return cells.tolist(), row[cells].tolist()
