"""The kernels of ``engine.solver``, which explains their ideas: does the attacker win this position?

Most take ``board``, the rules (``engine.board``), and ``search``, a record of ``SEARCH``; those that walk the
tree take a ``Context``.
"""

from functools import partial
from typing import Any

import numpy as np

from ttt_cli.engine.arrays import Int8s, Uint64s
from ttt_cli.engine.bits import ONE, ZERO, Bitboard, canonical_form, hashed, lowest_cell, popcount
from ttt_cli.engine.board import MAX_LINES, Board, completing_cells, insert
from ttt_cli.engine.kernel import Kernel, Part
from ttt_cli.engine.rules import MAX_CELLS

UNPROVEN = 2
"""The value of a position that has not been proven."""

OPEN, WINS, HOLDS = 0, 1, 2
"""Outcomes of a node: not known yet, won by the attacker, held by the defender."""

DOES_MOVER_WIN, DOES_OPPONENT_WIN = 1, 2
BOTH = DOES_MOVER_WIN | DOES_OPPONENT_WIN
"""The questions about a position."""

ALL, UNTIL_UNPROVEN, UNTIL_FOUND = 0, 1, 2
"""Which moves of a position to solve. ALL: every one. UNTIL_UNPROVEN: none if the position is lost or
unproven, otherwise up to the first move that cannot be proved. UNTIL_FOUND: the same, but stop at the first
move that keeps the position's value."""

ATTACK, UNPAIRED, DEFENCE = 0, 1, 2
"""Rows of ``weights``: by the attacker's live lines, by those that pairs leave, and by the defender's."""

TRIES = 64
"""The number of stones that a search for a forced win tries."""

ENTRY = np.dtype(
    [
        ("attacker", "u8"),  # the stones of the canonical form
        ("defender", "u8"),
        ("stamp", "i4"),  # of the search that stored it; 0: none
        ("outcome", "i1"),
        ("attacks", "?"),  # whether the attacker is to move
    ],
    align=True,
)

SEARCH = np.dtype(
    [
        # Of the node that is judged:
        ("weights", "i8", (3, MAX_CELLS)),  # of its cells (``ATTACK`` ...)
        ("scores", "i8", MAX_CELLS),  # of its moves, best first
        ("pair_weights", "i8", (MAX_CELLS, MAX_CELLS)),  # of the lines through two cells
        ("live_cells", "u8", MAX_LINES),  # of the attacker's live lines, the free unpaired cells
        ("tried", "i8"),  # the number of stones tried in the search for a forced win
        # Of the whole search:
        ("moves", "i1", (MAX_CELLS + 1, MAX_CELLS)),  # the moves to try at each ply, best first
        ("nodes", "i8"),  # the number of nodes visited
        ("node_limit", "i8"),  # where ``nodes`` ends the search
        ("stop", "?"),  # whether to end at once
        ("unanswered", "i8"),  # the questions without an answer so far
        ("stamp", "i4"),  # entries with another stamp count as empty; from 1
    ]
)

SearchState = Any
"""A record of ``SEARCH``."""

Context = tuple[Board, Int8s, Any, SearchState]
"""The rules; the board's symmetries (``Rules.sources``); the table, an array of ``ENTRY`` whose length is a
power of 2; the state of the search."""

Moves = tuple[Int8s, int, int]
"""Which moves of positions to solve: the cells in the order to solve them (if there are any, what is proven
of a position and its moves is forgotten before the next); the rule (``ALL`` ...); the limit of nodes for each
move."""


# Potentials and pairs


@Part
def weight_of(missing: Bitboard, board: Board) -> int:
    """The weight of a live line that needs these cells."""
    return max(1, board.whole >> popcount(missing))


@Part
def weigh(
    own: Bitboard, other: Bitboard, row: int, board: Board, search: SearchState
) -> tuple[int, Bitboard]:
    """Fill a row of weights by the live lines of the side with the stones ``own``.

    :returns: the side's potential, and the cells that complete a line.
    """
    weights, lines = search.weights, board.lines
    potential = 0
    completing = ZERO
    weights[row] = 0
    for index in range(board.line_count):
        line = lines[index]
        if line & other == ZERO:
            free = line & ~own
            weight = weight_of(free, board)
            potential += weight
            if free & (free - ONE) == ZERO:
                completing |= free
            while free:
                weights[row, lowest_cell(free)] += weight
                free &= free - ONE
    return potential, completing


