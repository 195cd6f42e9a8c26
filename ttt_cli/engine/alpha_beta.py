"""Alpha-beta search: what the moves of a position are worth when both sides look some plies ahead.

Scores are those of ``engine.retrograde``: 0 for a draw, else larger the sooner a win and the later a loss
comes; what is not seen to its end scores between -1 and 1, by a network (``engine.network``), and 0 without
sets. Knuth and Moore, An analysis of alpha-beta pruning (1975), with

- iterative deepening: each search orders the moves for the next, one ply deeper;
- a transposition table, which is empty at the start of each position and holds for the very depth only: so a
  score is a function of the position and the depth, whatever was searched before;
- threats: who can complete a line does so, and who must block one blocks it. Such a block is not counted as
  a ply, so that a search sees the end of a series of threats.

A limit of nodes is one for each position. The deepest search that ends within it counts.
"""

from typing import Any

import numpy as np

from ttt_cli.engine.arrays import Floats, Int32s, Uint64s
from ttt_cli.engine.bits import ONE, first, hashed, popcount
from ttt_cli.engine.board import Board, board_of, ends, insert
from ttt_cli.engine.kernel import Kernel, Part
from ttt_cli.engine.network import Network, gain, line_network, place, squashed, total
from ttt_cli.engine.policy import Policy, best, uniform
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import MAX_CELLS, Rules
from ttt_cli.engine.symmetry import classes

UNLIMITED = 1 << 62
"""Nodes without a limit."""

NODES = 2_000
"""Positions that the search for a move visits, by default."""

SLICE = 50_000
"""Nodes between two looks at Ctrl-C: a small part of a second."""

SLOTS = 1 << 15
"""Places of the transposition table."""

EXACT, AT_LEAST, AT_MOST = 0, 1, 2
"""The kinds of scores in the table."""

WHOLE, PAUSED, STOPPED = 0, 1, 2
"""How a search of the root's moves ends: with all scores, for the moment, or at the limit of nodes."""

FRAME = np.dtype(
    [
        ("mine", "u8"),  # the stones of the side to move
        ("theirs", "u8"),
        ("number", "i8"),  # the number of moves,
        ("next", "i8"),  # the next one to try
        ("chosen", "i8"),  # the best so far
        ("left", "i8"),  # plies
        ("forced", "i8"),  # 1 where the only move is to block a line
        ("alpha", "f8"),  # the window,
        ("beta", "f8"),
        ("score", "f8"),  # the best score so far,
        ("start", "f8"),  # and alpha as it was at first
        ("moves", "i1", MAX_CELLS),  # best first
    ],
    align=True,
)

ENTRY = np.dtype(
    [
        ("mine", "u8"),
        ("theirs", "u8"),
        ("score", "f8"),
        ("stamp", "i8"),  # the position whose search the entry belongs to
        ("left", "i4"),  # plies
        ("bound", "i2"),  # ``EXACT`` ...
        ("best", "i2"),  # the best move
    ],
    align=True,
)

SEARCH = np.dtype(
    [
        ("row", "i8"),  # the position in hand
        ("plies", "i8"),  # how far it is looked ahead; 0: not at all yet
        ("depth", "i8"),  # of the node in hand
        ("nodes", "i8"),  # visited for this position
        ("visited", "i8"),  # and in all
        ("outcome", "i8"),  # ``WHOLE`` ...
        ("scores", "f8", MAX_CELLS),  # of the moves listed
        ("found", "f8", MAX_CELLS),  # of the root's moves, in their order
    ]
)

Frame = Any
"""A record of ``FRAME``."""

Frames = Any
"""An array of ``FRAME`` records."""

Table = Any
"""An array of ``ENTRY`` records."""

SearchState = Any
"""A record of ``SEARCH``."""

Room = tuple[Board, Network, Int32s, Frames, Table, SearchState]
"""The rules; the network; for the nodes from the root down its patterns, int32[cells + 1, 2, sets], and the
frames; the table; where the search is."""


def search(
    positions: Positions, network: Network, *, depth: int, nodes: int | None = None, exact: bool = False
) -> Floats:
    """float64[k, cells]: what each move scores for the mover, -inf where there is none.

    :param depth: plies to look ahead, the move itself included.
    :param nodes: at most so many nodes for each position, but always one ply.
    :param exact: for all moves; else a move that is worse than another may score too much, but less than the
        best.
    """
    rules, cells = positions.rules, positions.rules.cells
    scores = np.full((len(positions), cells), -np.inf)
    rows = np.flatnonzero(~positions.terminal)
    movers, others = positions[rows].stones_of_sides
    found = scores[rows]
    state = np.zeros(1, SEARCH).view(np.recarray)[0]
    patterns = np.zeros((cells + 1, 2, len(network.starts)), np.int32)
    frames, table = np.zeros(cells + 1, FRAME), np.zeros(SLOTS, ENTRY)
    room = board_of(rules), network, patterns, frames.view(np.recarray), table.view(np.recarray), state
    limits = min(depth, cells), UNLIMITED if nodes is None else nodes, exact
    while state.row < len(rows):
        _search(room, movers, others, found, *limits, int(state.visited) + SLICE)
    scores[rows] = found
    return scores


