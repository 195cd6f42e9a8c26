"""The search behind ``solver``, which explains its ideas: does the attacker win this position?

Its kernels work on four things, records for the sake of short calls and quick compiling:

- ``board``, the rules (``engine.board``);
- ``table``, an array of ``ENTRY`` records: the attacker's and the defender's stones of a class of positions,
  and a note of what is known of the node, 0 in an empty place;
- ``frames``, an array of ``FRAME`` records, one for each ply from the root down;
- ``search``, a record of ``SEARCH``: where the search is. It stops after any node, and goes on from there.

``sources`` are the board's symmetries (``engine.bits``).
"""

from typing import Any

import numpy as np

from ttt_cli.engine.arrays import Bools, Int8s, Int64s, Uint64s
from ttt_cli.engine.bits import ONE, ZERO, Bitboard, first, hashed, image_of_class, popcount, turned
from ttt_cli.engine.board import MAX_LINES, Board, ends, insert
from ttt_cli.engine.kernel import Kernel, Part
from ttt_cli.engine.rules import MAX_CELLS

UNPROVEN = 2
"""The value of a position that has not been proven."""

OPEN, WINS, HOLDS, UNSETTLED = 0, 1, 2, 3
"""Outcomes of a node: not known yet; won by the attacker; held by the defender; not won with so few
deviations. The code of such a node in the table is UNSETTLED plus that number."""

NONE, DOES_MOVER_WIN, DOES_OPPONENT_WIN = 0, 1, 2
"""The questions."""

ALL, UNTIL_UNPROVEN, UNTIL_FOUND = 0, 1, 2
"""Which positions of a group are solved: all; those up to one that is not proven; up to that, or a move that
keeps the value of the first."""

BOTH = DOES_MOVER_WIN + DOES_OPPONENT_WIN

ATTACK, LEFT, DEFENCE = 0, 1, 2
"""Rows of ``weights``: what a cell weighs in the attacker's live lines, in those that pairs leave, and in the
defender's."""

WAYS = 4
"""In how many neighbouring places of the table an entry may be."""

TRIES = 64
"""How many stones a search for a forced win tries."""

ENTRY = np.dtype([("attacker", "u8"), ("defender", "u8"), ("note", "u1")])

FRAME = np.dtype(
    [
        # a node on the way from the root down:
        ("attacker", "u8"),  # both sides' stones
        ("defender", "u8"),
        ("key_a", "u8"),  # and those of their class
        ("key_d", "u8"),
        ("count", "i8"),  # the number of moves,
        ("next", "i8"),  # the next one to try
        ("deviations", "i8"),  # how many the attacker has left
        ("cut", "?"),  # whether more of them might change the result
        ("new", "?"),  # whether the node belongs into the table
        ("moves", "i1", MAX_CELLS),  # the moves worth trying, best first
        # a stone of a search for forced wins:
        ("own", "u8"),
        ("other", "u8"),
        ("must", "u8"),  # the cells to block
        ("tried", "i8"),
    ],
    align=True,
)

SEARCH = np.dtype(
    [
        # what a node is judged by:
        ("weights", "i8", (3, MAX_CELLS)),  # of cells (``ATTACK`` ...)
        ("scores", "i8", MAX_CELLS),  # of the moves listed
        ("together", "i8", (MAX_CELLS, MAX_CELLS)),  # what the lines through two cells weigh
        ("live", "i8", MAX_LINES),  # the attacker's live lines,
        ("worth", "i8", MAX_LINES),  # their weights,
        ("rest", "u8", MAX_LINES),  # and their free cells without pairs
        # where the whole is:
        ("row", "i8"),  # the position in hand
        ("question", "i8"),  # what is asked of it
        ("refuted", "i8"),  # a question that was answered by no
        ("started", "i8"),  # nodes visited before this position
        ("nodes", "i8"),  # and in all
        ("depth", "i8"),
        ("only", "i8"),  # the only question to ask, for the sake of the move that answers it
        ("leading", "i8"),  # the value of the position that leads the group
        ("decided", "?"),  # whether the rest of the group is left
        ("best", "i8"),  # that move, -1 if none is needed
        ("entries", "i8"),  # of the table
        ("room", "i8"),  # how many it takes
    ]
)

Frames = Any
"""An array of ``FRAME`` records."""

Search = Any
"""A record of ``SEARCH``."""

Table = Any
"""An array of ``ENTRY`` records."""

Room = tuple[Board, Int8s, Table, Frames, Search]
"""``board``, ``sources``, ``table``, ``frames`` and ``search``, as the module says."""


# Potentials and pairs


