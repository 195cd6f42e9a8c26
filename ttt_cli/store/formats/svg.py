"""``svg``: the graph of positions as a picture: boards ply by ply, filled by score, and the moves."""

from collections.abc import Iterator
from itertools import groupby
from xml.sax.saxutils import escape

import numpy as np

from ttt_cli.engine.arrays import Int64s
from ttt_cli.engine.rules import Rules
from ttt_cli.errors import UsageError
from ttt_cli.store.formats.format import ExportOptions, ExportSource, Format
from ttt_cli.store.formats.position_graph import OPTIONS, PositionGraph, color_of

MOST_BOARDS = 20_000
"""Larger pictures are refused: no viewer shows them."""

CELL = 14
GAP = 16
"""Pixels: the side of a cell, and what is left free beside a board."""

TEXT = 15
"""Pixels below a board, for its score."""

AIR = 64
"""Pixels between two plies, for the moves."""

MARGIN = 46
A_ROW = 36
"""Boards beside each other before a ply goes on in the next row."""


def svg(graph: PositionGraph, name: str) -> Iterator[bytes]:
    """The picture, for any viewer: no script, no fonts, no references to the outside.

    Moves that the agent plays are solid, and the darker the likelier; others are dotted.

    :raises UsageError: if there are too many boards for a picture.
    """
    space = graph.policy.space
    if len(graph.nodes) > MOST_BOARDS:
        raise UsageError(
            f"a picture of {len(graph.nodes):,} boards is too large for any viewer",
            hint=f"--depth 2, or --from a later position: at most {MOST_BOARDS:,} boards",
        )
    cols, rows = space.rules.cols, space.rules.rows
    width, height = cols * CELL, rows * CELL
    places, plies, size = _layout(graph, width, height)
    texts = graph.texts()
    heading = _escaped(f"{name}: {len(graph.nodes):,} positions, filled by {graph.scores.meaning}")
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size[0]} {size[1]}" '
        f'width="{size[0]}" height="{size[1]}" font-family="system-ui, sans-serif" role="img">\n'
        f"<title>{heading}</title>\n"
        f"<desc>Blue (+, X): good for X; orange (-, O): for O; white: even; grey (?): no opinion.</desc>\n"
        f'<rect width="100%" height="100%" fill="#ffffff"/>\n'
        f'<text x="{MARGIN}" y="22" font-size="13" font-weight="600" fill="#10161d">{heading}</text>\n'
    ).encode()
    yield _legend().encode()
    yield _symbols(cols, rows).encode()
    yield b'<g fill="none" stroke="#3d4a5a">\n'
    yield from _moves(graph, places, width, height)
    yield b'</g>\n<g font-size="10" text-anchor="middle">\n'
    levels = graph.scores.levels
    for index in graph.nodes.tolist():
        score = graph.scores.text(index)
        yield _board(texts[index], space.rules, places[index], float(levels[index]), score).encode()
    yield b'</g>\n<g font-size="11" fill="#59626f" text-anchor="end">\n'
    for ply, top in plies.items():
        middle = top + height // 2
        yield f'<text x="{MARGIN - 14}" y="{middle + 4}">{ply}</text>\n'.encode()
    yield b"</g>\n</svg>\n"


def _layout(
    graph: PositionGraph, width: int, height: int
) -> tuple[dict[int, tuple[int, int]], dict[int, int], tuple[int, int]]:
    """Where each board's top left corner is, the top of each ply, and the size of the picture.

    A ply's boards are ordered by the middle of the boards they follow from, so that few moves cross.
    """
    space = graph.policy.space
    parents: dict[int, list[int]] = {}
    for start, end in zip(graph.starts.tolist(), graph.ends.tolist(), strict=True):
        parents.setdefault(end, []).append(start)
    by_ply = {
        ply: list(nodes)
        for ply, nodes in groupby(graph.nodes.tolist(), key=lambda node: int(space.plies[node]))
    }
    widest = max(min(len(nodes), A_ROW) for nodes in by_ply.values())
    inner = max(widest * (width + GAP) - GAP, 480)
    places: dict[int, tuple[int, int]] = {}
    tops = {}
    top = 72
    for ply, nodes in by_ply.items():
        middles = {
            node: float(np.mean([places[start][0] for start in parents[node]])) if node in parents else 0.0
            for node in nodes
        }
        nodes.sort(key=lambda node: (middles[node], -node))
        tops[ply] = top
        for first in range(0, len(nodes), A_ROW):
            row = nodes[first : first + A_ROW]
            left = MARGIN + (inner - (len(row) * (width + GAP) - GAP)) // 2
            for at, node in enumerate(row):
                places[node] = (left + at * (width + GAP), top)
            top += height + TEXT + 8
        top += AIR - 8
    return places, tops, (inner + 2 * MARGIN, top - AIR + 16)


