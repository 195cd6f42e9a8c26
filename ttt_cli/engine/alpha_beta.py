"""Alpha-beta search (Knuth and Moore, An analysis of alpha-beta pruning, 1975) on boards of any size.

Scores are those of ``engine.scores``; positions beyond the horizon score between -1 and 1, by a network
(``engine.network``), 0 if it has no sets. With

- iterative deepening: each search orders the moves for the next, one ply deeper;
- a transposition table, empty at the start of each position and used at equal depth only, so that a score is
  a function of position and depth, whatever was searched before;
- threats: whoever can complete a line does so, and whoever must block one blocks it. A block does not count
  as a ply, so that a search sees the end of a series of threats.

A limit of nodes is one for each position; the deepest search that ends within it counts.
"""

from typing import Any

import numpy as np

from ttt_cli.engine.arrays import Floats, Int32s, Uint64s
from ttt_cli.engine.bits import ONE, Bitboard, hashed, lowest_cell, popcount
from ttt_cli.engine.board import Board, board_of, ends, insert
from ttt_cli.engine.kernel import UNLIMITED, Kernel, Part, run_until
from ttt_cli.engine.network import Network, gain, line_network, place, squashed, total
from ttt_cli.engine.policy import Policy, best, uniform
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import MAX_CELLS, Rules
from ttt_cli.engine.symmetry import classes

NODES = 2_000
"""The default limit of nodes for a move."""

PLACES = 1 << 15
"""Places of the transposition table."""

EXACT, AT_LEAST, AT_MOST = 0, 1, 2
"""The kinds of scores in the table."""

ENTRY = np.dtype(
    [
        ("mine", "u8"),  # the stones of the side to move
        ("theirs", "u8"),
        ("score", "f8"),
        ("stamp", "i8"),  # the position whose search the entry belongs to
        ("left", "i4"),  # plies to search
        ("bound", "i2"),  # ``EXACT`` ...
        ("best", "i2"),  # the best move
    ],
    align=True,
)

SEARCH = np.dtype(
    [
        ("stamp", "i8"),  # the number of the position, from 1
        ("nodes", "i8"),  # visited for it
        ("until", "i8"),  # the limit of nodes
        ("stop", "?"),  # whether to end at once
        ("ended", "?"),  # whether the search was cut short
        ("scores", "f8", MAX_CELLS),  # of the listed moves
        ("found", "f8", MAX_CELLS),  # of the root's moves, in the order of the list
        ("moves", "i1", (MAX_CELLS + 1, MAX_CELLS)),  # at each depth, best first
    ]
)

Table = Any
"""An array of ``ENTRY`` records."""

SearchState = Any
"""A record of ``SEARCH``."""

Room = tuple[Board, Network, Int32s, Table, SearchState]
"""The rules; the network, and its patterns on the line of play, int32[cells + 1, 2, sets]; the table; the
state of the search."""


@Part
def negamax(
    mine: Bitboard, theirs: Bitboard, last: int, left: int, alpha: float, beta: float, depth: int, room: Room
) -> float:
    """The score of a node for the side to move, exact if it lies between ``alpha`` and ``beta``.

    :param last: the cell of the last stone.
    :param left: plies to search.
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
            highest = max(highest, gain(network, pattern, lowest_cell(free)))
            free &= free - ONE
        return squashed(total(network, pattern) + highest)
    favourite, entry = -1, table[np.int64(hashed(mine, theirs)) & (PLACES - 1)]
    if entry.stamp == state.stamp and entry.mine == mine and entry.theirs == theirs:
        favourite = entry.best
        if entry.left == left:
            high = entry.bound != AT_MOST and entry.score >= beta
            low = entry.bound != AT_LEAST and entry.score <= alpha
            if entry.bound == EXACT or high or low:
                return entry.score
    moves, listed = state.moves[depth], 0
    while free:
        cell = lowest_cell(free)
        free &= free - ONE
        score = np.inf if cell == favourite else gain(network, pattern, cell)
        insert(moves, state.scores, listed, cell, score)
        listed += 1
    alpha_given, chosen = alpha, -1
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
    bound = AT_LEAST if highest >= beta else AT_MOST if highest <= alpha_given else EXACT
    entry.mine, entry.theirs, entry.score = mine, theirs, highest
    entry.stamp, entry.left, entry.bound, entry.best = state.stamp, left, bound, chosen
    return highest


@Part
def set_up(mine: Bitboard, theirs: Bitboard, room: Room) -> int:
    """List the root's moves and find its patterns; return the number of moves."""
    board, network, patterns, _, state = room
    number, side = 0, popcount(mine | theirs) & 1
    patterns[0] = 0
    for cell in range(board.cells):
        if mine >> np.uint64(cell) & ONE:
            place(network, patterns[0], side, cell)
        elif theirs >> np.uint64(cell) & ONE:
            place(network, patterns[0], 1 - side, cell)
        else:
            state.moves[0, number] = cell
            number += 1
    return number