@Part
def add_line(cells: Bitboard, weight: int, search: SearchState) -> None:
    """Add ``weight`` to the weights of a line's free unpaired cells, and of each two of them."""
    weights, pair_weights = search.weights, search.pair_weights
    while cells:
        cell = lowest_cell(cells)
        cells &= cells - ONE
        weights[UNPAIRED, cell] += weight
        partners = cells
        while partners:
            pair_weights[cell, lowest_cell(partners)] += weight
            partners &= partners - ONE


@Part
def best_pair(lines: int, search: SearchState) -> tuple[int, Bitboard]:
    """The pair of cells that lowers the potential most, on one of the first ``lines`` live lines.

    :returns: by how much it does, 0 if no pair lowers it; and the pair.
    """
    weights, pair_weights, live_cells = search.weights, search.pair_weights, search.live_cells
    most, first, second = 0, 0, 0
    for at in range(lines):
        cells = live_cells[at]
        while cells:
            cell = lowest_cell(cells)
            cells &= cells - ONE
            partners = cells
            while partners:
                partner = lowest_cell(partners)
                partners &= partners - ONE
                # Lines through both cells die, and the weight of those through one at most doubles.
                gain = 3 * pair_weights[cell, partner]
                gain -= weights[UNPAIRED, cell] + weights[UNPAIRED, partner]
                if gain > most:
                    most, first, second = gain, cell, partner
    return most, ONE << np.uint64(first) | ONE << np.uint64(second)


@Part
def drop_pair(pair: Bitboard, lines: int, board: Board, search: SearchState) -> int:
    """Remove a pair from the first ``lines`` live lines: those with both cells die, those with one of them
    weigh more.

    :returns: the number of live lines left, which again come first.
    """
    live_cells = search.live_cells
    at = 0
    while at < lines:
        cells = live_cells[at]
        if cells & pair == ZERO:
            at += 1
            continue
        add_line(cells, -weight_of(cells, board), search)
        if cells & pair == pair:
            lines -= 1
            live_cells[at] = live_cells[lines]
        else:
            live_cells[at] = cells & ~pair
            add_line(live_cells[at], weight_of(live_cells[at], board), search)
            at += 1
    return lines


@Part
def pair_up(
    potential: int, enough: int, attacker: Bitboard, defender: Bitboard, board: Board, search: SearchState
) -> tuple[int, Bitboard]:
    """Choose pairs of cells for the defender while the potential is at least ``enough`` and a pair lowers it,
    and fill the ``UNPAIRED`` weights.

    :returns: an upper bound on the remaining potential, and the paired cells.
    """
    pair_weights, live_cells = search.pair_weights, search.live_cells
    for cell in range(board.cells):
        for partner in range(board.cells):
            pair_weights[cell, partner] = 0
    lines = 0
    for index in range(board.line_count):
        line = board.lines[index]
        if line & defender == ZERO:
            live_cells[lines] = line & ~attacker
            add_line(live_cells[lines], weight_of(live_cells[lines], board), search)
            lines += 1
    paired = ZERO
    while potential >= enough:
        gain, pair = best_pair(lines, search)
        if gain == 0:
            break
        potential -= gain
        paired |= pair
        lines = drop_pair(pair, lines, board, search)
    return potential, paired


# Forced wins


@Part
def force(own: Bitboard, other: Bitboard, board: Board, search: SearchState) -> tuple[Bitboard, Bitboard]:
    """Look for a win of the side to move, with the stones ``own``, by stones that each threaten to complete a
    line until one threatens two.

    :returns: both sides' stones at its end; none if none is found.
    """
    to_block = completing_cells(other, own, board)
    if to_block & (to_block - ONE):
        return ZERO, ZERO
    for index in range(board.line_count):
        free = board.lines[index] & ~own
        if board.lines[index] & other or popcount(free) != 2:
            continue
        while free:
            move = free & (~free + ONE)
            free ^= move
            if to_block and move != to_block:
                continue
            if search.tried == TRIES:
                return ZERO, ZERO
            search.tried += 1
            threats = completing_cells(own | move, other, board)
            if threats & (threats - ONE):
                return own | move, other | threats
            end = force(own | move, other | threats, board, search)
            if end[0]:
                return end
    return ZERO, ZERO


