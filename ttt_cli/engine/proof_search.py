"""The kernels of ``engine.solver``, which explains their ideas: does the attacker win this position?

They share ``board``, the rules (``engine.board``); ``sources``, the board's symmetries (``engine.bits``);
``table``, an array of ``ENTRY`` records; and ``search``, a record of ``SEARCH``.
"""

from typing import Any

import numpy as np

from ttt_cli.engine.arrays import Int8s, Uint64s
from ttt_cli.engine.bits import ONE, ZERO, Bitboard, hashed, image_of_class, popcount, turned
from ttt_cli.engine.board import MAX_LINES, Board, ends, insert
from ttt_cli.engine.kernel import Kernel, Part
from ttt_cli.engine.rules import MAX_CELLS

UNPROVEN = 2
"""The value of a position that has not been proven."""

OPEN, WINS, HOLDS = 0, 1, 2
"""Outcomes of a node: unknown; won by the attacker; held by the defender."""

DOES_MOVER_WIN, DOES_OPPONENT_WIN = 1, 2
BOTH = DOES_MOVER_WIN | DOES_OPPONENT_WIN
"""The questions about a position."""

ALL, UNTIL_UNPROVEN, UNTIL_FOUND = 0, 1, 2
"""Which moves of a position are solved: all; those up to the first unproven one, unless the position itself
is unproven or lost; of these, those up to the first that keeps the position's value."""

ATTACK, LEFT, DEFENCE = 0, 1, 2
"""Rows of ``weights``: those of a cell in the attacker's live lines, in those that pairs leave, and in the
defender's."""

STAMP = 1 << 3
"""The unit of stamps in an entry's note."""

WAYS = 4
"""The neighbouring places of the table in which an entry may be."""

TRIES = 64
"""The stones that a search for a forced win tries."""

ENTRY = np.dtype(
    [
        ("attacker", "u8"),  # both sides' stones on a class's own board
        ("defender", "u8"),
        ("note", "i8"),  # the stamp, the outcome, and whether the attacker is to move
    ]
)

SEARCH = np.dtype(
    [
        # The judgement of a node:
        ("weights", "i8", (3, MAX_CELLS)),  # of cells (``ATTACK`` ...)
        ("scores", "i8", MAX_CELLS),  # of the listed moves
        ("together", "i8", (MAX_CELLS, MAX_CELLS)),  # weights of the lines through two cells
        ("live", "i8", MAX_LINES),  # the attacker's live lines when pairs are chosen,
        ("worth", "i8", MAX_LINES),  # their weights,
        ("rest", "u8", MAX_LINES),  # and their free unpaired cells
        # A forced win: both sides' stones at its end, and the stones tried.
        ("own", "u8"),
        ("other", "u8"),
        ("tried", "i8"),
        # The whole search:
        ("moves", "i1", (MAX_CELLS + 1, MAX_CELLS)),  # the moves to try at each depth, best first
        ("nodes", "i8"),  # visited
        ("until", "i8"),  # the limit of nodes
        ("stop", "?"),  # whether to end at once
        ("left", "i8"),  # the questions that are not answered yet
        ("stamp", "i8"),  # of the entries that count, from 1 on
    ]
)

SearchState = Any
"""A record of ``SEARCH``."""

Table = Any
"""An array of ``ENTRY`` records."""

Room = tuple[Board, Int8s, Table, SearchState]


# Potentials and pairs


@Part
def weigh(
    own: Bitboard, other: Bitboard, row: int, board: Board, search: SearchState
) -> tuple[int, Bitboard]:
    """Fill a row of weights with those of the live lines of the side with the stones ``own``.

    :returns: the potential, and the cells that complete a line.
    """
    weights, potential, completing = search.weights, 0, ZERO
    for cell in range(board.cells):
        weights[row, cell] = 0
    for index in range(board.number):
        line = board.lines[index]
        if line & other == ZERO:
            missing = popcount(line & ~own)
            value = max(1, board.whole >> missing)
            potential += value
            for place in range(board.line):
                weights[row, board.cells_of[index, place]] += value
            if missing == 1:
                completing |= line & ~own
    return potential, completing


