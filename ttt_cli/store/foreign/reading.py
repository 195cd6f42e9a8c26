"""One reading of a table: the spelling of its keys and a meaning of its values, and what speaks for it.

Values of moves, counts of beads among them, become a table of ``q``, values of positions one of ``td``.
Numbers stay exactly as in the file, each for the side whose good it measures, so that equal ones stay equal.

A trained table prefers good moves to bad ones. So under the right reading it chooses better than chance;
under a wrong one (values read as the other side's, cells counted from the wrong number) it does not. A move
is good if it wins more often when both sides go on at random: known for every position, and independent of
any table. ``Reading.score`` is a standard score: about 0, give or take 1, for numbers that say nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple

import numpy as np

from ttt_cli.engine.arrays import Bools, Floats, Int8s, Int64s
from ttt_cli.engine.policy import best_moves
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.store.foreign.keys import MIN_CANONICAL, Images, Spelling, images
from ttt_cli.store.foreign.values import Values
from ttt_cli.store.plays import FEW_BELOW_0, PlayRule

BEADS = (
    "beads"  # as ``drawn_by``; so begins the facet ``cells``, too, where a list names a cell for each bead
)
EMPTY_BOXES = 0.5  # the largest share of boards without beads; with more, numbers are values that begin at 0
MAX_DRAWN = 10**9  # more beads for a move than the games of any program give it
INEXACT = 0.02  # the largest rounding error of probabilities that add up to 1
ENOUGH = 4.0  # the standard score from which positions are evidence without the won ones
MIN_UNEQUAL = 3  # on fewer boards with unequal numbers these may add up to 1 by chance
PROBABILITIES_SHARE = 0.95  # the least share of boards on which probabilities must add up
MIN_MAPPED = 20  # with fewer positions it may be chance that each has one number only, or one move
MIN_IDS = 100  # if this many positions or more have a different whole number each, these are not values


class Folding(NamedTuple):
    """How keys stand for their images: the symmetries, and whether moves are turned with the boards."""

    group: Images
    turned: bool = True


@dataclass(frozen=True, eq=False)
class Reading:
    """A way to read a table: numbers, each of a position or of a move in it.

    :ivar spelling: the table's keys, including those left out.
    :ivar values: the numbers as the file has them; their ``rows`` count only the keys that are positions.
    :ivar facets: what distinguishes it from others, under the names of the command line.
    :ivar rarity: how far it is from what authors usually write.
    :ivar indexes: int64[k], the positions.
    :ivar slots: int64[k], of moves the cells, from 0; of positions the side whose good it is, 0 X's, 1 O's.
    :ivar numbers: float64[k], as in the file.
    :ivar signs: +1 or -1, whether a large number is good for X when X moves, and for O when O does.
    :ivar left_out: int64[m, 2], values of positions or free cells that are not numbers, or of a player who is
        not to move: their places in ``values``, cells.
    :ivar occupied: how many numbers at occupied cells are not filler.
    :ivar classes: how many positions the file has, if each stands for all its images; else 0.
    :ivar stands_for: the symmetries that keys may stand for, if that is open.
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
    stands_for: Sequence[str] = ()

    @property
    def of_moves(self) -> bool:
        """Whether the numbers are those of moves."""
        return self.values.of_moves

    @cached_property
    def positions(self) -> int:
        """The number of positions that have a number."""
        return len(np.unique(self.indexes))

    @property
    def tables(self) -> str:
        """``own`` or ``shared``, as in ``PlayRule.tables``."""
        return "own" if not self.of_moves and self.positions < len(self.indexes) else "shared"

    @cached_property
    def still_open(self) -> Bools:
        """bool[k], whether the game goes on at the positions, or after the moves."""
        space = self.spelling.space
        return ~space.terminal[space.successors[self.indexes, self.slots] if self.of_moves else self.indexes]

    @cached_property
    def worth(self) -> Floats:
        """float64[k], the numbers from the mover's side; those of positions from X's, less ``even``."""
        numbers = self.numbers
        if self.of_moves:
            return numbers * np.where(self.spelling.space.movers > 0, *self.signs)[self.indexes] + 0.0
        return (numbers - self.even) * (1 - 2 * self.slots) + 0.0

    @property
    def even(self) -> float:
        """What an even position is worth. Numbers from 0 to 1 look like chances: 1/2, or 0 if more open ones
        have that; those on one side of 0 look like points: the mean of open positions; else 0."""
        numbers, undecided = self.numbers, self.numbers[self.still_open]
        if np.all((numbers >= 0) & (numbers <= 1)):
            return 0.5 if (undecided == 0).sum() <= (undecided == 0.5).sum() else 0.0
        one_sided = np.all(numbers >= 0) or np.all(numbers <= 0)
        return float(undecided.mean()) if one_sided and len(undecided) else 0.0

    @property
    def by_slot(self) -> Floats:
        """The numbers by position, NaN where there is none: float64[n, cells] of moves, from the mover's
        side; float64[n, 2] of positions, X's good and O's, as in the file."""
        space = self.spelling.space
        values = np.full((len(space), space.cells if self.of_moves else 2), np.nan)
        values[self.indexes, self.slots] = self.worth if self.of_moves else self.numbers
        return values

    @property
    def by_board(self) -> tuple[Int64s, Floats]:
        """The boards of whose moves any has a number, int64[k], and their rows of ``by_slot``. In a large
        game these are few of all boards."""
        boards, places = np.unique(self.indexes, return_inverse=True)
        values = np.full((len(boards), self.spelling.space.cells), np.nan)
        values[places, self.slots] = self.worth
        return boards, values

    @cached_property
    def fingerprint(self) -> bytes:
        """Equal for readings that play alike: zeros of moves and the empty board say nothing."""
        slots = self.slots if self.of_moves or self.tables == "own" else np.zeros_like(self.slots)
        order = np.lexsort((slots, self.indexes))
        order = order[(self.worth != 0 if self.of_moves else self.indexes != 0)[order]]
        return b"".join(array[order].tobytes() for array in (self.indexes, slots, self.worth))

    @cached_property
    def drawn_by(self) -> str:
        """What the numbers are if moves are drawn by them; empty if the largest is taken.

        ``beads``: whole numbers that are called so, or listed one by one, or have three values or more, none
        huge, and are all 0 on few boards;
        ``probabilities``: with a sum of 1 or 100 on nearly all boards, also on those with unequal ones.
        """
        numbers = self.worth
        if not self.of_moves or self.signs != (1, 1) or not np.all(numbers >= 0):
            return ""
        are_beads = self.values.are_counts or self.facets.get("cells", "").startswith(BEADS)
        values = np.nan_to_num(self.by_board[1])
        sums, largest = values.sum(axis=1), values.max(axis=1, keepdims=True)
        few_are_empty = len(np.unique(numbers)) > 2 and (sums == 0).mean() <= EMPTY_BOXES
        look_like_beads = few_are_empty and numbers.max() <= MAX_DRAWN
        if np.all(numbers == np.round(numbers)) and (are_beads or look_like_beads):
            return BEADS
        add_up = (abs(sums - 1) < INEXACT) | (abs(sums - 100) < 100 * INEXACT)  # per cent
        unequal = ((values > 0) & (values < largest)).any(axis=1)
        if unequal.sum() < MIN_UNEQUAL:
            return ""
        share = min(add_up[sums > 0].mean(), add_up[unequal].mean())
        return "probabilities" if share >= PROBABILITIES_SHARE else ""

    @property
    def may_be_beads(self) -> bool:
        """Whether the numbers would be beads but for a few below 0, where more were taken than there were."""
        some_below = 0 < (self.worth < 0).mean() <= FEW_BELOW_0
        return some_below and replace(self, numbers=np.maximum(self.numbers, 0.0)).drawn_by == BEADS

    @property
    def rank(self) -> float:
        """``score``, less penalties for what is rare and for keys that do not fit."""
        return self.score - 3 * self.rarity - int(self.spelling.misfits.sum())

    @cached_property
    def winners(self) -> Int8s:
        """int8[k], who has won at the positions: +1 X, -1 O, 0 nobody."""
        return self.spelling.space.results[self.indexes]

    @property
    def prospects(self) -> Floats:
        """float64[k], what the positions are worth to X when both sides play at random."""
        return _prospects(self.spelling.space.rules)[self.indexes]

    @cached_property
    def tells(self) -> Bools:
        """bool[k], the values of positions that are evidence. Where all won games are worth 0, that may only
        mean that nothing more can be gained, and the other positions alone are, if they say enough."""
        others = self.winners == 0
        if self.of_moves or others.all() or self.numbers[~others].any():
            return np.ones_like(others)
        says_enough = abs(_agreement(self.worth[others], self.prospects[others])) > ENOUGH
        return others | (not says_enough)

    @property
    def says_nothing_of_wins(self) -> bool:
        """Whether the values are of positions but not of won games, as if the program saw wins by itself:
        there are none, or all are worth 0, less to the winner than some open position."""
        if self.of_moves or not self.winners.any():
            return not self.of_moves
        if self.tells.all():
            return False
        undecided = self.worth[self.still_open]
        wins = ((side, self.worth[self.winners == side]) for side in (1, -1))
        return any(len(won) and (won * side).max() < (undecided * side).max() for side, won in wins)

    @cached_property
    def score(self) -> float:
        """What the numbers themselves say for this reading, as a standard score."""
        space = self.spelling.space
        boards = len(np.unique(self.spelling.indexes[~self.spelling.left_out]))
        images = max(1.0, self.positions / boards)  # of a board, which are no more evidence than it is
        if self.of_moves:
            return _skill(space, *self.by_board) / float(np.sqrt(images))
        return _agreement(self.worth[self.tells], self.prospects[self.tells]) / float(np.sqrt(images))

    @cached_property
    def score_by_side(self) -> float:
        """``score`` of values of positions, without the means of each side to move: where stones may be one's
        own, it is no evidence that one side stands better than the other."""
        worth, prospects = self.worth[self.tells], self.prospects[self.tells]
        movers = self.spelling.space.movers[self.indexes[self.tells]]
        for side in np.unique(movers):
            for numbers in (worth, prospects):
                numbers[movers == side] -= numbers[movers == side].mean()
        return _agreement(worth, prospects)

    @cached_property
    def spread_of_wins(self) -> Floats:
        """float64[2], how much the values of moves that win at once vary, next to those of all moves: of all
        values, and of those that are not 0, the value of moves not tried yet; NaN if none wins. Most programs
        are rewarded for every win alike."""
        space = self.spelling.space
        results = space.results[space.successors[self.indexes, self.slots]]
        is_win = results * space.movers[self.indexes] > 0
        spreads = []
        for known in (np.ones_like(is_win), self.worth != 0):
            of_all = self.worth[known].std() if known.any() else 0.0
            wins = self.worth[known & is_win]
            spreads.append(wins.std() / of_all if of_all and len(wins) else np.nan)
        return np.array(spreads)

    @cached_property
    def faults(self) -> int:
        """The numbers that should not be where they are: of moves, those at occupied cells, and infinite
        ones; of positions, large ones of won games that are worse for the winner than open games are."""
        if self.of_moves:
            return self.occupied + int(np.isinf(self.values.numbers[self.left_out[:, 0]]).sum())
        undecided = self.worth[self.still_open]
        average = undecided.mean() if len(undecided) else 0.0
        gained = (self.worth - average) * self.winners
        are_large = abs(self.worth) >= 0.5 * abs(self.worth).max(initial=0)
        return int((are_large & (gained < 0)).sum())

    @property
    def lists_choices(self) -> bool:
        """Whether numbers are those of chosen moves alone, as in a policy: other free cells have none."""
        legal = self.spelling.space.legal[np.unique(self.indexes)]
        return self.of_moves and len(self.indexes) < int(legal.sum())

    @property
    def says_only(self) -> str:
        """What the numbers say instead of values, in words; empty if they are values."""
        numbers = self.values.numbers
        if len(numbers) >= MIN_MAPPED and (numbers == numbers[0]).all() and not self.lists_choices:
            return "the same of every board"
        if self.of_moves:
            of_boards = self.spelling.space.cells * len(np.unique(self.values.rows)) == len(self.values.rows)
            is_stones = len(np.unique(self.values.numbers)) <= 3 and not self.values.are_decisions
            return "which cells are taken" if of_boards and is_stones and self.occupied else ""
        plies = self.spelling.space.plies[self.indexes]
        pairs = np.unique([plies, self.numbers], axis=1)
        if len(plies) >= MIN_MAPPED and pairs.shape[1] == len(np.unique(plies)):
            return "how many stones are on the board"
        names = np.unique(self.numbers[(self.numbers >= 0) & (self.numbers % 1 == 0)])
        return "which board is which" if MIN_IDS <= len(names) == len(self.numbers) else ""

    def unfolded(self, folding: Folding) -> "Reading":
        """The reading over all images of its positions, of a table whose keys are up to symmetry."""
        group, turned = folding
        space = self.spelling.space
        parts = []
        by_position = self.of_moves and not (turned and self._has_one_of_equivalent_moves(group))
        # What has a number already: a position, a side's good in it, or a move.
        done = np.zeros((len(space), max(space.cells, 2)), np.bool_)
        for image, places in images(space, self.indexes, group):
            slots = np.argsort(image)[self.slots] if self.of_moves and turned else self.slots
            column = 0 if by_position else slots
            new = ~done[places, column] & (space.legal[places, slots] if self.of_moves else True)
            done[places, column] = True
            parts.append((places[new], slots[new], self.numbers[new]))
        indexes, slots, numbers = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        classes = self.positions if turned else 0
        return replace(self, indexes=indexes, slots=slots, numbers=numbers, classes=classes)

    def _has_one_of_equivalent_moves(self, group: Images) -> bool:
        """Whether keys are canonical forms of a position with a move, so that the equivalent moves of a
        symmetric board have one key."""
        space = self.spelling.space
        rows = self.values.rows
        if self.drawn_by or self.values.are_decisions or len(np.unique(rows)) < len(rows):
            return False
        ways = images(space, self.indexes, group)
        moves = np.stack([places * space.cells + np.argsort(image)[self.slots] for image, places in ways])
        equivalent = moves[(moves // space.cells == self.indexes) & (moves != moves[0])]  # of the same board
        return len(equivalent) >= MIN_CANONICAL and not np.isin(equivalent, moves[0]).any()

    def plays(self, unknown: float | Literal["random"], wins: str = PlayRule.wins) -> PlayRule:
        """How its program plays if a move that the table does not hold counts as ``unknown``."""
        x, o = self.signs
        pair = unknown if isinstance(unknown, str) else (unknown * x + 0.0, unknown * o + 0.0)
        return PlayRule("random", "draw" if self.drawn_by else "most", pair, wins, self.tables)


@lru_cache(maxsize=4)
def _prospects(rules: Rules) -> Floats:
    """float64[n], the mean result for X (+1 won, -1 lost) when both sides play at random from here on."""
    space = StateSpace.of(rules)
    means = space.results.astype(np.float64)
    for layer in reversed(space.layers):
        legal = space.legal[layer]
        after = np.where(legal, means[space.successors[layer]], 0.0).sum(axis=1)
        means[layer] += after / np.maximum(legal.sum(axis=1), 1)
    return means


def _agreement(worth: Floats, prospects: Floats) -> float:
    """The standard score of the correlation of values with prospects, float64[k] each."""
    if len(worth) < 3 or worth.std() == 0 or prospects.std() == 0:
        return 0.0
    return float(np.corrcoef(worth, prospects)[0, 1]) * float(np.sqrt(len(worth) - 1))


def _skill(space: StateSpace, boards: Int64s, values: Floats) -> float:
    """How much better than chance the moves of the largest value are: the sum of two standard scores.

    One is for what the moves are worth, the other for winning at once where that is possible: the surest
    sign, since a win for the wrong side is only a block.

    :param values: float64[k, cells] of these boards from the mover's side, NaN where unknown (worth 0).
    """
    is_valued = ~np.isnan(values).all(axis=1) & ~space.terminal[boards]
    boards, values = boards[is_valued], values[is_valued]
    legal, after = space.legal[boards], space.successors[boards]
    side = space.movers[boards][:, None]
    chosen = best_moves(np.nan_to_num(values), legal)
    wins = legal & (space.results[after] * side > 0)
    worth = np.where(legal, _prospects(space.rules)[after] * side, 0.0)
    return _standard_score(worth, chosen, legal) + _standard_score(wins.astype(np.float64), chosen, legal)


def _standard_score(worth: Floats, chosen: Bools, legal: Bools) -> float:
    """The standard score of the mean worth (0 where not legal) of the cells chosen, against cells drawn at
    random; all arrays are [k, cells]."""
    cells = legal.sum(axis=1)
    many = np.maximum(chosen.sum(axis=1), 1)
    mean = worth.sum(axis=1) / np.maximum(cells, 1)
    gain = (worth * chosen).sum(axis=1) / many - mean
    spread = (np.where(legal, worth - mean[:, None], 0.0) ** 2).sum(axis=1) / np.maximum(cells, 1)
    # The variance of the mean of ``many`` cells drawn without replacement.
    variance = spread / many * (cells - many) / np.maximum(cells - 1, 1)
    total = float(np.sqrt(variance.sum()))
    return float(gain.sum()) / total if total > 0 else 0.0
