"""``ntuple``: an n-tuple network, for boards too large for a table.

Lucas, Learning to play Othello with n-tuple systems (2008); Thill, Koch and Konen, Reinforcement learning
with n-tuples on the game Connect-4 (2012); Szubert and Jaskowski, Temporal difference learning of n-tuple
networks for the game 2048 (2014).

**Values.** A position is worth V = x / (1 + |x|) to the side that has just moved, where x is the sum of the
weights of the patterns on small sets of cells (``engine.network``): every block of 3x3 cells; every winning
line together with itself moved by one cell; and, up to ``FORKS`` of them, any two lines that cross, which
show forks. Symmetric sets share their weights, and so do symmetric patterns. What follows from the rules is
not learned: a win, a draw on the full board, and that whoever cannot win must block a line that the other
side is about to complete. Weights are multiples of 2^-40, so that sums are exact, and
symmetric positions are worth the same to the last bit.

**Learning** (of afterstates, in self-play) goes backwards through a finished game. The target ``t`` of a move
is minus the value of the opponent's best reply, by the present values:

    w += alpha / m * |N| / A * (t - V)        for each of the ``m`` weights in x

whichever reply was played. This is not the gradient of (t - V)^2: the derivative of V by x, 1 / (1 + |x|)^2,
is left out, so that large sums can still move. N is the sum of a weight's errors t - V so far, A that of
their absolute values (temporal coherence: Beal and Smith, 1999): a weight whose errors agree in sign takes
whole steps, one whose errors cancel out comes to rest.

**Choosing.** Training plays a random cell with probability ``epsilon``, else one of the largest value. The
policy searches two plies ahead by these values (``engine.alpha_beta``); ``ntuple:search=N`` searches N plies,
1 being greedy play.

**Merging.** Weights are averaged by their visits, like other values; the sums N and A add up.
"""

from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.engine.alpha_beta import Search
from ttt_cli.engine.arrays import Floats, Int32s, Int64s
from ttt_cli.engine.bits import ONE, ZERO
from ttt_cli.engine.board import Board, board_of, completing_cells
from ttt_cli.engine.kernel import Part, u32
from ttt_cli.engine.network import Network, gain, network, place as place_stone, squashed, total
from ttt_cli.engine.policy import Policy
from ttt_cli.engine.rules import Rules
from ttt_cli.learners.base import Entry, mean_of, parameter
from ttt_cli.learners.entries import as_counts, as_floats, columns_of, read_batches, require
from ttt_cli.learners.growth import FIRST, OPEN
from ttt_cli.learners.loop import Batch, BatchLearner, Chance, Chosen, Played, choose_best, game_loop
from ttt_cli.learners.table import MOVE, ROW

BLOCK = 3
"""Rows and columns of a block."""

WIDEST = 10
"""The most cells of a set: 59,049 patterns."""

FORKS = 200
"""The most pairs of crossing lines for which they are sets: 32 on 4x4 with four in a row, 184 on 5x5. The 520
of 6x6 would make a game several times slower."""

PLIES = 2
"""How far the policy looks ahead."""

_SYMBOLS = b".XO-"
"""In keys of entries: a free cell, a stone of the side that has just moved, one of the other side, and a cell
outside the set."""

ROUND = 1.5 * 2**12
"""Adding this to a number and subtracting it again rounds to a multiple of 2^-40. Sums of such numbers are
exact up to 4,096, in any order."""


