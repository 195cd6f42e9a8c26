"""Learning curves: in plain text for the terminal, as SVG or PNG with matplotlib."""

import io
import logging
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from ttt_cli.documents import aside
from ttt_cli.errors import TttError
from ttt_cli.store.curves import Point
from ttt_cli.store.text import as_text
from ttt_cli.training.study import unbeatable_from
from ttt_cli.views.numbers import percent, short

PANELS = {"wins against random play": ("x_win", "o_win"), "losses that can be forced": ("worst_x", "worst_o")}
"""The measures that are drawn: titles, and fields of ``Point`` for X and for O."""

BARS = " ▁▂▃▄▅▆▇█"
"""Bars for shares from 0 to 1; only a share of 0 has none."""

MARKERS = "osD^vPX"
"""Markers tell lines apart in black and white. With seven markers and ten colours, seventy lines differ."""


@dataclass(frozen=True)
class PlottedCurve:
    """The learning curve of a player, or the medians of several.

    :ivar points: at least one.
    :ivar runs: the curves of which they are the medians, or the one curve.
    """

    file: Path
    name: str
    points: Sequence[Point]
    runs: Sequence[Sequence[Point]] = aside()


def text_plot(curves: Sequence[PlottedCurve], width: int = 80) -> list[str]:
    """Return curves as lines of text: what became of each player, and a row of bars for each measure and
    side. All curves have their bars at the same numbers of games."""
    room = max(width - 30, 8)
    looks = sorted({row.games for curve in curves for row in curve.points})
    if len(looks) > room:
        looks = [looks[at * (len(looks) - 1) // (room - 1)] for at in range(room)]
    lines = []
    for curve in curves:
        rows = curve.points
        lines.append(f"{curve.name}: {_outcome(curve)}")
        games = [row.games for row in rows]
        latest = [max(bisect_right(games, look) - 1, 0) for look in looks if look <= games[-1]]
        for title, sides in PANELS.items():
            lines.append(f"  {title}")
            for side, measure in zip("XO", sides, strict=True):
                shares: list[float] = [getattr(row, measure) for row in rows]
                bars = (BARS[ceil(shares[at] * (len(BARS) - 1))] for at in latest)
                drawn = "".join(bar * max(1, min(room // len(looks), 3)) for bar in bars)
                lines.append(f"    as {side}  {drawn}  {percent(shares[0], 1)} → {percent(shares[-1], 1)}")
    return [*lines, f"bars: from {looks[0]:,} to {short(looks[-1])} games, on a logarithmic scale"]


def _outcome(curve: PlottedCurve) -> str:
    first, last = curve.points[0], curve.points[-1]
    runs = curve.runs
    verdicts = [run[-1].unbeatable for run in runs]
    if None in verdicts:
        verdict = f"whether {'it is' if len(runs) == 1 else 'they are'} unbeatable is not known"
    elif len(runs) > 1:
        verdict = f"{verdicts.count(1)} of {len(runs)} unbeatable"
    else:
        since = unbeatable_from(curve.points)
        verdict = "beatable" if since is None else f"judged unbeatable from {since:,} games on"
    mistakes = ""
    if first.mistakes is not None and last.mistakes is not None:
        mistakes = f", mistakes in {first.mistakes:,} → {last.mistakes:,} positions"
    return f"{verdict}; exploitability {first.exploitability:.3f} → {last.exploitability:.3f}{mistakes}"


def picture(curves: Sequence[PlottedCurve], heading: str, kind: str) -> bytes:
    """Draw curves: the medians, and a band from the lower to the upper quartile. The same curves give the
    same bytes.

    :param kind: ``svg`` or ``png``.
    :raises TttError: if matplotlib is not installed.
    """
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it complains if it cannot cache fonts
    try:
        from matplotlib import rc_context, rcParamsDefault
        from matplotlib.figure import Figure
    except ImportError:
        raise TttError("pictures need matplotlib", hint="pip install matplotlib") from None
    measures = [
        (f"{title}, as {side}", measure)
        for title, sides in PANELS.items()
        for side, measure in zip("XO", sides, strict=True)
    ]
    least = min((row.games for curve in curves for row in curve.points if row.games), default=1)
    settings = {"svg.hashsalt": "ttt", "svg.fonttype": "none", "text.parse_math": False}
    settings |= {"axes.grid": True, "grid.alpha": 0.25}
    with rc_context({**rcParamsDefault, **settings}):  # not what a file in the working folder says
        figure = Figure(figsize=(11, 7.2), layout="constrained")
        for axes, (title, measure) in zip(figure.subplots(2, 2).flatten(), measures, strict=True):
            for number, curve in enumerate(curves):
                _draw_line(axes, curve, measure, number)
            axes.set_title(title, loc="left")
            axes.set_xlabel("games")
            axes.set_xscale("symlog", linthresh=least)  # linear up to the first point
            axes.set_xlim(left=0)
            axes.set_ylim(-0.03, 1.03)
            axes.xaxis.set_major_formatter(lambda value, place: short(round(value)))
            axes.yaxis.set_major_formatter(lambda value, place: f"{100 * value:.0f} %")
        figure.suptitle(as_text(heading))
        figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=4)
        stream = io.BytesIO()
        figure.savefig(stream, format=kind, dpi=144, metadata={"Date" if kind == "svg" else "Software": None})
        return stream.getvalue()


def _draw_line(axes: Any, curve: PlottedCurve, measure: str, number: int) -> None:
    """Draw a measure of the curve with this number, and its band."""
    games = [row.games for row in curve.points]
    samples = [[getattr(row, measure) for row in rows] for rows in zip(*curve.runs, strict=True)]
    low, mid, high = np.transpose([np.quantile(row, (0.25, 0.5, 0.75)) for row in samples])
    color = f"C{number}"
    axes.fill_between(games, low, high, color=color, alpha=0.18, linewidth=0)
    label = as_text(curve.name)
    if curve.name.startswith("_"):  # or it is hidden
        label = f"\u200b{label}"
    axes.plot(games, mid, color=color, marker=MARKERS[number % len(MARKERS)], label=label)
