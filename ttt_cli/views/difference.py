"""``ttt diff``: in what two players differ."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from ttt_cli.documents import AgentFields, Document
from ttt_cli.environment import Environment
from ttt_cli.evaluation.difference import MATTERING, Difference
from ttt_cli.views.numbers import cells
from ttt_cli.views.tables import table


@dataclass(frozen=True)
class DifferenceResult(Document, name="diff"):
    """In what two players differ: ``ttt diff``."""

    DOCUMENT: ClassVar = ("a", "b", "*found")

    a: AgentFields
    b: AgentFields
    found: Difference

    def show(self, env: Environment) -> None:
        """Print how often the two differ and the positions in which it matters most."""
        a, b, found = self.a.name, self.b.name, self.found
        counts = f"{found.different:,} of {found.positions:,} open positions"
        env.out(f"{a} and {b} choose differently in {counts}")
        equal = found.different - found.a_better - found.b_better - found.unproven
        env.out(f"  {found.a_better:>6,}  where the choice of {a} is worth more")
        env.out(f"  {found.b_better:>6,}  where the choice of {b} is worth more")
        env.out(f"  {equal:>6,}  where both are worth the same")
        if found.unproven:
            env.out(f"  {found.unproven:>6,}  where what they are worth has not been proved")
        for name, number in ((a, found.a_only), (b, found.b_only)):
            if number:
                env.out(f"{number:,} positions are known to {name} alone")
        most = found.order[:MATTERING]
        rows = [
            [text, side.upper(), cells_a, _signed(worth_a), cells_b, _signed(worth_b)]
            for text, side, cells_a, worth_a, cells_b, worth_b, _ in _listed(found, most[found.differs[most]])
        ]
        if rows:
            env.out("")
            env.draw(table(["position", "to move", a, "worth", b, "worth"], rows))
            if len(found.order) > len(rows):
                env.say(f"all {len(found.order):,} rows: --csv FILE")


def csv_rows(found: Difference) -> Iterator[list[Any]]:
    """All rows for a CSV file, the header first."""
    yield ["position", "to_move", "a", "a_worth", "b", "b_worth", "known"]
    yield from _listed(found, found.order)


def _listed(found: Difference, places: Any) -> Iterator[list[Any]]:
    for row in found.listed(places):
        a, b = _choice(row.a, row.a_shares), _choice(row.b, row.b_shares)
        yield [row.position, row.to_move.key, a, row.a_worth, b, row.b_worth, row.known]


def _signed(worth: float | None) -> str:
    return "?" if worth is None else f"{worth:+.2f}" if worth else "0"


def _choice(played: list[int], shares: list[float]) -> str:
    """The cells played, such as ``5`` or ``1 3 7``; ``1:0.25 3:0.75`` if they are not equally likely."""
    if not played:
        return "resigns"
    if max(shares) - min(shares) < 1e-9:
        return cells(played)
    return " ".join(f"{cell + 1}:{share:.4g}" for cell, share in zip(played, shares, strict=True))
