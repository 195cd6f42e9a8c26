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
from hashlib import sha256
from itertools import permutations
from typing import Any

import numpy as np

from ttt_cli.engine.arrays import Bools, Floats, Int64s
from ttt_cli.engine.policy import best
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.store.foreign.conventions import Convention, rarity
from ttt_cli.store.foreign.keys import Boards
from ttt_cli.store.foreign.values import Values
from ttt_cli.store.plays import Plays, are_beads, policy_by

Images = tuple[tuple[int, ...], ...]
NEARLY_ALL = 0.95
"""The least share of keys that have to be the smallest of their images to stand for all of them."""
LEAST_CANONICAL, LEAST_TURNED = 12, 100
"""And so many have to have other images, for that to be no chance; more where they may only be turned."""


@dataclass(frozen=True, eq=False)
class Reading:
    """One way to read a table: numbers, each of a position or of a move in it.

    :ivar facets: what tells it from others, by the names on the command line.
    :ivar conventions: those that it rests on.
    :ivar boards: the table's keys, those among them that are left out too.
    :ivar values: those of the file.
    :ivar indexes: int64[k], the positions.
    :ivar slots: int64[k]: of moves the cells, from 0; of positions whose table the number is in: +1 X's,
        -1 O's, 0 that of both.
    :ivar numbers: float64[k], as they stand in the file.
    :ivar signs: int64[k], +1 or -1: whether a large number is good for the mover, or of a position for X.
    :ivar whose: +1 or -1: whether a large number is good for X when X moves, and for O when O does.
    :ivar taken: how many numbers at occupied cells are no filler.
    :ivar texts: how many values of free cells are no numbers.
    :ivar folded: how many positions the file has, if each stands for all its images; else 0.
    """

    facets: Mapping[str, str]
    conventions: Sequence[Convention]
    boards: Boards
    values: Values
    indexes: Int64s
    slots: Int64s
    numbers: Floats
    signs: Int64s
    whose: tuple[int, int]
    taken: int = 0
    texts: int = 0
    folded: int = 0

    @cached_property
    def rarity(self) -> int:
        """How far it is from what people do."""
        return rarity(self.conventions)

    @property
    def rank(self) -> float:
        """How likely it is: what the numbers say for it, less what it asks one to believe."""
        return self.score - 3 * self.rarity - int(self.boards.left_out.sum())

    @property
    def space(self) -> StateSpace:
        """The positions of the game."""
        return self.boards.space

    @property
    def of_moves(self) -> bool:
        """Whether the numbers are those of moves."""
        return self.values.shape != "position"

    @property
    def decided(self) -> bool:
        """Whether the numbers stand for the moves of a policy."""
        return self.values.decided

    @property
    def tables(self) -> str:
        """As ``Plays`` has it."""
        return "own" if not self.of_moves and self.slots.any() else "shared"

    @cached_property
    def after(self) -> Int64s:
        """int64[k]: the positions that the numbers judge: those after the moves, or these themselves."""
        if not self.of_moves:
            return self.indexes
        return self.space.successors[self.indexes, self.slots].astype(np.int64)

    @cached_property
    def ended(self) -> Bools:
        """bool[k]: whether the game is over there."""
        return self.space.terminal[self.after]

    @property
    def opened(self) -> Floats:
        """The numbers where the game goes on: of moves from the mover's side, of positions as in the file."""
        return (self.worth if self.of_moves else self.numbers)[~self.ended]

    @property
    def are_beads(self) -> bool:
        """Whether the numbers look like counts of beads."""
        return self.of_moves and self.whose == (1, 1) and are_beads(self.worth, named=self.values.counted)

    @cached_property
    def worth(self) -> Floats:
        """float64[k]: the numbers from the mover's side; of positions X's, 0 where nothing is known: chances
        are 1/2 there, other values 0."""
        numbers = self.numbers
        if not self.of_moves and np.all((numbers >= 0) & (numbers <= 1)):
            opened = numbers[~self.ended]
            numbers = numbers - 0.5 * ((opened == 0).sum() <= (opened == 0.5).sum())
        return numbers * self.signs + 0.0

    @property
    def by_slot(self) -> Floats:
        """Numbers by position, NaN where there is none: float64[n, cells] of moves, from the mover's side;
        float64[n, 2] of positions as in the file, by the side whose good they measure, X's first."""
        values = np.full((len(self.space), self.space.cells if self.of_moves else 2), np.nan)
        slots, numbers = (self.slots, self.worth) if self.of_moves else (self.signs < 0, self.numbers)
        values[self.indexes, slots.astype(np.intp)] = numbers
        return values

    @cached_property
    def mark(self) -> bytes:
        """The same for readings that play alike: zeros of moves and the empty board say nothing."""
        kept = self.worth != 0 if self.of_moves else self.indexes != 0
        order = np.lexsort((self.slots, self.indexes))
        order = order[kept[order]]
        return sha256(b"".join(it[order].tobytes() for it in (self.indexes, self.slots, self.worth))).digest()

    @cached_property
    def score(self) -> float:
        """What the numbers themselves say for this reading."""
        if self.of_moves:
            return _skill(self.space, self.by_slot)
        good = _prospects(self.space.rules)[self.indexes]
        if len(good) < 3 or self.worth.std() == 0 or good.std() == 0:
            return 0.0
        return float(np.corrcoef(self.worth, good)[0, 1]) * float(np.sqrt(len(good) - 1))

    @cached_property
    def faults(self) -> int:
        """How many numbers stand or say what they should not; of positions: those won with a value of weight
        that is worse for the winner than open ones on average."""
        found = self.texts + (0 if self.folded else self.taken)
        if self.of_moves:
            return found
        results, opened = self.space.results[self.indexes], self.worth[~self.ended]
        heavy = np.abs(self.worth) >= 0.5 * np.abs(self.worth).max(initial=0)
        usual = float(opened.mean()) if len(opened) else 0.0
        return found + int((heavy & (results != 0) & ((self.worth - usual) * results < 0)).sum())

    @cached_property
    def rank_of_wins(self) -> float:
        """The mean rank of the moves that win at once, 0 (worst) to 1: a table that wins knows."""
        ranks = np.searchsorted(np.sort(self.worth), self.worth[self.space.results[self.after] != 0])
        return float(ranks.mean() / len(self.worth)) if len(ranks) else 0.0

    @property
    def counts(self) -> tuple[int, int]:
        """How many positions have a number, and how many numbers there are."""
        return len(np.unique(self.indexes)), len(self.indexes)

    def passed_over(self, plays: Plays) -> int:
        """On how many boards moves that are not in the file are played though others are known."""
        if not self.of_moves:
            return 0
        values, space = self.by_slot, self.space
        held = space.legal & ~np.isnan(values)
        played = policy_by(values, space, plays).table(space).support
        return int(np.any(played & ~held, axis=1)[held.any(axis=1)].sum())

    def unfolded(self, group: Images) -> "Reading":
        """The reading over all images of its positions, of a table whose keys are up to symmetry. Where
        numbers stand at occupied cells, cells are those of the board as it is played, not of the key."""
        owners = np.zeros_like(self.slots) if self.of_moves else self.slots
        done = np.zeros((len(self.space), 3), np.bool_)
        rows, places, slots = [], [], []
        for image, found in images(self.space, self.indexes, group):
            new, slot = ~done[found, owners], self.slots
            done[found, owners] = True
            if self.of_moves:
                slot = slot if self.taken else np.argsort(image)[slot]
                new &= self.space.legal[found, slot]
            rows.append(np.flatnonzero(new))
            places.append(found[new])
            slots.append(slot[new])
        row, place, slot = np.concatenate(rows), np.concatenate(places), np.concatenate(slots)
        kept = replace(self, numbers=self.numbers[row], signs=self.signs[row])
        return replace(kept, indexes=place, slots=slot, folded=self.counts[0])

    def entries(self, visits: int, *, zeros: bool = True) -> dict[str, Any]:
        """As a native table: each number for the side whose good it measures.

        :param zeros: whether zeros of moves are entries; else they are as good as missing.
        """
        found: dict[str, Any] = {}
        names = (self.slots + 1).astype(str) if self.of_moves else np.where(self.signs > 0, "x", "o")
        numbers = self.worth if self.of_moves else self.numbers + 0.0
        texts = self.space[self.indexes].texts()
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
    cells, taken = legal.sum(axis=1), chosen.sum(axis=1)
    mean = worth.sum(axis=1) / np.maximum(cells, 1)
    gain = (worth * chosen).sum(axis=1) / np.maximum(taken, 1) - mean
    spread = (np.where(legal, worth - mean[:, None], 0.0) ** 2).sum(axis=1) / np.maximum(cells, 1)
    # The variance of the mean of `taken` cells, drawn without putting back.
    variance = spread / np.maximum(taken, 1) * (cells - taken) / np.maximum(cells - 1, 1)
    total = float(np.sqrt(variance.sum()))
    return float(gain.sum()) / total if total > 0 else 0.0