@Part
def add_line(listed: int, worth: int, board: Board, search: SearchState) -> None:
    """Add ``worth`` to the weight of each free cell of a listed line, and of each pair of them."""
    weights, together, cells_of = search.weights, search.together, board.cells_of
    index, rest = search.live[listed], search.rest[listed]
    for place in range(board.line):
        cell = cells_of[index, place]
        if rest >> np.uint64(cell) & ONE:
            weights[LEFT, cell] += worth
            for further in range(place + 1, board.line):
                last = cells_of[index, further]
                if rest >> np.uint64(last) & ONE:
                    together[cell, last] += worth


@Part
def pair_up(
    potential: int, enough: int, attacker: Bitboard, defender: Bitboard, board: Board, search: SearchState
) -> tuple[int, Bitboard]:
    """Choose pairs of cells for the defender, as long as that lowers the potential and it is not below
    ``enough``, and fill the remaining weights.

    :returns: the remaining potential, and the paired cells.
    """
    weights, together, cells_of = search.weights, search.together, board.cells_of
    live, worth, rest, length = search.live, search.worth, search.rest, board.line
    for cell in range(board.cells):
        for last in range(board.cells):
            together[cell, last] = 0
    number = 0
    for index in range(board.number):
        line = board.lines[index]
        if line & defender == ZERO:
            live[number], rest[number] = index, line & ~attacker
            worth[number] = max(1, board.whole >> popcount(rest[number]))
            add_line(number, worth[number], board, search)
            number += 1
    paired = ZERO
    while potential >= enough:
        gain, one, other = 0, 0, 0  # lines with both cells go, those with one of them double
        for index in range(number):
            line = live[index]
            for place in range(length):
                cell = cells_of[line, place]
                if rest[index] >> np.uint64(cell) & ONE:
                    for further in range(place + 1, length):
                        last = cells_of[line, further]
                        more = 3 * together[cell, last] - weights[LEFT, cell] - weights[LEFT, last]
                        if more > gain:
                            gain, one, other = more, cell, last
        if gain == 0:
            break
        pair = ONE << np.uint64(one) | ONE << np.uint64(other)
        paired |= pair
        potential -= gain
        at = 0
        while at < number:
            free = rest[at]
            if free & pair == ZERO:
                at += 1
                continue
            add_line(at, -worth[at], board, search)
            if free & pair == pair:
                number -= 1
                live[at], worth[at], rest[at] = live[number], worth[number], rest[number]
            else:
                worth[at] *= 2
                rest[at] = free & ~pair
                add_line(at, worth[at], board, search)
                at += 1
    return potential, paired


# Forced wins


@Part
def force(own: Bitboard, other: Bitboard, board: Board, search: SearchState) -> bool:
    """Look for a win of the side to move, with the stones ``own``, by stones that each threaten to complete a
    line until one threatens two; if there is one, fill ``own`` and ``other``."""
    must = ends(other, own, board)
    if must & (must - ONE):
        return False
    for choice in range(2 * board.number):
        line = board.lines[choice >> 1]
        if line & other or popcount(line & own) != board.line - 2:
            continue
        free = line & ~own
        move = free & (~free + ONE)
        if choice & 1:
            move ^= free
        if must and move != must:
            continue
        if search.tried == TRIES:
            return False
        search.tried += 1
        threats = ends(own | move, other, board)
        if threats & (threats - ONE):
            search.own, search.other = own | move, other | threats
            return True
        if force(own | move, other | threats, board, search):
            return True
    return False


