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

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import combinations
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.engine.alpha_beta import Search
from ttt_cli.engine.arrays import Bools, Floats, Int8s, Int32s, Int64s, Uint64s
from ttt_cli.engine.bits import ONE
from ttt_cli.engine.board import Board, board_of, completing_cells
from ttt_cli.engine.game import Game
from ttt_cli.engine.kernel import Kernel, Part
from ttt_cli.engine.network import Network, gain, network, place, squashed, total
from ttt_cli.engine.policy import Policy
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import enumerated
from ttt_cli.learners.base import Entry, Learner, Shard, as_bits, parameter
from ttt_cli.learners.entries import are_lists, as_counts, as_floats, read_batches, require
from ttt_cli.learners.loop import ASK, NOT_YET, OVER, RESIGNED, Batch, play_shard, replayed
from ttt_cli.learners.weighted_mean import ExactSums, WeightedMean

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

    :ivar sets: the cells of each set, in corresponding order where sets are symmetric.
    :ivar network: with weights of 0.
    :ivar keys: bytes[weights], the keys of the weights in files, ascending.
    """

    sets: list[list[int]]
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
    stones, starts, first = [], {}, 0
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
        starts[kind], first = first, first + len(patterns)
    key_of = np.frombuffer(_SYMBOLS, np.uint8)[np.concatenate(stones)].view(f"S{rules.cells}")
    keys, slots = np.unique(key_of, return_inverse=True)
    first_slots = [starts[kind] for kind in kind_of]
    net = network(rules.cells, sets, first_slots, slots.reshape(-1).astype(np.int32), np.zeros(len(keys)))
    return Shape(sets, net, keys)


class NTupleTable:
    """The ``n`` weights of a network.

    :ivar weights: float64[n].
    :ivar visits: int64[n], how often each was updated.
    :ivar sums: float64[n], the sums of the errors.
    :ivar sizes: float64[n], the sums of their absolute values.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        number = len(shape_of(rules).keys)
        self.weights, self.sums, self.sizes = np.zeros((3, number))
        self.visits = np.zeros(number, np.int64)

    @property
    def network(self) -> Network:
        return shape_of(self.rules).network._replace(weights=self.weights)


Learned = tuple[Int64s, Floats, Floats]
"""The ``visits``, ``sums`` and ``sizes`` of a table."""

Boards = tuple[Uint64s, Int32s, Floats]
"""By plies: stones, uint64[cells + 1, 2], and patterns, int32[cells + 1, 2, t], 0 for the empty board; and
scratch, float64[cells]."""


@Part
def rounded(change: float) -> Any:
    return (change + ROUND) - ROUND


@Part
def best_reply(
    stones: Uint64s, patterns: Int32s, side: int, left: int, game: Board, net: Network, values: Floats
) -> Any:
    """Fill ``values`` with what each move is worth to the side to move, -2 on other cells; return the best.

    :param stones: uint64[2], of X and O.
    :param patterns: int32[2, t].
    :param left: the number of free cells.
    """
    values[:] = -2.0
    own, other = stones[side], stones[1 - side]
    completing = completing_cells(own, other, game)
    threats = own & other  # none
    if not completing and not game.misere:
        threats = completing_cells(other, own, game)
    base, best = total(net, patterns[side]), -2.0
    for cell in range(len(values)):
        stone = ONE << np.uint64(cell)
        if (own | other) & stone:
            continue
        if completing & stone:
            value = -1.0 if game.misere else 1.0
        elif threats & ~stone:  # not blocked
            value = -1.0
        elif left == 1:
            value = 0.0
        else:
            value = squashed(base + gain(net, patterns[side], cell))
        values[cell] = value
        best = max(best, value)
    return best


@Part
def put(stones: Uint64s, patterns: Int32s, ply: int, side: int, cell: int, net: Network) -> None:
    """Fill in the stones and the patterns after a side's move on a cell."""
    for either in range(2):
        stones[ply + 1, either] = stones[ply, either]
        for at in range(patterns.shape[2]):
            patterns[ply + 1, either, at] = patterns[ply, either, at]
    stones[ply + 1, side] |= ONE << np.uint64(cell)
    place(net, patterns[ply + 1], side, cell)