@Part
def spoilers(own: Bitboard, other: Bitboard, board: Board, search: SearchState) -> Bitboard:
    """The cells where a stone of the other side could spoil a forced win of the side with the stones ``own``;
    none if no forced win is found.

    They are the cells of the win's moves and replies, and of the lines in which the other side would have all
    but two stones by then: one more would be a threat of its own.
    """
    search.tried = 0
    own_end, other_end = force(own, other, board, search)
    if own_end == ZERO:
        return ZERO
    relevant = (own_end & ~own) | (other_end & ~other)
    for index in range(board.line_count):
        line = board.lines[index]
        if line & own == ZERO and popcount(line & other_end) >= board.length - 2:
            relevant |= line
    return relevant


# The tree


@Part
def judge(
    attacks: bool, attacker: Bitboard, defender: Bitboard, board: Board, search: SearchState
) -> tuple[int, Bitboard, int]:
    """Judge a node by its potential and the cells that complete a line.

    :returns: the outcome; the cells to try if that is OPEN; and the attacker's potential. In the misère game
        the attacker wants the defender to complete a line, and the potential is the defender's.
    """
    free = board.full & ~(attacker | defender)
    whole = board.whole
    builder, blocker = (defender, attacker) if board.misere else (attacker, defender)
    potential, builder_ends = weigh(builder, blocker, ATTACK, board, search)
    _, blocker_ends = weigh(blocker, builder, DEFENCE, board, search)
    if board.misere:
        safe = free & ~(blocker_ends if attacks else builder_ends)
        if 2 * potential < whole:
            return HOLDS, ZERO, potential
        if safe == ZERO:
            return HOLDS if attacks else WINS, ZERO, potential
        return OPEN, safe, potential
    completing, to_block = (builder_ends, blocker_ends) if attacks else (blocker_ends, builder_ends)
    if completing:
        return WINS if attacks else HOLDS, ZERO, potential
    if to_block & (to_block - ONE):
        return HOLDS if attacks else WINS, ZERO, potential
    if not attacks and potential < whole:
        return HOLDS, ZERO, potential
    return OPEN, to_block if to_block else free, potential


@Part
def list_moves(
    attacks: bool, attacker: Bitboard, defender: Bitboard, choice: Bitboard, potential: int, context: Context
) -> tuple[int, int]:
    """List the moves of a node worth trying among ``choice``, best first, given what ``judge`` returns.

    :returns: the outcome, OPEN if it depends on these moves; and the number of moves listed.
    """
    board, _, _, search = context
    weights, whole = search.weights, board.whole
    remaining = potential
    paired = ZERO
    weights[UNPAIRED] = 0
    if not board.misere:
        mover, opponent = (attacker, defender) if attacks else (defender, attacker)
        if spoilers(mover, opponent, board, search):
            return WINS if attacks else HOLDS, 0
        forced = choice & (choice - ONE) == ZERO
        if not forced:
            relevant = spoilers(opponent, mover, board, search)
            if relevant:
                choice &= relevant
                forced = True
        if attacks or not forced:
            enough = 0 if attacks else whole
            remaining, paired = pair_up(potential, enough, attacker, defender, board, search)
            highest = 0
            if attacks:  # can the attacker raise it to 1 at all, or only exchange stones in pairs?
                for cell in range(board.cells):  # the weight is 0 where a cell is taken or paired
                    highest = max(highest, weights[UNPAIRED, cell])
            if remaining + highest < whole:
                return HOLDS, 0
    moves = search.moves[popcount(attacker | defender)]
    listed = 0
    for cell in range(board.cells):
        stone = ONE << np.uint64(cell)
        score = weights[ATTACK, cell] + weights[DEFENCE, cell]
        if choice & stone == ZERO:
            continue
        if board.misere:
            score = -score
        elif attacks:
            if potential + weights[ATTACK, cell] < whole:
                continue
            if paired & stone == ZERO and remaining + weights[UNPAIRED, cell] < whole:
                continue
        insert(moves, search.scores, listed, cell, score + weights[UNPAIRED, cell])
        listed += 1
    return OPEN, listed


