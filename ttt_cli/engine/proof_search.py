"""The search behind ``solver``, which explains its ideas: does the attacker win this position?

Its kernels work on bitboards and on arrays that live as long as a ``Solver``, in four groups:

- ``game``: ``lines`` uint64[n] and ``cells_of`` int64[n, k], the winning lines as bitboards and as cells;
  ``images`` int64[s, cells], where the board's symmetries take each cell; the full board; whether it is
  misère.
- ``table``: ``keys`` uint64[size, 2], the attacker's and the defender's stones in the smallest of their
  symmetric images; ``notes`` uint8[size], what is known of the node, 0 in an empty place.
- ``path``: for each node from the root down ``boards`` uint64[depth, 4], both sides' stones and their key;
  ``moves`` int64[depth, cells], those worth trying, best first; ``frames`` int64[depth, 5] (``COUNT`` ...).
- ``scratch``: ``weights`` int64[3, cells] (``ATTACK`` ...); ``scores`` int64[cells], of the moves listed;
  ``together`` int64[cells, cells], what the lines through two cells weigh; of the attacker's live lines
  ``live`` int64[n], ``worth`` int64[n] and ``rest`` uint64[n], their numbers, their weights, and their free
  cells without pairs; ``stones`` uint64[depth, 3] and ``tried`` int64[depth], where a search for forced wins
  is.

``state`` int64[10] (``ROW`` ...) outlasts a call: a search stops after any node, and goes on from there.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttt_cli.engine.arrays import Int8s, Int64s, Uint8s, Uint64s
from ttt_cli.engine.bits import ONE, ZERO, Bitboard, first, popcount
from ttt_cli.engine.kernel import Kernel, Part
from ttt_cli.engine.rules import Rules

Game = tuple[Uint64s, Int64s, Int64s, Bitboard, bool]
Table = tuple[Uint64s, Uint8s]
Path = tuple[Uint64s, Int64s, Int64s]
Scratch = tuple[Int64s, Int64s, Int64s, Int64s, Int64s, Uint64s, Uint64s, Int64s]

UNPROVEN = 2
"""The value of a position that has not been proven."""

OPEN, WINS, HOLDS, UNSETTLED = 0, 1, 2, 3
"""What a node is found to be: not known yet; won by the attacker; held by the defender; not won with so few
deviations. The code of such a node in the table is UNSETTLED plus that number."""

COUNT, NEXT, DEVIATIONS, CUT, NEW = 0, 1, 2, 3, 4
"""Columns of ``frames``: the number of moves, the next one to try, the deviations that the attacker has left,
whether more of them might change the result, and whether the node belongs into the table."""

ATTACK, LEFT, DEFENCE = 0, 1, 2
"""Rows of ``weights``: what a cell weighs in the attacker's live lines, in those that pairs leave, and in the
defender's."""

ROW, QUESTION, NO, STARTED, NODES, DEPTH, ENTRIES, ROOM, ONLY, BEST = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
"""Fields of ``state``: the position in hand, the question asked of it, and one that was answered by no; the
nodes visited before it and in all; the depth of the search; the entries of the table, and how many it takes;
the only question to ask, for the sake of the move that answers it, and that move, -1 if none is needed."""

NONE, DOES_MOVER_WIN, DOES_OPPONENT_WIN = 0, 1, 2
"""The questions."""

WAYS = 4
"""In how many neighbouring places of the table an entry may be."""

TRIES = 64
"""How many stones a search for a forced win tries."""

EXACT = 30
"""Weights are multiples of 2^-30, rounded up, which is on the safe side."""

HALF = np.uint64(32)
MIX, STIR = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)


def game_of(rules: Rules) -> Game:
    """The rules as kernels read them."""
    return (
        np.array(rules.line_masks, np.uint64),
        np.array(rules.lines, np.int64).reshape(len(rules.lines), rules.line),
        np.array(rules.symmetries, np.int64),
        np.uint64((1 << rules.cells) - 1),
        rules.misere,
    )


@Part
def unit(game: Game) -> int:
    """What a completed line weighs."""
    return 1 << min(game[1].shape[1], EXACT)


# Potentials and pairs


