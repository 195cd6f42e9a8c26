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

from typing import Any, NamedTuple

import numpy as np

from ttt_cli.engine.arrays import Floats, Int32s, Int64s, Uint64s
from ttt_cli.engine.bits import ONE, Bitboard, first, popcount
from ttt_cli.engine.kernel import Kernel, Part
from ttt_cli.engine.network import Network, gain, line_network, place, squashed, total
from ttt_cli.engine.policy import Policy, best, uniform
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.proof_search import MIX, STIR, Game, ends, game_of, insert
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.symmetry import classes

UNLIMITED = 1 << 62
"""Nodes, where there is no limit."""

NODES = 2_000
"""Positions that the search for a move visits, by default."""

SLOTS = 1 << 15
"""Places of the transposition table."""

HALF, TOP = np.uint64(29), np.uint64(49)
"""What a place in the table is made of: the highest of 64 bits."""

EXACT, AT_LEAST, AT_MOST = 0, 1, 2
"""What a score in the table means."""

STAMP, LEFT, BOUND, BEST = 0, 1, 2, 3
"""Columns of ``notes``: the position whose search an entry belongs to, the plies that were left, what the
score tells, and the best move."""

NUMBER, NEXT, CHOSEN, PLIES_LEFT, FORCED = 0, 1, 2, 3, 4
"""Columns of ``frames``: how many moves there are, which comes next, the best so far, the plies left, and
whether the move is a forced block."""

ALPHA, BETA, SCORE, START = 0, 1, 2, 3
"""Columns of ``bounds``: the window, the best score so far, and alpha as it was at first."""


class Room(NamedTuple):
    """Where a search works; ``d`` is at most the number of cells.

    :ivar boards: uint64[d, 2], the stones of the side to move and of the other one.
    :ivar patterns: int32[d, 2, t], the network's patterns as if X, or O, had just moved.
    :ivar moves: int64[d, cells], best first.
    :ivar scores: float64[cells], of the moves listed.
    :ivar frames: int64[d, 5] (``NUMBER`` …).
    :ivar bounds: float64[d, 4] (``ALPHA`` …).
    :ivar keys: uint64[SLOTS, 2], of the table: boards.
    :ivar found: float64[SLOTS], scores.
    :ivar notes: int64[SLOTS, 4] (``STAMP`` …).
    :ivar nodes: int64[1], how many of this position have been visited.
    """

    boards: Uint64s
    patterns: Int32s
    moves: Int64s
    scores: Floats
    frames: Int64s
    bounds: Floats
    keys: Uint64s
    found: Floats
    notes: Int64s
    nodes: Int64s


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
    found = np.full((len(positions), cells), -np.inf)
    mine = np.where(positions.x_to_move, positions.x, positions.o)
    theirs = np.where(positions.x_to_move, positions.o, positions.x)
    room = Room(
        np.zeros((cells + 1, 2), np.uint64),
        np.zeros((cells + 1, 2, len(network.starts)), np.int32),
        np.zeros((cells + 1, cells), np.int64),
        np.zeros(cells),
        np.zeros((cells + 1, 5), np.int64),
        np.zeros((cells + 1, 4)),
        np.zeros((SLOTS, 2), np.uint64),
        np.zeros(SLOTS),
        np.zeros((SLOTS, 4), np.int64),
        np.zeros(1, np.int64),
    )
    going = np.flatnonzero(~positions.terminal)
    limit = UNLIMITED if nodes is None else nodes
    _search(mine, theirs, going, found, game_of(rules), network, room, min(depth, cells), limit, exact)
    return found


@Part
def bucket(mine: Bitboard, theirs: Bitboard) -> Any:
    """The place in the table of a board."""
    mixed = mine * MIX ^ (theirs + ONE) * STIR
    return np.int64((mixed ^ mixed >> HALF) * MIX >> TOP)


@Part
def listed(free: Bitboard, side: int, depth: int, favourite: int, network: Network, room: Room) -> int:
    """List the moves on free cells, those first that the network likes best; returns how many."""
    pattern, number = room.patterns[depth, side], 0
    while free:
        cell = first(free)
        free &= free - ONE
        score = np.inf if cell == favourite else gain(network, pattern, cell)
        insert(room.moves[depth], room.scores, number, cell, score)
        number += 1
    return number


