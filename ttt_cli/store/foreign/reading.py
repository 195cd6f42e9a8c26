"""The readings of a stranger's table: those of its keys combined with those of its values, and what its
numbers say for or against each.

Only combinations that fit the game are made: values are at free cells, a cell or a player in a key fits the
position, no position occurs twice.

Values of moves, counts of beads among them, become a table of ``q``, values of positions one of ``td``.
Numbers stay exactly as in the file, each for the side whose good it measures, so that equal ones stay equal.

A trained table prefers good moves to bad ones. So under the right reading it chooses better than chance;
under a wrong one (values taken for the other side's, cells counted from the wrong number) it does not. A move
is good if it wins more often when both sides go on at random: known for every position, and independent of
any table. ``score`` is a standard score: about 0, give or take 1, for numbers that say nothing.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import chain, permutations
from typing import Any

import numpy as np

from ttt_cli.engine.arrays import Bools, Floats, Int64s
from ttt_cli.engine.policy import best
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.store.foreign.keys import COUNTED, LAST_FIRST, Spelling
from ttt_cli.store.foreign.values import TURNED, Values, decisions, namings
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
BEADS = "beads"
"""How cells are called that a list names once for each bead."""
ADDED = "added"
"""As ``player-x``: neither of two tables is X's, their program adds them up."""
OTHER_ORDER, OTHER_END, ADDED_UP, OTHER_MEANING = 5, 1, 3, 2
"""The rarity of cells that do not come row by row from the top left; of a number that begins at its other
end; of adding up two tables, which usually belong to two players; of moves not valued for the mover,
positions not for X or the table's only player, and cells by column and row."""

MISPLACED = 0.05
"""The largest share of moves that may go to occupied cells, of policies and under keys up to symmetry."""

Measured = tuple[str, str, Mapping[str, str], dict[str, Any]]
"""Whose good numbers measure, whose they usually do, further facets, and the other fields of ``Reading``."""


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
        """What the numbers look like if moves are drawn by them.

        ``beads``: whole and called so, listed one by one, or of three values; ``probabilities``: with a sum
        of 1 or 100 on nearly all boards, unequal ones too.
        """
        numbers = self.worth
        are_beads = self.values.are_counts or self.facets.get("cells", "").startswith(BEADS)
        if not self.of_moves or self.signs != (1, 1) or not np.all(numbers >= 0):
            return ""
        if np.all(numbers == np.round(numbers)) and (are_beads or len(np.unique(numbers)) > 2):
            return "beads"
        values = np.nan_to_num(self.by_slot)
        sums, most = values.sum(axis=1), values.max(axis=1, keepdims=True)
        whole = (abs(sums - 1) < INEXACT) | (abs(sums - 100) < 100 * INEXACT)  # per cent
        unequal = ((values > 0) & (values < most)).any(axis=1)
        many = min(whole[sums > 0].mean(), whole[unequal].mean()) if unequal.sum() >= MANY else 0.0
        return "probabilities" if many >= NEARLY_ALL else ""

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
            return "which cells are taken" if is_stones and self.occupied else ""
        if counts_stones(self.spelling.space, self.indexes, self.numbers):
            return "how many stones are on the board"
        names = np.unique(self.numbers[(self.numbers >= 0) & (self.numbers % 1 == 0)])
        return "which board is which" if LEAST_IDS <= len(names) == len(self.numbers) else ""

    def unfolded(self, group: Images) -> "Reading":
        """The reading over all images of its positions, of a table whose keys are up to symmetry."""
        space, parts = self.spelling.space, []
        by_key = self.of_moves and not self._has_one_of_equal_moves(group)
        done = np.zeros((len(space), max(space.cells, 2)), np.bool_)
        for image, places in images(space, self.indexes, group):
            slots = np.argsort(image)[self.slots] if self.of_moves else self.slots
            table = 0 if by_key else slots
            new = ~done[places, table]
            done[places, table] = True
            parts.append((places[new], slots[new], self.numbers[new]))
        indexes, slots, numbers = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        return replace(self, indexes=indexes, slots=slots, numbers=numbers, classes=self.positions)

    def _has_one_of_equal_moves(self, group: Images) -> bool:
        """Whether keys are the least images of a position with a move, so that of the equivalent moves of a
        symmetric board there is one alone."""
        values, rows, held = self.by_slot, self.values.rows, 0
        if self.drawn or self.values.are_decisions or len(np.unique(rows)) < len(rows):
            return False
        for image, places in images(self.spelling.space, self.indexes, group):
            slots = np.argsort(image)[self.slots]
            other = (places == self.indexes) & (slots != self.slots)
            if not np.isnan(values[places, slots][other]).all():
                return False
            held += int(other.sum())
        return held >= LEAST_CANONICAL

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