@Part
def weigh(
    attacker: Bitboard, defender: Bitboard, game: Game, scratch: Scratch
) -> tuple[int, int, Bitboard, Bitboard]:
    """Fill the weights of both sides' live lines, and list the attacker's.

    :returns: the attacker's potential, how many live lines it has, and the cells that complete a line of the
        attacker, and of the defender.
    """
    lines, cells_of = game[0], game[1]
    weights, _, _, live, worth, rest, _, _ = scratch
    length, whole = cells_of.shape[1], unit(game)
    weights[:, :] = 0
    potential, number, attack_ends, defence_ends = 0, 0, ZERO, ZERO
    for index in range(len(lines)):
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
def add_line(cells: Int64s, rest: Bitboard, worth: int, left: Int64s, together: Int64s) -> None:
    """Add what a line is worth to each of its free cells, and to each two of them."""
    for place in range(len(cells)):
        cell = cells[place]
        if rest >> np.uint64(cell) & ONE:
            left[cell] += worth
            for further in range(place + 1, len(cells)):
                if rest >> np.uint64(cells[further]) & ONE:
                    together[cell, cells[further]] += worth


@Part
def pair_up(potential: int, number: int, enough: int, game: Game, scratch: Scratch) -> tuple[int, Bitboard]:
    """Choose pairs of cells for the defender, as long as that lowers the potential and it is not below
    ``enough``, and fill the weights that are left.

    :param number: how many lines of the attacker are listed (``weigh``).
    :returns: the potential that is left, and the paired cells.
    """
    cells_of = game[1]
    weights, _, together, live, worth, rest, _, _ = scratch
    left, length = weights[LEFT], cells_of.shape[1]
    together[:, :] = 0
    for index in range(number):
        add_line(cells_of[live[index]], rest[index], worth[index], left, together)
    paired = ZERO
    while potential >= enough:
        gain, one, other = 0, 0, 0  # lines with both cells go, those with one of them double
        for index in range(number):
            cells = cells_of[live[index]]
            for place in range(length):
                cell = cells[place]
                if rest[index] >> np.uint64(cell) & ONE:
                    for further in range(place + 1, length):
                        last = cells[further]
                        if 3 * together[cell, last] - left[cell] - left[last] > gain:
                            gain = 3 * together[cell, last] - left[cell] - left[last]
                            one, other = cell, last
        if gain == 0:
            break
        pair = ONE << np.uint64(one) | ONE << np.uint64(other)
        paired |= pair
        potential -= gain
        index = 0
        while index < number:
            free = rest[index]
            if free & pair == ZERO:
                index += 1
                continue
            cells = cells_of[live[index]]
            add_line(cells, free, -worth[index], left, together)
            if free & pair == pair:
                number -= 1
                live[index], worth[index], rest[index] = live[number], worth[number], rest[number]
            else:
                worth[index] *= 2
                rest[index] = free & ~pair
                add_line(cells, rest[index], worth[index], left, together)
                index += 1
    return potential, paired


@Part
def ends(own: Bitboard, other: Bitboard, game: Game) -> Bitboard:
    """The cells that complete a line of the side with the stones ``own``."""
    lines, length, found = game[0], game[1].shape[1], ZERO
    for line in lines:
        if line & other == ZERO and popcount(line & own) == length - 1:
            found |= line & ~own
    return found


@Part
def force(mover: Bitboard, opponent: Bitboard, game: Game, scratch: Scratch) -> Bitboard:
    """Look for a win of the mover by stones that each threaten to complete a line, until one does so twice.

    :returns: nothing if none was found, else the cells where one more stone of the opponent could spoil it:
        those of all moves and replies, and those of the lines in which it would come to have all but two
        stones, and so, with that one, a threat of its own. The first move of the win is in ``stones[1, 0]``.
    """
    lines, length = game[0], game[1].shape[1]
    stones, tried = scratch[6], scratch[7]
    stones[0, 0], stones[0, 1], stones[0, 2] = mover, opponent, ends(opponent, mover, game)
    tried[0], level, tries = 0, 0, 0
    while level >= 0 and tries < TRIES:
        own, other, must = stones[level, 0], stones[level, 1], stones[level, 2]
        choice = tried[level]
        if choice == 2 * len(lines) or must & (must - ONE):
            level -= 1
            continue
        tried[level] += 1
        line = lines[choice >> 1]
        if line & other or popcount(line & own) != length - 2:
            continue
        free = line & ~own
        move = free & (~free + ONE)
        if choice & 1:
            move ^= free
        if must and move != must:
            continue
        tries += 1
        level += 1
        threats = ends(own | move, other, game)
        stones[level, 0], stones[level, 1], tried[level] = own | move, other | threats, 0
        if threats & (threats - ONE) == ZERO:
            stones[level, 2] = ends(other | threats, own | move, game)
            continue
        replies = (other | threats) & ~opponent
        relevant = ((own | move) & ~mover) | replies
        for line in lines:
            if line & mover == ZERO and popcount(line & (opponent | replies)) >= length - 2:
                relevant |= line
        return relevant
    return ZERO


