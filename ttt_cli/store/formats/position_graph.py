"""``dot`` and ``svg``: the graph of positions with its scores, for Graphviz and as a picture.

Nodes are positions, edges the moves the agent knows (of a player that needs no experience: all moves). Moves
that it plays are solid, others dotted; a board is filled by its score, which is there in signs too.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import isnan

import numpy as np

from ttt_cli.engine.arrays import Bools, Floats, Int32s, Int64s
from ttt_cli.engine.policy import PolicyTable
from ttt_cli.engine.position import Position
from ttt_cli.engine.retrograde import solve
from ttt_cli.engine.symmetry import classes
from ttt_cli.store.formats.format import ExportOptions, ExportSource, Format
from ttt_cli.store.state import State


@dataclass(frozen=True, eq=False)
class Scores:
    """The worth of positions for X.

    :ivar values: float64[n], NaN where the agent has no opinion.
    :ivar scale: the scores of a lost and of a won position.
    :ivar meaning: what they are, in words.
    """

    values: Floats
    scale: tuple[float, float]
    meaning: str

    @classmethod
    def of(cls, policy: PolicyTable, state: State | None = None) -> "Scores":
        """The scores of an agent, which plays ``policy`` by what ``state`` has learned.

        The graph machine scores positions itself; of other methods a position's score is the largest value of
        its moves. An agent without values of that kind shows the game's own.
        """
        space = policy.space
        if state and (own := state.learner.position_scores(state.table, space)) is not None:
            return cls(own, (-1.0, 1.0), f"the {state.learner.name} machine's own score")
        scale = state.learner.value_scale if state else (-1.0, 1.0)
        for_x = space.plies % 2 == 0
        if policy.worth is None or scale is None:
            perfect = (solve(space).values * np.where(for_x, 1.0, -1.0)).astype(np.float64)
            return cls(perfect, (-1.0, 1.0), "the value of the game, since the agent scores no positions")
        largest = np.where(space.legal & ~np.isnan(policy.worth), policy.worth, -np.inf).max(axis=1)
        low, high = scale
        scores = np.where(np.isinf(largest), np.nan, np.where(for_x, largest, low + high - largest))
        scores[space.terminal] = ((low + high) / 2 + space.results * (high - low) / 2)[space.terminal]
        return cls(scores + 0.0, scale, "the largest value of the agent's moves")

    @cached_property
    def levels(self) -> Floats:
        """float64[n]: the scores as numbers from -1 (O wins) to +1 (X wins)."""
        low, high = self.scale
        return np.clip((2 * self.values - low - high) / (high - low), -1.0, 1.0)

    def text(self, index: int) -> str:
        """A position's score, and by its sign or by X or O for whom it is good: colour is never alone."""
        score, level = float(self.values[index]), float(self.levels[index])
        if isnan(score):
            return "?"
        if self.scale == (-1.0, 1.0):
            return f"{score:+.2f}" if score else "0"
        return f"{score:.2f}{' X' if level > 0 else ' O' if level < 0 else ''}"


@dataclass(frozen=True, eq=False)
class PositionGraph:
    """A part of the positions and the moves between them.

    :ivar nodes: int64[k], indexes, ascending: by plies, then text.
    :ivar starts: int64[m], the index before each move; cells: from 0; ends: the index after it.
    """

    policy: PolicyTable
    scores: Scores
    nodes: Int64s
    starts: Int64s
    cells: Int64s
    ends: Int32s

    @classmethod
    def of(
        cls, policy: PolicyTable, scores: Scores, start: Position | None = None, depth: int | None = None
    ) -> "PositionGraph":
        """The part that can be reached from ``start`` within ``depth`` plies; without a start everything the
        agent knows, whether it can be reached or not."""
        space, moves = policy.space, _known_moves(policy)
        first = 0 if start is None else space.index(start)
        reached = np.any(moves, axis=1) if start is None else np.zeros(len(space), np.bool_)
        reached[first] = True
        if depth is not None:
            last = int(space.plies[first]) + depth
            moves[space.plies >= last] = False
            reached[space.plies > last] = False
        for rows in space.forwards():
            at, cells = np.nonzero(moves[rows] & reached[rows, None])
            reached[space.successors[rows.start + at, cells]] = True
        starts, cells = np.nonzero(moves & reached[:, None])
        return cls(policy, scores, np.flatnonzero(reached), starts, cells, space.successors[starts, cells])

    @classmethod
    def wanted(cls, player: ExportSource, wanted: ExportOptions) -> "PositionGraph":
        """The part of a player's graph that is to be written."""
        scores = Scores.of(player.policy, player.state)
        graph = cls.of(player.policy, scores, wanted.start, wanted.depth)
        return graph.folded() if wanted.folded else graph

    def folded(self) -> "PositionGraph":
        """The first of all positions that a turn or mirror makes equal, and of its moves to equal ones the
        likeliest."""
        space = self.policy.space
        _, firsts, kinds = np.unique(
            space.rows(classes(space[self.nodes]).positions), return_index=True, return_inverse=True
        )
        stands_for = np.zeros(len(space), np.int32)
        stands_for[self.nodes] = self.nodes[firsts[kinds]]
        kept = np.flatnonzero(stands_for[self.starts] == self.starts)
        starts, cells, ends = self.starts[kept], self.cells[kept], stands_for[self.ends[kept]]
        order = np.lexsort((-self.policy.played[starts, cells], ends, starts))
        pairs = np.column_stack([starts[order], ends[order]])
        first = order[np.unique(pairs, axis=0, return_index=True)[1]]
        nodes = np.sort(self.nodes[firsts])
        return replace(self, nodes=nodes, starts=starts[first], cells=cells[first], ends=ends[first])

    def boards(self) -> Iterator[tuple[int, str, str, tuple[str, str]]]:
        """Each position's index, text, score, and fill and ink."""
        for index, level in zip(self.nodes.tolist(), self.scores.levels[self.nodes].tolist(), strict=True):
            yield index, self.policy.space.text(index), self.scores.text(index), color_of(level)

    def moves(self) -> Iterator[tuple[int, int, int, float]]:
        """Each move's index before it, cell from 1, index after it, and probability."""
        probabilities = self.policy.played[self.starts, self.cells]
        columns = self.starts, self.cells + 1, self.ends, probabilities
        return zip(*(column.tolist() for column in columns), strict=True)