@Part
def slot_of(frame: Frame) -> Any:
    """The place in the table of a board."""
    return np.int64(hashed(frame.mine, frame.theirs)) & (SLOTS - 1)


@Part
def enter(depth: int, side: int, room: Room) -> tuple[bool, float]:
    """Score a node without search, if possible, and say whether it is; else list its moves, those first that
    the network likes best."""
    board, network, patterns, frames, table, state = room
    frame = frames[depth]
    mine, theirs = frame.mine, frame.theirs
    state.nodes += 1
    state.visited += 1
    free = board.full & ~(mine | theirs)
    soonest = popcount(free)  # the score of a win by the next stone
    own = ends(mine, theirs, board)
    frame.forced = 0
    if board.misere:
        free &= ~own
        if not free:
            return True, -float(soonest)
    elif own:
        return True, float(soonest)
    else:
        other = ends(theirs, mine, board)
        if other & (other - ONE):
            return True, -float(soonest - 1)
        if other:
            free, frame.forced = other, 1
    if soonest == 1:
        return True, 0.0
    pattern = patterns[depth, side]
    if frame.left == 1 and frame.forced == 0:
        highest = -np.inf
        while free:
            highest = max(highest, gain(network, pattern, first(free)))
            free &= free - ONE
        return True, squashed(total(network, pattern) + highest)
    favourite, entry = -1, table[slot_of(frame)]
    if entry.stamp == state.row + 1 and entry.mine == mine and entry.theirs == theirs:
        favourite = entry.best
        if entry.left == frame.left:
            high = entry.bound != AT_MOST and entry.score >= frame.beta
            low = entry.bound != AT_LEAST and entry.score <= frame.alpha
            if entry.bound == EXACT or high or low:
                return True, entry.score
    frame.number, frame.next, frame.chosen = 0, 0, -1
    frame.score, frame.start = -np.inf, frame.alpha
    while free:
        cell = first(free)
        free &= free - ONE
        score = np.inf if cell == favourite else gain(network, pattern, cell)
        insert(frame.moves, state.scores, frame.number, cell, score)
        frame.number += 1
    return False, 0.0


@Part
def back_up(score: float, depth: int, exact: bool, frame: Frame, state: SearchState) -> None:
    """Enter what the last move of a node scores for the other side."""
    if -score > frame.score:
        frame.score, frame.chosen = -score, frame.moves[frame.next - 1]
        frame.alpha = max(frame.alpha, -score)
    if depth == 0:
        state.found[frame.next - 1] = -score
        # A move as good as the best one is to get its own score.
        frame.alpha = -np.inf if exact else np.nextafter(frame.score, -np.inf)


@Part
def remember(frame: Frame, table: Table, state: SearchState) -> None:
    """Put what a node scores into the table."""
    entry, bound = table[slot_of(frame)], EXACT
    if frame.score >= frame.beta:
        bound = AT_LEAST
    elif frame.score <= frame.start:
        bound = AT_MOST
    entry.mine, entry.theirs, entry.score = frame.mine, frame.theirs, frame.score
    entry.stamp, entry.left, entry.bound, entry.best = state.row + 1, frame.left, bound, frame.chosen


@Part
def look(side: int, room: Room, found: Floats) -> None:
    """Look one ply ahead: list the root's moves, and score each cell in ``found``."""
    board, network, patterns, frames, _, _ = room
    root = frames[0]
    for number in range(patterns.shape[2]):
        patterns[0, 0, number], patterns[0, 1, number] = 0, 0
    for cell in range(board.cells):
        if root.mine >> np.uint64(cell) & ONE:
            place(network, patterns[0], side, cell)
        elif root.theirs >> np.uint64(cell) & ONE:
            place(network, patterns[0], 1 - side, cell)
    free, pattern = board.full & ~(root.mine | root.theirs), patterns[0, side]
    completing, base, soonest = ends(root.mine, root.theirs, board), total(network, pattern), popcount(free)
    root.number = 0
    while free:
        cell = first(free)
        free &= free - ONE
        stone = ONE << np.uint64(cell)
        if completing & stone:
            score = float(-soonest if board.misere else soonest)
        elif soonest == 1:
            score = 0.0
        elif not board.misere and ends(root.theirs, root.mine | stone, board):
            score = float(1 - soonest)
        else:
            score = squashed(base + gain(network, pattern, cell))
        found[cell], root.moves[root.number] = score, cell
        root.number += 1