@Part
def learn_from(
    plies: int, sides: int, game: Board, net: Network, learned: Learned, boards: Boards, rate: float
) -> None:
    """Learn from the moves of these sides (1 X, 2 O, 3 both), backwards through a finished game."""
    visits, sums, sizes = learned
    stones, patterns, values = boards
    number = len(net.starts)
    for after in range(plies - 1, 0, -1):
        side = (after - 1) % 2
        if not sides >> side & 1:
            continue
        left = len(values) - after
        target = -best_reply(stones[after], patterns[after], 1 - side, left, game, net, values)
        pattern = patterns[after, side]
        error = target - squashed(total(net, pattern))
        step = rate / number * error
        for at in range(number):
            slot = net.slots[net.starts[at] + pattern[at]]
            coherence = abs(sums[slot]) / sizes[slot] if sizes[slot] > 0 else 1.0
            net.weights[slot] += rounded(coherence * step)
            visits[slot] += 1
            sums[slot] += error
            sizes[slot] += abs(error)


@Part
def choose(values: Floats, lowest: float, number: float) -> int:
    """The cell that a uniform number picks among those worth at least ``lowest``."""
    fitting = 0
    for cell in range(len(values)):
        fitting += int(values[cell] >= lowest)
    left = min(int(number * fitting), fitting - 1)  # the number may have been rounded to 1
    for cell in range(len(values)):
        if values[cell] >= lowest:
            if left == 0:
                return cell
            left -= 1
    return -1


@Kernel
def play_games(
    game: Board, net: Network, learned: Learned, boards: Boards, epsilon: float, rate: float, batch: Batch
) -> None:
    """Play or replay a batch of games, and learn from each."""
    stones, patterns, values = boards
    mode, sides, first, history, luck, waiting, results = batch
    cells = len(values)
    for number in range(len(history)):
        row, result, resigned, plies = history[number], 0, False, cells
        learning = sides if sides else 1 + ((first + number) & 1)
        waiting[number, 0] = OVER
        for ply in range(cells):
            side, cell = ply % 2, int(row[ply])
            if cell == NOT_YET and mode == ASK and not learning >> side & 1:
                waiting[number, 0], waiting[number, 1] = stones[ply, 0], stones[ply, 1]
                break
            if cell == RESIGNED:
                resigned, result = True, 2 * side - 1
                break
            if cell == NOT_YET:
                best = best_reply(stones[ply], patterns[ply], side, cells - ply, game, net, values)
                drawn = luck[number, ply]
                if drawn < epsilon:
                    cell = choose(values, -1.0, drawn / epsilon)
                else:
                    cell = choose(values, best, (drawn - epsilon) / (1.0 - epsilon))
                row[ply] = cell
            wins = completing_cells(stones[ply, side], stones[ply, 1 - side], game) >> np.uint64(cell) & ONE
            put(stones, patterns, ply, side, cell, net)
            if wins:
                plies, result = ply + 1, 2 * side - 1 if game.misere else 1 - 2 * side
                break
        if mode != ASK:
            results[result + 1] += 1
            if not resigned:
                learn_from(plies, learning, game, net, learned, boards, rate)


play_games.name, play_games.seconds = "ntuple", 4.0


class NTuplePolicy(Search):
    """A search by the network of a table."""

    def __init__(self, table: NTupleTable, *, depth: int = PLIES) -> None:
        super().__init__(table.rules, depth=depth, network=table.network)
        self._table, self._visited = table, table.visits > 0

    def looking_ahead(self, depth: int) -> Policy:
        return NTuplePolicy(self._table, depth=depth)

    def known(self, positions: Positions) -> Bools:
        """bool[k]: whether weights of all patterns of a position have been learned."""
        shape, stones = shape_of(self.rules), positions.stones
        known = np.full(len(positions), self._visited.any())
        digits = np.where(stones == 0, 0, 1 + ((stones == 1) == (positions.movers[:, None] > 0)))
        for cells, start in zip(shape.sets, shape.network.starts.tolist(), strict=True):
            pattern = sum(digits[:, cell].astype(np.int64) * 3**at for at, cell in enumerate(cells))
            known &= self._visited[shape.network.slots[start + pattern]] | (positions.plies == 0)
        return known & ~positions.terminal


