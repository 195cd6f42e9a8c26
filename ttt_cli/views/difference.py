"""``ttt diff``: in what two players differ."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any, Literal

import numpy as np

from ttt_cli.documents import AgentFields, Cell, Count, Document, PositionText, Share, SideKey, aside
from ttt_cli.engine.arrays import Floats, Int64s
from ttt_cli.engine.side import Side
from ttt_cli.environment import Environment
from ttt_cli.evaluation.difference import Comparison
from ttt_cli.views.tables import table

SHOWN = 10
"""Positions listed in the summary."""

PIECE = 1 << 14
"""Rows whose choices are asked for together."""


@dataclass(frozen=True)
class DifferenceRow:
    """A position in which two players choose differently, or which one alone knows: the cells that each plays
    (none: it resigns), how likely, and what that is worth."""

    position: PositionText
    to_move: SideKey
    a: list[Cell]
    a_shares: list[Share]
    a_worth: float | None
    b: list[Cell]
    b_shares: list[Share]
    b_worth: float | None
    known: Literal["both", "a", "b", "neither"]


@dataclass(frozen=True)
class Difference(Document, name="diff"):
    """In what two players differ: ``ttt diff``."""

    a: AgentFields
    b: AgentFields
    positions: Count
    different: Count
    a_better: Count
    b_better: Count
    a_only: Count
    b_only: Count
    rows: list[DifferenceRow]
    found: Comparison = aside()

    @classmethod
    def of(cls, a: AgentFields, b: AgentFields, found: Comparison) -> "Difference":
        """A comparison, with the rows that matter most."""
        return cls(
            a,
            b,
            len(found.positions),
            int(found.differs.sum()),
            int(found.better_a.sum()),
            int(found.better_b.sum()),
            int(found.only_a.sum()),
            int(found.only_b.sum()),
            list(_rows(found, found.rows[:SHOWN])),
            found,
        )

    def show(self, env: Environment) -> None:
        """Print how often the two differ and the positions in which it matters most."""
        a, b = self.a.name, self.b.name
        env.out(f"{a} and {b} choose differently in {self.different:,} of {self.positions:,} open positions")
        unproven = int(self.found.unproven.sum())
        equal = self.different - self.a_better - self.b_better - unproven
        env.out(f"  {self.a_better:>6,}  where the choice of {a} is worth more")
        env.out(f"  {self.b_better:>6,}  where the choice of {b} is worth more")
        env.out(f"  {equal:>6,}  where both are worth the same")
        if unproven:
            env.out(f"  {unproven:>6,}  where what they are worth has not been proved")
        for name, number in ((a, self.a_only), (b, self.b_only)):
            if number:
                env.out(f"{number:,} positions are known to {name} alone")
        most = self.found.rows[:SHOWN]
        rows = list(_rows(self.found, most[self.found.differs[most]]))
        if not rows:
            return
        env.out("")
        listed = table("position", "to move", a, "worth", b, "worth")
        for row in rows:
            of_a = (_words(row.a, row.a_shares), _signed(row.a_worth))
            of_b = (_words(row.b, row.b_shares), _signed(row.b_worth))
            listed.add_row(row.position, row.to_move.upper(), *of_a, *of_b)
        env.draw(listed)
        if len(self.found.rows) > len(rows):
            env.say(f"all {len(self.found.rows):,} rows: --csv FILE")


def csv_rows(found: Comparison) -> Iterator[list[Any]]:
    """All rows for a CSV file, the header first."""
    yield ["position", "to_move", "a", "a_worth", "b", "b_worth", "known"]
    for row in _rows(found, found.rows):
        a, b = _words(row.a, row.a_shares), _words(row.b, row.b_shares)
        yield [row.position, row.to_move, a, row.a_worth, b, row.b_worth, row.known]


def _rows(found: Comparison, rows: Int64s) -> Iterator[DifferenceRow]:
    known: dict[tuple[bool, bool], Any]
    known = {(True, True): "both", (True, False): "a", (False, True): "b", (False, False): "neither"}
    for at in range(0, len(rows), PIECE):
        some = rows[at : at + PIECE]
        positions = found.positions[some]
        played = zip(found.a.probabilities(positions), found.b.probabilities(positions), strict=True)
        for row, text, (played_a, played_b) in zip(some.tolist(), positions.texts(), played, strict=True):
            yield DifferenceRow(
                text,
                Side.to_move(len(text) - text.count(".")).key,
                *_choice(played_a),
                _number(found.worth_a[row]),
                *_choice(played_b),
                _number(found.worth_b[row]),
                known[bool(found.known_a[row]), bool(found.known_b[row])],
            )


def _number(worth: float) -> float | None:
    return None if isnan(worth) else float(worth) + 0.0


def _signed(worth: float | None) -> str:
    return "?" if worth is None else f"{worth:+.2f}" if worth else "0"


def _choice(row: Floats) -> tuple[list[int], list[float]]:
    """The cells played, from 1, and how likely."""
    cells = np.flatnonzero(row)
    return (cells + 1).tolist(), row[cells].tolist()


def _words(cells: Sequence[int], shares: Sequence[float]) -> str:
    """The cells played, such as ``5`` or ``1 3 7``; ``1:0.25 3:0.75`` if they are not equally likely."""
    if not cells:
        return "resigns"
    if max(shares) - min(shares) < 1e-9:
        return " ".join(map(str, cells))
    return " ".join(f"{cell}:{share:.4g}" for cell, share in zip(cells, shares, strict=True))
