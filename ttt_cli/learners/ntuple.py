"""``ntuple``: an n-tuple network, for boards that no table holds.

Lucas, Learning to play Othello with n-tuple systems (2008); Thill, Koch and Konen, Reinforcement learning
with n-tuples on the game Connect-4 (2012); Szubert and Jaskowski, Temporal difference learning of n-tuple
networks for the game 2048 (2014).

**Values.** A position is worth V = x / (1 + |x|) to the side that has just moved, where x is the sum of the
weights of what is seen on small sets of cells (``engine.network``): every block of 3x3 cells, every winning
line together with itself moved by one cell, and, up to ``FORKS`` of them, any two lines that cross, which
show a fork. Sets that a symmetry of the board takes to one another share their weights, and so do patterns
that are symmetric to one another: all its tables are symmetric. What the rules tell is not learned: a win,
a draw on the full board, and that who does not win now must block a line that the other side is about to
complete. Weights are multiples of 2^-40: their sums are exact, and symmetric positions are worth the same to
the last bit.

**Learning** (of afterstates, in self-play). A finished game is gone through backwards. What follows
after a move is the best that the opponent has then, by the values of now; with ``t`` minus its value

    w += alpha / m * |N| / A * (t - V)        for each of the ``m`` weights in x

whoever chose the opponent's actual move, and why. It is not the gradient of (t - V)^2: the derivative of V
by x, 1 / (1 + |x|)^2, is left out, and large sums still move. N is the sum of a weight's errors t - V so far,
A that of their absolute values (temporal coherence: Beal and Smith, 1999): where they agree in sign the
weight takes whole steps, where they cancel out it comes to rest.

**Choosing.** In training a uniformly random cell with probability ``epsilon``, else the one of the largest
value, ties at random. Its policy searches two plies ahead by these values (``engine.alpha_beta``),
``ntuple:search=N`` N plies; 1 is greedy play.

**Merging.** Weights are joined by their visits like other values; the sums N and A add up.
"""

from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.engine.alpha_beta import Search
from ttt_cli.engine.arrays import Bools, Floats, Int8s, Int32s, Int64s, Uint64s
from ttt_cli.engine.bits import ONE
from ttt_cli.engine.board import Board, board_of, ends
from ttt_cli.engine.game import Game
from ttt_cli.engine.kernel import Kernel, Part
from ttt_cli.engine.network import Network, gain, network, place, squashed, total
from ttt_cli.engine.policy import Formula, Policy, thresholds
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import enumerated
from ttt_cli.engine.symmetry import classes
from ttt_cli.learners.base import Entry, Learner, Shard, parameter
from ttt_cli.learners.entries import is_count, is_number, unfit
from ttt_cli.learners.weighted_mean import ExactSums, MergeAccumulator

BLOCK = 3
"""Rows and columns of a block."""

WIDEST = 10
"""Cells of a set at most: 59,049 patterns."""

FORKS = 200
"""Two lines that cross are a set where the board has at most so many such pairs: 32 on 4x4 with four in a
row, 184 on 5x5. The 520 of 6x6 would make a game several times slower."""

PLIES = 2
"""How far its policy looks ahead."""

KEPT_ANSWERS = 1 << 14
"""Answers of a fixed side that are kept; to forget one changes nothing."""

_SEEN, OUTSIDE = ".XO", "-"
"""In the key of an entry: a free cell, a stone of the side that has just moved, one of the other side, and a
cell that is not in the set."""

ROUND = 1.5 * 2**12
"""What is added to a number and taken away again leaves a multiple of 2^-40. Sums of such numbers are exact
up to 4,096, in whatever order, so that symmetric positions have equal values to the last bit."""

MIX, SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(50)


