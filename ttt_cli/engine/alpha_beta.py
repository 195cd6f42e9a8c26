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
from ttt_cli.engine.bits import ONE, Bitboard, first, hashed, popcount
from ttt_cli.engine.board import Board, board_of, ends, insert
from ttt_cli.engine.kernel import FEW, Kernel, Part, run_until
from ttt_cli.engine.network import Network, gain, line_network, place, squashed, total
from ttt_cli.engine.policy import Policy, best, uniform
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import MAX_CELLS, Rules
from ttt_cli.engine.symmetry import classes

UNLIMITED = 1 << 62
"""Nodes without a limit."""

NODES = 2_000
"""Positions that the search for a move visits, by default."""

PLACES = 1 << 15
"""Of the transposition table."""

EXACT, AT_LEAST, AT_MOST = 0, 1, 2
"""The kinds of scores in the table."""

ENTRY = np.dtype(
    [
        ("mine", "u8"),  # the stones of the side to move
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
        ("stamp", "i8"),  # the position in hand, from 1
        ("nodes", "i8"),  # visited for it
        ("until", "i8"),  # how many may be
        ("stop", "?"),  # whether to come to an end at once
        ("ended", "?"),  # whether a search has been ended before it was through
        ("scores", "f8", MAX_CELLS),  # of the moves listed
        ("found", "f8", MAX_CELLS),  # of the root's moves, as they are listed
        ("moves", "i1", (MAX_CELLS + 1, MAX_CELLS)),  # at each depth, best first
    ]
)

Table = Any
"""An array of ``ENTRY`` records."""

SearchState = Any
"""A record of ``SEARCH``."""

Room = tuple[Board, Network, Int32s, Table, SearchState]
"""The rules; the network and, for the nodes from the root down, its patterns, int32[cells + 1, 2, sets]; the
table; where the search is."""


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
    found, state = scores[rows], np.zeros(1, SEARCH).view(np.recarray)[0]
    patterns = np.zeros((cells + 1, 2, len(network.starts)), np.int32)
    room = board_of(rules), network, patterns, np.zeros(PLACES, ENTRY).view(np.recarray), state
    limits = min(depth, cells), UNLIMITED if nodes is None else nodes, exact
    arguments = room, *positions[rows].stones_of_sides, found, *limits
    if nodes is not None and nodes * len(rows) <= FEW:
        _search(*arguments)
    else:
        run_until(_search, arguments, state)
    scores[rows] = found
    return scores


@Part
def place_of(mine: Bitboard, theirs: Bitboard) -> Any:
    """The place in the table of a board."""
    return np.int64(hashed(mine, theirs)) & (PLACES - 1)


@Part
def negamax(
    mine: Bitboard, theirs: Bitboard, last: int, left: int, alpha: float, beta: float, depth: int, room: Room
) -> float:
    """What a node scores for the side to move, exactly where that lies between ``alpha`` and ``beta``.

    :param last: the cell of the last stone.
    :param left: plies to look ahead.
    """
    board, network, patterns, table, state = room
    state.nodes += 1
    free = board.full & ~(mine | theirs)
    soonest = popcount(free)  # the score of a win by the next stone
    own, forced = ends(mine, theirs, board), 0
    if board.misere:
        free &= ~own
        if not free:
            return -float(soonest)
    elif own:
        return float(soonest)
    else:
        other = ends(theirs, mine, board)
        if other & (other - ONE):
            return -float(soonest - 1)
        if other:
            free, forced = other, 1
    if soonest == 1:
        return 0.0
    side = (board.cells - soonest) & 1
    for number in range(patterns.shape[2]):
        patterns[depth, 0, number] = patterns[depth - 1, 0, number]
        patterns[depth, 1, number] = patterns[depth - 1, 1, number]
    place(network, patterns[depth], 1 - side, last)
    pattern, highest = patterns[depth, side], -np.inf
    if left == 1 and forced == 0:
        while free:
            highest = max(highest, gain(network, pattern, first(free)))
            free &= free - ONE
        return squashed(total(network, pattern) + highest)
    favourite, entry = -1, table[place_of(mine, theirs)]
    if entry.stamp == state.stamp and entry.mine == mine and entry.theirs == theirs:
        favourite = entry.best
        if entry.left == left:
            high = entry.bound != AT_MOST and entry.score >= beta
            low = entry.bound != AT_LEAST and entry.score <= alpha
            if entry.bound == EXACT or high or low:
                return entry.score
    moves, listed = state.moves[depth], np.int64(0)  # a literal would make a second signature
    while free:
        cell = first(free)
        free &= free - ONE
        score = np.inf if cell == favourite else gain(network, pattern, cell)
        insert(moves, state.scores, listed, cell, score)
        listed += 1
    lowest, chosen = alpha, -1
    for at in range(listed):
        if state.stop or state.nodes >= state.until:
            state.ended = True
            return 0.0
        cell = np.int64(moves[at])
        stone = ONE << np.uint64(cell)
        score = -negamax(theirs, mine | stone, cell, left - 1 + forced, -beta, -alpha, depth + 1, room)
        if state.ended:
            return 0.0
        if score > highest:
            highest, chosen = score, moves[at]
            alpha = max(alpha, score)
        if highest >= beta:
            break
    bound = AT_LEAST if highest >= beta else AT_MOST if highest <= lowest else EXACT
    entry.mine, entry.theirs, entry.score = mine, theirs, highest
    entry.stamp, entry.left, entry.bound, entry.best = state.stamp, left, bound, chosen
    return highest


