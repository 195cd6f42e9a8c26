"""Alpha-beta search (Knuth and Moore, An analysis of alpha-beta pruning, 1975) on boards of any size.

Scores are as in ``engine.scores``. Positions beyond the horizon score between -1 and 1, by a network
(``engine.network``), or 0 if it has no sets. The search uses

- iterative deepening: each search orders the moves for the next, one ply deeper;
- a transposition table, empty at the start of each position and used at equal depth only, so that a score is
  a function of position and depth, whatever was searched before;
- threats: a side that can complete a line does so, and a side that must block one blocks it. A block does not
  count as a ply, so that a search sees the end of a series of threats.

A limit of nodes holds for each position; the deepest search that ends within it counts.
"""

from functools import partial
from typing import Any

import numpy as np

from ttt_cli.engine.arrays import Floats, Int32s, Uint64s
from ttt_cli.engine.bits import ONE, ZERO, Bitboard, hashed, lowest_cell, popcount
from ttt_cli.engine.board import Board, board_of, completing_cells, insert
from ttt_cli.engine.kernel import UNLIMITED, Kernel, Part, run_until
from ttt_cli.engine.network import Network, gain, line_network, place, squashed, total
from ttt_cli.engine.policy import Policy, best_moves, uniform
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import MAX_CELLS, Rules
from ttt_cli.engine.symmetry import classes

NODES = 2_000
"""The default limit of nodes for a move."""

PLACES = 1 << 15
"""Places of the transposition table, a power of 2."""

ENTRY = np.dtype(
    [
        ("mover", "u8"),  # the stones of the side to move
        ("opponent", "u8"),
        ("lower", "f8"),  # bounds of the node's score
        ("upper", "f8"),
        ("stamp", "i8"),  # the position whose search the entry belongs to
        ("depth", "i4"),  # plies searched
        ("best", "i4"),  # the best move
    ],
    align=True,
)

SEARCH = np.dtype(
    [
        ("stamp", "i8"),  # the number of the position, from 1
        ("nodes", "i8"),  # the number of nodes visited for it
        ("node_limit", "i8"),  # where ``nodes`` ends its search
        ("stop", "?"),  # whether to end at once
        ("cut_short", "?"),  # whether the search has ended early
        ("moves", "i1", (MAX_CELLS + 1, MAX_CELLS)),  # the moves at each ply, best first
        ("scores", "f8", MAX_CELLS),  # by which the moves of a ply are sorted
        ("root_scores", "f8", MAX_CELLS),  # found for the root's moves, in their order
    ]
)

Context = tuple[Board, Network, Int32s, Any, Any]
"""The rules; the network, and both sides' patterns in the searched node, int32[2, t]; the table, an array of
``ENTRY``; the state of the search, a record of ``SEARCH``."""


@Part
def judge(mover: Bitboard, opponent: Bitboard, board: Board) -> tuple[float, Bitboard, int]:
    """Judge a node by the lines that a stone can complete.

    :returns: the score of a decided node, else 0; the cells to try, none if it is decided; and the plies by
        which to extend its search: 1 if the move is a block.
    """
    free = board.full & ~(mover | opponent)
    soonest = popcount(free)  # the score of a win by the next stone
    completing = completing_cells(mover, opponent, board)
    choice = free
    extension = 0
    if board.misere:
        choice = free & ~completing
        if choice == ZERO:
            return -float(soonest), ZERO, 0
    elif completing:
        return float(soonest), ZERO, 0
    else:
        to_block = completing_cells(opponent, mover, board)
        if to_block & (to_block - ONE):
            return -float(soonest - 1), ZERO, 0
        if to_block:
            choice = to_block
            extension = 1
    if soonest == 1:
        return 0.0, ZERO, 0
    return 0.0, choice, extension


@Part
def judge_by_network(network: Network, patterns: Int32s, choice: Bitboard) -> Any:
    """The score of a node at the horizon: that of its best move by the network, given int32[t], the patterns
    of the side to move."""
    highest = -np.inf
    while choice:
        highest = max(highest, gain(network, patterns, lowest_cell(choice)))
        choice &= choice - ONE
    return squashed(total(network, patterns) + highest)


@Part
def list_moves(
    choice: Bitboard, first_move: int, network: Network, patterns: Int32s, moves: Any, scores: Any
) -> int:
    """List the cells of ``choice`` in ``moves``: ``first_move``, if it is one of them, then by the network.

    :returns: the number of moves listed.
    """
    listed = 0
    while choice:
        cell = lowest_cell(choice)
        choice &= choice - ONE
        score = np.inf if cell == first_move else gain(network, patterns, cell)
        insert(moves, scores, listed, cell, score)
        listed += 1
    return listed