def symmetry_of(spelling: Spelling) -> str:
    """The symmetries that a file's keys stand for (``yes``, ``rotations``), or ``no``.

    Such a file holds one image alone of each position, the least under some order of cells and symbols.
    """
    space = spelling.space
    for name, group in groups(space.rules).items():
        every = alone(space, spelling.indexes, group)
        if every is None or every.shape[1] < (LEAST_CANONICAL if name == "yes" else LEAST_TURNED):
            continue
        stones = space.stones[every].astype(np.int64)  # [images, k, cells]
        if spelling.turn:  # one's own and the other's, as they are written
            other = space.plies[every] % 2 == (spelling.turn == "mover")
            stones = np.where(other[..., None], -stones % 3, stones)
        for order in space.rules.symmetries:
            weights = space.powers[np.argsort(order)]
            for ranks in permutations(range(3)):
                codes = np.array(ranks)[stones] @ weights
                if (codes[0] == codes.min(axis=0)).mean() >= NEARLY_ALL:
                    return name
    return "no"


def readings(spelling: Spelling, values: Values, group: Images | None) -> Iterator[Reading]:
    """The readings of a table whose keys are so spelled.

    :param group: the symmetries that a key stands for, if it does for any.
    """
    called = dict[str, str]()
    if (spelling.first or "X") in "Oo" and (spelling.second or "O") in "Xx" and not spelling.turn:
        called = {"x": "o", "o": "x"}  # O moves first in the file, where X here is called O
    for taken, owners, named, cost in _meanings(spelling, values):
        of_moves, found = taken.shape != "position", list[Reading]()
        if of_moves and spelling.turn == "moved":
            continue  # moves are valued before they are made
        for oriented in chain([spelling], spelling.reoriented()):
            is_usual, rarity = oriented.order == "rows", 0
            if spelling.form in COUNTED and oriented.order == LAST_FIRST:
                is_usual, rarity = True, OTHER_END
            elif not is_usual:
                rarity = OTHER_ORDER  # if no numbers are at occupied cells then
                if not of_moves or not all(reading.faults for reading in found):
                    continue
            rarity += spelling.rarity + cost
            measured = _of_positions(oriented, taken, owners)
            if of_moves:
                measured = _of_moves(oriented, taken, owners, ADDED in named.values(), group is not None)
            for measure, custom, words, fields in measured:
                facets = {**oriented.facets, **named, **words, "values": called.get(measure, measure)}
                odd = OTHER_MEANING * ((measure != custom) + words.get("cells", "").startswith(TURNED))
                reading = Reading(oriented, taken, facets, rarity + odd, **fields)
                found += [reading] if is_usual or not reading.faults else []
        yield from found if group is None else (reading.unfolded(group) for reading in found)


def _meanings(
    spelling: Spelling, values: Values
) -> Iterator[tuple[Values, Int64s | None, Mapping[str, str], int]]:
    """The ways to explain the extras of the keys, a move's cell, a player, always the same: the values, of
    moves if the keys name cells; int64[keys], the player in every key, +1 X, -1 O (None: whoever is to move);
    facets; and the rarity."""
    ways: list[tuple[tuple[int, ...], Values]] = [((), values)]
    if values.shape == "position":
        for span, named in _cell_names(spelling):
            names, ids = np.unique(named, return_inverse=True)
            of_cells = replace(values, shape="cells", names=names.tolist(), ids=ids[values.rows])
            if any(namings(of_cells.names, spelling.space.rules)):
                ways.append((span, of_cells))
    for span, taken in ways:
        rest = [column for at, column in enumerate(spelling.extras) if at not in span]
        varied = [column for column in rest if len(set(column)) > 1]
        if not varied:
            yield taken, None, {}, 0
        elif len(varied) == 1:
            for facets, owners in _players(varied[0], spelling):
                yield taken, owners, facets, ADDED_UP * (ADDED in facets.values())


