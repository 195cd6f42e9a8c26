"""A reading of a stranger's table, and what its numbers say for or against it.

Values of moves, counts of beads among them, become a table of ``q``, values of positions one of ``td``.
Numbers stay exactly as in the file, each for the side whose good it measures, so that equal ones stay equal.

A trained table prefers good moves to bad ones. So under the right reading it chooses better than chance;
under a wrong one (values taken for the other side's, cells counted from the wrong number) it does not. A move
is good if it wins more often when both sides go on at random: known for every position, and independent of
any table. ``score`` is a standard score: about 0, give or take 1, for numbers that say nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import permutations

import numpy as np

from ttt_cli.engine.arrays import Bools, Floats, Int64s
from ttt_cli.engine.policy import best
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.store.foreign.keys import Spelling
from ttt_cli.store.foreign.values import Values
from ttt_cli.store.plays import Plays, values_of_moves

Images = Sequence[tuple[int, ...]]
NEARLY_ALL = 0.95
"""The least share of keys that must be the smallest of their images to stand for all of them."""
LEAST_CANONICAL, LEAST_TURNED = 12, 100
"""The least number of keys with other images for that to be no chance, and if they may only be turned."""
INEXACT, MANY = 0.02, 3
"""The error of a sum of probabilities, and the least number of boards with unequal ones."""
LEAST_MAPPED, LEAST_IDS = 20, 100
"""The least number of positions with one move each for that to be no chance: a game tried once more leaves
two moves at one; and of different whole numbers for these to be names."""
ADDED = "added"
"""As ``player-x``: neither of two tables is X's, their program adds them up."""