def _known_moves(policy: PolicyTable) -> Bools:
    """bool[n, cells]: the moves that the agent has an opinion on, in the positions that it knows."""
    legal = policy.space.legal
    moves = legal.copy() if policy.worth is None else legal & ~np.isnan(policy.worth)
    return moves if policy.learned is None else moves & policy.learned[:, None]


def color_of(level: float) -> tuple[str, str]:
    """Fill and ink for a score from -1 (O: orange) over 0 (white) to +1 (X: blue); grey if there is none."""
    if np.isnan(level):
        return "#d9dce1", "#1c232d"
    deep = (0x1F, 0x6F, 0xC4) if level > 0 else (0xD9, 0x6A, 0x0B)
    share = abs(level) ** 0.8 * 0.92
    red, green, blue = (round(255 + (part - 255) * share) for part in deep)
    return f"#{red:02x}{green:02x}{blue:02x}", "#ffffff" if abs(level) > 0.75 and level > 0 else "#10161d"


def printable(text: str) -> str:
    """Text without control characters."""
    return "".join(char if char.isprintable() else " " for char in text)


def dot(graph: PositionGraph, name: str) -> Iterator[bytes]:
    """The graph in Graphviz's language: a rank a ply."""
    space = graph.policy.space
    title = printable(f"{name}: {graph.scores.meaning}, for X").replace("\\", "\\\\").replace('"', '\\"')
    yield (
        f'digraph positions {{\n  graph [label="{title}", labelloc=t, ranksep=0.6, nodesep=0.15];\n'
        '  node [shape=box, style="filled,rounded", fontname="monospace", fontsize=10, margin="0.08,0.05"];\n'
        '  edge [arrowsize=0.5, color="#59626f", fontname="sans-serif", fontsize=8];\n'
    ).encode()
    rank, texts = -1, dict[int, str]()
    for index, text, score, (fill, ink) in graph.boards():
        if space.plies[index] != rank:
            yield ("  }\n" if rank >= 0 else "").encode() + b"  {\n    rank=same;\n"
            rank = space.plies[index]
        texts[index] = text
        rows = [" ".join(text[at : at + space.rules.cols]) for at in range(0, len(text), space.rules.cols)]
        label = "\\n".join([*rows, score])
        yield f'    "{text}" [label="{label}", fillcolor="{fill}", fontcolor="{ink}"];\n'.encode()
    yield b"  }\n" if rank >= 0 else b""
    for start, cell, end, probability in graph.moves():
        style = "solid" if probability > 0 else "dotted"
        yield f'  "{texts[start]}" -> "{texts[end]}" [label="{cell}", style={style}];\n'.encode()
    yield b"}\n"


class Dot(Format):
    """The graph for Graphviz."""

    name = "dot"
    about = "the graph of positions, for Graphviz"
    written = True
    endings = (".dot", ".gv")
    options = ("--from", "--depth")
    then = "dot -Tsvg FILE -o graph.svg"

    def write(self, player: ExportSource, wanted: ExportOptions) -> Iterator[bytes]:
        """The graph of a player."""
        return dot(PositionGraph.wanted(player, wanted), player.name)