@Part
def negamax(
    mover: Bitboard, opponent: Bitboard, depth: int, alpha: float, beta: float, context: Context
) -> float:
    """The score of a node for the side to move, exact if it lies between ``alpha`` and ``beta``.

    :param depth: plies to search.
    """
    board, network, patterns, table, state = context
    state.nodes += 1
    score, choice, extension = judge(mover, opponent, board)
    if choice == ZERO:
        return score
    ply = popcount(mover | opponent)
    side = ply & 1
    if depth == 1 and extension == 0:
        return judge_by_network(network, patterns[side], choice)
    first_move = -1
    entry = table[np.int64(hashed(mover, opponent)) & (PLACES - 1)]
    if entry.stamp == state.stamp and entry.mover == mover and entry.opponent == opponent:
        first_move = entry.best
        if entry.depth == depth and (entry.lower >= beta or entry.lower == entry.upper):
            return entry.lower
        if entry.depth == depth and entry.upper <= alpha:
            return entry.upper
    moves = state.moves[ply]
    listed = list_moves(choice, first_move, network, patterns[side], moves, state.scores)
    lower_bound = alpha
    highest = -np.inf
    chosen = -1
    for at in range(listed):
        if state.stop or state.nodes >= state.node_limit:
            state.cut_short = True
            return 0.0
        cell = np.int64(moves[at])
        stone = ONE << np.uint64(cell)
        place(network, patterns, side, cell, 1)
        score = -negamax(opponent, mover | stone, depth - 1 + extension, -beta, -alpha, context)
        place(network, patterns, side, cell, -1)
        if state.cut_short:
            return 0.0
        if score > highest:
            highest, chosen = score, moves[at]
            alpha = max(alpha, score)
        if highest >= beta:
            break
    entry.mover, entry.opponent, entry.stamp = mover, opponent, state.stamp
    entry.lower = highest if highest > lower_bound else -np.inf
    entry.upper = highest if highest < beta else np.inf
    entry.depth, entry.best = depth, chosen
    return highest


@Part
def search_root(mover: Bitboard, opponent: Bitboard, depth: int, exact: bool, context: Context) -> None:
    """Fill ``root_scores`` by a search of ``depth`` plies, unless it is cut short."""
    board, network, patterns, _, state = context
    ply = popcount(mover | opponent)
    side = ply & 1
    number = board.cells - ply
    moves = state.moves[ply]
    completing = completing_cells(mover, opponent, board)
    base = total(network, patterns[side])
    best = alpha = -np.inf
    for at in range(number):
        cell = np.int64(moves[at])
        stone = ONE << np.uint64(cell)
        if completing & stone:
            score = float(-number if board.misere else number)
        elif number == 1:
            score = 0.0
        elif depth > 1:
            place(network, patterns, side, cell, 1)
            score = -negamax(opponent, mover | stone, depth - 1, -np.inf, -alpha, context)
            place(network, patterns, side, cell, -1)
        elif not board.misere and completing_cells(opponent, mover | stone, board):
            score = float(1 - number)
        else:
            score = squashed(base + gain(network, patterns[side], cell))
        if state.cut_short:
            return
        best = max(best, score)
        state.root_scores[at] = score
        # A move as good as the best one must get its exact score.
        alpha = -np.inf if exact else np.nextafter(best, -np.inf)


@partial(Kernel, name="search")
def _search(
    movers: Uint64s, opponents: Uint64s, scores: Floats, depth: int, nodes: int, exact: bool, context: Context
) -> None:
    """Fill float64[k, cells] with the scores of moves. A search of one ply has no limit of nodes."""
    board, network, patterns, _, state = context
    for row in range(len(movers)):
        if state.stop:
            break
        mover, opponent = movers[row], opponents[row]
        state.stamp = row + 1
        state.nodes = 0
        state.node_limit = nodes
        state.cut_short = False
        ply = popcount(mover | opponent)
        number = 0
        moves = state.moves[ply]
        patterns[:] = 0
        for cell in range(board.cells):
            if mover >> np.uint64(cell) & ONE:
                place(network, patterns, ply & 1, cell, 1)
            elif opponent >> np.uint64(cell) & ONE:
                place(network, patterns, 1 - (ply & 1), cell, 1)
            else:
                moves[number] = cell
                number += 1
        for plies in range(1, min(depth, number) + 1):
            search_root(mover, opponent, plies, exact, context)
            if state.cut_short:
                break
            for at in range(number):  # the best of this search come first in the next
                move, score = np.int64(moves[at]), state.root_scores[at]
                scores[row, move] = score
                insert(moves, state.scores, at, move, score)
            best = abs(state.scores[0])
            if not exact and best >= 1.0 and number + 1 - best <= plies:  # no sooner end is overlooked
                break


class Search(Policy):
    """A player by alpha-beta search. It searches canonical forms, so that it plays symmetric positions alike.

    :param depth: plies to search, the move itself included; None: to the end.
    :param nodes: the limit of nodes for each position; None: ``NODES``, or unlimited if there is a depth.
    :param network: None: ``line_network``.
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
        self._depth = rules.cells if depth is None else min(depth, rules.cells)
        self._nodes = NODES if depth is None and nodes is None else nodes

    def probabilities(self, positions: Positions) -> Floats:
        return uniform(best_moves(self.scores(positions), positions.legal))

    def values(self, positions: Positions) -> Floats:
        """1 a win, 0 a draw, -1 a loss; between them where the end is beyond the horizon."""
        scores = self.scores(positions, exact=True)
        return np.where(positions.legal, np.clip(scores, -1.0, 1.0), np.nan)

    def scores(self, positions: Positions, *, exact: bool = False) -> Floats:
        """float64[k, cells]: the score of each move, -inf if it is illegal.

        :param exact: whether all scores are exact; else moves worse than the best may score too much, but
            still less than the best.
        """
        in_classes = classes(positions)
        distinct, places = in_classes.positions.condensed()
        cells, network = self.rules.cells, self.network
        scores = np.full((len(distinct), cells), -np.inf)
        still_open = np.flatnonzero(~distinct.terminal)
        open_scores = scores[still_open]
        state = np.zeros(1, SEARCH).view(np.recarray)[0]
        patterns = np.zeros((2, len(network.starts)), np.int32)
        table = np.zeros(PLACES, ENTRY).view(np.recarray)
        context = board_of(self.rules), network, patterns, table, state
        nodes = UNLIMITED if self._nodes is None else self._nodes
        stones = distinct[still_open].stones_by_turn
        run_until(_search, (*stones, open_scores, self._depth, nodes, exact, context), state)
        scores[still_open] = open_scores
        return in_classes.lift(scores[places])