def _moves(
    graph: PositionGraph, places: dict[int, tuple[int, int]], width: int, height: int
) -> Iterator[bytes]:
    """A curve for each move; the likely ones last, so that they lie on top."""
    probabilities = graph.policy.played[graph.starts, graph.cells]
    order: Int64s = np.argsort(probabilities, kind="stable")
    for at in order.tolist():
        probability = float(probabilities[at])
        x1, y1 = places[int(graph.starts[at])]
        x2, y2 = places[int(graph.ends[at])]
        x1, x2 = x1 + width // 2, x2 + width // 2
        y1 += height + TEXT + 2
        middle = (y1 + y2) // 2
        look = (
            f'stroke-width="{0.8 + 1.4 * probability:.1f}" stroke-opacity="{0.35 + 0.65 * probability:.2f}"'
            if probability > 0
            else 'stroke-width="0.7" stroke-opacity="0.35" stroke-dasharray="1.5 3"'
        )
        yield f'<path d="M{x1} {y1}C{x1} {middle} {x2} {middle} {x2} {y2}" {look}/>\n'.encode()


def _board(text: str, rules: Rules, place: tuple[int, int], level: float, score: str) -> str:
    """One board with its stones and, below, its score."""
    x, y = place
    width, height = rules.cols * CELL, rules.rows * CELL
    fill, ink = color_of(level)
    stones = "".join(
        f'<use href="#{stone.lower()}" x="{column * CELL}" y="{row * CELL}" stroke="{ink}"/>'
        for (row, column), stone in ((divmod(cell, rules.cols), stone) for cell, stone in enumerate(text))
        if stone != "."
    )
    return (
        f'<g transform="translate({x} {y})"><title>{text} {score}</title>'
        f'<rect width="{width}" height="{height}" rx="3" fill="{fill}" stroke="#59626f"/>'
        f'<use href="#grid" stroke="{ink}"/>{stones}'
        f'<text x="{width / 2:g}" y="{height + 12}" fill="#10161d">{score}</text></g>\n'
    )


def _symbols(cols: int, rows: int) -> str:
    """The parts of every board."""
    lines = "".join(f"M{at * CELL} 2V{rows * CELL - 2}" for at in range(1, cols))
    lines += "".join(f"M2 {at * CELL}H{cols * CELL - 2}" for at in range(1, rows))
    far = CELL - 4
    return (
        f'<defs><path id="grid" d="{lines}" fill="none" stroke-opacity="0.35"/>'
        f'<path id="x" d="M4 4L{far} {far}M{far} 4L4 {far}" fill="none" stroke-width="1.8" '
        'stroke-linecap="round"/>'
        f'<circle id="o" cx="{CELL / 2:g}" cy="{CELL / 2:g}" r="{CELL / 2 - 3.6:g}" fill="none" '
        'stroke-width="1.8"/></defs>\n'
    )


def _legend() -> str:
    """The colours from O's to X's, with their signs."""
    boxes = []
    for at, (level, sign) in enumerate(((-1.0, "O"), (-0.5, "-"), (0.0, "0"), (0.5, "+"), (1.0, "X"))):
        fill, ink = color_of(level)
        boxes.append(
            f'<rect x="{MARGIN + at * 26}" y="32" width="26" height="17" fill="{fill}" stroke="#59626f"/>'
            f'<text x="{MARGIN + at * 26 + 13}" y="45" font-size="11" text-anchor="middle" fill="{ink}">'
            f"{sign}</text>"
        )
    return "".join(boxes) + "\n"


def _escaped(text: str) -> str:
    """Text for SVG; characters that XML lacks are left out."""
    return escape("".join(char if char.isprintable() else " " for char in text))


class Svg(Format):
    """The graph as a picture."""

    name = "svg"
    about = "the graph of positions as a picture"
    written = True
    endings = (".svg",)
    options = OPTIONS

    def write(self, player: ExportSource, wanted: ExportOptions) -> Iterator[bytes]:
        """The graph of a player."""
        return svg(PositionGraph.wanted(player, wanted), player.name)