@Part
def enter(depth: int, side: int, game: Game, network: Network, room: Room, stamp: int) -> tuple[bool, float]:
    """Tell what a node scores without searching it, and whether that is possible; else list its moves."""
    frame, bound = room.frames[depth], room.bounds[depth]
    mine, theirs = room.boards[depth, 0], room.boards[depth, 1]
    room.nodes[0] += 1
    full, misere = game[3], game[4]
    free = full & ~(mine | theirs)
    stones = len(room.scores) - popcount(free)
    soonest = len(room.scores) - stones  # the score of a win by the next stone
    own = ends(mine, theirs, game)
    frame[FORCED] = 0
    if misere:
        if not free & ~own:
            return True, -float(soonest)
        free &= ~own
    elif own:
        return True, float(soonest)
    else:
        other = ends(theirs, mine, game)
        if other & (other - ONE):
            return True, -float(soonest - 1)
        if other:
            free, frame[FORCED] = other, 1
    if soonest == 1:
        return True, 0.0
    pattern = room.patterns[depth, side]
    if frame[PLIES_LEFT] == 1 and not frame[FORCED]:
        best = -np.inf
        while free:
            best = max(best, gain(network, pattern, first(free)))
            free &= free - ONE
        return True, squashed(total(network, pattern) + best)
    favourite = -1
    slot = bucket(mine, theirs)
    if room.notes[slot, STAMP] == stamp and room.keys[slot, 0] == mine and room.keys[slot, 1] == theirs:
        note, score = room.notes[slot], room.found[slot]
        favourite = note[BEST]
        if note[LEFT] == frame[PLIES_LEFT]:
            kind = note[BOUND]
            if kind == EXACT or (kind == AT_LEAST and score >= bound[BETA]):
                return True, score
            if kind == AT_MOST and score <= bound[ALPHA]:
                return True, score
    frame[NUMBER] = listed(free, side, depth, favourite, network, room)
    frame[NEXT], frame[CHOSEN] = 0, -1
    bound[SCORE], bound[START] = -np.inf, bound[ALPHA]
    return False, 0.0


@Part
def remember(depth: int, room: Room, stamp: int) -> None:
    """Put what a node scores into the table."""
    frame, bound = room.frames[depth], room.bounds[depth]
    mine, theirs = room.boards[depth, 0], room.boards[depth, 1]
    slot = bucket(mine, theirs)
    kind = EXACT
    if bound[SCORE] >= bound[BETA]:
        kind = AT_LEAST
    elif bound[SCORE] <= bound[START]:
        kind = AT_MOST
    room.keys[slot, 0], room.keys[slot, 1], room.found[slot] = mine, theirs, bound[SCORE]
    note = room.notes[slot]
    note[STAMP], note[LEFT], note[BOUND], note[BEST] = stamp, frame[PLIES_LEFT], kind, frame[CHOSEN]


@Part
def descend(depth: int, side: int, cell: int, network: Network, room: Room) -> None:
    """Make the board after the mover takes a cell."""
    boards, patterns = room.boards, room.patterns
    boards[depth + 1, 0] = boards[depth, 1]
    boards[depth + 1, 1] = boards[depth, 0] | ONE << np.uint64(cell)
    patterns[depth + 1, :, :] = patterns[depth]
    place(network, patterns[depth + 1], side, cell)


@Part
def explored(
    side: int, game: Game, network: Network, room: Room, stamp: int, limit: int
) -> tuple[bool, float]:
    """What the board at depth 1, ``side`` to move, scores within its window; and whether it was found."""
    depth = 1
    known, score = enter(depth, side, game, network, room, stamp)
    while True:
        while known:
            if depth == 1:
                return True, score
            depth, side = depth - 1, 1 - side
            frame, bound = room.frames[depth], room.bounds[depth]
            if -score > bound[SCORE]:
                bound[SCORE], frame[CHOSEN] = -score, room.moves[depth, frame[NEXT] - 1]
                bound[ALPHA] = max(bound[ALPHA], -score)
            known = bound[SCORE] >= bound[BETA] or frame[NEXT] == frame[NUMBER]
            if known:
                score = bound[SCORE]
                remember(depth, room, stamp)
        if room.nodes[0] >= limit:
            return False, 0.0
        frame, bound = room.frames[depth], room.bounds[depth]
        descend(depth, side, room.moves[depth, frame[NEXT]], network, room)
        frame[NEXT] += 1
        room.frames[depth + 1, PLIES_LEFT] = frame[PLIES_LEFT] - (1 - frame[FORCED])
        room.bounds[depth + 1, ALPHA], room.bounds[depth + 1, BETA] = -bound[BETA], -bound[ALPHA]
        depth, side = depth + 1, 1 - side
        known, score = enter(depth, side, game, network, room, stamp)


