"""Learning curves: in plain text for the terminal, as SVG or PNG with matplotlib."""

import io
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ttt_cli.errors import TttError
from ttt_cli.store.curves import Row
from ttt_cli.training.study import Study, unbeatable_from
from ttt_cli.views.numbers import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HEIGHT = 9
"""The height of a text plot in lines, without its frame."""

MARKS = "123456789abcdefghijklmnopqrstuvwxyz"
"""The marks of several curves in one plot."""

BOTH = "*"
"""The mark for points of several curves."""

Curves = Sequence[tuple[str, Sequence[Row]]]
"""Named curves, each with at least one row."""

Series = Mapping[str, Sequence[tuple[int, float]]]
"""For each mark, its points: a number of games, and a value from 0 to 1."""


def text_plot(
    curves: Curves, width: int = 80, *, unicode: bool = True, over_seeds: bool = False
) -> list[str]:
    """Return a plot in lines of text. For one curve it shows both sides separately, against random play and
    against the worst opponent."""

    def points(value: Callable[[Row], float], of: Sequence[Row]) -> list[tuple[int, float]]:
        return [(row.games, value(row)) for row in of]

    panels: dict[str, Series]
    if len(curves) == 1:
        rows = curves[0][1]
        wins = {"X": points(lambda row: row.x_win, rows), "O": points(lambda row: row.o_win, rows)}
        losses = {"X": points(lambda row: row.worst_x, rows), "O": points(lambda row: row.worst_o, rows)}
        panels = {"wins against random, as X and as O": wins, "losses that can be forced, as X and O": losses}
    else:
        marked = [(MARKS[at % len(MARKS)], rows) for at, (_, rows) in enumerate(curves)]
        wins = {mark: points(lambda row: (row.x_win + row.o_win) / 2, rows) for mark, rows in marked}
        gaps = {mark: points(lambda row: row.exploitability, rows) for mark, rows in marked}
        panels = {"wins against random, mean": wins, "exploitability": gaps}
    beside = width >= 76
    inner = max(min((width - 15) // 2 if beside else width - 6, 60), 16)
    left, right = (_panel(title, series, inner, unicode) for title, series in panels.items())
    if beside:
        lines = [f"{a:<{inner + 6}}   {b}".rstrip() for a, b in zip(left, right, strict=True)]
    else:
        lines = [*left, "", *right]
    meeting = [f"{BOTH}  where curves meet"] if any(BOTH in line for line in lines) else []
    return [*lines, "", *_legend(curves, unicode, "all " if over_seeds else ""), *meeting]


def _legend(curves: Curves, unicode: bool, which: str) -> list[str]:
    arrow = "\u2192" if unicode else "->"
    lines = []
    for at, (name, rows) in enumerate(curves):
        first, last = rows[0], rows[-1]
        mark = f"{MARKS[at % len(MARKS)]}  {name}: " if len(curves) > 1 else ""
        verdict = f"{which}unbeatable from {unbeatable_from(rows) or 0:,} games on"
        if not last.unbeatable:
            verdict = "not all unbeatable" if which else "beatable"
        if last.unbeatable is None:
            verdict = "whether it is unbeatable is not known"
        mistakes = ""
        if first.mistakes is not None and last.mistakes is not None:
            mistakes = f"mistakes in {first.mistakes:,} {arrow} {last.mistakes:,} positions; "
        lines.append(
            f"{mark}exploitability {first.exploitability:.3f} {arrow} {last.exploitability:.3f}, "
            f"{mistakes}{verdict}"
        )
    return lines


def _panel(title: str, series: Series, width: int, unicode: bool) -> list[str]:
    """Draw a plot of ``width`` columns with its frame, in lines of the same length. The scale of games is
    logarithmic, with 0 to the left of it."""
    upright, across, corner = ("│", "─", "└") if unicode else ("|", "-", "+")
    games = sorted({number for points in series.values() for number, _ in points})
    logarithms = [math.log10(number) for number in games if number] or [0.0]
    low, high = logarithms[0], logarithms[-1]
    start = 3 if games[0] == 0 and games[-1] else 0

    def column(number: float) -> int:
        share = (math.log10(number) - low) / (high - low) if number and high > low else 1.0
        return start + round(share * (width - 1 - start)) if number else 0

    places = {
        mark: [
            (column(number), round((1 - min(max(value, 0.0), 1.0)) * (HEIGHT - 1)))
            for number, value in points
        ]
        for mark, points in series.items()
    }
    lines = [title]
    for number, cells in enumerate(_canvas(places, width, "·" if unicode else ".")):
        label = f"{1 - number / (HEIGHT - 1):4.0%}" if number % ((HEIGHT - 1) // 2) == 0 else "    "
        lines.append(f"{label} {upright}{''.join(cells)}")
    lines.append(f"     {corner}{across * width}")
    end = f"{short(games[-1])} games"
    labels = [*" " * (width - len(end)), *end]
    if start:
        labels[0] = "0"
    for power in range(math.ceil(low), math.floor(high) + 1):  # the powers of ten that have room
        at, label = column(10**power), short(10**power)
        if at >= start and not "".join(labels[max(at - 2, 0) : at + len(label) + 2]).strip():
            labels[at : at + len(label)] = label
    lines.append(f"      {''.join(labels)}")
    return [f"{line:<{width + 6}}"[: width + 6] for line in lines]


def _canvas(places: Mapping[str, Sequence[tuple[int, int]]], width: int, dot: str) -> list[list[str]]:
    """Draw points at columns and rows with their marks, and dotted lines between them."""
    canvas = [[" "] * width for _ in range(HEIGHT)]
    for points in places.values():
        for (x1, y1), (x2, y2) in pairwise(points):
            for x in range(x1 + 1, x2):
                canvas[round(y1 + (y2 - y1) * (x - x1) / (x2 - x1))][x] = dot
    for mark, points in places.items():
        for x, y in points:
            canvas[y][x] = mark if canvas[y][x] in (" ", dot, mark) else BOTH
    return canvas


def short(games: int) -> str:
    """Format a number of games briefly: ``16k``, ``1.3M``."""
    for size, letter in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if games >= size:
            return f"{games / size:.3g}{letter}"
    return str(games)


PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""The colours of Okabe and Ito, for colour-blind readers."""

MARKERS = "osD^vPX*<>"
"""Markers, to tell lines apart in black and white."""


def picture(curves: Curves, kind: str) -> bytes:
    """Draw curves in four panels, as X solid, as O dashed, mistakes within reach dotted. The same curves give
    the same bytes.

    :param kind: ``svg`` or ``png``.
    :raises TttError: if matplotlib is not installed.
    """
    panels = {
        "wins against random play": {"x_win": "-", "o_win": "--"},
        "losses that can be forced": {"worst_x": "-", "worst_o": "--"},
        "exploitability": {"exploitability": "-"},
        "mistakes": {"mistakes": "-", "reachable": ":"},
    }
    whose = curves[0][0] if len(curves) == 1 else "players"
    looks = {name: [[row] for row in rows] for name, rows in curves}
    return _drawn(looks, panels, f"How strong {whose} became by training", kind)


def study_picture(study: Study, kind: str) -> bytes:
    """Draw the settings of a study: medians over the seeds, with bands from the lower to the upper quartile.
    The same study gives the same bytes.

    :param kind: ``svg`` or ``png``.
    :raises TttError: if matplotlib is not installed.
    """
    panels = {
        "wins against random play, as X": {"x_win": "-"},
        "wins against random play, as O": {"o_win": "-"},
        "losses that can be forced, as X": {"worst_x": "-"},
        "losses that can be forced, as O": {"worst_o": "-"},
    }
    looks = {study.named(group): list(zip(*study.of(group), strict=False)) for group in study.groups}
    learners = ", ".join(dict.fromkeys(learner for learner, _ in study.calls))
    seeds = counted(max(len(study.of(group)) for group in study.groups), "seed")
    return _drawn(looks, panels, f"{learners}: median and middle half of {seeds}", kind)


def _drawn(
    curves: Mapping[str, Sequence[Sequence[Row]]],
    panels: Mapping[str, Mapping[str, str]],
    heading: str,
    kind: str,
) -> bytes:
    """Draw curves that have a row per seed for each number of games: the median, and a band for the middle
    half.

    :param panels: by title, the measures to draw, each with its line style.
    """
    with _figure() as figure:
        axes_of = dict(zip(panels, figure.subplots(2, 2).flatten(), strict=True))
        for number, (name, looks) in enumerate(curves.items()):
            label: str | None = (
                "\u200b" + name if name.startswith("_") else name
            )  # matplotlib hides labels that start with _
            color, marker = PALETTE[number % len(PALETTE)], MARKERS[number % len(MARKERS)]
            games = [rows[0].games for rows in looks]
            for axes, measures in zip(axes_of.values(), panels.values(), strict=True):
                for measure, style in measures.items():
                    found = [[getattr(row, measure) for row in rows] for rows in looks]
                    values = [np.quantile(np.array(each, float), (0.25, 0.5, 0.75)) for each in found]
                    low, mid, high = np.transpose(values)
                    if max(map(len, looks)) > 1:
                        axes.fill_between(games, low, high, color=color, alpha=0.18, linewidth=0)
                    look = {"color": color, "marker": marker, "markersize": 4, "linewidth": 1.6}
                    axes.plot(games, mid, linestyle=style, label=label, **look)
                    label = None  # once in the legend
        played = [rows[0].games for looks in curves.values() for rows in looks if rows[0].games] or [1]
        for title, axes in axes_of.items():
            _finish(axes, title, min(played), max(played))
        if "--" in panels[next(iter(panels))].values():
            first = next(iter(axes_of.values()))
            sides = [first.plot([], [], color="0.3", linestyle=style)[0] for style in ("-", "--")]
            first.legend(sides, ("as X", "as O"), frameon=False)
        figure.suptitle(heading)
        figure.legend(loc="outside lower center", ncols=4, frameon=False)
        stream = io.BytesIO()
        metadata = {"Date": None} if kind == "svg" else {"Software": None}
        figure.savefig(stream, format=kind, dpi=144, metadata=metadata)
        return stream.getvalue()


def _finish(axes: Any, title: str, first: int, last: int) -> None:
    """Set scales, grid and labels. The scale of games is linear up to ``first``, then logarithmic."""
    axes.set_xscale("symlog", linthresh=first, linscale=0.4)
    axes.set_xlim(left=0, right=last * 1.25)
    axes.set_xlabel("games")
    axes.xaxis.set_major_formatter(lambda value, place: "" if 0 < value < first else short(round(value)))
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(title, loc="left", fontsize=11, fontweight="bold")
    if title == "mistakes":
        axes.set_yscale("symlog", linthresh=1, linscale=0.4)
        axes.set_ylim(bottom=0)
        axes.set_ylabel("positions (dotted: in reach)")
        axes.yaxis.set_major_formatter(lambda value, place: f"{value:,.0f}")
    else:
        axes.set_ylim(-0.03, 1.03)
        if title != "exploitability":
            axes.yaxis.set_major_formatter(lambda value, place: f"{value:.0%}")


@contextmanager
def _figure() -> Iterator["Figure"]:
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError:
        raise TttError("pictures need matplotlib", hint="pip install matplotlib") from None
    with rc_context({"svg.hashsalt": "ttt", "svg.fonttype": "none", "text.parse_math": False}):
        yield Figure(figsize=(11, 7.2), layout="constrained")
