"""Learning curves as pictures: small ones for the terminal in plain text, others (SVG, PNG) by matplotlib."""

import io
import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
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
"""Lines of a plot in the terminal, without its frame."""

MARKS = "123456789abcdefghijklmnopqrstuvwxyz"
"""What the points of several curves are drawn with."""

BOTH = "*"
"""Where points of two curves meet."""

Curves = Sequence[tuple[str, Sequence[Row]]]
"""Curves and what to call them; each has at least one row."""


@dataclass(frozen=True)
class Series:
    """A line in a plot: pairs of games and a number from 0 to 1, drawn with ``mark``."""

    mark: str
    points: Sequence[tuple[int, float]]


def text_plot(
    curves: Curves, width: int = 80, *, unicode: bool = True, over_seeds: bool = False
) -> list[str]:
    """The lines of a plot for the terminal. One curve: against random play and against the worst opponent, as
    X and as O; several: side by side."""
    if len(curves) == 1:
        rows = curves[0][1]
        left = _sides("wins against random, as X and as O", rows, "x_win", "o_win")
        right = _sides("losses that can be forced, as X and O", rows, "worst_x", "worst_o")
    else:
        wins = [[(row.games, (row.x_win + row.o_win) / 2) for row in rows] for _, rows in curves]
        gains = [[(row.games, row.exploitability) for row in rows] for _, rows in curves]
        marks = [MARKS[at % len(MARKS)] for at in range(len(curves))]
        left = "wins against random, mean", list(map(Series, marks, wins))
        right = "exploitability", list(map(Series, marks, gains))
    beside = width >= 76
    inner = (width - 15) // 2 if beside else width - 6
    inner = max(min(inner, 60), 16)
    plots = [_panel(title, series, inner, unicode) for title, series in (left, right)]
    lines = (
        [f"{a:<{inner + 6}}   {b}".rstrip() for a, b in zip(*plots, strict=True)]
        if beside
        else [*plots[0], "", *plots[1]]
    )
    meeting = [f"{BOTH}  where curves meet"] if any(BOTH in line for line in lines) else []
    return [*lines, "", *_legend(curves, unicode, "all " if over_seeds else ""), *meeting]


def _sides(title: str, rows: Iterable[Row], x: str, o: str) -> tuple[str, list[Series]]:
    pairs = [(row.games, getattr(row, x), getattr(row, o)) for row in rows]
    return title, [
        Series("X", [(games, as_x) for games, as_x, _ in pairs]),
        Series("O", [(games, as_o) for games, _, as_o in pairs]),
    ]


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


