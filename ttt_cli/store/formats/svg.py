"""``svg``: the graph of positions as a picture: boards ply by ply, filled by score, and the moves."""

from collections.abc import Iterator
from xml.sax.saxutils import escape

import numpy as np

from ttt_cli.engine.arrays import Int64s
from ttt_cli.engine.rules import Rules
from ttt_cli.errors import UsageError
from ttt_cli.store.formats.format import ExportOptions, ExportSource, Format
from ttt_cli.store.formats.position_graph import PositionGraph, color_of, printable

MOST_BOARDS = 20_000
"""Larger pictures are refused: no viewer shows them."""
CELL, GAP, TEXT, AIR, MARGIN = 14, 16, 15, 64, 46
"""Pixels: the side of a cell, and what is left free beside a board, below it for its score, between two plies
for the moves, and around everything."""
A_ROW = 36
"""Boards beside each other before a ply goes on in the next row."""


def svg(graph: PositionGraph, name: str) -> Iterator[bytes]:
    """The picture, for any viewer: no script, no fonts, no references to the outside.

    Moves that the agent plays are solid, and the darker the likelier; others are dotted.

    :raises UsageError: if there are too many boards for a picture.
    """
    if len(graph.nodes) > MOST_BOARDS:
        raise UsageError(
            f"a picture of {len(graph.nodes):,} boards is too large for any viewer",
            hint=f"--depth 2, or --from a later position: at most {MOST_BOARDS:,} boards",
        )
    rules = graph.policy.rules
    width, height = rules.cols * CELL, rules.rows * CELL
    x, y, tops, size = _layout(graph, width, height)
    title = printable(f"{name}: {len(graph.nodes):,} positions, filled by {graph.scores.meaning}")
    heading = escape(title)
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size[0]} {size[1]}" '
        f'width="{size[0]}" height="{size[1]}" font-family="system-ui, sans-serif" role="img">\n'
        f"<title>{heading}</title>\n"
        f"<desc>Blue (+, X): good for X; orange (-, O): for O; white: even; grey (?): no opinion.</desc>\n"
        f'<rect width="100%" height="100%" fill="#ffffff"/>\n'
        f'<text x="{MARGIN}" y="22" font-size="13" font-weight="600" fill="#10161d">{heading}</text>\n'
        f'{_legend()}\n{_symbols(rules)}\n<g fill="none" stroke="#3d4a5a">\n'
    ).encode()
    for start, _, end, probability in sorted(graph.moves(), key=lambda move: move[3]):  # likely ones on top
        x1, x2, y1, y2 = x[start] + width // 2, x[end] + width // 2, y[start] + height + TEXT + 2, y[end]
        middle = (y1 + y2) // 2
        look = (
            f'stroke-width="{0.8 + 1.4 * probability:.1f}" stroke-opacity="{0.35 + 0.65 * probability:.2f}"'
            if probability > 0
            else 'stroke-width="0.7" stroke-opacity="0.35" stroke-dasharray="1.5 3"'
        )
        yield f'<path d="M{x1} {y1}C{x1} {middle} {x2} {middle} {x2} {y2}" {look}/>\n'.encode()
    yield b'</g>\n<g font-size="10" text-anchor="middle">\n'
    for index, text, score, (fill, ink) in graph.boards():
        stones = "".join(
            f'<use href="#{stone.lower()}" x="{cell % rules.cols * CELL}" y="{cell // rules.cols * CELL}" '
            f'stroke="{ink}"/>'
            for cell, stone in enumerate(text)
            if stone != "."
        )
        yield (
            f'<g transform="translate({x[index]} {y[index]})"><title>{text} {score}</title>'
            f'<rect width="{width}" height="{height}" rx="3" fill="{fill}" stroke="#59626f"/>'
            f'<use href="#grid" stroke="{ink}"/>{stones}'
            f'<text x="{width / 2:g}" y="{height + 12}" fill="#10161d">{score}</text></g>\n'
        ).encode()
    yield b'</g>\n<g font-size="11" fill="#59626f" text-anchor="end">\n'
    for ply, top in tops.items():
        yield f'<text x="{MARGIN - 14}" y="{top + height // 2 + 4}">{ply}</text>\n'.encode()
    yield b"</g>\n</svg>\n"


def _layout(
    graph: PositionGraph, width: int, height: int
) -> tuple[Int64s, Int64s, dict[int, int], tuple[int, int]]:
    """Where each board's top left corner is, int64[n] each; the top of each ply; the size of the picture.

    A ply's boards are ordered by the middle of the boards they follow from, so that few moves cross.
    """
    space = graph.policy.space
    plies = space.plies[graph.nodes]
    by_ply = {int(ply): graph.nodes[plies == ply] for ply in np.unique(plies)}
    widest = max(min(len(nodes), A_ROW) for nodes in by_ply.values())
    inner = max(widest * (width + GAP) - GAP, 480)
    x, y, tops, top = np.zeros(len(space), np.int64), np.zeros(len(space), np.int64), {}, 72
    moves = np.maximum(np.bincount(graph.ends, minlength=len(space)), 1)
    for ply, unordered in by_ply.items():
        middles = np.bincount(graph.ends, x[graph.starts], len(space)) / moves
        nodes = unordered[np.lexsort((-unordered, middles[unordered]))]
        tops[ply] = top
        for first in range(0, len(nodes), A_ROW):
            row = nodes[first : first + A_ROW]
            left = MARGIN + (inner - (len(row) * (width + GAP) - GAP)) // 2
            x[row], y[row] = left + np.arange(len(row)) * (width + GAP), top
            top += height + TEXT + 8
        top += AIR - 8
    return x, y, tops, (inner + 2 * MARGIN, top - AIR + 16)


def _symbols(rules: Rules) -> str:
    """The parts of every board."""
    lines = "".join(f"M{at * CELL} 2V{rules.rows * CELL - 2}" for at in range(1, rules.cols))
    lines += "".join(f"M2 {at * CELL}H{rules.cols * CELL - 2}" for at in range(1, rules.rows))
    far = CELL - 4
    return (
        f'<defs><path id="grid" d="{lines}" fill="none" stroke-opacity="0.35"/>'
        f'<path id="x" d="M4 4L{far} {far}M{far} 4L4 {far}" fill="none" stroke-width="1.8" '
        'stroke-linecap="round"/>'
        f'<circle id="o" cx="{CELL / 2:g}" cy="{CELL / 2:g}" r="{CELL / 2 - 3.6:g}" fill="none" '
        'stroke-width="1.8"/></defs>'
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
    return "".join(boxes)


class Svg(Format):
    """The graph as a picture."""

    name = "svg"
    about = "the graph of positions as a picture"
    written = True
    endings = (".svg",)
    options = ("--from", "--depth")

    def write(self, player: ExportSource, wanted: ExportOptions) -> Iterator[bytes]:
        """The graph of a player."""
        return svg(PositionGraph.wanted(player, wanted), player.name)
