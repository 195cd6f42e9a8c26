"""The positions in which two players choose differently, and the value of each choice."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ttt_cli.documents import Cell, Count, PositionText, Share
from ttt_cli.engine.arrays import Bools, Floats, Int8s, Int64s
from ttt_cli.engine.perfect import FEW_NODES, NODES, UNPROVEN, negated, values_of
from ttt_cli.engine.policy import ROUNDING, Policy
from ttt_cli.engine.positions import Positions, slices
from ttt_cli.engine.side import Side
from ttt_cli.evaluation.walk import WALK_BATCH, Tick

MAX_ROWS = 10
"""The most rows in the document."""

FEW = 16
"""Positions compared at once on boards of 36 cells or more, where the proofs of one can take a second."""

Knowing = Literal["neither", "a", "b", "both"]
KNOWN_BY: tuple[Knowing, ...] = ("neither", "a", "b", "both")
"""Which player knows a position: 1 if a does, plus 2 if b does."""


@dataclass(frozen=True)
class Row:
    """A position in which two players choose differently, or that only one of them knows: the cells that each
    may play (none: it resigns), their probabilities, and the expected value of the choice."""

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

    :ivar compared: these positions.
    :ivar differs: bool[n], where their probabilities differ.
    :ivar worth: float64[2, n], the expected game value of each player's choice for the mover; -1 if it
        resigns; NaN where it is not known, and in positions that are not in ``order``.
    :ivar known: bool[2, n], what each has learned about; everything for players that need no experience.
    :ivar order: int64[k], the positions in which they differ or that only one knows, by difference in value.
    """

    DOCUMENT = ("positions", "different", "a_better", "b_better", "a_only", "b_only", "rows")

    compared: Positions
    players: tuple[Policy, Policy]
    differs: Bools
    worth: Floats
    known: Bools
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
        return list(self.listed(self.order[:MAX_ROWS]))

    def listed(self, places: Int64s) -> Iterator[Row]:
        """The rows of the positions with these indices in ``compared``."""
        for part in slices(0, len(places), WALK_BATCH):
            batch = places[part]
            positions = self.compared[batch]
            played_a, played_b = (player.probabilities(positions) for player in self.players)
            for at, (place, text) in enumerate(zip(batch.tolist(), positions.texts(), strict=True)):
                a = _choice(played_a[at], self.worth[0, place])
                b = _choice(played_b[at], self.worth[1, place])
                known = KNOWN_BY[self.known[0, place] + 2 * self.known[1, place]]
                yield Row(text, Side.to_move(int(positions.plies[at])), *a, *b, known)


def _choice(played: Floats, worth: np.float64) -> tuple[list[Cell], list[Share], float | None]:
    """The fields of a player's choice in a ``Row``: cells, shares and worth."""
    cells = np.flatnonzero(played)
    worth_or_none = None if np.isnan(worth) else float(worth) + 0.0  # no -0.0
    return cells.tolist(), played[cells].tolist(), worth_or_none


def compare(a: Policy, b: Policy, positions: Positions, *, tick: Tick = lambda positions: None) -> Difference:
    """Compare two policies of one game.

    :param positions: the open positions in which to compare them, in order.
    :param tick: called with the number of positions compared so far.
    """
    parts = []
    done = 0
    batch, nodes = (FEW, FEW_NODES) if a.rules.cells >= 36 else (WALK_BATCH, NODES)
    for part in positions.parts(batch):
        parts.append(_compared((a, b), part, nodes))
        done += len(part)
        tick(done)
    differs, worth, known = (np.concatenate(arrays, axis=-1) for arrays in zip(*parts, strict=True))
    a_only, b_only = known[0] & ~known[1], known[1] & ~known[0]
    gain = worth[0] - worth[1]
    listed = np.flatnonzero(differs | a_only | b_only)
    stake = np.nan_to_num(np.round(np.abs(gain[listed]), 12))
    return Difference(
        compared=positions,
        players=(a, b),
        differs=differs,
        worth=worth,
        known=known,
        order=listed[np.lexsort((listed, ~differs[listed], -stake))],
        positions=len(positions),
        different=int(differs.sum()),
        a_better=int((differs & (gain > ROUNDING)).sum()),
        b_better=int((differs & (gain < -ROUNDING)).sum()),
        unproven=int((differs & np.isnan(gain)).sum()),
        a_only=int(a_only.sum()),
        b_only=int(b_only.sum()),
    )


def _compared(players: Sequence[Policy], positions: Positions, nodes: int) -> tuple[Bools, Floats, Bools]:
    """``Difference.differs``, ``worth`` and ``known`` in some open positions."""
    played_a, played_b = (player.probabilities(positions) for player in players)
    differs: Bools = np.any(np.abs(played_a - played_b) > ROUNDING, axis=1)
    learned = [player.known(positions) for player in players]
    known = [np.ones(len(positions), np.bool_) if each is None else each for each in learned]
    values = np.full(played_a.shape, UNPROVEN)
    listed = (differs | (known[0] != known[1]))[:, None]
    rows, cells = np.nonzero(listed & (played_a + played_b > 0))
    values[rows, cells] = negated(values_of(positions.play(rows, cells), nodes=nodes))
    return differs, np.array([_worth(played_a, values), _worth(played_b, values)]), np.array(known)


def _worth(probabilities: Floats, values: Int8s) -> Floats:
    """float64[n]: the expected values of a policy's choices, given the value of each move."""
    played = probabilities > 0
    expected = (probabilities * np.where(played, values, 0)).sum(axis=1)
    expected[(played & (values == UNPROVEN)).any(axis=1)] = np.nan
    return np.where(played.any(axis=1), expected, -1.0)