def _panel(title: str, series: Sequence[Series], width: int, unicode: bool) -> list[str]:
    """A plot of ``width`` columns with its frame: lines of the same length."""
    dot, upright, across, corner = ("·", "│", "─", "└") if unicode else (".", "|", "-", "+")
    games = sorted({number for line in series for number, _ in line.points})
    span = _Span(games, width)
    canvas = [[" "] * width for _ in range(HEIGHT)]
    for line in series:  # what lies between two looks
        places = [(span.column(number), _row_of(value)) for number, value in line.points]
        for (x1, y1), (x2, y2) in pairwise(places):
            for x in range(x1 + 1, x2):
                canvas[round(y1 + (y2 - y1) * (x - x1) / (x2 - x1))][x] = dot
    drawn: dict[tuple[int, int], str] = {}
    for line in series:
        for number, value in line.points:
            place = _row_of(value), span.column(number)
            drawn[place] = line.mark if drawn.get(place, line.mark) == line.mark else BOTH
    for (y, x), mark in drawn.items():
        canvas[y][x] = mark
    lines = [f"{title:<{width + 6}}"[: width + 6]]
    for number, cells in enumerate(canvas):
        share = 1 - number / (HEIGHT - 1)
        label = f"{share:4.0%}" if number % ((HEIGHT - 1) // 2) == 0 else "    "
        lines.append(f"{label} {upright}{''.join(cells)}")
    lines.append(f"     {corner}{across * width}")
    lines.append(f"      {span.labels()}")
    return [f"{line:<{width + 6}}" for line in lines]


def _row_of(value: float) -> int:
    return round((1 - min(max(value, 0.0), 1.0)) * (HEIGHT - 1))


class _Span:
    """Numbers of games as columns, by their logarithm; 0, the state before the run, stands before all."""

    def __init__(self, games: Sequence[int], width: int) -> None:
        self.width = width
        self.end = games[-1]
        positive = [number for number in games if number > 0]
        self.low = math.log10(positive[0]) if positive else 0.0
        self.high = math.log10(positive[-1]) if positive else 0.0
        self.start = 3 if games[0] == 0 and positive else 0

    def column(self, games: int) -> int:
        if games == 0:
            return 0
        share = (math.log10(games) - self.low) / (self.high - self.low) if self.high > self.low else 1.0
        return self.start + round(share * (self.width - 1 - self.start))

    def labels(self) -> str:
        """Under the columns: 0, powers of ten as far as they have room, and the end."""
        end = f"{short(self.end)} games"
        line = [" "] * self.width
        line[self.width - len(end) :] = end
        if self.start:
            line[0] = "0"
        for power in range(math.ceil(self.low), math.floor(self.high) + 1):
            label = short(10**power)
            at = self.column(10**power)
            if all(char == " " for char in line[max(at - 2, 0) : at + len(label) + 2]) and at >= self.start:
                line[at : at + len(label)] = label
        return "".join(line)[: self.width]


def short(games: int) -> str:
    """A number of games in a few letters: ``16k``, ``1.3M``."""
    for size, letter in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if games >= size:
            return f"{games / size:.3g}{letter}"
    return str(games)


PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's colours, which the colour-blind tell apart."""

MARKERS = "osD^vPX*<>"
"""With the colours, what tells lines apart in black and white."""


def picture(curves: Curves, kind: str) -> bytes:
    """The curves as one picture, ``svg`` or ``png``: four panels, a colour and a marker each; as X drawn
    through, as O dashed; dotted: mistakes in reach. The same curves give the same bytes.

    :raises TttError: if matplotlib is not installed.
    """
    measures = {
        "wins against random play": {"x_win": "-", "o_win": "--"},
        "losses that can be forced": {"worst_x": "-", "worst_o": "--"},
        "exploitability": {"exploitability": "-"},
        "mistakes": {"mistakes": "-", "reachable": ":"},
    }
    with _figure() as figure:
        panels = figure.subplots(2, 2).flatten()
        for number, (name, rows) in enumerate(curves):
            label = "\u200b" + name if name.startswith("_") else name  # a leading _ means: not in the legend
            games = [row.games for row in rows]
            for axes, (title, styles) in zip(panels, measures.items(), strict=True):
                for measure, style in styles.items():
                    found = (getattr(row, measure) for row in rows)
                    values = [math.nan if value is None else value for value in found]
                    own = label if title == "exploitability" else None
                    axes.plot(games, values, linestyle=style, label=own, **_look(number))
        sides = [panels[0].plot([], [], color="0.3", linestyle=style)[0] for style in ("-", "--")]
        panels[0].legend(sides, ("as X", "as O"), frameon=False)
        whose = curves[0][0] if len(curves) == 1 else "players"
        every = [row.games for _, rows in curves for row in rows]
        return _finished(figure, kind, f"How strong {whose} became by training", list(measures), every)


def study_picture(study: Study, kind: str) -> bytes:
    """A study as one picture, ``svg`` or ``png``: for each setting the median over the seeds, and a band from
    the lower to the upper quartile. The same study gives the same bytes.

    :raises TttError: if matplotlib is not installed.
    """
    measures = {
        "wins against random play, as X": "x_win",
        "wins against random play, as O": "o_win",
        "losses that can be forced, as X": "worst_x",
        "losses that can be forced, as O": "worst_o",
    }
    every: list[int] = []
    with _figure() as figure:
        panels = figure.subplots(2, 2).flatten()
        for number, group in enumerate(study.groups):
            looks = list(zip(*study.of(group), strict=False))
            games = [each[0].games for each in looks]
            every += games
            for axes, measure in zip(panels, measures.values(), strict=True):
                values = [[getattr(row, measure) for row in each] for each in looks]
                low, mid, high = np.quantile(values, (0.25, 0.5, 0.75), axis=1)
                look = _look(number)
                axes.fill_between(games, low, high, color=look["color"], alpha=0.18, linewidth=0)
                axes.plot(games, mid, label=study.named(group) if measure == "x_win" else None, **look)
        learners = ", ".join(dict.fromkeys(learner for learner, _ in study.calls))
        seeds = max(len(study.of(group)) for group in study.groups)
        title = f"{learners}: median and middle half of {counted(seeds, 'seed')}"
        return _finished(figure, kind, title, list(measures), every)


def _look(number: int) -> dict[str, Any]:
    """How the lines of one curve are told from those of others."""
    color, marker = PALETTE[number % len(PALETTE)], MARKERS[number % len(MARKERS)]
    return {"color": color, "marker": marker, "markersize": 4, "linewidth": 1.6}


@contextmanager
def _figure() -> Iterator["Figure"]:
    """An empty picture.

    :raises TttError: if matplotlib is not installed.
    """
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError:
        raise TttError("pictures need matplotlib", hint="pip install matplotlib") from None
    with rc_context({"svg.hashsalt": "ttt", "svg.fonttype": "none", "text.parse_math": False}):
        yield Figure(figsize=(11, 7.2), layout="constrained")


def _finished(
    figure: "Figure", kind: str, heading: str, titles: Sequence[str], games: Sequence[int]
) -> bytes:
    """The picture with its scales, grids and labels. 0 games have a place before the logarithm begins."""
    played = [number for number in games if number] or [1]
    first = min(played)
    for axes, title in zip(figure.axes, titles, strict=True):
        axes.set_xscale("symlog", linthresh=first, linscale=0.4)
        axes.set_xlim(left=0, right=max(played) * 1.25)
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
    figure.suptitle(heading)
    figure.legend(loc="outside lower center", ncols=4, frameon=False)
    stream = io.BytesIO()
    metadata = {"Date": None} if kind == "svg" else {"Software": None}
    figure.savefig(stream, format=kind, dpi=144, metadata=metadata)
    return stream.getvalue()
