"""Learning curves: in plain text for the terminal, as SVG or PNG with matplotlib."""

import io
import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import fmean

import numpy as np

from ttt_cli.errors import TttError
from ttt_cli.store.curves import Row
from ttt_cli.training.study import unbeatable_from

PANELS = {"wins against random play": ("x_win", "o_win"), "losses that can be forced": ("worst_x", "worst_o")}
"""What is drawn: fields of ``Row``, as X and as O."""

HEIGHT = 9
"""The height of a text plot in lines, without its frame."""

MARKS = "123456789abcdefghijklmnopqrstuvwxyz"
"""The marks of several curves in one plot."""

DOT, BOTH = "·", "*"
"""The marks between points, and for points of several curves."""

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""The colours of Okabe and Ito, for colour-blind readers."""

MARKERS = "osD^vPX*<>"
"""Markers, to tell lines apart in black and white."""

Points = Sequence[tuple[int, float]]
"""A number of games, and a value from 0 to 1."""


def text_plot(
    curves: Sequence[tuple[str, Sequence[Row]]],
    width: int = 80,
    *,
    verdicts: Sequence[str] = (),
) -> list[str]:
    """Return a plot of named curves, each with at least one row, in lines of text: of one curve X and O, of
    several the means of both sides.

    :param verdicts: the verdict on each, if its last row does not say.
    """
    beside = width >= 76
    inner = max(min((width - 15) // 2 if beside else width - 6, 60), 16)
    panels = []
    for title, sides in PANELS.items():
        if len(curves) == 1:
            drawn = [(mark, [side], curves[0][1]) for mark, side in zip("XO", sides, strict=True)]
        else:
            drawn = [(MARKS[at % len(MARKS)], [*sides], rows) for at, (_, rows) in enumerate(curves)]
        series = {
            mark: [(row.games, fmean(getattr(row, name) for name in names)) for row in rows]
            for mark, names, rows in drawn
        }
        panels.append(_panel(title, series, inner))
    if beside:
        lines = [f"{a:<{inner + 6}}   {b}".rstrip() for a, b in zip(*panels, strict=True)]
    else:
        lines = [*panels[0], "", *panels[1]]
    lines += ["", *_legend(curves, verdicts)]
    if any(BOTH in line for line in lines):
        lines.append(f"{BOTH}  where curves meet")
    return lines


def _legend(curves: Sequence[tuple[str, Sequence[Row]]], verdicts: Sequence[str]) -> list[str]:
    lines = []
    for at, (name, rows) in enumerate(curves):
        first, last = rows[0], rows[-1]
        mark = f"{MARKS[at % len(MARKS)]}  {name}: " if len(curves) > 1 else ""
        verdict = "whether it is unbeatable is not known" if last.unbeatable is None else "beatable"
        if verdicts:
            verdict = verdicts[at]
        elif last.unbeatable:
            verdict = f"unbeatable from {unbeatable_from(rows) or 0:,} games on"
        mistakes = ""
        if first.mistakes is not None and last.mistakes is not None:
            mistakes = f"mistakes in {first.mistakes:,} → {last.mistakes:,} positions; "
        lines.append(
            f"{mark}exploitability {first.exploitability:.3f} → {last.exploitability:.3f}, "
            f"{mistakes}{verdict}"
        )
    return lines


def _panel(title: str, series: Mapping[str, Points], width: int) -> list[str]:
    """Draw points with their marks, and dotted lines between them, in lines of ``width`` columns and a frame.
    The scale of games is logarithmic, with 0 to the left of it."""
    games = sorted({number for points in series.values() for number, _ in points})
    logarithms = [math.log10(number) for number in games if number] or [0.0]
    low, high = logarithms[0], logarithms[-1]
    start = 3 if games[0] == 0 and games[-1] else 0

    def column(number: float) -> int:
        share = (math.log10(number) - low) / (high - low) if number and high > low else 1.0
        return start + round(share * (width - 1 - start)) if number else 0

    places = {
        mark: [(column(number), round((1 - value) * (HEIGHT - 1))) for number, value in points]
        for mark, points in series.items()
    }
    canvas = [[" "] * width for _ in range(HEIGHT)]
    for points in places.values():
        for (x1, y1), (x2, y2) in pairwise(points):
            for x in range(x1 + 1, x2):
                canvas[round(y1 + (y2 - y1) * (x - x1) / (x2 - x1))][x] = DOT
    for mark, points in places.items():
        for x, y in points:
            canvas[y][x] = mark if canvas[y][x] in (" ", DOT, mark) else BOTH

    lines = [title]
    for number, cells in enumerate(canvas):
        label = f"{1 - number / (HEIGHT - 1):4.0%}" if number % ((HEIGHT - 1) // 2) == 0 else "    "
        lines.append(f"{label} │{''.join(cells)}")
    lines.append(f"     └{'─' * width}")
    end = f"{short(games[-1])} games"
    scale = [*("0" * bool(start)).ljust(width - len(end)), *end]
    for power in range(math.ceil(low), math.floor(high) + 1):  # the powers of ten that have room
        at, label = column(10**power), short(10**power)
        if at >= start and not "".join(scale[max(at - 2, 0) : at + len(label) + 2]).strip():
            scale[at : at + len(label)] = label
    lines.append(f"      {''.join(scale)}")
    return [f"{line:<{width + 6}}"[: width + 6] for line in lines]


def short(games: int) -> str:
    """Format a number of games briefly: ``16k``, ``1.3M``."""
    for size, letter in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if games >= size:
            return f"{games / size:.3g}{letter}"
    return str(games)


def picture(curves: Mapping[str, Sequence[Sequence[Row]]], heading: str, kind: str) -> bytes:
    """Draw named curves that have a row per seed for each number of games: the median, and a band from the
    lower to the upper quartile. The same curves give the same bytes.

    :param kind: ``svg`` or ``png``.
    :raises TttError: if matplotlib is not installed.
    """
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError:
        raise TttError("pictures need matplotlib", hint="pip install matplotlib") from None
    panels = [
        (f"{title}, as {side}", measure)
        for title, measures in PANELS.items()
        for side, measure in zip("XO", measures, strict=True)
    ]
    played = [rows[0].games for looks in curves.values() for rows in looks if rows[0].games] or [1]
    with rc_context({"svg.hashsalt": "ttt", "svg.fonttype": "none", "text.parse_math": False}):
        figure = Figure(figsize=(11, 7.2), layout="constrained")
        for axes, (title, measure) in zip(figure.subplots(2, 2).flatten(), panels, strict=True):
            for number, (name, looks) in enumerate(curves.items()):
                games = [rows[0].games for rows in looks]
                found = [
                    np.quantile([getattr(row, measure) for row in rows], (0.25, 0.5, 0.75)) for rows in looks
                ]
                low, mid, high = np.transpose(found)
                color, marker = PALETTE[number % len(PALETTE)], MARKERS[number % len(MARKERS)]
                label = "\u200b" * name.startswith("_") + name  # matplotlib hides labels that start with _
                axes.fill_between(games, low, high, color=color, alpha=0.18, linewidth=0)
                axes.plot(games, mid, color=color, marker=marker, markersize=4, linewidth=1.6, label=label)
            axes.set_title(title, loc="left", fontsize=11, fontweight="bold")
            axes.set_xlabel("games")
            axes.set_xscale("symlog", linthresh=min(played), linscale=0.4)  # linear up to the first point
            axes.set_xlim(left=0, right=max(played) * 1.25)
            axes.set_ylim(-0.03, 1.03)
            axes.xaxis.set_major_formatter(
                lambda value, place: "" if 0 < value < min(played) else short(round(value))
            )
            axes.yaxis.set_major_formatter(lambda value, place: f"{value:.0%}")
            axes.grid(alpha=0.25)
            axes.spines[["top", "right"]].set_visible(False)
        figure.suptitle(heading)
        figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
        stream = io.BytesIO()
        figure.savefig(stream, format=kind, dpi=144, metadata={"Date" if kind == "svg" else "Software": None})
        return stream.getvalue()
