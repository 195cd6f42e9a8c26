"""The graph of positions with its scores, which ``dot`` and ``svg`` write.

Nodes are positions, edges the moves the agent knows (of a player that needs no experience: all moves).
"""

from dataclasses import dataclass, replace
from functools import cached_property
from math import isnan

import numpy as np

from ttt_cli.engine.arrays import Bools, Floats, Int32s, Int64s
from ttt_cli.engine.policy import PolicyTable
from ttt_cli.engine.position import Position
from ttt_cli.engine.retrograde import solve
from ttt_cli.engine.symmetry import classes
from ttt_cli.store.formats.format import ExportOptions, ExportSource
from ttt_cli.store.state import State

OPTIONS = ("--from", "--depth")
"""The options of ``ttt export`` that choose a part of the graph."""


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


def scores_of(policy: PolicyTable, state: State | None = None) -> Scores:
    """The scores of an agent, which plays ``policy`` by what ``state`` has learned.

    The graph machine scores positions itself; of other methods a position's score is the largest value of its
    moves. An agent without values of that kind shows the game's own.
    """
    space = policy.space
    if state:
        own = state.learner.position_scores(state.table, space)
        if own is not None:
            return Scores(own, (-1.0, 1.0), f"the {state.learner.name} machine's own score")
    scale = state.learner.value_scale if state else (-1.0, 1.0)
    turned = np.where(space.plies % 2 == 0, 1.0, -1.0)
    if policy.worth is None or scale is None:
        perfect = (solve(space).values * turned).astype(np.float64)
        return Scores(perfect, (-1.0, 1.0), "the value of the game, since the agent scores no positions")
    largest = np.where(space.legal & ~np.isnan(policy.worth), policy.worth, -np.inf).max(axis=1)
    low, high = scale
    for_x = np.where(turned > 0, largest, low + high - largest)
    ends = (low + high) / 2 + space.results * (high - low) / 2
    scores = np.where(space.terminal, ends, np.where(np.isinf(largest), np.nan, for_x))
    return Scores(scores + 0.0, scale, "the largest value of the agent's moves")


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
        space = policy.space
        moves = _known_moves(policy)
        first = 0 if start is None else space.index(start)
        reached = np.zeros(len(space), np.bool_)
        if start is None:
            reached[:] = moves.any(axis=1)
        reached[first] = True
        last = space.cells if depth is None else int(space.plies[first]) + depth
        for rows in space.forwards():
            ply = int(space.plies[rows.start])
            if ply >= last:
                moves[rows] = False
                reached[rows] &= ply == last
            at, cells = np.nonzero(moves[rows] & reached[rows, None])
            reached[space.successors[rows.start + at, cells]] = True
        moves &= reached[:, None]
        starts, cells = np.nonzero(moves)
        ends = space.successors[starts, cells]
        return cls(policy, scores, np.flatnonzero(reached), starts, cells, ends)

    @classmethod
    def wanted(cls, player: ExportSource, wanted: ExportOptions) -> "PositionGraph":
        """The part of a player's graph that is to be written."""
        scores = scores_of(player.policy, player.state)
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

    def texts(self) -> dict[int, str]:
        """The text of each node."""
        space = self.policy.space
        return {index: space.text(index) for index in self.nodes.tolist()}


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