@Part
def weigh(
    attacker: Bitboard, defender: Bitboard, board: Board, search: Search
) -> tuple[int, int, Bitboard, Bitboard]:
    """Fill the weights of both sides' live lines, and list the attacker's.

    :returns: the attacker's potential, how many live lines it has, and the cells that complete a line of the
        attacker, and of the defender.
    """
    length, whole, lines, cells_of = board.line, board.whole, board.lines, board.cells_of
    weights, live, worth, rest = search.weights, search.live, search.worth, search.rest
    for cell in range(board.cells):
        weights[ATTACK, cell] = weights[LEFT, cell] = weights[DEFENCE, cell] = 0
    potential, number, attack_ends, defence_ends = 0, 0, ZERO, ZERO
    for index in range(board.number):
        line = lines[index]
        if line & defender == ZERO:
            missing = length - popcount(line & attacker)
            value = max(1, whole >> missing)
            potential += value
            for place in range(length):
                weights[ATTACK, cells_of[index, place]] += value
            if missing == 1:
                attack_ends |= line & ~attacker
            live[number], worth[number], rest[number] = index, value, line & ~attacker
            number += 1
        if line & attacker == ZERO:
            missing = length - popcount(line & defender)
            value = max(1, whole >> missing)
            for place in range(length):
                weights[DEFENCE, cells_of[index, place]] += value
            if missing == 1:
                defence_ends |= line & ~defender
    return potential, number, attack_ends, defence_ends


@Part
def add_line(listed: int, worth: int, board: Board, search: Search) -> None:
    """Add what a listed line is worth to each of its free cells, and to each two of them."""
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
def pair_up(potential: int, number: int, enough: int, board: Board, search: Search) -> tuple[int, Bitboard]:
    """Choose pairs of cells for the defender, as long as that lowers the potential and it is not below
    ``enough``, and fill the weights that are left.

    :param number: how many lines of the attacker are listed (``weigh``).
    :returns: the potential that is left, and the paired cells.
    """
    left, together, cells_of = search.weights, search.together, board.cells_of
    live, worth, rest, length = search.live, search.worth, search.rest, board.line
    for cell in range(board.cells):
        for last in range(board.cells):
            together[cell, last] = 0
    for index in range(number):
        add_line(index, worth[index], board, search)
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
                        more = 3 * together[cell, last] - left[LEFT, cell] - left[LEFT, last]
                        if more > gain:
                            gain, one, other = more, cell, last
        if gain == 0:
            break
        pair = ONE << np.uint64(one) | ONE << np.uint64(other)
        paired |= pair
        potential -= gain
        at: Any = np.int64(0)  # a literal would make a second signature
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


@Part
def force(mover: Bitboard, opponent: Bitboard, board: Board, frames: Frames) -> Bitboard:
    """Look for a win of the mover by stones that each threaten to complete a line, until one does so twice.

    :returns: nothing if none was found, else the cells where one more stone of the opponent could spoil it:
        those of all moves and replies, and those of the lines in which it would come to have all but two
        stones, and so, with that one, a threat of its own. The first move of the win is in ``frames[1].own``.
    """
    lines, length = board.lines, board.line
    step = frames[0]
    step.own, step.other, step.must, step.tried = mover, opponent, ends(opponent, mover, board), 0
    level, tries = 0, 0
    while level >= 0 and tries < TRIES:
        step = frames[level]
        choice = step.tried
        if choice == 2 * board.number or step.must & (step.must - ONE):
            level -= 1
            continue
        step.tried += 1
        line = lines[choice >> 1]
        if line & step.other or popcount(line & step.own) != length - 2:
            continue
        free = line & ~step.own
        move = free & (~free + ONE)
        if choice & 1:
            move ^= free
        if step.must and move != step.must:
            continue
        tries += 1
        level += 1
        own, other = step.own | move, step.other
        threats = ends(own, other, board)
        step = frames[level]
        step.own, step.other, step.tried = own, other | threats, 0
        if threats & (threats - ONE) == ZERO:
            step.must = ends(other | threats, own, board)
            continue
        replies = (other | threats) & ~opponent
        relevant = (own & ~mover) | replies
        for index in range(board.number):
            line = lines[index]
            if line & mover == ZERO and popcount(line & (opponent | replies)) >= length - 2:
                relevant |= line
        return relevant
    return ZERO


# The tree