@Part
def explore(side: int, room: Room, limit: int, exact: bool, until: int) -> int:
    """Go on with the search of the root's moves, ``side`` to move there; how it ends (``WHOLE`` ...)."""
    board, network, patterns, frames, table, state = room
    root = frames[0]
    completing = ends(root.mine, root.theirs, board)
    while True:
        depth = state.depth
        frame = frames[depth]
        if frame.next == frame.number or frame.score >= frame.beta:
            if depth == 0:
                return WHOLE
            remember(frame, table, state)
            state.depth = depth - 1
            back_up(frame.score, depth - 1, exact, frames[depth - 1], state)
            continue
        if depth > 0 and state.nodes >= limit:
            return STOPPED
        if state.visited >= until:
            return PAUSED
        cell, mover = np.int64(frame.moves[frame.next]), (side + depth) & 1
        frame.next += 1
        stone = ONE << np.uint64(cell)
        if depth == 0 and completing & stone:
            back_up(float(frame.number if board.misere else -frame.number), depth, exact, frame, state)
            continue
        below = frames[depth + 1]
        below.mine, below.theirs = frame.theirs, frame.mine | stone
        below.left, below.alpha, below.beta = frame.left - 1 + frame.forced, -frame.beta, -frame.alpha
        for number in range(patterns.shape[2]):
            patterns[depth + 1, 0, number] = patterns[depth, 0, number]
            patterns[depth + 1, 1, number] = patterns[depth, 1, number]
        place(network, patterns[depth + 1], mover, cell)
        known, score = enter(depth + 1, 1 - mover, room)
        if known:
            back_up(score, depth, exact, frame, state)
        else:
            state.depth = depth + 1


@Kernel
def _search(
    room: Room,
    movers: Uint64s,
    others: Uint64s,
    found: Floats,
    depth: int,
    limit: int,
    exact: bool,
    until: int,
) -> None:
    """Fill the rows of ``found`` from ``state.row`` on, until a number of nodes have been visited in all; see
    ``search``."""
    state = room[5]
    root = room[3][0]
    while state.row < len(movers) and state.visited < until:
        row = state.row
        root.mine, root.theirs = movers[row], others[row]
        side = popcount(root.mine | root.theirs) & 1
        if state.plies == 0:
            look(side, room, found[row])
            state.plies, state.depth, state.nodes, state.outcome = 1, 0, 0, WHOLE
            state.visited += 1
        while state.outcome != STOPPED:
            if state.outcome == WHOLE:
                for at in range(root.number):  # the best of the search before come first
                    cell = np.int64(root.moves[at])
                    insert(root.moves, state.scores, at, cell, found[row, cell])
                best = abs(state.scores[0])
                decided = not exact and best >= 1.0 and root.number + 1 - best <= state.plies
                if decided or state.plies >= min(depth, root.number):  # no sooner end has been overlooked
                    break
                state.plies += 1
                root.next, root.left, root.forced, root.score = 0, state.plies, 0, -np.inf
                root.alpha, root.beta = -np.inf, np.inf
            state.outcome = explore(side, room, limit, exact, until)
            if state.outcome == PAUSED:
                return
            if state.outcome == WHOLE:
                for at in range(root.number):
                    found[row, root.moves[at]] = state.found[at]
        state.row += 1
        state.plies = 0


_search.name, _search.seconds = "search", 5.0


class Search(Policy):
    """Alpha-beta search, with a network for what it does not see to its end.

    Symmetric positions are searched as one, so that it plays all of them alike.

    :param depth: plies to look ahead, the move itself included; None: to the end.
    :param nodes: positions that the search for a move may visit; None: all that ``depth`` takes, without
        one ``NODES``.
    :param network: None: that of the lines.
    """

    def __init__(
        self,
        rules: Rules,
        *,
        depth: int | None = None,
        nodes: int | None = None,
        network: Network | None = None,
    ) -> None:
        self.rules = rules
        self.network = line_network(rules) if network is None else network
        self._depth = rules.cells if depth is None else depth
        self._nodes = NODES if depth is None and nodes is None else nodes

    def probabilities(self, positions: Positions) -> Floats:
        return uniform(best(self.scores(positions), positions.legal))

    def values(self, positions: Positions) -> Floats:
        """1 a win, -1 a loss; what is not seen to its end lies between."""
        scores = self.scores(positions, exact=True)
        return np.where(positions.legal, np.clip(scores, -1.0, 1.0), np.nan)

    def scores(self, positions: Positions, *, exact: bool = False) -> Floats:
        """float64[k, cells]: what each move scores; see ``search``."""
        if not len(positions):
            return np.zeros((0, self.rules.cells))
        found = classes(positions)
        _, rows, places = np.unique(found.positions.keys, axis=0, return_index=True, return_inverse=True)
        scores = search(
            found.positions[rows], self.network, depth=self._depth, nodes=self._nodes, exact=exact
        )
        return found.lift(scores[places.reshape(-1)])