def _cell_names(spelling: Spelling) -> Iterator[tuple[tuple[int, ...], list[str]]]:
    """The extras of the keys that may name a cell, by their columns: one or two of them, or the board after
    the move."""
    columns = range(len(spelling.extras))
    for at in columns:
        if (played := _cells_played(spelling.extras[at], spelling)) is not None:
            yield (at,), [*map(str, played.tolist())]
    for span in [*((at,) for at in columns), *((at, at + 1) for at in columns[:-1])]:
        yield span, [*map(",".join, zip(*(spelling.extras[at] for at in span), strict=True))]


def _cells_played(column: Sequence[str], spelling: Spelling) -> Int64s | None:
    """int64[keys], the cells that lead from each key's position to the board in a column, if all do."""
    space, digits = spelling.space, {spelling.empty: 0, spelling.second: 1, spelling.first: 2}
    if spelling.turn or not all(len(it) == space.cells and {*it} <= digits.keys() for it in column):
        return None
    codes = np.array([[digits[symbol] for symbol in it] for it in column], np.int64) @ space.powers
    moves = space.legal[spelling.indexes] & (space.successors[spelling.indexes] == space.find(codes)[:, None])
    return moves.argmax(axis=1) if moves.any(axis=1).all() else None


def policies(spelling: Spelling, values: Sequence[Any]) -> Iterator[tuple[tuple[int, ...], Values]]:
    """The ways to take the values of open positions for moves, each with the extras of the keys that it takes
    for parts of them: as their cells, or their columns where the keys hold the rows; and, if there is one
    value for each position, what the cells in the keys, or in one place of a pair, are worth."""
    yield from (((), found) for found in decisions(values))
    kinds = {*map(type, values)}
    if kinds == {int}:
        for at, column in enumerate(spelling.extras):
            yield from (((at,), found) for found in decisions([*map("{},{}".format, column, values)]))
    if len(values) >= LEAST_MAPPED:
        for span, named in _cell_names(spelling):
            yield from ((span, found) for found in decisions(named))
        if kinds == {list} and {*map(len, values)} == {2}:
            for part in zip(*values, strict=True):
                yield from (((), found) for found in decisions(part))


def _players(column: Sequence[str], spelling: Spelling) -> Iterator[tuple[dict[str, str], Int64s | None]]:
    """The ways to take a column for players: facets, owners."""
    labels, space = sorted(set(column)), spelling.space
    sides, stones = space.movers[spelling.indexes], (spelling.first, spelling.second)
    known = {(stone or "").rstrip(".").lower(): side for stone, side in zip(stones, (1, -1), strict=True)}
    if all(label.lower() in known for label in labels) and spelling.turn != "moved":
        owners = np.array([known[label.lower()] for label in column], np.int64)
        mine = owners * sides if spelling.turn else owners  # "mine" belongs to whoever is to move
        yield {}, max(mine, owners, key=lambda found: int((found == sides).sum()))
    elif len(labels) == 2:
        owners = np.array([1 if label == labels[0] else -1 for label in column], np.int64)
        if len(set((owners * sides)[~space.terminal[spelling.indexes]].tolist())) == 1:
            yield {}, None
        yield {"player-x": labels[0]}, owners
        yield {"player-x": labels[1]}, -owners
        yield {"player-x": ADDED}, None