@Part
def insert(moves: Int64s, scores: NDArray[Any], number: int, cell: int, score: Any) -> None:
    """Put a cell among the ``number`` cells that are sorted by falling scores."""
    place = number
    while place > 0 and scores[place - 1] < score:
        moves[place], scores[place] = moves[place - 1], scores[place - 1]
        place -= 1
    moves[place], scores[place] = cell, score


# The tree


@Part
def judge(
    attacks: bool, attacker: Bitboard, defender: Bitboard, game: Game, scratch: Scratch
) -> tuple[int, Bitboard, int, int]:
    """Judge a node by its potential and the cells that complete a line.

    :returns: what it is; the cells to look at if that is OPEN, else those that show it, if any; the
        attacker's potential, and how many lines are listed (``weigh``).
    """
    potential, number, attack_ends, defence_ends = weigh(attacker, defender, game, scratch)
    own, other = (attack_ends, defence_ends) if attacks else (defence_ends, attack_ends)
    if own:
        return WINS if attacks else HOLDS, own, potential, number
    if other & (other - ONE):
        return HOLDS if attacks else WINS, other, potential, number
    if not attacks and potential < unit(game):
        return HOLDS, ZERO, potential, number
    return OPEN, other if other else game[3] & ~(attacker | defender), potential, number


@Part
def judge_misere(
    attacks: bool, attacker: Bitboard, defender: Bitboard, game: Game, scratch: Scratch
) -> tuple[int, Bitboard, int, int]:
    """The same where the attacker wants the defender to complete a line; the potential is the defender's."""
    potential, number, defence_ends, attack_ends = weigh(defender, attacker, game, scratch)
    free = game[3] & ~(attacker | defender)
    if 2 * potential < unit(game):
        return HOLDS, ZERO, potential, number
    safe = free & ~(attack_ends if attacks else defence_ends)
    if safe == ZERO:
        return HOLDS if attacks else WINS, free, potential, number
    return OPEN, safe, potential, number


@Part
def enter(
    attacks: bool, depth: int, game: Game, table: Table, path: Path, scratch: Scratch, state: Int64s
) -> int:
    """Tell what a node is without searching it; where that fails, OPEN, and list its moves, best first.

    A move that shows at once what the node is counts as tried.
    """
    boards, moves, frame = path[0][depth], path[1][depth], path[2][depth]
    weights, scores, (_, _, images, full, misere) = scratch[0], scratch[1], game
    attacker, defender = boards[0], boards[1]
    frame[COUNT], frame[NEXT], frame[CUT], frame[NEW] = 0, 0, 0, 0
    if misere:
        outcome, choice, potential, number = judge_misere(attacks, attacker, defender, game, scratch)
    else:
        outcome, choice, potential, number = judge(attacks, attacker, defender, game, scratch)
    if outcome != OPEN:
        if choice:
            moves[0], frame[NEXT] = first(choice), 1
        return outcome

    boards[2], boards[3] = canonical(attacker, defender, images)
    known = recall(boards[2], boards[3], attacks, table)
    if known != OPEN and (depth > 0 or state[ONLY] == NONE):
        if known < UNSETTLED:
            return known
        if known >= UNSETTLED + frame[DEVIATIONS]:
            return UNSETTLED
    frame[NEW] = 1

    left, paired, tempo = potential, ZERO, True
    whole = unit(game)
    if not misere:
        mover, opponent = (attacker, defender) if attacks else (defender, attacker)
        if force(mover, opponent, game, scratch):
            moves[0], frame[NEXT] = first(scratch[6][1, 0] & ~mover), 1
            return WINS if attacks else HOLDS
        forced = choice & (choice - ONE) == ZERO
        if not forced:
            relevant = force(opponent, mover, game, scratch)
            if relevant:
                choice &= relevant
                forced = True
        if attacks or not forced:
            left, paired = pair_up(potential, number, 0 if attacks else whole, game, scratch)
            if attacks:  # can the attacker raise it to 1 at all, or only exchange stones in pairs?
                highest = 0
                for cell in range(len(scores)):
                    if full & ~(attacker | defender | paired) & ONE << np.uint64(cell):
                        highest = max(highest, weights[LEFT, cell])
                tempo = left + highest >= whole
            elif left < whole:
                return HOLDS

    listed = 0
    for cell in range(len(scores)):
        place = ONE << np.uint64(cell)
        score = weights[ATTACK, cell] + weights[DEFENCE, cell]
        if choice & place == ZERO:
            continue
        if misere:
            score = -score
        elif attacks:
            if potential + weights[ATTACK, cell] < whole or not tempo:
                continue
            if paired & place == ZERO and left + weights[LEFT, cell] < whole:
                continue
        elif score == 0:  # it is in no line that can still be completed
            continue
        insert(moves, scores, listed, cell, score + weights[LEFT, cell])
        listed += 1
    frame[COUNT] = listed
    if listed == 0:
        return HOLDS if attacks else WINS
    return OPEN