@dataclass(frozen=True, eq=False)
class Reading:
    """A way to read a table: numbers, each of a position or of a move in it.

    :ivar spelling: the table's keys, including those left out.
    :ivar values: the numbers as the file has them.
    :ivar facets: what distinguishes it from others, under the names of the command line.
    :ivar rarity: how far it is from what authors usually write.
    :ivar indexes: int64[k], the positions.
    :ivar slots: int64[k], of moves the cells, from 0; of positions the side whose good it is, 0 X's, 1 O's.
    :ivar numbers: float64[k], as in the file.
    :ivar signs: +1 or -1, whether a large number is good for X when X moves, and for O when O does.
    :ivar left_out: int64[m, 2], values of positions or free cells that are not numbers: their places in
        ``values``, cells.
    :ivar occupied: how many numbers at occupied cells are not filler.
    :ivar classes: how many positions the file has, if each stands for all its images; else 0.
    """

    spelling: Spelling
    values: Values
    facets: Mapping[str, str]
    rarity: int
    indexes: Int64s
    slots: Int64s
    numbers: Floats
    signs: tuple[int, int]
    left_out: Int64s
    occupied: int = 0
    classes: int = 0

    @property
    def rank(self) -> float:
        """How likely it is: what the numbers say for it, less what it asks one to believe."""
        return self.score - 3 * self.rarity - int(self.spelling.misfits.sum())

    @property
    def of_moves(self) -> bool:
        """Whether the numbers are those of moves."""
        return self.values.shape != "position"

    @cached_property
    def positions(self) -> int:
        """The number of positions that have a number."""
        return len(np.unique(self.indexes))

    @property
    def tables(self) -> str:
        """``own`` or ``shared``, as in ``Plays.tables``."""
        return "own" if not self.of_moves and self.positions < len(self.indexes) else "shared"

    @cached_property
    def after(self) -> Int64s:
        """int64[k], the positions that the numbers judge: those after the moves, or these themselves."""
        successors = self.spelling.space.successors
        return successors[self.indexes, self.slots].astype(np.int64) if self.of_moves else self.indexes

    @cached_property
    def still_open(self) -> Bools:
        """bool[k], whether the game goes on there."""
        return ~self.spelling.space.terminal[self.after]

    @cached_property
    def worth(self) -> Floats:
        """float64[k], the numbers from the mover's side; those of positions from X's, with 0 as the value of
        an unknown one (1/2 is subtracted from chances)."""
        if self.of_moves:
            return self.numbers * np.where(self.spelling.space.movers > 0, *self.signs)[self.indexes] + 0.0
        numbers = self.numbers
        if np.all((numbers >= 0) & (numbers <= 1)):
            undecided = numbers[self.still_open]
            numbers = numbers - 0.5 * ((undecided == 0).sum() <= (undecided == 0.5).sum())
        return numbers * (1 - 2 * self.slots) + 0.0

    @property
    def by_slot(self) -> Floats:
        """The numbers by position, NaN where there is none: float64[n, cells] of moves, from the mover's
        side; float64[n, 2] of positions, X's good and O's, as in the file."""
        space = self.spelling.space
        values = np.full((len(space), space.cells if self.of_moves else 2), np.nan)
        values[self.indexes, self.slots] = self.worth if self.of_moves else self.numbers
        return values

    @cached_property
    def fingerprint(self) -> bytes:
        """Equal for readings that play alike: zeros of moves and the empty board say nothing."""
        slots = self.slots if self.of_moves or self.tables == "own" else np.zeros_like(self.slots)
        order = np.lexsort((slots, self.indexes))
        order = order[(self.worth != 0 if self.of_moves else self.indexes != 0)[order]]
        return b"".join(it[order].tobytes() for it in (self.indexes, slots, self.worth))

    @cached_property
    def drawn(self) -> str:
        """What the numbers look like if moves are drawn by them: ``beads``, whole and called so or of three
        values, or ``probabilities``, which sum to 1 or 100 on nearly all boards, with unequal ones too."""
        numbers = self.worth
        if not self.of_moves or self.signs != (1, 1) or not np.all(numbers >= 0):
            return ""
        if np.all(numbers == np.round(numbers)) and (self.values.are_counts or len(np.unique(numbers)) > 2):
            return "beads"
        values = np.nan_to_num(self.by_slot)
        sums, most = values.sum(axis=1), values.max(axis=1, keepdims=True)
        whole = (abs(sums - 1) < INEXACT) | (abs(sums - 100) < 100 * INEXACT)  # per cent
        unequal = ((values > 0) & (values < most)).any(axis=1)
        many = min(whole[sums > 0].mean(), whole[unequal].mean()) if unequal.sum() >= MANY else 0.0
        return "probabilities" * bool(many >= NEARLY_ALL)

    @cached_property
    def score(self) -> float:
        """What the numbers themselves say for this reading."""
        space = self.spelling.space
        if self.of_moves:
            return _skill(space, self.by_slot)
        good = _prospects(space.rules)[self.indexes]
        if len(good) < 3 or self.worth.std() == 0 or good.std() == 0:
            return 0.0
        return float(np.corrcoef(self.worth, good)[0, 1]) * float(np.sqrt(len(good) - 1))

    @cached_property
    def faults(self) -> int:
        """The numbers that should not be where they are; of positions, those of weight that are worse for
        their winner than open ones on average."""
        if self.of_moves:
            return self.occupied + int(np.isinf(self.values.numbers[self.left_out[:, 0]]).sum())
        heavy, opened = abs(self.worth) >= 0.5 * abs(self.worth).max(initial=0), self.worth[self.still_open]
        gained = (self.worth - opened.mean() if len(opened) else self.worth) * self.spelling.space.results[
            self.indexes
        ]
        return int((heavy & (gained < 0)).sum())

    @property
    def says_only(self) -> str:
        """What the numbers say instead of values, in words; empty if they are values."""
        if self.of_moves:
            is_stones = len(np.unique(self.values.numbers)) <= 3 and not self.values.are_decisions
            return "which cells are taken" * bool(is_stones and self.occupied and not self.classes)
        if counts_stones(self.spelling.space, self.indexes, self.numbers):
            return "how many stones are on the board"
        names = np.unique(self.numbers[(self.numbers >= 0) & (self.numbers % 1 == 0)])
        return "which board is which" * (LEAST_IDS <= len(names) == len(self.numbers))

    def unfolded(self, group: Images) -> "Reading":
        """The reading over all images of its positions, of a table whose keys are up to symmetry. Where
        numbers are at occupied cells, cells are those of the board as it is played, not of the key."""
        space, parts = self.spelling.space, []
        done = np.zeros((len(space), 2), np.bool_)
        for image, places in images(space, self.indexes, group):
            slots, table = self.slots, 0 if self.of_moves else self.slots
            new = ~done[places, table]
            done[places, table] = True
            if self.of_moves:
                slots = slots if self.occupied else np.argsort(image)[slots]
                new &= space.legal[places, slots]
            parts.append((places[new], slots[new], self.numbers[new]))
        indexes, slots, numbers = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        return replace(self, indexes=indexes, slots=slots, numbers=numbers, classes=self.positions)

    def by_move(self, plays: Plays) -> Floats:
        """float64[n, cells]: the values of moves to the mover, NaN where there is none."""
        return self.by_slot if self.of_moves else values_of_moves(self.by_slot, self.spelling.space, plays)

    def plays(self, unknown: float | str, wins: str = Plays.wins) -> Plays:
        """How its program plays if a move that the table does not hold counts as ``unknown``."""
        x, o = self.signs
        pair = unknown if isinstance(unknown, str) else (unknown * x + 0.0, unknown * o + 0.0)
        return Plays("random", "draw" if self.drawn else "most", pair, wins, self.tables)