def _of_positions(spelling: Spelling, values: Values, owners: Int64s | None) -> Iterator[Measured]:
    """The readings of numbers as values of positions: one for each side whose good they may measure."""
    space, known = spelling.space, np.isfinite(values.numbers)
    rows, lost = values.rows[known], np.flatnonzero(~known)
    indexes = spelling.indexes[rows]
    side, player = space.movers[indexes], None if owners is None else owners[rows]
    keys = indexes if player is None else indexes * 3 + player
    if space.terminal[indexes].all() or len(np.unique(keys)) < len(keys):
        return  # ends of games show how they were won, not how to win
    measures = {"x": (1, 1), "o": (-1, -1), "mover": (1, -1), "moved": (-1, 1)}  # good as X and O move
    to_move = set(side[~space.terminal[indexes] & (space.plies[indexes] > 0)].tolist())
    usual = spelling.turn or ("moved" if len(to_move) == 1 else "")
    left_out = np.stack([lost, np.zeros_like(lost)], axis=1)
    given = {"indexes": indexes, "numbers": values.numbers[known], "left_out": left_out}
    if player is not None:
        usual = "owner"
        yield "owner", usual, {}, {**given, "slots": (player < 0) + 0, "signs": (1, 1)}
        if len(np.unique(indexes)) < len(indexes):
            return  # each player has a value of its own for a position
    for measure, good in measures.items():
        slots, signs = np.where(side > 0, *good), (good[1], -good[0])  # after a move the other side moves
        yield measure, usual or measure, {}, {**given, "slots": (slots < 0) + 0, "signs": signs}


def _of_moves(
    spelling: Spelling, values: Values, owners: Int64s | None, added: bool, folded: bool
) -> Iterator[Measured]:
    """The readings of numbers as values of moves, for each way to number the cells and each measure."""
    space, every = spelling.space, spelling.indexes[values.rows]
    goes_on: Bools = ~space.terminal[every]
    in_keys = len(np.unique(values.rows)) == len(values.rows)  # and not a row with a number for each cell
    if owners is not None:
        goes_on &= owners[values.rows] == space.movers[every]
    for words, cells, numbers, rows in _placed(every, values, space):
        indexes, opened, known = every[rows], goes_on[rows], np.isfinite(numbers)
        free = space.legal[indexes, cells]
        filler = Counter(numbers[opened & ~free & known].tolist())
        occupied = filler.total() - (0 if values.are_decisions else max(filler.values(), default=0))
        left_out = np.stack([rows, cells], axis=1)[opened & free & ~known]
        kept = opened & known & free
        if not kept.any() or (in_keys and occupied > kept.sum()):
            continue
        if (folded or values.are_decisions) and occupied > MISPLACED * kept.sum():
            continue
        places, which = np.unique(indexes[kept] * space.cells + cells[kept], return_inverse=True)
        if len(places) < len(which) and not added:
            continue
        at, cell = np.divmod(places, space.cells)
        summed: Floats = np.bincount(which, numbers[kept]).astype(np.float64)
        given = {"indexes": at, "slots": cell, "numbers": summed}
        given |= {"occupied": occupied, "left_out": left_out}
        for measure, signs in {"mover": (1, 1), "x": (1, -1), "o": (-1, 1)}.items():
            if measure == "mover" or not values.are_decisions:
                yield measure, "mover", words, {**given, "signs": signs}


def _placed(
    every: Int64s, values: Values, space: StateSpace
) -> Iterator[tuple[dict[str, str], Int64s, Floats, Int64s]]:
    """The ways to place numbers: the facets, the cells (from 0), the numbers, and their rows in ``every``.

    :param every: int64[m], the position of each number.
    """
    places, rows = values.ids, np.arange(len(values.rows))
    if values.shape == "cells":
        named = np.unique(places[~space.terminal[every]])  # whatever stands at the end of a game is no move
        cell_of = np.zeros(len(values.names), np.int64)
        for words, cells in namings([values.names[name] for name in named.tolist()], space.rules):
            cell_of[named] = cells
            yield {"cells": words}, cell_of[places], values.numbers, rows
        return
    free = space.legal[every].sum(axis=1)
    if np.all((np.bincount(values.rows)[values.rows] == free) | (free == 0)):
        order = np.argsort(~space.legal, axis=1, kind="stable")  # the free cells first
        cells = order[every, np.minimum(places, space.cells - 1)]
        yield {"cells": "free ones alone"}, cells, values.numbers, rows
    for first in (0, 1):
        beads = values.numbers - first
        if np.all(np.isfinite(beads) & (beads == np.round(beads)) & (beads >= 0) & (beads < space.cells)):
            codes = values.rows * space.cells + beads.astype(np.int64)
            drawn, rows, counts = np.unique(codes, return_index=True, return_counts=True)
            yield {"cells": f"{BEADS} from {first}"}, drawn % space.cells, counts.astype(np.float64), rows