@Part
def back_up(attacks: bool, outcome: int, frame: Int64s) -> int:
    """What a node is worth when one more of its moves has come to ``outcome``; OPEN: the next one is to be
    tried."""
    more = frame[NEXT] < frame[COUNT]
    if attacks:
        if outcome == WINS:
            return WINS
        if outcome == UNSETTLED:
            frame[CUT] = 1
        if more and frame[DEVIATIONS] > 0:
            return OPEN
        return UNSETTLED if more or frame[CUT] else HOLDS
    if outcome != WINS:
        return outcome
    return OPEN if more else WINS


@Part
def search(game: Game, table: Table, path: Path, scratch: Scratch, state: Int64s, until: int) -> int:
    """Go on with the search, and tell what the root is; OPEN if ``until`` nodes were visited before that,
    or the table has no room."""
    boards, moves, frames = path
    depth = state[DEPTH]
    turn = 0 if state[QUESTION] == DOES_MOVER_WIN else 1
    while state[NODES] < until and state[ENTRIES] < state[ROOM]:
        state[NODES] += 1
        attacks = (depth + turn) % 2 == 0
        outcome = enter(attacks, depth, game, table, path, scratch, state)
        while outcome != OPEN:
            if frames[depth, NEW]:
                code = outcome + frames[depth, DEVIATIONS] if outcome == UNSETTLED else outcome
                remember(boards[depth, 2], boards[depth, 3], attacks, code, table, state)
            if depth == 0:
                state[DEPTH] = 0
                return outcome
            depth -= 1
            attacks = not attacks
            outcome = back_up(attacks, outcome, frames[depth])
        frame = frames[depth]
        stone = ONE << np.uint64(moves[depth, frame[NEXT]])
        boards[depth + 1, 0] = boards[depth, 0] | (stone if attacks else ZERO)
        boards[depth + 1, 1] = boards[depth, 1] | (ZERO if attacks else stone)
        frames[depth + 1, DEVIATIONS] = frame[DEVIATIONS] - (1 if attacks and frame[NEXT] > 0 else 0)
        frame[NEXT] += 1
        depth += 1
    state[DEPTH] = depth
    return OPEN


# The table


@Part
def canonical(attacker: Bitboard, defender: Bitboard, images: Int64s) -> tuple[Bitboard, Bitboard]:
    """The smallest of the position's symmetric images."""
    smallest_a, smallest_d = attacker, defender  # the first image is the position itself
    for symmetry in range(1, images.shape[0]):
        image = images[symmetry]
        image_a, image_d = ZERO, ZERO
        stones = attacker
        while stones:
            image_a |= ONE << np.uint64(image[first(stones)])
            stones &= stones - ONE
        if image_a > smallest_a:
            continue
        stones = defender
        while stones:
            image_d |= ONE << np.uint64(image[first(stones)])
            stones &= stones - ONE
        if image_a < smallest_a or image_d < smallest_d:
            smallest_a, smallest_d = image_a, image_d
    return smallest_a, smallest_d


@Part
def bucket(key_a: Bitboard, key_d: Bitboard, notes: Uint8s) -> Any:
    """The first of the places where an entry may be."""
    mixed = key_a * MIX ^ (key_d + ONE) * STIR
    mixed = (mixed ^ mixed >> HALF) * MIX
    return np.int64(mixed >> HALF) & (len(notes) - WAYS)


@Part
def recall(key_a: Bitboard, key_d: Bitboard, attacks: bool, table: Table) -> Any:
    """The code of a node in the table, OPEN if it is not there."""
    keys, notes = table
    start = bucket(key_a, key_d, notes)
    for place in range(start, start + WAYS):
        if keys[place, 0] == key_a and keys[place, 1] == key_d:
            note = np.int64(notes[place])
            if note & 1 == (1 if attacks else 0):
                return note >> 1
    return OPEN