@Part
def prove(attacks: bool, attacker: Bitboard, defender: Bitboard, context: Context) -> int:
    """The outcome of a node; OPEN if the search ends before it is known.

    :param attacks: whether the attacker is to move.
    """
    board, sources, table, search = context
    if search.stop or search.nodes >= search.node_limit:
        return OPEN
    search.nodes += 1
    outcome, choice, potential = judge(attacks, attacker, defender, board, search)
    if outcome != OPEN:
        return outcome
    key_a, key_d, _ = canonical_form(sources, attacker, defender)
    entry = table[np.int64(hashed(key_a, key_d)) & (len(table) - 1)]
    same = entry.attacker == key_a and entry.defender == key_d and entry.attacks == attacks
    if same and entry.stamp == search.stamp:
        return entry.outcome
    outcome, listed = list_moves(attacks, attacker, defender, choice, potential, context)
    moves = search.moves[popcount(attacker | defender)]
    if outcome == OPEN:
        outcome, wanted = (HOLDS, WINS) if attacks else (WINS, HOLDS)
        for at in range(listed):
            stone = ONE << np.uint64(moves[at])
            sides = (attacker | stone, defender) if attacks else (attacker, defender | stone)
            reply = prove(not attacks, *sides, context)
            if reply == OPEN:
                return OPEN
            if reply == wanted:
                outcome = wanted
                break
    entry.attacker, entry.defender, entry.attacks = key_a, key_d, attacks
    entry.outcome, entry.stamp = outcome, search.stamp
    return outcome


# Values


@Part
def value_of(mover: Bitboard, opponent: Bitboard, questions: int, nodes: int, context: Context) -> int:
    """+1 the mover wins, 0 a draw, -1 the mover loses; UNPROVEN if that takes more than ``nodes`` nodes. The
    answer to a question that is not among ``questions`` is taken to be no."""
    search = context[3]
    search.node_limit = search.nodes + nodes
    search.unanswered = questions
    for question in (DOES_MOVER_WIN, DOES_OPPONENT_WIN):
        if questions & question:
            attacks = question == DOES_MOVER_WIN
            sides = (mover, opponent) if attacks else (opponent, mover)
            outcome = prove(attacks, *sides, context)
            if outcome == OPEN:
                return UNPROVEN
            if outcome == WINS:
                return 1 if attacks else -1
            search.unanswered ^= question
    return 0


@partial(Kernel, name="solver")
def solve_positions(
    movers: Uint64s,
    opponents: Uint64s,
    values: Int8s,
    move_values: Int8s,
    questions: int,
    nodes: int,
    moves: Moves,
    context: Context,
) -> None:
    """Find the values of open positions, and of their moves.

    :param movers: uint64[k], the stones of the sides to move.
    :param opponents: uint64[k], the stones of their opponents.
    :param values: int8[k], to be filled; so is ``move_values``, int8[k, cells], for the mover.
    :param nodes: the limit of nodes for each position.
    """
    board, search = context[0], context[3]
    order, rule, move_nodes = moves
    for row in range(len(movers)):
        mover, opponent = movers[row], opponents[row]
        open_questions = questions
        if questions == BOTH and mover | opponent == ZERO and not board.misere:
            open_questions = DOES_MOVER_WIN  # strategy stealing
        if len(order) > 0:
            search.stamp += 1  # forgets what was proved of earlier positions
        value = values[row] = value_of(mover, opponent, open_questions, nodes, context)
        done = rule != ALL and value in (UNPROVEN, -1)
        free = board.full & ~(mover | opponent)
        completing = completing_cells(mover, opponent, board)
        for cell in order:
            stone = ONE << np.uint64(cell)
            if completing & stone:
                move_values[row, cell] = -1 if board.misere else 1
            elif free == stone:
                move_values[row, cell] = 0
            elif free & stone and not done:
                reply = value_of(opponent, mover | stone, questions, move_nodes, context)
                move_values[row, cell] = UNPROVEN if reply == UNPROVEN else -reply
                kept = rule == UNTIL_FOUND and move_values[row, cell] == value
                done = kept or (rule != ALL and reply == UNPROVEN)
