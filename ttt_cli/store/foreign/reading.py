"""A reading of a table, and what the numbers in it say for that reading.

Values of moves, counts of beads among them, become a table of ``q``, values of positions one of ``td``.
Numbers stay as they stand in the file, each for the side whose good it measures, so that what is exactly
equal there is so here and nothing else.

A trained table prefers good moves to bad ones. So under the right reading it chooses better than chance,
under a wrong one (values taken for the other side's, cells counted from the wrong number) it does not. Good
is what wins more often when both sides go on at random: known for every position and independent of any
table. ``score`` is a standard score: about 0, give or take 1, for numbers that say nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import permutations
from typing import Any

import numpy as np

from ttt_cli.engine.arrays import Bools, Floats, Int64s
from ttt_cli.engine.policy import best
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.store.foreign.keys import Boards
from ttt_cli.store.foreign.values import Values
from ttt_cli.store.plays import are_beads

Images = Sequence[tuple[int, ...]]
NEARLY_ALL = 0.95
"""The least share of keys that have to be the smallest of their images to stand for all of them."""
LEAST_CANONICAL, LEAST_TURNED = 12, 100
"""And so many have to have other images, for that to be no chance; more where they may only be turned."""


@dataclass(frozen=True, eq=False)
class Reading:
    """One way to read a table: numbers, each of a position or of a move in it.

    :ivar boards: the table's keys, those among them that are left out too.
    :ivar values: those of the file.
    :ivar facets: what tells it from others, by the names on the command line.
    :ivar rarity: how far it is from what authors do.
    :ivar indexes: int64[k], the positions.
    :ivar slots: int64[k]: of moves the cells, from 0; of positions the side whose good it is, 0 X's, 1 O's.
    :ivar numbers: float64[k], as they stand in the file.
    :ivar whose: +1 or -1: whether a large number is good for X when X moves, and for O when O does.
    :ivar taken: how many numbers at occupied cells are no filler.
    :ivar texts: how many values of free cells are no numbers.
    :ivar folded: how many positions the file has, if each stands for all its images; else 0.
    """

    boards: Boards
    values: Values
    facets: Mapping[str, str]
    rarity: int
    indexes: Int64s
    slots: Int64s
    numbers: Floats
    whose: tuple[int, int]
    taken: int = 0
    texts: int = 0
    folded: int = 0

    @property
    def rank(self) -> float:
        """How likely it is: what the numbers say for it, less what it asks one to believe."""
        return self.score - 3 * self.rarity - int(self.boards.left_out.sum())

    @property
    def of_moves(self) -> bool:
        """Whether the numbers are those of moves."""
        return self.values.shape != "position"

    @cached_property
    def positions(self) -> int:
        """How many positions have a number."""
        return len(np.unique(self.indexes))

    @property
    def tables(self) -> str:
        """As ``Plays`` has it."""
        return "own" if not self.of_moves and self.positions < len(self.indexes) else "shared"

    @cached_property
    def after(self) -> Int64s:
        """int64[k]: the positions that the numbers judge: those after the moves, or these themselves."""
        successors = self.boards.space.successors
        return successors[self.indexes, self.slots].astype(np.int64) if self.of_moves else self.indexes

    @cached_property
    def opened(self) -> Bools:
        """bool[k]: whether the game goes on there."""
        return ~self.boards.space.terminal[self.after]

    @cached_property
    def worth(self) -> Floats:
        """float64[k]: the numbers from the mover's side; of positions X's, 0 where nothing is known: chances
        are 1/2 there, other values 0."""
        if self.of_moves:
            return self.numbers * np.where(self.boards.space.movers > 0, *self.whose)[self.indexes] + 0.0
        numbers = self.numbers
        if np.all((numbers >= 0) & (numbers <= 1)):
            goes_on = numbers[self.opened]
            numbers = numbers - 0.5 * ((goes_on == 0).sum() <= (goes_on == 0.5).sum())
        return numbers * (1 - 2 * self.slots) + 0.0

    @property
    def by_slot(self) -> Floats:
        """The numbers by position, NaN where there is none: float64[n, cells] of moves, from the mover's
        side; float64[n, 2] of positions, X's good and O's, as in the file."""
        space = self.boards.space
        values = np.full((len(space), space.cells if self.of_moves else 2), np.nan)
        values[self.indexes, self.slots] = self.worth if self.of_moves else self.numbers
        return values

    @cached_property
    def mark(self) -> bytes:
        """The same for readings that play alike: zeros of moves and the empty board say nothing."""
        slots = self.slots if self.of_moves or self.tables == "own" else np.zeros_like(self.slots)
        order = np.lexsort((slots, self.indexes))
        order = order[(self.worth != 0 if self.of_moves else self.indexes != 0)[order]]
        return b"".join(it[order].tobytes() for it in (self.indexes, slots, self.worth))

    @property
    def are_beads(self) -> bool:
        """Whether the numbers look like counts of beads."""
        return self.of_moves and self.whose == (1, 1) and are_beads(self.worth, named=self.values.counted)

    @cached_property
    def score(self) -> float:
        """What the numbers themselves say for this reading."""
        space = self.boards.space
        if self.of_moves:
            return _skill(space, self.by_slot)
        good = _prospects(space.rules)[self.indexes]
        if len(good) < 3 or self.worth.std() == 0 or good.std() == 0:
            return 0.0
        return float(np.corrcoef(self.worth, good)[0, 1]) * float(np.sqrt(len(good) - 1))

    @cached_property
    def faults(self) -> int:
        """How many numbers stand or say what they should not; of positions: those won with a value of weight
        that is worse for the winner than open ones on average."""
        if self.of_moves:
            return self.texts + (0 if self.folded else self.taken)
        results, opened = self.boards.space.results[self.indexes], self.worth[self.opened]
        heavy = np.abs(self.worth) >= 0.5 * np.abs(self.worth).max(initial=0)
        usual = float(opened.mean()) if len(opened) else 0.0
        return int((heavy & (results != 0) & ((self.worth - usual) * results < 0)).sum())

    @cached_property
    def rank_of_wins(self) -> float:
        """The mean rank of the moves that win at once, 0 (worst) to 1: a table that wins knows."""
        wins = self.boards.space.results[self.after] != 0
        ranks = np.searchsorted(np.sort(self.worth), self.worth[wins])
        return float(ranks.mean() / len(self.worth)) if len(ranks) else 0.0

    def unfolded(self, group: Images) -> "Reading":
        """The reading over all images of its positions, of a table whose keys are up to symmetry. Where
        numbers stand at occupied cells, cells are those of the board as it is played, not of the key."""
        space, found = self.boards.space, []
        done = np.zeros((len(space), 2), np.bool_)
        for image, places in images(space, self.indexes, group):
            slots, table = self.slots, 0 if self.of_moves else self.slots
            new = ~done[places, table]
            done[places, table] = True
            if self.of_moves:
                slots = slots if self.taken else np.argsort(image)[slots]
                new &= space.legal[places, slots]
            found.append((places[new], slots[new], self.numbers[new]))
        indexes, slots, numbers = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
        return replace(self, indexes=indexes, slots=slots, numbers=numbers, folded=self.positions)

    def entries(self, visits: int, *, zeros: bool = True) -> dict[str, Any]:
        """As a native table: each number for the side whose good it measures.

        :param zeros: whether zeros of moves are entries; else they are as good as missing.
        """
        found: dict[str, Any] = {}
        names = (self.slots + 1).astype(str) if self.of_moves else np.where(self.slots, "o", "x")
        numbers = self.worth if self.of_moves else self.numbers + 0.0
        texts = self.boards.space[self.indexes].texts()
        for text, name, number in zip(texts, names.tolist(), numbers.tolist(), strict=True):
            if number or zeros or not self.of_moves:
                found.setdefault(text, {})[name] = [number, visits]
        return found


@lru_cache(maxsize=4)
def _prospects(rules: Rules) -> Floats:
    """float64[n]: the mean result for X (+1 won, -1 lost) when both sides play at random from here on."""
    space = StateSpace.of(rules)
    means = space.results.astype(np.float64)
    for layer in space.backwards():
        legal = space.legal[layer]
        after = np.where(legal, means[space.successors[layer]], 0.0).sum(axis=1)
        means[layer] += after / np.maximum(legal.sum(axis=1), 1)
    return means


def _skill(space: StateSpace, values: Floats) -> float:
    """How much better than chance the moves of the largest value are: the sum of two standard scores.

    The one is for what the moves are worth, the other for winning at once where that is possible: the surest
    sign, since a win for the wrong side is only a block.

    :param values: float64[n, cells] from the mover's side, NaN where unknown (worth 0).
    """
    known = np.flatnonzero(~np.isnan(values).all(axis=1) & ~space.terminal)
    legal, after = space.legal[known], space.successors[known]
    side = space.movers[known][:, None]
    chosen = best(np.nan_to_num(values[known]), legal)
    wins = legal & (space.results[after] * side > 0)
    worth = np.where(legal, _prospects(space.rules)[after] * side, 0.0)
    return _standard(worth, chosen, legal) + _standard(wins.astype(np.float64), chosen, legal)


def _standard(worth: Floats, chosen: Bools, legal: Bools) -> float:
    """The standard score of the mean worth of the cells chosen, against cells drawn at random.

    :param worth: float64[k, cells], 0 where not legal; chosen, legal: bool[k, cells].
    """
    cells, taken = legal.sum(axis=1), np.maximum(chosen.sum(axis=1), 1)
    mean = worth.sum(axis=1) / np.maximum(cells, 1)
    gain = (worth * chosen).sum(axis=1) / taken - mean
    spread = (np.where(legal, worth - mean[:, None], 0.0) ** 2).sum(axis=1) / np.maximum(cells, 1)
    # The variance of the mean of `taken` cells, drawn without putting back.
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
    """The symmetries of a group, the identity first, and what each makes of positions (int64[k]): cell
    ``at`` of an image is cell ``image[at]`` of the position."""
    stones = space.stones[indexes].astype(np.int64)
    for image in group:
        yield image, space.find(stones[:, list(image)] @ space.powers)


def symmetry_of(space: StateSpace, indexes: Int64s, *, own: bool = False) -> str:
    """The symmetries whose images a file's keys stand for: of all images of a position it has one alone, the
    least under some order of cells and symbols; ``no`` if each is itself alone.

    :param own: whether stones are written as one's own and the other's.
    """
    for name, group in groups(space.rules).items():
        found = np.stack([rows for _, rows in images(space, np.unique(indexes), group)])
        found = found[:, (found != found[0]).any(axis=0)]  # those that have other images
        many = found.shape[1]
        if many < (LEAST_CANONICAL if name == "yes" else LEAST_TURNED):
            continue
        if len(np.unique(found.min(axis=0))) < NEARLY_ALL * many:
            continue
        stones = space.stones[found].astype(np.int64)  # [images, k, cells]
        if own:
            swapped = (space.movers[found[0]] < 0)[None, :, None] & (stones > 0)
            stones = np.where(swapped, 3 - stones, stones)
        for order in space.rules.symmetries:
            weights = space.powers[np.argsort(order)]
            for ranks in permutations(range(3)):
                codes = np.array(ranks)[stones] @ weights
                if (codes[0] == codes.min(axis=0)).mean() >= NEARLY_ALL:
                    return name
    return "no"