def groups(rules: Rules) -> dict[str, Images]:
    """The symmetries that a key may stand for: all of the board's, or its turns without mirroring."""
    turns = []
    for image in rules.symmetries:
        (row, col), right, down = (divmod(image[at], rules.cols) for at in (0, 1, rules.cols))
        if (right[1] - col) * (down[0] - row) - (right[0] - row) * (down[1] - col) > 0:
            turns.append(image)
    return {"yes": rules.symmetries, "rotations": tuple(turns)}


def images(space: StateSpace, indexes: Int64s, group: Images) -> Iterator[tuple[Sequence[int], Int64s]]:
    """The symmetries of a group, the identity first, and what each makes of positions (int64[k]): cell
    ``at`` of an image is cell ``image[at]`` of the position."""
    stones = space.stones[indexes].astype(np.int64)
    for image in group:
        yield image, space.find(stones[:, list(image)] @ space.powers)


def is_canonical(space: StateSpace, indexes: Int64s, group: Images, *, own: bool = False) -> bool:
    """Whether of all images of a position a file's keys have one alone, the least under some order.

    :param own: whether stones are written as one's own and the other's.
    """
    found = np.stack([rows for _, rows in images(space, np.unique(indexes), group)])
    found = found[:, (found != found[0]).any(axis=0)]  # those that have other images
    many = found.shape[1]
    if many < (LEAST_CANONICAL if group == space.rules.symmetries else LEAST_TURNED):
        return False
    if len(np.unique(found.min(axis=0))) < NEARLY_ALL * many:
        return False
    stones = space.stones[found].astype(np.int64)  # [images, k, cells]
    if own:
        stones = np.where((space.movers[found[0]] < 0)[None, :, None] & (stones > 0), 3 - stones, stones)
    for order in space.rules.symmetries:
        weights = np.empty_like(space.powers)
        weights[list(order)] = space.powers
        for ranks in permutations(range(3)):
            codes = np.array(ranks)[stones] @ weights
            if (codes[0] == codes.min(axis=0)).mean() >= NEARLY_ALL:
                return True
    return False