@Part
def remember(key_a: Bitboard, key_d: Bitboard, attacks: bool, code: int, table: Table, state: Int64s) -> None:
    """Put a node into the table; where there is no room, in place of the one with the most stones, which is
    the cheapest to search again."""
    keys, notes = table
    start = bucket(key_a, key_d, notes)
    turn = 1 if attacks else 0
    chosen, most = start, -1
    for place in range(start, start + WAYS):
        note = np.int64(notes[place])
        if note == 0 or (keys[place, 0] == key_a and keys[place, 1] == key_d and note & 1 == turn):
            chosen = place
            break
        stones = popcount(keys[place, 0] | keys[place, 1])
        if stones > most:
            chosen, most = place, stones
    if notes[chosen] == 0:
        state[ENTRIES] += 1
    keys[chosen, 0], keys[chosen, 1] = key_a, key_d
    notes[chosen] = code << 1 | turn


@Kernel
def move_table(old: Table, new: Table, state: Int64s) -> None:
    """Put all entries of a table into a larger, empty one."""
    keys, notes = old
    state[ENTRIES] = 0
    for place in range(len(notes)):
        note = np.int64(notes[place])
        if note:
            remember(keys[place, 0], keys[place, 1], note & 1 == 1, note >> 1, new, state)


# Values


@Part
def other_question(question: int) -> int:
    """The question that is asked in turn with this one."""
    return DOES_MOVER_WIN + DOES_OPPONENT_WIN - question


@Kernel
def settle(
    game: Game,
    table: Table,
    path: Path,
    scratch: Scratch,
    state: Int64s,
    x: Uint64s,
    o: Uint64s,
    values: Int8s,
    until: int,
    each: int,
) -> None:
    """Find the value of each position from ``state[ROW]`` on, until a number of nodes have been visited.

    :param values: int8[k], filled with +1 the mover wins, 0 a draw, -1 the mover loses, or UNPROVEN where
        ``each`` nodes were not enough.
    """
    boards, moves, frames = path
    lines, _, _, full, misere = game
    while state[ROW] < len(x):
        row = state[ROW]
        x_moves = popcount(x[row] | o[row]) % 2 == 0
        mover, other = (x[row], o[row]) if x_moves else (o[row], x[row])
        if state[QUESTION] == NONE:
            state[STARTED], state[BEST] = state[NODES], -1
            completed = False
            for line in lines:
                completed = completed or other & line == line
            if completed or mover | other == full:
                values[row] = (1 if misere else -1) if completed else 0
                state[ROW] += 1
                continue
            frames[0, DEVIATIONS] = 0
            state[QUESTION], state[NO] = DOES_MOVER_WIN, NONE
            if state[ONLY] != NONE:
                state[QUESTION], state[NO] = state[ONLY], other_question(state[ONLY])
            elif mover | other == ZERO and not misere:
                state[NO] = DOES_OPPONENT_WIN  # strategy stealing
            asks = state[QUESTION] == DOES_MOVER_WIN
            boards[0, 0], boards[0, 1] = (mover, other) if asks else (other, mover)
        outcome = search(game, table, path, scratch, state, min(until, state[STARTED] + each))
        question = state[QUESTION]
        if outcome == (WINS if question == DOES_MOVER_WIN else HOLDS):
            state[BEST] = moves[0, frames[0, NEXT] - 1] if frames[0, NEXT] > 0 else -1
        if outcome == OPEN:
            if state[NODES] < state[STARTED] + each:
                return
            values[row] = UNPROVEN
        elif outcome == WINS:
            values[row] = 1 if question == DOES_MOVER_WIN else -1
        elif outcome == HOLDS and state[NO] != NONE:
            values[row] = 0
        else:
            # Ask the two questions in turn, with ever more deviations, until one is yes or both are no.
            if outcome == HOLDS:
                state[NO] = question
            elif state[NO] != NONE or question == DOES_OPPONENT_WIN:
                frames[0, DEVIATIONS] += frames[0, DEVIATIONS] // 2 + 1
            if state[NO] == NONE or state[NO] == question:
                state[QUESTION] = other_question(question)
                boards[0, 0], boards[0, 1] = boards[0, 1], boards[0, 0]
            continue
        state[DEPTH] = 0
        state[ROW] += 1
        state[QUESTION] = NONE