@dataclass(frozen=True)
class NTuple(Learner[NTupleTable]):
    """N-tuple network."""

    name: ClassVar[str] = "ntuple"
    kernel_version: ClassVar[int] = 3
    units: ClassVar[tuple[str, str]] = ("pattern", "weight")
    choices: ClassVar[tuple[str, ...]] = ("default",)
    default_games: ClassVar[int] = 200_000
    block_games: ClassVar[int] = 1 << 14
    shard_games: ClassVar[int] = 1 << 15
    symmetric_only: ClassVar[bool] = True

    choice: str = parameter("default", "the only one", choices=choices)
    alpha: float = parameter(0.5, "step size, shared among the weights", least=0, most=1)
    epsilon: float = parameter(0.4, "probability of a random cell", least=0, most=1)

    def empty(self, rules: Rules, symmetric: bool = False) -> NTupleTable:
        return NTupleTable(rules)

    def train(self, table: NTupleTable, shard: Shard) -> Int64s:
        rules = table.rules

        def game(cells: Int8s) -> Game:
            return Game.of(rules, cells[cells >= 0], resigned=RESIGNED in cells)

        play = self._kernel(table)
        return play_shard(shard, rules, play, game, draws=rules.cells, lockstep=shard.opponent is not None)

    def learn(self, table: NTupleTable, game: Game, sides: str = "xo") -> None:
        if not game.resigned:
            moves = np.array(game.moves, np.int8)
            self._kernel(table)(replayed(table.rules.cells, moves, as_bits(sides)))

    def _kernel(self, table: NTupleTable) -> Callable[[Batch], None]:
        cells, net, learned = table.rules.cells, table.network, (table.visits, table.sums, table.sizes)
        patterns = np.zeros((cells + 1, 2, len(net.starts)), np.int32)
        boards = np.zeros((cells + 1, 2), np.uint64), patterns, np.zeros(cells)
        rates = float(self.epsilon), float(self.alpha)
        return partial(play_games, board_of(table.rules), net, learned, boards, *rates)

    def policy(self, table: NTupleTable) -> Policy:
        return NTuplePolicy(deepcopy(table))

    def seen(self, table: NTupleTable) -> Positions | None:
        space = enumerated(table.rules)
        return None if space is None else space[self.policy(table).known(space)]

    def merge(self, base: NTupleTable, parts: Sequence[NTupleTable]) -> NTupleTable:
        merged, weights, sums, sizes = deepcopy(base), WeightedMean(), ExactSums(), ExactSums()
        for part in parts:
            (at,) = np.nonzero(part.visits > base.visits)
            grown = part.visits[at] - base.visits[at]
            weights.add(at, part.weights[at], grown)
            merged.visits[at] += grown
            for exact, totals, before in ((sums, part.sums, base.sums), (sizes, part.sizes, base.sizes)):
                exact.add(at, totals[at])
                exact.add(at, -before[at])
        weights.write(merged.weights)
        merged.weights, at = rounded(merged.weights), weights.places
        for exact, totals in ((sums, merged.sums), (sizes, merged.sizes)):
            exact.add(at, totals[at])
            totals[at] = exact.totals(at)
        return merged

    def to_entries(self, table: NTupleTable) -> Iterator[Entry]:
        """``[weight, visits, sum, size]`` by pattern: the stones on a set of cells, with X for the side that
        has just moved."""
        used = np.flatnonzero(table.visits)
        columns = table.weights + 0.0, table.visits, table.sums + 0.0, table.sizes + 0.0
        entries = map(list, zip(*(column[used].tolist() for column in columns), strict=True))
        yield from zip(shape_of(table.rules).keys[used].astype(str).tolist(), entries, strict=True)

    def from_entries(self, rules: Rules, symmetric: bool, entries: Iterable[Entry]) -> NTupleTable:
        table, known = NTupleTable(rules), shape_of(rules).keys

        def read(texts: list[str], entries: list[Any]) -> None:
            require([len(text) == rules.cells and text.isascii() for text in texts])
            keys = np.array(texts, known.dtype)
            at = np.minimum(np.searchsorted(known, keys), len(known) - 1)
            require(known[at] == keys)
            require(are_lists(entries, 4))
            weights, visits, sums, sizes = map(list, zip(*entries, strict=True))
            table.weights[at], table.visits[at] = as_floats(weights), as_counts(visits, 1)
            table.sums[at], table.sizes[at] = as_floats(sums), as_floats(sizes)
            # Both add the same numbers but for the signs, so only rounding can make the sum larger.
            require(np.abs(table.sums[at]) <= table.sizes[at] * (1 + 1e-9))

        form = "[weight, visits, sum of errors, sum of their sizes]"
        whose = f"the stones on a set of cells of {rules.describe()}, the first of symmetric ones"
        read_batches(entries, read, f"{form} for {whose}")
        return table

    def entry_moves(self, entry: Any) -> int:
        return 1