@Part
def spoilers(mover: Bitboard, opponent: Bitboard, board: Board, search: SearchState) -> Bitboard:
    """The cells where a stone of the opponent could spoil a forced win of the mover: those of all moves and
    replies, and those of the lines in which the opponent would have all but two stones, and so, with that
    one, a threat of its own. None if no forced win is found."""
    search.tried = 0
    if not force(mover, opponent, board, search):
        return ZERO
    replies = search.other & ~opponent
    relevant = (search.own & ~mover) | replies
    for index in range(board.number):
        line = board.lines[index]
        if line & mover == ZERO and popcount(line & (opponent | replies)) >= board.line - 2:
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
    free, whole = board.full & ~(attacker | defender), board.whole
    liner, blocker = (defender, attacker) if board.misere else (attacker, defender)
    potential, liner_ends = weigh(liner, blocker, ATTACK, board, search)
    _, blocker_ends = weigh(blocker, liner, DEFENCE, board, search)
    if board.misere:
        safe = free & ~(blocker_ends if attacks else liner_ends)
        if 2 * potential < whole:
            return HOLDS, ZERO, potential
        if safe == ZERO:
            return HOLDS if attacks else WINS, ZERO, potential
        return OPEN, safe, potential
    own, other = (liner_ends, blocker_ends) if attacks else (blocker_ends, liner_ends)
    if own:
        return WINS if attacks else HOLDS, ZERO, potential
    if other & (other - ONE):
        return HOLDS if attacks else WINS, ZERO, potential
    if not attacks and potential < whole:
        return HOLDS, ZERO, potential
    return OPEN, other if other else free, potential


@Part
def list_moves(
    attacks: bool,
    attacker: Bitboard,
    defender: Bitboard,
    choice: Bitboard,
    potential: int,
    moves: Int8s,
    board: Board,
    search: SearchState,
) -> tuple[int, int]:
    """List the moves of a node worth trying among ``choice``, best first, given what ``judge`` returns.

    :returns: the outcome, if it is found on the way, else OPEN; and the number of moves listed.
    """
    weights, scores, whole = search.weights, search.scores, board.whole
    left, paired, tempo = potential, ZERO, True
    for cell in range(board.cells):
        weights[LEFT, cell] = 0
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
            left, paired = pair_up(potential, 0 if attacks else whole, attacker, defender, board, search)
            if attacks:  # can the attacker raise it to 1 at all, or only exchange stones in pairs?
                highest = 0
                for cell in range(board.cells):
                    if board.full & ~(attacker | defender | paired) & ONE << np.uint64(cell):
                        highest = max(highest, weights[LEFT, cell])
                tempo = left + highest >= whole
            elif left < whole:
                return HOLDS, 0
    listed = 0
    for cell in range(board.cells):
        place = ONE << np.uint64(cell)
        score = weights[ATTACK, cell] + weights[DEFENCE, cell]
        if choice & place == ZERO:
            continue
        if board.misere:
            score = -score
        elif attacks:
            if potential + weights[ATTACK, cell] < whole or not tempo:
                continue
            if paired & place == ZERO and left + weights[LEFT, cell] < whole:
                continue
        insert(moves, scores, listed, cell, score + weights[LEFT, cell])
        listed += 1
    return OPEN, listed


@Part
def look_up(
    key_a: Bitboard, key_d: Bitboard, attacks: bool, table: Table, search: SearchState
) -> tuple[int, int]:
    """The place of a node in the table and its outcome; or OPEN, and a place that it can take: an empty one,
    or that of the node with the most stones, which is the cheapest to search again."""
    start: Any = np.int64(hashed(key_a, key_d)) & (len(table) - WAYS)
    chosen, most = start, -1
    for place in range(start, start + WAYS):
        entry = table[place]
        if entry.note < search.stamp * STAMP:
            return place, OPEN
        if entry.attacker == key_a and entry.defender == key_d and entry.note & 1 == attacks:
            return place, (entry.note & (STAMP - 1)) >> 1
        stones = popcount(entry.attacker | entry.defender)
        if stones > most:
            chosen, most = place, stones
    return chosen, OPEN