@Part
def judge(
    attacks: bool, attacker: Bitboard, defender: Bitboard, board: Board, search: Search
) -> tuple[int, Bitboard, int, int]:
    """Judge a node by its potential and the cells that complete a line.

    :returns: what it is; the cells to look at if that is OPEN, else those that show it, if any; the
        attacker's potential, and how many lines are listed (``weigh``). In the misère game the attacker wants
        the defender to complete a line, and the potential is the defender's.
    """
    free, whole = board.full & ~(attacker | defender), board.whole
    if board.misere:
        potential, number, defence_ends, attack_ends = weigh(defender, attacker, board, search)
        safe = free & ~(attack_ends if attacks else defence_ends)
        if 2 * potential < whole:
            return HOLDS, ZERO, potential, number
        if safe == ZERO:
            return HOLDS if attacks else WINS, free, potential, number
        return OPEN, safe, potential, number
    potential, number, attack_ends, defence_ends = weigh(attacker, defender, board, search)
    own, other = (attack_ends, defence_ends) if attacks else (defence_ends, attack_ends)
    if own:
        return WINS if attacks else HOLDS, own, potential, number
    if other & (other - ONE):
        return HOLDS if attacks else WINS, other, potential, number
    if not attacks and potential < whole:
        return HOLDS, ZERO, potential, number
    return OPEN, other if other else free, potential, number


@Part
def enter(attacks: bool, room: Room) -> int:
    """Decide what the node at ``depth`` is without searching it; where that fails, OPEN, and list its moves,
    best first.

    A move that shows at once what the node is counts as tried.
    """
    board, sources, table, frames, search = room
    frame, weights, scores = frames[search.depth], search.weights, search.scores
    attacker, defender, moves = frame.attacker, frame.defender, frame.moves
    frame.count, frame.next, frame.cut, frame.new = 0, 0, False, False
    outcome, choice, potential, number = judge(attacks, attacker, defender, board, search)
    if outcome != OPEN:
        if choice:
            moves[0], frame.next = first(choice), 1
        return outcome

    image = image_of_class(sources, attacker, defender)
    frame.key_a, frame.key_d = turned(sources, attacker, image), turned(sources, defender, image)
    known = recall(frame.key_a, frame.key_d, attacks, table)
    if known != OPEN and (search.depth > 0 or search.only == NONE):
        if known < UNSETTLED:
            return known
        if known >= UNSETTLED + frame.deviations:
            return UNSETTLED
    frame.new = True

    left, paired, tempo = potential, ZERO, True
    whole = board.whole
    if not board.misere:
        mover, opponent = (attacker, defender) if attacks else (defender, attacker)
        if force(mover, opponent, board, frames):
            moves[0], frame.next = first(frames[1].own & ~mover), 1
            return WINS if attacks else HOLDS
        forced = choice & (choice - ONE) == ZERO
        if not forced:
            relevant = force(opponent, mover, board, frames)
            if relevant:
                choice &= relevant
                forced = True
        if attacks or not forced:
            left, paired = pair_up(potential, number, 0 if attacks else whole, board, search)
            if attacks:  # can the attacker raise it to 1 at all, or only exchange stones in pairs?
                highest = 0
                for cell in range(board.cells):
                    if board.full & ~(attacker | defender | paired) & ONE << np.uint64(cell):
                        highest = max(highest, weights[LEFT, cell])
                tempo = left + highest >= whole
            elif left < whole:
                return HOLDS

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
        elif score == 0:  # it is in no line that can still be completed
            continue
        score += weights[LEFT, cell]
        insert(moves, scores, listed, cell, score)
        listed += 1
    frame.count = listed
    if listed == 0:
        return HOLDS if attacks else WINS
    return OPEN


@Part
def back_up(attacks: bool, outcome: int, frame: Any) -> int:
    """The outcome of a node when one more of its moves has come to ``outcome``; OPEN: the next one is to be
    tried."""
    more = frame.next < frame.count
    if attacks:
        if outcome == WINS:
            return WINS
        frame.cut = frame.cut or outcome == UNSETTLED
        if more and frame.deviations > 0:
            return OPEN
        return UNSETTLED if more or frame.cut else HOLDS
    if outcome != WINS:
        return outcome
    return OPEN if more else WINS


@Part
def go_on(room: Room, until: int) -> int:
    """Go on with the search, and say what the root is; OPEN if ``until`` nodes were visited before that,
    or the table has no room."""
    _, _, table, frames, search = room
    turn = 0 if search.question == DOES_MOVER_WIN else 1
    while search.nodes < until and search.entries < search.room:
        search.nodes += 1
        attacks = (search.depth + turn) % 2 == 0
        outcome = enter(attacks, room)
        while outcome != OPEN:
            frame = frames[search.depth]
            if frame.new:
                remember(frame, attacks, outcome, table, search)
            if search.depth == 0:
                return outcome
            search.depth -= 1
            attacks = not attacks
            outcome = back_up(attacks, outcome, frames[search.depth])
        frame, below = frames[search.depth], frames[search.depth + 1]
        stone = ONE << np.uint64(frame.moves[frame.next])
        below.attacker = frame.attacker | (stone if attacks else ZERO)
        below.defender = frame.defender | (ZERO if attacks else stone)
        below.deviations = frame.deviations - (1 if attacks and frame.next > 0 else 0)
        frame.next += 1
        search.depth += 1
    return OPEN


