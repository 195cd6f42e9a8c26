"""``dot`` and ``svg``: the graph of positions with their scores, for Graphviz and as a picture.

Nodes are positions, edges the moves that the player knows (all moves, if it needs no experience). Moves that
it plays are solid, others dotted; a board is filled by its score, which is also written below it.
"""

from collections.abc import Iterator
from itertools import groupby
from math import isnan
from typing import NamedTuple
from xml.sax.saxutils import escape

import numpy as np

from ttt_cli.engine.arrays import Bools, Floats, Int64s
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.scores import solve
from ttt_cli.store.formats.format import ExportSource, Format
from ttt_cli.store.formats.policies import FilePolicy

CELL = 14  # pixels: the side of a cell
BOARD_GAP = 16  # between boards
SCORE_HEIGHT = 15  # of the text below a board
PLY_GAP = 64  # between plies, for the moves
MARGIN = 46
MAX_IN_ROW = 36  # boards of a ply


class Board(NamedTuple):
    """A position of a graph as it is shown; ``node`` is its index in the state space."""

    node: int
    text: str
    score: str
    fill: str
    ink: str


class Move(NamedTuple):
    """An edge of a graph: the indexes of the positions before and after a move, and its cell from 1."""

    start: int
    cell: int
    end: int
    probability: float


class PositionGraph:
    """The positions within some plies of a start, or all that the player knows, and the moves between them.

    :ivar nodes: int64[k], indexes in the state space, ascending: by plies, then text.
    :ivar starts: int64[m], the index of the position before each move; ``ends``: after it.
    :ivar cells: int64[m], the cell of each move.
    :ivar scores: float64[n], the values of positions to X, NaN: none.
    :ivar scale: the scores of a lost and of a won position.
    :ivar meaning: a description of the scores.
    """

    def __init__(self, player: ExportSource) -> None:
        self.policy = policy = player.table
        self.scores, self.scale, self.meaning = _scores(player)
        space = policy.space
        moves = space.legal if policy.worth is None else space.legal & ~np.isnan(policy.worth)
        moves = moves if policy.learned is None else moves & policy.learned[:, None]
        reached: Bools
        if player.start is None:
            first = 0
            reached = np.any(moves, axis=1)
        else:
            first = space.index_of[player.start.text]
            reached = np.zeros(len(space), np.bool_)
        reached[first] = True
        if player.depth is not None:
            last = int(space.plies[first]) + player.depth
            moves = moves & (space.plies < last)[:, None]
            reached[space.plies > last] = False
        for layer in space.layers:
            at, cells = np.nonzero(moves[layer] & reached[layer, None])
            reached[space.successors[layer.start + at, cells]] = True
        self.nodes = np.flatnonzero(reached)
        self.starts, self.cells = np.nonzero(moves & reached[:, None])
        self.ends = space.successors[self.starts, self.cells]

    def boards(self) -> Iterator[Board]:
        """The positions. A sign, or X or O, in the score says whom it favours, since colour alone is not
        enough."""
        low, high = self.scale
        levels = np.clip((2 * self.scores - low - high) / (high - low), -1.0, 1.0)
        for index in self.nodes.tolist():
            score, level = float(self.scores[index]), float(levels[index])
            if isnan(score):
                shown = "?"
            elif self.scale == (-1.0, 1.0):
                shown = f"{score:+.2f}" if score else "0"
            elif level > 0:
                shown = f"{score:.2f} X"
            elif level < 0:
                shown = f"{score:.2f} O"
            else:
                shown = f"{score:.2f}"
            yield Board(index, self.policy.space.text(index), shown, *color_of(level))

    def moves(self) -> Iterator[Move]:
        probabilities = self.policy.played[self.starts, self.cells]
        columns = self.starts, self.cells + 1, self.ends, probabilities
        return map(Move, *(column.tolist() for column in columns))


def _scores(player: ExportSource) -> tuple[Floats, tuple[float, float], str]:
    """The scores, scale and meaning of a player's positions: the graph machine's own scores, else the largest
    value of the moves, or for a player without such values, or in unknown units, the values of the game."""
    policy, state = player.table, player.state
    space = policy.space
    own_scores = state.learner.position_scores(state.table, space) if state else None
    if state and own_scores is not None:
        return own_scores, (-1.0, 1.0), f"the {state.learner.name} machine's own score for X"
    scale = state.learner.value_scale if state else (-1.0, 1.0)
    if (state and state.plays) or isinstance(player.policy, FilePolicy):
        scale = None  # the units are those of another program or player
    if policy.worth is None or scale is None:
        why = "scores no positions" if policy.worth is None else "has no scores on a known scale"
        perfect = (np.sign(solve(space)) * space.movers).astype(np.float64)
        return perfect, (-1.0, 1.0), f"the value of the game for X, since the agent {why}"
    largest = np.where(space.legal & ~np.isnan(policy.worth), policy.worth, -np.inf).max(axis=1)
    low, high = scale
    scores = np.where(np.isinf(largest), np.nan, np.where(space.movers > 0, largest, low + high - largest))
    scores[space.terminal] = ((low + high) / 2 + space.results * (high - low) / 2)[space.terminal]
    return scores + 0.0, scale, "the largest value of the agent's moves, for X"