@Part
def look(mine: Bitboard, theirs: Bitboard, room: Room, found: Floats) -> int:
    """Look one ply ahead from the root: score its moves in ``found`` by their cells, and list them.

    :returns: how many they are.
    """
    board, network, patterns, _, state = room
    free = board.full & ~(mine | theirs)
    soonest = popcount(free)
    side = (board.cells - soonest) & 1
    patterns[0] = 0
    for cell in range(board.cells):
        if mine >> np.uint64(cell) & ONE:
            place(network, patterns[0], side, cell)
        elif theirs >> np.uint64(cell) & ONE:
            place(network, patterns[0], 1 - side, cell)
    pattern, completing = patterns[0, side], ends(mine, theirs, board)
    base, number = total(network, pattern), 0
    while free:
        cell = first(free)
        free &= free - ONE
        stone = ONE << np.uint64(cell)
        if completing & stone:
            score = float(-soonest if board.misere else soonest)
        elif soonest == 1:
            score = 0.0
        elif not board.misere and ends(theirs, mine | stone, board):
            score = float(1 - soonest)
        else:
            score = squashed(base + gain(network, pattern, cell))
        found[cell], state.moves[0, number] = score, cell
        number += 1
    return number


@Part
def deepen(
    mine: Bitboard, theirs: Bitboard, plies: int, number: int, exact: bool, room: Room, found: Floats
) -> None:
    """Score the root's moves, as they are listed, by a search of so many plies, at least two; ``found`` stays
    as it is if that is ended."""
    board, _, _, _, state = room
    completing = ends(mine, theirs, board)
    best, alpha, below = -np.inf, -np.inf, np.int64(1)  # a literal would make a second signature
    for at in range(number):
        cell = np.int64(state.moves[0, at])
        stone = ONE << np.uint64(cell)
        if completing & stone:
            score = float(-number if board.misere else number)
        else:
            score = -negamax(theirs, mine | stone, cell, plies - 1, -np.inf, -alpha, below, room)
        if state.ended:
            return
        best = max(best, score)
        state.found[at] = score
        # A move as good as the best one is to get its own score.
        alpha = -np.inf if exact else np.nextafter(best, -np.inf)
    for at in range(number):
        found[state.moves[0, at]] = state.found[at]


@Kernel
def _search(
    room: Room, movers: Uint64s, others: Uint64s, found: Floats, depth: int, limit: int, exact: bool
) -> None:
    """Fill the rows of ``found``, as ``search`` says."""
    state = room[4]
    for row in range(len(movers)):
        mine, theirs = movers[row], others[row]
        state.stamp, state.nodes, state.until, state.ended = row + 1, 0, limit, state.stop
        number, plies = look(mine, theirs, room, found[row]), 1
        while not state.ended:
            for at in range(number):  # the best of the search before come first
                cell = np.int64(state.moves[0, at])
                insert(state.moves[0], state.scores, at, cell, found[row, cell])
            best = abs(state.scores[0])
            decided = not exact and best >= 1.0 and number + 1 - best <= plies
            if decided or plies >= min(depth, number):  # no sooner end has been overlooked
                break
            plies += 1
            deepen(mine, theirs, plies, number, exact, room, found[row])


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