@Kernel
def _search(
    mine: Uint64s,
    theirs: Uint64s,
    rows: Int64s,
    found: Floats,
    game: Game,
    network: Network,
    room: Room,
    depth: int,
    limit: int,
    exact: bool,
) -> None:
    """Fill the rows of ``found``; see ``search``."""
    cells = found.shape[1]
    order, scores, before = np.zeros(cells, np.int64), np.zeros(cells), np.zeros(cells)
    for row in rows:
        own, other = mine[row], theirs[row]
        stones = popcount(own | other)
        side = stones % 2
        room.nodes[0] = 0
        room.boards[0, 0], room.boards[0, 1] = own, other
        room.patterns[0, :, :] = 0
        for cell in range(cells):
            if own >> np.uint64(cell) & ONE:
                place(network, room.patterns[0], side, cell)
            elif other >> np.uint64(cell) & ONE:
                place(network, room.patterns[0], 1 - side, cell)
        free, number = game[3] & ~(own | other), cells - stones
        completing = ends(own, other, game)
        base = total(network, room.patterns[0, side])
        before[:] = -np.inf
        for plies in range(1, min(depth, number) + 1):
            last = number
            for at in range(number):  # the best of the search before come first
                cell = order[at] if plies > 1 else -1
                if plies == 1:
                    cell = first(free)
                    free &= free - ONE
                insert(order, scores, at, cell, before[cell])
            best, whole = -np.inf, True
            for at in range(last):
                cell = order[at]
                stone = ONE << np.uint64(cell)
                if completing & stone:
                    score = float(-number if game[4] else number)
                elif number == 1:
                    score = 0.0
                else:
                    descend(0, side, cell, network, room)
                    if plies == 1:
                        threats = ends(other, own | stone, game)
                        if threats and not game[4]:
                            score = -float(number - 1)
                        else:
                            score = squashed(base + gain(network, room.patterns[0, side], cell))
                    else:
                        room.frames[1, PLIES_LEFT] = plies - 1
                        below = -np.inf if exact or best == -np.inf else np.nextafter(best, -np.inf)
                        room.bounds[1, ALPHA], room.bounds[1, BETA] = -np.inf, -below
                        whole, score = explored(1 - side, game, network, room, row + 1, limit)
                        if not whole:
                            break
                        score = -score
                scores[at] = score
                best = max(best, score)
            if not whole:
                break
            for at in range(number):
                before[order[at]] = scores[at]
            if not exact and abs(best) >= 1.0 and number + 1 - abs(best) <= plies:
                break  # no sooner end has been overlooked
        found[row] = before


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
        return uniform(best(self._scores(positions, exact=False), positions.legal))

    def values(self, positions: Positions) -> Floats:
        """1 a win, -1 a loss; what is not seen to its end lies between."""
        scores = self._scores(positions, exact=True)
        return np.where(positions.legal, np.clip(scores, -1.0, 1.0), np.nan)

    def _scores(self, positions: Positions, *, exact: bool) -> Floats:
        """float64[k, cells]: as ``engine.alpha_beta.search`` has them."""
        if not len(positions):
            return np.zeros((0, self.rules.cells))
        found = classes(positions)
        _, rows, places = np.unique(found.positions.keys, axis=0, return_index=True, return_inverse=True)
        scores = search(
            found.positions[rows], self.network, depth=self._depth, nodes=self._nodes, exact=exact
        )
        return found.lift(scores[places.reshape(-1)])