def counts_stones(space: StateSpace, indexes: Int64s, numbers: Floats | Int64s) -> bool:
    """Whether boards differ in their numbers only where they differ in how many stones they have, as in no
    table that says anything."""
    plies = space.plies[indexes]
    pairs = np.unique([plies, numbers], axis=1)
    return pairs.shape[1] == len(np.unique(plies)) and len(plies) >= LEAST_MAPPED


@lru_cache(maxsize=4)
def _prospects(rules: Rules) -> Floats:
    """float64[n], the mean result for X (+1 won, -1 lost) when both sides play at random from here on."""
    space = StateSpace.of(rules)
    means = space.results.astype(np.float64)
    for layer in space.backwards():
        legal = space.legal[layer]
        after = np.where(legal, means[space.successors[layer]], 0.0).sum(axis=1)
        means[layer] += after / np.maximum(legal.sum(axis=1), 1)
    return means


def _skill(space: StateSpace, values: Floats) -> float:
    """How much better than chance the moves of the largest value are: the sum of two standard scores.

    One is for what the moves are worth, the other for winning at once where that is possible: the surest
    sign, since a win for the wrong side is only a block.

    :param values: float64[n, cells] from the mover's side, NaN where unknown (worth 0).
    """
    known = np.flatnonzero(~np.isnan(values).all(axis=1) & ~space.terminal)
    legal, after = space.legal[known], space.successors[known]
    side = space.movers[known][:, None]
    chosen = best(np.nan_to_num(values[known]), legal)
    wins = legal & (space.results[after] * side > 0)
    worth = np.where(legal, _prospects(space.rules)[after] * side, 0.0)
    return _standard_score(worth, chosen, legal) + _standard_score(wins.astype(np.float64), chosen, legal)


def _standard_score(worth: Floats, chosen: Bools, legal: Bools) -> float:
    """The standard score of the mean worth of the cells chosen, against cells drawn at random.

    :param worth: float64[k, cells], 0 where not legal; chosen, legal: bool[k, cells].
    """
    cells, taken = legal.sum(axis=1), np.maximum(chosen.sum(axis=1), 1)
    mean = worth.sum(axis=1) / np.maximum(cells, 1)
    gain = (worth * chosen).sum(axis=1) / taken - mean
    spread = (np.where(legal, worth - mean[:, None], 0.0) ** 2).sum(axis=1) / np.maximum(cells, 1)
    # The variance of the mean of `taken` cells, drawn without replacement.
    variance = spread / taken * (cells - taken) / np.maximum(cells - 1, 1)
    total = float(np.sqrt(variance.sum()))
    return float(gain.sum()) / total if total > 0 else 0.0


def groups(rules: Rules) -> dict[str, Images]:
    """The symmetries that a key may stand for: all of the board's, or its turns without mirroring."""
    return {
        "yes": rules.symmetries,
        "rotations": [image for at, image in enumerate(rules.symmetries) if at in (0, 3, 5, 6)],
    }


def images(space: StateSpace, indexes: Int64s, group: Images) -> Iterator[tuple[Sequence[int], Int64s]]:
    """The symmetries of a group, the identity first, and the images of positions (int64[k]) under each: cell
    ``at`` of an image is cell ``image[at]`` of the position."""
    stones = space.stones[indexes].astype(np.int64)
    for image in group:
        yield image, space.find(stones[:, list(image)] @ space.powers)


def alone(space: StateSpace, indexes: Int64s, group: Images) -> Int64s | None:
    """int64[images, k], the images of positions that have other ones; None if many have two in the file."""
    every = np.stack([rows for _, rows in images(space, np.unique(indexes), group)])
    every = every[:, (every != every[0]).any(axis=0)]
    return every if len(np.unique(every.min(axis=0))) >= NEARLY_ALL * every.shape[1] else None


def symmetry_of(space: StateSpace, indexes: Int64s, *, relative: bool = False) -> str:
    """The symmetries that a file's keys stand for (``yes``, ``rotations``), or ``no``.

    Such a file holds one image alone of each position, the least under some order of cells and symbols.

    :param relative: whether stones are written as mine and theirs.
    """
    for name, group in groups(space.rules).items():
        every = alone(space, indexes, group)
        if every is None or every.shape[1] < (LEAST_CANONICAL if name == "yes" else LEAST_TURNED):
            continue
        stones = space.stones[every].astype(np.int64)  # [images, k, cells]
        if relative:
            swapped = (space.movers[every[0]] < 0)[None, :, None] & (stones > 0)
            stones = np.where(swapped, 3 - stones, stones)
        for order in space.rules.symmetries:
            weights = space.powers[np.argsort(order)]
            for ranks in permutations(range(3)):
                codes = np.array(ranks)[stones] @ weights
                if (codes[0] == codes.min(axis=0)).mean() >= NEARLY_ALL:
                    return name
    return "no"