def sets_of(rules: Rules) -> list[frozenset[int]]:
    """The sets of cells of a board, none within another."""
    rows, cols = rules.rows, rules.cols
    high, wide = min(BLOCK, rows), min(BLOCK, cols)
    found = {
        frozenset((top + row) * cols + left + col for row in range(high) for col in range(wide))
        for top in range(rows - high + 1)
        for left in range(cols - wide + 1)
    }
    for line in rules.lines:
        found.update(frozenset(line[at : at + WIDEST]) for at in range(max(1, len(line) - WIDEST + 1)))
        for down, right in ((-1, 0), (0, -1), (0, 1), (1, 0)):
            moved = [(cell // cols + down, cell % cols + right) for cell in line]
            both = {row * cols + col for row, col in moved if 0 <= row < rows and 0 <= col < cols} | {*line}
            if len(both) <= WIDEST:
                found.add(frozenset(both))
    lines = [frozenset(line) for line in rules.lines]
    forks = {one | other for one, other in combinations(lines, 2) if len(one & other) == 1}
    if len(forks) <= FORKS:
        found.update(fork for fork in forks if len(fork) <= WIDEST)
    return sorted((one for one in found if not any(one < other for other in found)), key=sorted)


class Shape(NamedTuple):
    """The sets of a board and the weights of their patterns.

    :ivar kinds: for each kind of set, that is, sets that symmetries take to one another, the cells of one.
    :ivar sets: the cells of each set, in the order of those of its kind.
    :ivar network: with weights of 0.
    :ivar first: int64[kinds + 1], where the patterns of each kind begin in ``slots``.
    :ivar patterns: int32[weights], the smallest pattern that has this weight, in ``slots``.
    """

    rules: Rules
    kinds: tuple[tuple[int, ...], ...]
    sets: list[list[int]]
    network: Network
    first: Int64s
    patterns: Int64s


@lru_cache(maxsize=8)
def shape_of(rules: Rules) -> Shape:
    """The shape of a board's network."""
    kinds: dict[tuple[int, ...], int] = {}
    sets, kind_of = [], []
    for cells in sets_of(rules):
        images = {tuple(image[cell] for cell in sorted(cells)) for image in rules.symmetries}
        kind = min(tuple(sorted(image)) for image in images)
        kinds.setdefault(kind, len(kinds))
        back = next(image for image in rules.symmetries if {image[cell] for cell in kind} == set(cells))
        sets.append([back[cell] for cell in kind])
        kind_of.append(kinds[kind])
    slots, patterns, first, weights = [], [], [0], 0
    for kind in kinds:
        smallest = np.arange(3 ** len(kind))
        for image in rules.symmetries:
            turned = [image[cell] for cell in kind]
            if sorted(turned) == sorted(kind):
                digits = smallest * 0
                for at, cell in enumerate(turned):
                    digits += np.arange(3 ** len(kind)) // 3**at % 3 * 3 ** kind.index(cell)
                smallest = np.minimum(smallest, digits)
        own, numbers = np.unique(smallest, return_inverse=True)
        slots.append(weights + numbers.reshape(-1))
        patterns.append(first[-1] + own)
        first.append(first[-1] + len(smallest))
        weights += len(own)
    return Shape(
        rules,
        tuple(kinds),
        sets,
        network(
            rules.cells,
            sets,
            [first[kind] for kind in kind_of],
            np.concatenate(slots).astype(np.int32),
            np.zeros(weights),
        ),
        np.array(first),
        np.concatenate(patterns),
    )


class NTupleTable:
    """What has been learned of ``n`` weights.

    :ivar weights: float64[n].
    :ivar visits: int64[n], how often each was changed.
    :ivar sums: float64[n], of the errors; sizes: of their absolute values.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        number = len(shape_of(rules).patterns)
        self.weights, self.sums, self.sizes = np.zeros((3, number))
        self.visits = np.zeros(number, np.int64)

    @property
    def shape(self) -> Shape:
        """The sets of cells."""
        return shape_of(self.rules)

    @property
    def network(self) -> Network:
        """The network as kernels read it."""
        return self.shape.network._replace(weights=self.weights)

    @property
    def learned(self) -> tuple[Int64s, Floats, Floats]:
        """What kernels change beside the weights."""
        return self.visits, self.sums, self.sizes


Learned = tuple[Int64s, Floats, Floats]
Boards = tuple[Uint64s, Int32s, Floats]


@Part
def rounded(change: float) -> Any:
    """A number as a multiple of 2^-40."""
    return (change + ROUND) - ROUND


@Part
def best_reply(
    stones: Uint64s, patterns: Int32s, side: int, left: int, game: Board, net: Network, values: Floats
) -> Any:
    """Fill what each move is worth to the side to move, -2 where none is, and return the best.

    :param stones: uint64[2], of X and O; patterns: int32[2, t].
    :param left: free cells.
    """
    values[:] = -2.0
    own, other = stones[side], stones[1 - side]
    completing = ends(own, other, game)
    threats = own & other  # none
    if not completing and not game.misere:
        threats = ends(other, own, game)
    base, found = total(net, patterns[side]), -2.0
    for cell in range(len(values)):
        stone = ONE << np.uint64(cell)
        if (own | other) & stone:
            continue
        if completing & stone:
            value = -1.0 if game.misere else 1.0
        elif threats & ~stone:  # is not blocked
            value = -1.0
        elif left == 1:
            value = 0.0
        else:
            value = squashed(base + gain(net, patterns[side], cell))
        values[cell] = value
        found = max(found, value)
    return found


@Part
def learn_from(
    moves: Int8s,
    plies: int,
    sides: tuple[bool, bool],
    game: Board,
    net: Network,
    learned: Learned,
    boards: Boards,
    rate: float,
) -> None:
    """Go through a finished game of so many plies backwards, and learn from the moves of these sides."""
    visits, sums, sizes = learned
    stones, patterns, values = boards
    stones[0, :] = 0
    patterns[0, :, :] = 0
    for ply in range(plies):
        side, cell = ply % 2, int(moves[ply])
        stones[ply + 1, :] = stones[ply]
        stones[ply + 1, side] |= ONE << np.uint64(cell)
        patterns[ply + 1, :, :] = patterns[ply]
        place(net, patterns[ply + 1], side, cell)
    number = len(net.starts)
    for after in range(plies - 1, 0, -1):
        side = (after - 1) % 2
        if not sides[side]:
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


class Answers(NamedTuple):
    """What fixed sides do, as kernels read it: the opponent first, then the learner's own side.

    :ivar kinds: int64[2], what is fixed of each (``FREE`` ...).
    :ivar boards: uint64[2, k, 2], the stones of X and of O that each answer is for.
    :ivar thresholds: float64[2, k, cells], as ``engine.policy`` has them.
    :ivar asked: uint64[3], the board that the kernel wants to know about, and the side, from 1; 0 for none.
    """

    kinds: Int64s
    boards: Uint64s
    thresholds: Floats
    asked: Uint64s


FREE, ANYWHERE, ASKED = 0, 1, 2
"""A side plays by the table, anywhere, or as it answers."""

RESIGNS, UNKNOWN = -1, -2
"""An answer that is no cell."""


@Part
def place_of(stones: Uint64s, size: int) -> Any:
    """Where the answer for a board is kept."""
    mixed = (stones[0] * MIX ^ stones[1]) * MIX
    return int(mixed >> SHIFT) % size


@Part
def choose(values: Floats, lowest: float, number: float) -> int:
    """The cell that a uniform number picks among those worth at least so much."""
    fitting = 0
    for cell in range(len(values)):
        fitting += int(values[cell] >= lowest)
    left = int(number * fitting)
    for cell in range(len(values)):
        if values[cell] >= lowest:
            if left == 0:
                return cell
            left -= 1
    return -1


@Part
def answered(answers: Answers, who: int, stones: Uint64s, number: float) -> int:
    """The cell that a fixed side plays; RESIGNS, or UNKNOWN where it has to be asked first."""
    at = place_of(stones, answers.boards.shape[1])
    kept = answers.boards[who, at]
    if kept[0] != stones[0] or kept[1] != stones[1]:
        answers.asked[0], answers.asked[1], answers.asked[2] = stones[0], stones[1], who + 1
        return UNKNOWN
    for cell in range(answers.thresholds.shape[2]):
        if answers.thresholds[who, at, cell] > number:
            return cell
    return RESIGNS


@Kernel
def play_games(
    game: Board,
    net: Network,
    learned: Learned,
    boards: Boards,
    epsilon: float,
    rate: float,
    moves: Int8s,
    uniforms: Floats,
    first: int,
    answers: Answers,
    results: Int64s,
) -> int:
    """Play games and learn from them; how many were played before a fixed side has to be asked."""
    stones, patterns, values = boards
    cells = len(values)
    stones[0, :] = 0
    patterns[0, :, :] = 0
    for number in range(len(moves)):
        row, result, resigned, plies = moves[number], 0, False, cells
        learner = (first + number) % 2
        for ply in range(cells):
            side = ply % 2
            kind = answers.kinds[int(side == learner)]
            drawn, cell = uniforms[number, ply], int(row[ply])
            if cell < 0 and kind == ASKED:
                cell = answered(answers, int(side == learner), stones[ply], drawn)
                if cell == UNKNOWN:
                    return number
                if cell < 0:
                    resigned, plies, result = True, ply, 2 * side - 1
                    break
            elif cell < 0:
                best = best_reply(stones[ply], patterns[ply], side, cells - ply, game, net, values)
                if kind == ANYWHERE:
                    cell = choose(values, -1.0, drawn)
                elif drawn < epsilon:
                    cell = choose(values, -1.0, drawn / epsilon)
                else:
                    cell = choose(values, best, (drawn - epsilon) / (1.0 - epsilon))
            row[ply] = cell
            stone = ONE << np.uint64(cell)
            wins = ends(stones[ply, side], stones[ply, 1 - side], game) & stone
            stones[ply + 1, :] = stones[ply]
            stones[ply + 1, side] |= stone
            patterns[ply + 1, :, :] = patterns[ply]
            place(net, patterns[ply + 1], side, cell)
            if wins:
                plies, result = ply + 1, 2 * side - 1 if game.misere else 1 - 2 * side
                break
        results[result + 1] += 1
        if not resigned:
            alone = answers.kinds[0] == FREE
            sides = (alone or learner == 0, alone or learner == 1)
            learn_from(row, plies, sides, game, net, learned, boards, rate)
    return len(moves)


@Kernel
def learn_game(
    moves: Int8s,
    sides: tuple[bool, bool],
    game: Board,
    net: Network,
    learned: Learned,
    boards: Boards,
    rate: float,
) -> None:
    """Learn from one finished game."""
    learn_from(moves, len(moves), sides, game, net, learned, boards, rate)


class FixedSides:
    """The policies of fixed sides, asked for one position at a time."""

    def __init__(self, rules: Rules, policies: Sequence[Policy | None]) -> None:
        self._rules, self._policies = rules, policies
        kinds = [FREE if one is None else ANYWHERE if one.formula == Formula() else ASKED for one in policies]
        size = KEPT_ANSWERS if ASKED in kinds else 1
        self.answers = Answers(
            np.array(kinds),
            np.zeros((2, size, 2), np.uint64),
            np.zeros((2, size, rules.cells)),
            np.zeros(3, np.uint64),
        )
        for who, kind in enumerate(kinds):
            if kind == ASKED:
                self._answer(who, np.zeros(2, np.uint64))

    def answer(self) -> None:
        """Answer what the kernel has asked."""
        if who := int(self.answers.asked[2]):
            self._answer(who - 1, self.answers.asked[:2].copy())
            self.answers.asked[2] = 0

    def _answer(self, who: int, stones: Uint64s) -> None:
        policy = self._policies[who]
        assert policy is not None
        positions = Positions(self._rules, stones[:1], stones[1:])
        with np.errstate(over="ignore"):  # integers wrap in compiled code
            at = place_of(stones, self.answers.boards.shape[1])
        self.answers.boards[who, at] = stones
        self.answers.thresholds[who, at] = thresholds(policy.probabilities(positions))[0]


class NTuplePolicy(Search):
    """Looks ahead by the network of a table, as it is now."""

    def __init__(self, table: NTupleTable, *, depth: int = PLIES) -> None:
        super().__init__(table.rules, depth=depth, network=table.network)
        self._table, self._visited = table, table.visits > 0

    def looking_ahead(self, depth: int) -> Policy:
        return NTuplePolicy(self._table, depth=depth)

    def known(self, positions: Positions) -> Bools:
        """Whether all that is seen on the sets has been seen before."""
        shape, stones = shape_of(self.rules), positions.stones
        found = np.full(len(positions), self._visited.any())
        digits = np.where(stones == 0, 0, 1 + ((stones == 1) == positions.x_to_move[:, None]))
        # The side that has just moved is X (2 of ``stones``) where O is to move.
        for cells, start in zip(shape.sets, shape.network.starts.tolist(), strict=True):
            pattern = sum(digits[:, cell].astype(np.int64) * 3**at for at, cell in enumerate(cells))
            found &= self._visited[shape.network.slots[start + pattern]] | (positions.plies == 0)
        return found & ~positions.terminal


@dataclass(frozen=True)
class NTuple(Learner[NTupleTable]):
    """TD learning of an n-tuple network."""

    name: ClassVar[str] = "ntuple"
    title: ClassVar[str] = "n-tuple network"
    kernel_version: ClassVar[int] = 2
    units: ClassVar[tuple[str, str]] = ("pattern", "weight")
    choices: ClassVar[tuple[str, ...]] = ("default",)
    default_games: ClassVar[int] = 200_000
    block_games: ClassVar[int] = 1 << 14
    shard_games: ClassVar[int] = 1 << 15
    article: ClassVar[dict[str, Any]] = {}
    article_games: ClassVar[int] = 0
    symmetric_only: ClassVar[bool] = True

    choice: str = parameter("default", "the only one", choices=choices)
    alpha: float = parameter(0.5, "the whole step size, shared among the weights", least=0, most=1)
    epsilon: float = parameter(0.4, "how often any cell is played", least=0, most=1)

    def empty(self, rules: Rules, symmetric: bool = False) -> NTupleTable:
        return NTupleTable(rules)

    def train(self, table: NTupleTable, shard: Shard) -> Int64s:
        rules, results, written = table.rules, np.zeros(3, np.int64), len(shard.journal or ())
        sides = FixedSides(rules, (shard.opponent, shard.behaviour))
        learned = (board_of(rules), table.network, table.learned, self._boards(table))
        for chunk in shard.batches(rules.cells, sides.answers, results):
            while chunk.left:
                chunk.played += play_games(*learned, self.epsilon, self.alpha, *chunk.games)
                sides.answer()
        for moves in (shard.journal or [])[written:]:
            moves[:] = _on_classes(rules, moves)
        return results

    def learn(self, table: NTupleTable, game: Game, sides: str = "xo") -> None:
        if game.resigned:
            return
        moves = np.array(game.moves, np.int8)
        taught = "x" in sides, "o" in sides
        net, boards = table.network, self._boards(table)
        learn_game(moves, taught, board_of(table.rules), net, table.learned, boards, self.alpha)

    def policy(self, table: NTupleTable) -> Policy:
        return NTuplePolicy(deepcopy(table))

    def seen(self, table: NTupleTable) -> Positions | None:
        return None if enumerated(table.rules) is None else super().seen(table)

    def merge(self, base: NTupleTable, parts: Sequence[NTupleTable]) -> NTupleTable:
        merged, weights, sums, sizes = deepcopy(base), MergeAccumulator(), ExactSums(), ExactSums()
        for part in parts:
            (at,) = np.nonzero(part.visits > base.visits)
            weights.add(at, part.weights[at], part.visits[at] - base.visits[at])
            for added, whole, before in ((sums, part.sums, base.sums), (sizes, part.sizes, base.sizes)):
                added.add(at, whole[at])
                added.add(at, -before[at])
        at = weights.places
        weights.write_means(merged.weights, merged.visits)
        merged.weights = rounded(merged.weights)
        sums.add(at, base.sums[at])
        sizes.add(at, base.sizes[at])
        merged.sums[at], merged.sizes[at] = sums.totals(at), sizes.totals(at)
        return merged

    def to_entries(self, table: NTupleTable) -> Iterator[Entry]:
        """``[weight, visits, sum, size]`` by what is seen: the stones of a set of cells, X those of the side
        that has just moved."""
        used = np.flatnonzero(table.visits)
        keys = _keys(table.shape, used)
        columns = [(column[used] + 0.0).tolist() for column in (table.weights, table.sums, table.sizes)]
        visits = table.visits[used].tolist()
        for at in np.argsort(keys, kind="stable").tolist():
            weight, added, size = (column[at] for column in columns)
            yield keys[at].decode("ascii"), [weight, visits[at], added, size]

    def from_entries(self, rules: Rules, symmetric: bool, entries: Iterable[Entry]) -> NTupleTable:
        table, shape = NTupleTable(rules), shape_of(rules)
        kinds = {_mask(rules, kind): number for number, kind in enumerate(shape.kinds)}
        keys, slots = [], []
        for key, entry in entries:
            number = kinds.get(key.translate(_COVERED), -1)
            if number < 0:
                raise unfit(key, f"expected the stones on a set of cells of {rules.describe()}")
            digits = key.replace(OUTSIDE, "")[::-1].translate(_DIGITS)
            pattern = int(shape.first[number]) + int(digits, 3)
            slot = int(shape.network.slots[pattern])
            if shape.patterns[slot] != pattern:
                raise unfit(key, "one of its symmetric images stands for it")
            if not _is_sound(entry):
                raise unfit(key, "expected [weight, visits, sum of errors, sum of their sizes]")
            table.weights[slot], table.visits[slot], table.sums[slot], table.sizes[slot] = entry
            keys.append(key)
            slots.append(slot)
        possible = _possible(shape, np.array(slots, np.int64))
        if not possible.all():
            raise unfit(keys[int(possible.argmin())], "no game leads to this")
        return table

    def entry_visits(self, entry: Any) -> int:
        return int(entry[1])

    def entry_moves(self, entry: Any) -> int:
        return 1

    @staticmethod
    def _boards(table: NTupleTable) -> Boards:
        cells = table.rules.cells
        patterns = np.zeros((cells + 1, 2, len(table.network.starts)), np.int32)
        return np.zeros((cells + 1, 2), np.uint64), patterns, np.zeros(cells)


_COVERED = str.maketrans("XO", "..")
_DIGITS = str.maketrans(_SEEN, "012")


def _mask(rules: Rules, cells: Sequence[int]) -> str:
    """A key of these cells without stones."""
    return "".join("." if cell in cells else OUTSIDE for cell in range(rules.cells))


def _stones(shape: Shape, slots: Int64s) -> Int8s:
    """int8[k, cells]: what the weights are about: 0 free, 1 a stone of the side that has just moved, 2 one of
    the other side, -1 not in the set."""
    patterns = shape.patterns[slots]
    kind_of = np.searchsorted(shape.first, patterns, side="right") - 1
    stones = np.full((len(slots), shape.rules.cells), -1, np.int8)
    for number, cells in enumerate(shape.kinds):
        rows = np.flatnonzero(kind_of == number)
        left = patterns[rows] - shape.first[number]
        for cell in cells:
            stones[rows, cell] = left % 3
            left //= 3
    return stones


def _keys(shape: Shape, slots: Int64s) -> NDArray[np.bytes_]:
    """The keys of these weights' entries."""
    symbols = np.frombuffer((_SEEN + OUTSIDE).encode(), np.uint8)
    return symbols[_stones(shape, slots)].view(f"S{shape.rules.cells}").reshape(-1)


def _possible(shape: Shape, slots: Int64s) -> Bools:
    """bool[k]: whether what weights are about can be seen on a board that is not over."""
    stones, rules = _stones(shape, slots), shape.rules
    own, other, outside = ((stones == kind).sum(axis=1) for kind in (1, 2, -1))
    # The side that has just moved has as many stones as the other one, or one more.
    missing = np.maximum(own - other - 1, other - own)
    found = (np.maximum(missing, 0) <= outside) & (own + other + np.maximum(missing, 0) < rules.cells)
    for line in rules.lines:
        on_line = stones[:, list(line)]
        found &= ~((on_line == 1).all(axis=1) | (on_line == 2).all(axis=1))
    return found


def _is_sound(entry: Any) -> bool:
    """Whether an entry of a file is one of ours."""
    if not isinstance(entry, list) or len(entry) != 4:
        return False
    weight, visits, added, size = entry
    numbers = is_number(weight) and is_number(added) and is_number(size)
    # Learning adds the same numbers to both, but for their signs: more than rounding cannot part them.
    return numbers and is_count(visits) and visits > 0 and abs(added) <= size * (1 + 1e-9)


def _on_classes(rules: Rules, moves: Int8s) -> Int8s:
    """The moves of games on the classes' boards, as the journal of a symmetric table has them."""
    found, positions = np.full_like(moves, -1), Positions.concatenate([Positions.start(rules)] * len(moves))
    games = np.arange(len(moves))
    for ply in range(rules.cells):
        going = moves[games, ply] >= 0
        games, positions = games[going], positions[going]
        if not len(games):
            break
        cells = moves[games, ply]
        found[games, ply] = classes(positions).moves[np.arange(len(games)), cells]
        positions = positions.play(np.arange(len(games)), cells)
    return found