# The table


@Part
def recall(key_a: Bitboard, key_d: Bitboard, attacks: bool, table: Table) -> Any:
    """The code of a node in the table, OPEN if it is not there."""
    start = np.int64(hashed(key_a, key_d)) & (len(table) - WAYS)
    for place in range(start, start + WAYS):
        entry = table[place]
        if entry.attacker == key_a and entry.defender == key_d and entry.note & 1 == attacks:
            return np.int64(entry.note) >> 1
    return OPEN


@Part
def remember(node: Any, attacks: bool, outcome: int, table: Table, search: Search) -> None:
    """Put a node into the table; where there is no room, in place of the one with the most stones, which is
    the cheapest to search again."""
    start: Any = np.int64(hashed(node.key_a, node.key_d)) & (len(table) - WAYS)
    chosen, most = start, -1
    for place in range(start, start + WAYS):
        entry = table[place]
        same = entry.attacker == node.key_a and entry.defender == node.key_d and entry.note & 1 == attacks
        if entry.note == 0 or same:
            chosen = place
            break
        stones = popcount(entry.attacker | entry.defender)
        if stones > most:
            chosen, most = place, stones
    entry = table[chosen]
    search.entries += entry.note == 0
    code = outcome + node.deviations if outcome == UNSETTLED else outcome
    entry.attacker, entry.defender, entry.note = node.key_a, node.key_d, code << 1 | attacks


# Values


@Kernel
def solve_positions(
    room: Room,
    movers: Uint64s,
    others: Uint64s,
    values: Int8s,
    begins: Bools,
    each: Int64s,
    rule: int,
    until: int,
) -> None:
    """Find the value of each open position from ``row`` on, until a number of nodes have been visited.

    :param movers: uint64[k], the stones of the side to move.
    :param others: uint64[k], those of the other side.
    :param values: int8[k], UNPROVEN; filled with +1 the mover wins, 0 a draw, -1 the mover loses, where
        so many nodes are enough.
    :param begins: bool[k], where a group begins, a position and its moves, and with it an empty table.
    :param each: int64[k], the nodes that each position may take.
    :param rule: which of a group are solved (``ALL`` ...).
    """
    board, _, table, frames, search = room
    root = frames[0]
    while search.row < len(movers):
        row = search.row
        if search.question == NONE:
            if begins[row]:
                search.decided = False
                if search.entries > 0:
                    search.entries = 0
                    for place in range(len(table)):
                        table[place].note = 0
            if search.decided:
                search.row += 1
                continue
            search.started, search.best, search.depth, root.deviations = search.nodes, -1, 0, 0
            search.question, search.refuted = DOES_MOVER_WIN, NONE
            if search.only != NONE:
                search.question, search.refuted = search.only, BOTH - search.only
            elif movers[row] | others[row] == ZERO and not board.misere:
                search.refuted = DOES_OPPONENT_WIN  # strategy stealing
            root.attacker, root.defender = movers[row], others[row]
            if search.question == DOES_OPPONENT_WIN:
                root.attacker, root.defender = others[row], movers[row]
        outcome = go_on(room, min(until, search.started + each[row]))
        question = search.question
        if outcome == (WINS if question == DOES_MOVER_WIN else HOLDS):
            search.best = root.moves[root.next - 1] if root.next > 0 else -1
        if outcome == OPEN:
            if search.nodes < search.started + each[row]:
                return
        elif outcome == WINS:
            values[row] = 1 if question == DOES_MOVER_WIN else -1
        elif outcome == HOLDS and search.refuted != NONE:
            values[row] = 0
        else:
            # Ask the two questions in turn, with ever more deviations, until one is yes or both are no.
            if outcome == HOLDS:
                search.refuted = question
            elif search.refuted != NONE or question == DOES_OPPONENT_WIN:
                root.deviations += root.deviations // 2 + 1
            if search.refuted in (NONE, question):
                search.question = BOTH - question
                attacker = root.attacker
                root.attacker, root.defender = root.defender, attacker
            continue
        if rule != ALL:
            if begins[row]:
                search.leading = values[row]
            unproven, lost = values[row] == UNPROVEN, begins[row] and values[row] == -1
            found = rule == UNTIL_FOUND and not begins[row] and values[row] == -search.leading
            search.decided = search.decided or unproven or lost or found
        search.row += 1
        search.question = NONE


solve_positions.name, solve_positions.seconds = "solver", 5.0