@Part
def deepen(
    mine: Bitboard, theirs: Bitboard, plies: int, number: int, exact: bool, room: Room, found: Floats
) -> None:
    """Score the root's listed moves by a search of so many plies; if it is cut short ``found`` stays as it
    is."""
    board, network, patterns, _, state = room
    completing, pattern = ends(mine, theirs, board), patterns[0, popcount(mine | theirs) & 1]
    base, best, alpha = total(network, pattern), -np.inf, -np.inf
    for at in range(number):
        cell = np.int64(state.moves[0, at])
        stone = ONE << np.uint64(cell)
        if completing & stone:
            score = float(-number if board.misere else number)
        elif number == 1:
            score = 0.0
        elif plies > 1:
            score = -negamax(theirs, mine | stone, cell, plies - 1, -np.inf, -alpha, 1, room)
        elif not board.misere and ends(theirs, mine | stone, board):
            score = float(1 - number)
        else:
            score = squashed(base + gain(network, pattern, cell))
        if state.ended:
            return
        best = max(best, score)
        state.found[at] = score
        # A move as good as the best one must get its exact score.
        alpha = -np.inf if exact else np.nextafter(best, -np.inf)
    for at in range(number):
        found[state.moves[0, at]] = state.found[at]


@Kernel
def _search(
    room: Room, movers: Uint64s, others: Uint64s, found: Floats, depth: int, limit: int, exact: bool
) -> None:
    """Fill the rows of ``found`` with the scores of moves, by their cells. The first ply has no limit."""
    state = room[4]
    for row in range(len(movers)):
        if state.stop:
            break
        mine, theirs = movers[row], others[row]
        state.stamp, state.nodes, state.until, state.ended = row + 1, 0, limit, False
        number = set_up(mine, theirs, room)
        for plies in range(1, min(depth, number) + 1):
            deepen(mine, theirs, plies, number, exact, room, found[row])
            for at in range(number):  # the best of this search come first in the next
                cell = np.int64(state.moves[0, at])
                insert(state.moves[0], state.scores, at, cell, found[row, cell])
            best = abs(state.scores[0])
            decided = not exact and best >= 1.0 and number + 1 - best <= plies
            if decided or state.ended:  # decided: no sooner end is overlooked
                break


_search.name, _search.seconds = "search", 5.0


class Search(Policy):
    """Alpha-beta search. Symmetric positions are searched as one, so that it plays all of them alike.

    :param depth: plies to search, the move itself included; None: to the end.
    :param nodes: the limit for each position; None: ``NODES``, unlimited if there is a depth.
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
        """1 a win, -1 a loss; between them if the end is beyond the horizon."""
        scores = self.scores(positions, exact=True)
        return np.where(positions.legal, np.clip(scores, -1.0, 1.0), np.nan)

    def scores(self, positions: Positions, *, exact: bool = False) -> Floats:
        """float64[k, cells]: the score of each move, -inf if it is illegal.

        :param exact: whether all scores are; else moves below the best may score too much, but less than it.
        """
        if not len(positions):
            return np.zeros((0, self.rules.cells))
        in_classes = classes(positions)
        distinct, places = in_classes.positions.condensed()
        cells, network = self.rules.cells, self.network
        scores = np.full((len(distinct), cells), -np.inf)
        still_open = np.flatnonzero(~distinct.terminal)
        searched, state = scores[still_open], np.zeros(1, SEARCH).view(np.recarray)[0]
        patterns = np.zeros((cells + 1, 2, len(network.starts)), np.int32)
        table = np.zeros(PLACES, ENTRY).view(np.recarray)
        room = board_of(self.rules), network, patterns, table, state
        limits = min(self._depth, cells), UNLIMITED if self._nodes is None else self._nodes, exact
        arguments = room, *distinct[still_open].stones_by_turn, searched, *limits
        run_until(_search, arguments, state)
        scores[still_open] = searched
        return in_classes.lift(scores[places])