@Part
def prove(attacks: bool, attacker: Bitboard, defender: Bitboard, depth: int, room: Room) -> int:
    """The outcome of a node.

    :param attacks: whether the attacker is to move.
    """
    board, sources, table, search = room
    if search.stop or search.nodes >= search.until:
        return OPEN
    search.nodes += 1
    outcome, choice, potential = judge(attacks, attacker, defender, board, search)
    if outcome != OPEN:
        return outcome
    image = image_of_class(sources, attacker, defender)
    key_a, key_d = turned(sources, attacker, image), turned(sources, defender, image)
    _, known = look_up(key_a, key_d, attacks, table, search)
    if known != OPEN:
        return known
    moves = search.moves[depth]
    outcome, listed = list_moves(attacks, attacker, defender, choice, potential, moves, board, search)
    if outcome == OPEN:
        outcome, wanted = (HOLDS, WINS) if attacks else (WINS, HOLDS)
        for at in range(listed):
            stone = ONE << np.uint64(moves[at])
            own, other = (attacker | stone, defender) if attacks else (attacker, defender | stone)
            found = prove(not attacks, own, other, depth + 1, room)
            if found == OPEN:
                return OPEN
            if found == wanted:
                outcome = found
                break
    place, _ = look_up(key_a, key_d, attacks, table, search)
    entry = table[place]
    entry.attacker, entry.defender, entry.note = key_a, key_d, search.stamp * STAMP + (outcome << 1 | attacks)
    return outcome


# Values


@Part
def value_of(mover: Bitboard, other: Bitboard, questions: int, nodes: int, room: Room) -> int:
    """+1 the mover wins, 0 a draw, -1 the mover loses; UNPROVEN if that takes more ``nodes``. The answer to
    a question that is not among ``questions`` is taken to be no."""
    search = room[3]
    search.until, search.left = search.nodes + nodes, questions
    for question in range(1, BOTH):
        if questions & question:
            attacks = question == DOES_MOVER_WIN
            sides = (mover, other) if attacks else (other, mover)
            outcome = prove(attacks, *sides, 0, room)
            if outcome == OPEN:
                return UNPROVEN
            if outcome == WINS:
                return 1 if attacks else -1
            search.left ^= question
    return 0


@Kernel
def solve_positions(
    room: Room,
    movers: Uint64s,
    others: Uint64s,
    values: Int8s,
    questions: int,
    nodes: int,
    moves: Int8s,
    order: Int8s,
    rule: int,
    move_nodes: int,
) -> None:
    """Find the values of open positions, and of their moves.

    :param movers: uint64[k], the stones of the side to move; others: those of the other side.
    :param values: int8[k], to be filled.
    :param nodes: the limit of nodes for each position.
    :param moves: int8[k, cells], the values of moves for the mover, to be filled.
    :param order: the cells whose moves are solved, in this order. If there are any, what is proven of a
        position and its moves is forgotten before the next.
    :param rule: which of these moves are solved (``ALL`` ...).
    :param move_nodes: the limit of nodes for each move.
    """
    board, search = room[0], room[3]
    for row in range(len(movers)):
        mover, other, asked = movers[row], others[row], questions
        if questions == BOTH and mover | other == ZERO and not board.misere:
            asked = DOES_MOVER_WIN  # strategy stealing
        search.stamp += len(order) > 0
        value = values[row] = value_of(mover, other, asked, nodes, room)
        decided = rule != ALL and value in (UNPROVEN, -1)
        free, completing = board.full & ~(mover | other), ends(mover, other, board)
        for cell in order:
            stone = ONE << np.uint64(cell)
            if completing & stone:
                moves[row, cell] = -1 if board.misere else 1
            elif free == stone:
                moves[row, cell] = 0
            elif free & stone and not decided:
                found = value_of(other, mover | stone, questions, move_nodes, room)
                moves[row, cell] = UNPROVEN if found == UNPROVEN else -found
                kept = rule == UNTIL_FOUND and moves[row, cell] == value
                decided = kept or (rule != ALL and found == UNPROVEN)


solve_positions.name, solve_positions.seconds = "solver", 5.0