def sets_of(rules: Rules) -> list[frozenset[int]]:
    """The sets of cells of a board, none a subset of another."""
    rows, cols = rules.rows, rules.cols
    high, wide = min(BLOCK, rows), min(BLOCK, cols)
    sets = {
        frozenset((top + row) * cols + left + col for row in range(high) for col in range(wide))
        for top in range(rows - high + 1)
        for left in range(cols - wide + 1)
    }
    for line in rules.lines:
        sets.update(frozenset(line[at : at + WIDEST]) for at in range(max(1, len(line) - WIDEST + 1)))
        for down, right in ((-1, 0), (0, -1), (0, 1), (1, 0)):
            moved = [(cell // cols + down, cell % cols + right) for cell in line]
            both = {row * cols + col for row, col in moved if 0 <= row < rows and 0 <= col < cols} | {*line}
            if len(both) <= WIDEST:
                sets.add(frozenset(both))
    lines = [frozenset(line) for line in rules.lines]
    forks = {one | other for one, other in combinations(lines, 2) if len(one & other) == 1}
    if len(forks) <= FORKS:
        sets.update(fork for fork in forks if len(fork) <= WIDEST)
    return sorted((cells for cells in sets if not any(cells < other for other in sets)), key=sorted)


class Shape(NamedTuple):
    """The network of a board.

    :ivar network: with weights of 0.
    :ivar keys: bytes[weights], the keys of the weights in files, ascending.
    """

    network: Network
    keys: NDArray[np.bytes_]


@lru_cache(maxsize=8)
def shape_of(rules: Rules) -> Shape:
    """The shape for some rules.

    Sets that a symmetry maps onto one another are of one kind, named after the smallest of them; patterns
    that a symmetry maps onto one another share the weight of the smallest. If the sets of 3x3 were its lines,
    the edges would be of the kind 012, whose patterns 1, ``X..``, and 9, ``..X``, are mirror images: the key
    of their common weight would be ``X..------``.
    """
    sets, kind_of = [], []
    for cells in sets_of(rules):
        kind = min(tuple(sorted(image[cell] for cell in cells)) for image in rules.symmetries)
        from_kind = next(image for image in rules.symmetries if {image[cell] for cell in kind} == cells)
        sets.append([from_kind[cell] for cell in kind])
        kind_of.append(kind)
    stones = []
    starts = {}
    first = 0
    for kind in dict.fromkeys(kind_of):
        patterns = smallest = np.arange(3 ** len(kind))
        digits = patterns[:, None] // 3 ** np.arange(len(kind)) % 3
        for image in rules.symmetries:
            image_of_kind = [image[cell] for cell in kind]
            if {*image_of_kind} == {*kind}:
                powers = np.array([kind.index(cell) for cell in image_of_kind])
                smallest = np.minimum(smallest, digits @ 3**powers)
        stones.append(np.full((len(patterns), rules.cells), len(_SYMBOLS) - 1, np.uint8))
        stones[-1][:, list(kind)] = digits[smallest]
        starts[kind] = first
        first += len(patterns)
    key_of = np.frombuffer(_SYMBOLS, np.uint8)[np.concatenate(stones)].view(f"S{rules.cells}")
    keys, slots = np.unique(key_of, return_inverse=True)
    first_slots = [starts[kind] for kind in kind_of]
    net = network(rules.cells, sets, first_slots, slots.reshape(-1).astype(np.int32), np.zeros(len(keys)))
    return Shape(net, keys)


class NTupleTable:
    """The ``n`` weights of a network.

    :ivar weights: float64[n].
    :ivar visits: int64[n], how often each was updated.
    :ivar sums: float64[n], the sums of the errors.
    :ivar sizes: float64[n], the sums of their absolute values.
    """

    complete = symmetric = False  # games are played on boards as they are: only weights are shared

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        number = len(shape_of(rules).keys)
        self.weights, self.sums, self.sizes = np.zeros((3, number))
        self.visits = np.zeros(number, np.int64)

    @property
    def network(self) -> Network:
        return shape_of(self.rules).network._replace(weights=self.weights)


class Rule(NamedTuple):
    """What the parts of the game loop need.

    :ivar patterns: int32[cells + 1, 2, t], the patterns at each ply, if X has just moved, and if O has.
    :ivar visits: those of the table; so are ``sums`` and ``sizes``.
    :ivar rate: the step size.
    """

    board: Board
    network: Network
    patterns: Int32s
    visits: Int64s
    sums: Floats
    sizes: Floats
    rate: float


def boards(rules: Rules) -> tuple[NDArray[Any], NDArray[Any]]:
    """A row and its moves for the board at each ply of a game, that of the empty board first."""
    cells = rules.cells
    rows = np.zeros(FIRST + cells + 1, np.dtype(ROW, align=True))
    moves = np.zeros(cells * (cells + 1), np.dtype([*MOVE, ("value", np.float64)], align=True))
    rows["first"][FIRST:] = cells * np.arange(cells + 1)
    rows["number"][FIRST] = cells
    moves["cell"][:cells] = np.arange(cells)
    return rows, moves


@Part
def rounded(change: float) -> Any:
    return (change + ROUND) - ROUND


@Part
def rate_moves(rows: Any, moves: Any, rule: Rule, row: int, ply: int) -> Any:
    """Rate each move of a board for the side to move; return the largest value."""
    board, net = rule.board, rule.network
    side = ply & 1
    patterns = rule.patterns[ply, side]
    own, other = np.uint64(rows[row].x), np.uint64(rows[row].o)
    if side:
        own, other = other, own
    completing = completing_cells(own, other, board)
    threats = ZERO
    if not completing and not board.misere:
        threats = completing_cells(other, own, board)
    base = total(net, patterns)
    best = -2.0
    first = rows[row].first
    for move in range(first, first + rows[row].number):
        cell = moves[move].cell
        stone = ONE << np.uint64(cell)
        if completing & stone:
            value = -1.0 if board.misere else 1.0
        elif threats & ~stone:  # not blocked
            value = -1.0
        elif rows[row].number == 1:
            value = 0.0
        else:
            value = squashed(base + gain(net, patterns, cell))
        moves[move].value = value
        best = max(best, value)
    return best


@Part
def next_board(rows: Any, moves: Any, rule: Rule, parent: int, move: int, ply: int) -> int:
    """Fill in the row of the board after a move, its moves and its patterns; return the row."""
    board, patterns = rule.board, rule.patterns
    side = ply & 1
    cell = moves[move].cell
    stone = ONE << np.uint64(cell)
    row = u32(parent + 1)
    x, o = np.uint64(rows[parent].x), np.uint64(rows[parent].o)
    completing = completing_cells(o if side else x, x if side else o, board)
    rows[row].x, rows[row].o = (x, o | stone) if side else (x | stone, o)
    rows[row].end = 0
    number = 0
    if completing & stone:
        rows[row].end = 2 * side - 1 if board.misere else 1 - 2 * side
    else:
        for place in range(rows[parent].number):
            left = moves[rows[parent].first + place].cell
            if left != cell:
                moves[rows[row].first + number].cell = left
                number += 1
    rows[row].number = number
    for either in range(2):
        for at in range(patterns.shape[2]):
            patterns[ply + 1, either, at] = patterns[ply, either, at]
    place_stone(rule.network, patterns[ply + 1], side, cell, 1)
    return row


@Part
def choose(rows: Any, moves: Any, rule: Rule, row: int, ply: int, chance: Chance, u: float) -> Chosen:
    """Any of the moves of the largest value; when exploring, any move."""
    rate_moves(rows, moves, rule, row, ply)
    return choose_best(rows, moves, rule, row, ply, chance, u)


@Part
def learn(rows: Any, moves: Any, rule: Rule, game: Played, sides: int, result: int) -> None:
    """Backwards through the game, move the value of each board towards minus that of the best reply."""
    path, _, plies = game
    net = rule.network
    visits, sums, sizes = rule.visits, rule.sums, rule.sizes
    number = len(net.starts)
    for after in range(plies - 1, 0, -1):
        side = (after - 1) & 1
        if not sides >> side & 1:
            continue
        target = -rate_moves(rows, moves, rule, path[after], after)
        patterns = rule.patterns[after, side]
        error = target - squashed(total(net, patterns))
        step = rule.rate / number * error
        for at in range(number):
            slot = net.slots[net.starts[at] + patterns[at]]
            coherence = abs(sums[slot]) / sizes[slot] if sizes[slot] > 0 else 1.0
            net.weights[slot] += rounded(coherence * step)
            visits[slot] += 1
            sums[slot] += error
            sizes[slot] += abs(error)


@dataclass(frozen=True)
class NTuple(BatchLearner[NTupleTable]):
    """An n-tuple network, for boards that no table holds."""

    name = "ntuple"
    kernel_version = 4
    units = ("pattern", "weight")
    choices = ("default",)
    default_games = 200_000
    block_games = 1 << 14
    shard_games = 1 << 15
    symmetric_only = True

    choice: str = parameter("default", "the only one", choices=choices)
    alpha: float = parameter(0.5, "step size, shared among the weights", least=0, most=1)
    epsilon: float = parameter(0.4, "probability of a random cell", least=0, most=1)

    def empty(self, rules: Rules, symmetric: bool = False) -> NTupleTable:
        return NTupleTable(rules)

    def play(self, table: NTupleTable, batch: Batch) -> None:
        cells = table.rules.cells
        net = table.network
        rule = Rule(
            board=board_of(table.rules),
            network=net,
            patterns=np.zeros((cells + 1, 2, len(net.starts)), np.int32),
            visits=table.visits,
            sums=table.sums,
            sizes=table.sizes,
            rate=float(self.alpha),
        )
        play_games = game_loop("ntuple", choose, learn, next_board, OPEN, False)
        exploration = float(self.epsilon), float(self.epsilon), 1.0
        trail = tuple(np.zeros((2, cells + 1), np.uint32))
        growth = rule  # what next_board takes
        play_games(*boards(table.rules), growth, rule, exploration, batch, trail)

    def policy(self, table: NTupleTable) -> Policy:
        network = table.network._replace(weights=table.weights.copy())
        return Search(table.rules, depth=PLIES, network=network)

    def merge(self, base: NTupleTable, parts: Sequence[NTupleTable]) -> NTupleTable:
        merged = deepcopy(base)
        for part in parts:
            (at,) = np.nonzero(part.visits > base.visits)
            before, grown = (table.visits[at] - base.visits[at] for table in (merged, part))
            merged.weights[at] = rounded(mean_of(merged.weights[at], before, part.weights[at], grown))
            for name in ("sums", "sizes"):
                mine, theirs, old = (getattr(table, name)[at] for table in (merged, part, base))
                getattr(merged, name)[at] = np.where(before == 0, theirs, mine + (theirs - old))
            merged.visits[at] += grown
        return merged

    def to_entries(self, table: NTupleTable) -> Iterator[Entry]:
        """``[weight, visits, sum, size]`` by pattern: the stones on a set of cells, with X for the side that
        has just moved."""
        used = np.flatnonzero(table.visits)
        columns = table.weights + 0.0, table.visits, table.sums + 0.0, table.sizes + 0.0
        entries = map(list, zip(*(column[used].tolist() for column in columns), strict=True))
        yield from zip(shape_of(table.rules).keys[used].astype(str).tolist(), entries, strict=True)

    def from_entries(self, rules: Rules, symmetric: bool, entries: Iterable[Entry]) -> NTupleTable:
        table = NTupleTable(rules)
        all_keys = shape_of(rules).keys

        def read(texts: list[str], entries: list[Any]) -> None:
            require([len(text) == rules.cells and text.isascii() for text in texts])
            keys = np.array(texts, all_keys.dtype)
            at = np.minimum(np.searchsorted(all_keys, keys), len(all_keys) - 1)
            require(all_keys[at] == keys)
            weights, visits, sums, sizes = columns_of(entries, 4)
            table.weights[at] = as_floats(weights)
            table.visits[at] = as_counts(visits, 1)
            table.sums[at] = as_floats(sums)
            table.sizes[at] = as_floats(sizes)
            # Both add the same numbers but for the signs, so only rounding can make the sum larger.
            require(np.abs(table.sums[at]) <= table.sizes[at] * (1 + 1e-9))

        form = "[weight, visits, sum of errors, sum of their sizes]"
        whose = f"the stones on a set of cells of {rules.describe()}, the first of symmetric ones"
        read_batches(entries, read, f"{form} for {whose}")
        return table

    def size(self, table: NTupleTable) -> tuple[int, int]:
        used = int(np.count_nonzero(table.visits))
        return used, used