def color_of(level: float) -> tuple[str, str]:
    """Fill and ink for a score from -1 (O: orange) over 0 (white) to +1 (X: blue); grey for none."""
    if np.isnan(level):
        return "#d9dce1", "#1c232d"
    deep = (0x1F, 0x6F, 0xC4) if level > 0 else (0xD9, 0x6A, 0x0B)
    share = abs(level) ** 0.8 * 0.92
    red, green, blue = (round(255 + (part - 255) * share) for part in deep)
    return f"#{red:02x}{green:02x}{blue:02x}", "#ffffff" if abs(level) > 0.75 and level > 0 else "#10161d"


class Dot(Format):
    name = "dot"
    about = "the graph of positions, for Graphviz"
    suffixes = (".dot", ".gv")
    options = ("--from", "--depth")

    def write(self, player: ExportSource) -> Iterator[bytes]:
        """A rank for each ply."""
        graph = PositionGraph(player)
        plies, cols = graph.policy.space.plies, graph.policy.rules.cols
        texts = dict[int, str]()  # by index
        title = f"{player.name}: {graph.meaning}".replace("\\", "\\\\").replace('"', '\\"')
        yield (
            f'digraph positions {{\n  graph [label="{title}", labelloc=t, ranksep=0.6, nodesep=0.15];\n'
            '  node [shape=box, style="filled,rounded", fontname="monospace", fontsize=10, '
            'margin="0.08,0.05"];\n'
            '  edge [arrowsize=0.5, color="#59626f", fontname="sans-serif", fontsize=8];\n'
        ).encode()
        for _, boards in groupby(graph.boards(), lambda board: plies[board.node]):
            yield b"  {\n    rank=same;\n"
            for index, text, score, fill, ink in boards:
                texts[index] = text
                rows = [" ".join(text[at : at + cols]) for at in range(0, len(text), cols)]
                label = "\\n".join([*rows, score])
                yield f'    "{text}" [label="{label}", fillcolor="{fill}", fontcolor="{ink}"];\n'.encode()
            yield b"  }\n"
        for start, cell, end, probability in graph.moves():
            style = "solid" if probability > 0 else "dotted"
            yield f'  "{texts[start]}" -> "{texts[end]}" [label="{cell}", style={style}];\n'.encode()
        yield b"}\n"


