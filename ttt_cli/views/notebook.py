"""A verdict as HTML, for notebooks."""

from collections.abc import Iterable
from html import escape

from ttt_cli.evaluation.matchup import Rates
from ttt_cli.evaluation.verdict import Verdict
from ttt_cli.views.evaluation import facts_of
from ttt_cli.views.numbers import percent

COLORS = ("#2d6a4f", "#cccccc", "#c1121f")
"""Of wins, draws and losses."""


def verdict_html(name: str, verdict: Verdict, notes: Iterable[str] = ()) -> str:
    """The rates against each opponent, with bars, and what no opponent can change."""
    head = "".join(f"<th>{title}</th>" for title in ("against", "as", "win", "draw", "loss", ""))
    rows = [
        _row(result.opponent if side == "X" else "", side, rates)
        for result in verdict.results
        for side, rates in (("X", result.as_x), ("O", result.as_o))
    ]
    facts = "".join(
        f"<tr><th>{escape(label)}</th><td>{escape(fact.plain)}</td></tr>" for label, fact in facts_of(verdict)
    )
    said = "".join(f"<div><small>{escape(note)}</small></div>" for note in notes)
    rates = f"<table><tr>{head}</tr>{''.join(rows)}</table>" if rows else ""
    return f"<div><b>{escape(name)}</b></div>{rates}<table>{facts}</table>{said}"


def _row(opponent: str, side: str, rates: Rates) -> str:
    shares = (rates.win, rates.draw, rates.loss)
    numbers = "".join(f"<td>{percent(share)}</td>" for share in shares)
    parts = "".join(
        f'<div style="width:{100 * share:.2f}%;background:{color}"></div>'
        for share, color in zip(shares, COLORS, strict=True)
    )
    bar = f'<div style="display:flex;width:12em;height:1em">{parts}</div>'
    return f"<tr><td>{escape(opponent)}</td><td>{side}</td>{numbers}<td>{bar}</td></tr>"
