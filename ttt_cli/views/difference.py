"""What ``ttt diff`` shows."""

from collections.abc import Iterator, Sequence
from math import isnan
from typing import Any, Literal, TypedDict

import numpy as np
from rich.table import Table
from rich.text import Text

from ttt_cli.documents import AgentFields, Count, PositionText, SideKey
from ttt_cli.engine.arrays import Floats, Int64s
from ttt_cli.engine.side import Side
from ttt_cli.environment import Environment, printable
from ttt_cli.evaluation.difference import Comparison


class DifferenceRow(TypedDict):
    """A position in which two players choose differently, or which one alone knows."""

    position: PositionText
    to_move: SideKey
    a: str
    a_worth: float | None
    b: str
    b_worth: float | None
    known: Literal["both", "a", "b", "neither"]


class DiffFields(TypedDict):
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


SHOWN = 10
"""Positions listed in the summary."""

PIECE = 1 << 14
"""Rows whose choices are asked for together."""


def show_comparison(env: Environment, names: Sequence[str], found: Comparison) -> None:
    """Print how often the two differ and the positions in which it matters most."""
    a, b = map(printable, names)
    numbers = counts(found)
    share = f"{numbers['different']:,} of {numbers['positions']:,} open positions"
    env.out(f"{a} and {b} choose differently in {share}")
    unproven = int(found.unproven.sum())
    equal = numbers["different"] - numbers["a_better"] - numbers["b_better"] - unproven
    env.out(f"  {numbers['a_better']:>6,}  where the choice of {a} is worth more")
    env.out(f"  {numbers['b_better']:>6,}  where the choice of {b} is worth more")
    env.out(f"  {equal:>6,}  where both are worth the same")
    if unproven:
        env.out(f"  {unproven:>6,}  where what they are worth has not been proved")
    for name, number in ((a, numbers["a_only"]), (b, numbers["b_only"])):
        if number:
            env.out(f"{number:,} positions are known to {name} alone")
    rows = found.rows[:SHOWN][found.differs[found.rows[:SHOWN]]]
    if not len(rows):
        return
    env.out("")
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for heading in ("position", "to move", Text(a), "worth", Text(b), "worth"):
        table.add_column(heading, overflow="fold")
    for row in _rows(found, rows):
        worths = [_signed(row[name]) for name in ("a_worth", "b_worth")]
        table.add_row(row["position"], row["to_move"].upper(), row["a"], worths[0], row["b"], worths[1])
    env.draw(table)
    if len(found.rows) > len(rows):
        env.say(f"all {len(found.rows):,} rows: --csv FILE")


def counts(found: Comparison) -> dict[str, int]:
    """The numbers of a ``ttt-diff`` document."""
    return {
        "positions": len(found.positions),
        "different": int(found.differs.sum()),
        "a_better": int(found.better_a.sum()),
        "b_better": int(found.better_b.sum()),
        "a_only": int(found.only_a.sum()),
        "b_only": int(found.only_b.sum()),
    }


def comparison_fields(agents: Sequence[dict[str, Any]], found: Comparison) -> dict[str, Any]:
    """A comparison as a ``ttt-diff`` document holds it, with the rows that matter most."""
    rows = list(_rows(found, found.rows[:SHOWN]))
    return {"a": agents[0], "b": agents[1], **counts(found), "rows": rows}


def csv_rows(found: Comparison) -> Iterator[list[Any]]:
    """All rows for a CSV file, the header first."""
    yield ["position", "to_move", "a", "a_worth", "b", "b_worth", "known"]
    for row in _rows(found, found.rows):
        yield list(row.values())


def _rows(found: Comparison, rows: Int64s) -> Iterator[dict[str, Any]]:
    known = {(True, True): "both", (True, False): "a", (False, True): "b", (False, False): "neither"}
    for at in range(0, len(rows), PIECE):
        some = rows[at : at + PIECE]
        positions = found.positions[some]
        played = zip(found.a.probabilities(positions), found.b.probabilities(positions), strict=True)
        for row, text, (played_a, played_b) in zip(some.tolist(), positions.texts(), played, strict=True):
            yield {
                "position": text,
                "to_move": Side.to_move(len(text) - text.count(".")).key,
                "a": _choice(played_a),
                "a_worth": _number(found.worth_a[row]),
                "b": _choice(played_b),
                "b_worth": _number(found.worth_b[row]),
                "known": known[bool(found.known_a[row]), bool(found.known_b[row])],
            }


def _number(worth: float) -> float | None:
    return None if isnan(worth) else float(worth) + 0.0


def _signed(worth: float | None) -> str:
    return "?" if worth is None else f"{worth:+.2f}" if worth else "0"


def _choice(row: Floats) -> str:
    """The cells played, such as ``5`` or ``1 3 7``; ``1:0.25 3:0.75`` if they are not equally likely."""
    cells = np.flatnonzero(row)
    if not len(cells):
        return "resigns"
    if np.ptp(row[cells]) < 1e-9:
        return " ".join(str(cell + 1) for cell in cells)
    return " ".join(f"{cell + 1}:{row[cell]:.4g}" for cell in cells)