class Svg(Format):
    """The graph as a picture: boards ply by ply, filled by score, and the moves."""

    name = "svg"
    about = "the graph of positions as a picture"
    suffixes = (".svg",)
    options = ("--from", "--depth")

    def write(self, player: ExportSource) -> Iterator[bytes]:
        """For any viewer: no script, no fonts, no external references. Likelier moves are darker."""
        graph = PositionGraph(player)
        rules = graph.policy.rules
        width, height = rules.cols * CELL, rules.rows * CELL
        heading = escape(f"{player.name}: {len(graph.nodes):,} positions")
        layout = _layout(graph)
        x, y = layout.x, layout.y
        yield _before_boards(rules, heading, escape(graph.meaning), *layout.size).encode()
        by_likelihood = sorted(graph.moves(), key=lambda move: move.probability)  # likely ones on top
        for start, _, end, likely in by_likelihood:
            x1, x2 = x[start] + width // 2, x[end] + width // 2
            y1, y2 = y[start] + height + SCORE_HEIGHT + 2, y[end]
            middle = (y1 + y2) // 2
            look = f'stroke-width="{0.8 + 1.4 * likely:.1f}" stroke-opacity="{0.35 + 0.65 * likely:.2f}"'
            if not likely:
                look = 'stroke-width="0.7" stroke-opacity="0.35" stroke-dasharray="1.5 3"'
            yield f'<path d="M{x1} {y1}C{x1} {middle} {x2} {middle} {x2} {y2}" {look}/>\n'.encode()
        yield b'</g>\n<g font-size="10" text-anchor="middle">\n'
        for index, text, score, fill, ink in graph.boards():
            stones = "".join(
                f'<use href="#{stone.lower()}" x="{cell % rules.cols * CELL}" '
                f'y="{cell // rules.cols * CELL}" stroke="{ink}"/>'
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
        for ply, top in layout.tops.items():
            yield f'<text x="{MARGIN - 14}" y="{top + height // 2 + 4}">{ply}</text>\n'.encode()
        yield b"</g>\n</svg>\n"


def _before_boards(rules: Rules, heading: str, meaning: str, width: int, height: int) -> str:
    """The title, the legend of colours, and the definitions of grid and stones."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="ttt" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="system-ui, sans-serif" role="img">\n<title>{heading}</title>\n'
        "<desc>Blue (+, X): good for X; orange (-, O): for O; white: even; grey (?): no opinion.</desc>\n"
        "<style>.ttt g text{paint-order:stroke;stroke:#fff;stroke-width:3px}</style>\n"  # values above edges
        '<rect width="100%" height="100%" fill="#ffffff"/>\n'
        f'<text x="{MARGIN}" y="22" font-size="13" font-weight="600" fill="#10161d">{heading}</text>\n'
        f'<text x="{MARGIN + 142}" y="45" font-size="11" fill="#10161d">{meaning}</text>\n'
    ]
    for at, (level, sign) in enumerate(((-1.0, "O"), (-0.5, "-"), (0.0, "0"), (0.5, "+"), (1.0, "X"))):
        left = MARGIN + at * 26
        fill, ink = color_of(level)
        parts.append(
            f'<rect x="{left}" y="32" width="26" height="17" fill="{fill}" stroke="#59626f"/>'
            f'<text x="{left + 13}" y="45" font-size="11" text-anchor="middle" fill="{ink}">{sign}</text>'
        )
    far = CELL - 4
    lines = [f"M{at * CELL} 2V{rules.rows * CELL - 2}" for at in range(1, rules.cols)]
    lines += [f"M2 {at * CELL}H{rules.cols * CELL - 2}" for at in range(1, rules.rows)]
    parts.append(
        f'\n<defs><path id="grid" d="{"".join(lines)}" fill="none" stroke-opacity="0.35"/>'
        f'<path id="x" d="M4 4L{far} {far}M{far} 4L4 {far}" fill="none" stroke-width="1.8" '
        f'stroke-linecap="round"/><circle id="o" cx="{CELL / 2:g}" cy="{CELL / 2:g}" '
        f'r="{CELL / 2 - 3.6:g}" fill="none" stroke-width="1.8"/></defs>\n'
        '<g fill="none" stroke="#3d4a5a">\n'
    )
    return "".join(parts)


class _Layout(NamedTuple):
    """The places of boards in a picture.

    :ivar x: int64[n], the left of each board; ``y``: its top.
    :ivar tops: the top of each ply.
    :ivar size: width and height of the picture.
    """

    x: Int64s
    y: Int64s
    tops: dict[int, int]
    size: tuple[int, int]


def _layout(graph: PositionGraph) -> _Layout:
    """Place the boards: in a ply by the mean position of their predecessors, so that few edges cross."""
    space, rules = graph.policy.space, graph.policy.rules
    width, height = rules.cols * CELL, rules.rows * CELL
    plies = space.plies[graph.nodes]
    by_ply = {int(ply): graph.nodes[plies == ply] for ply in np.unique(plies)}
    widest = max(min(len(nodes), MAX_IN_ROW) for nodes in by_ply.values())
    inner = max(widest * (width + BOARD_GAP) - BOARD_GAP, 480)
    x, y = np.zeros(len(space), np.int64), np.zeros(len(space), np.int64)
    top, tops = 72, dict[int, int]()
    moves = np.maximum(np.bincount(graph.ends, minlength=len(space)), 1)
    for ply, unordered in by_ply.items():
        middles = np.bincount(graph.ends, x[graph.starts], len(space)) / moves
        nodes = unordered[np.lexsort((-unordered, middles[unordered]))]
        tops[ply] = top
        for first in range(0, len(nodes), MAX_IN_ROW):
            row = nodes[first : first + MAX_IN_ROW]
            left = MARGIN + (inner - (len(row) * (width + BOARD_GAP) - BOARD_GAP)) // 2
            x[row] = left + np.arange(len(row)) * (width + BOARD_GAP)
            y[row] = top
            top += height + SCORE_HEIGHT + 8
        top += PLY_GAP - 8
    return _Layout(x, y, tops, (inner + 2 * MARGIN, top - PLY_GAP + 16))
