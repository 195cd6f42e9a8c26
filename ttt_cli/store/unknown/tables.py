"""Tables of learned values as a file has them.

Values of moves, bead counts among them, make a table of ``q``. Values of positions make a table of ``td``: a
side moves to the position that is best for it. Whose good a value measures is X's (``x``), O's (``o``), that
of the side to move (``mover``), of the side that has just moved (``moved``) or of the player in the key
(``owner``). What is good for one side is bad for the other, unless each has a table of its own. Numbers are
kept as they stand in the file, each for the side whose good it measures, so that what is exactly equal there
is so here and nothing else.
"""

from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np

from ttt_cli.engine.arrays import Floats, Int64s
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.store.plays import are_beads
from ttt_cli.store.unknown.evidence import agreement, skill
from ttt_cli.store.unknown.symmetry import Images, images


@dataclass(frozen=True, eq=False)
class Moves:
    """Values of moves.

    :ivar values: float64[n, cells] from the mover's side, NaN where there is none.
    :ivar whose: +1 or -1: whether a large number is good for X when X moves, and for O when O does.
    :ivar taken: numbers at occupied cells: the positions, the cells, the numbers from the mover's side.
    :ivar counted: whether the file calls the numbers counts.
    :ivar decided: whether they stand for the moves of a policy.
    """

    space: StateSpace
    values: Floats
    whose: tuple[int, int] = (1, 1)
    taken: tuple[Int64s, Int64s, Floats] | None = None
    counted: bool = False
    decided: bool = False
    learner = "q"
    tables = "shared"

    @property
    def opened(self) -> Floats:
        """float64: the numbers of moves that do not end the game."""
        known = ~np.isnan(self.values)
        return self.values[known & ~self.space.terminal[self.space.successors]]

    @property
    def are_beads(self) -> bool:
        """Whether the numbers look like counts of beads."""
        return self.whose == (1, 1) and are_beads(self.values[~np.isnan(self.values)], named=self.counted)

    def unfolded(self, group: Images) -> "Moves":
        """The table over all images of its positions, for one whose keys are up to symmetry.

        Where occupied cells have numbers, the cells are those of the board as it is played, not of the key.
        """
        held = np.flatnonzero(~np.isnan(self.values).all(axis=1))
        as_played = self.taken is not None
        if self.taken is not None:
            indexes, cells, numbers = self.taken
            held = np.union1d(held, indexes)
            rows = self.values[held]
            rows[np.searchsorted(held, indexes), cells] = numbers
        else:
            rows = self.values[held]
        values = np.full_like(self.values, np.nan)
        done = np.zeros(len(self.space), np.bool_)
        for image, found in images(self.space, held, group):
            new = ~done[found]
            moved = rows if as_played else rows[:, list(image)]
            values[found[new]] = np.where(self.space.legal[found], moved, np.nan)[new]
            done[found] = True
        return Moves(self.space, values, self.whose, None, self.counted, self.decided)

    @cached_property
    def mark(self) -> bytes:
        """The same for tables that play alike."""
        values = np.nan_to_num(self.values) + 0.0
        return sha256(values.tobytes()).digest()  # there may be hundreds of tables

    @cached_property
    def score(self) -> float:
        """What the values themselves say for this reading, a standard score."""
        return skill(self.space, self.values)

    @cached_property
    def rank_of_wins(self) -> float:
        """The mean rank of the moves that win at once, 0 (worst) to 1: a table that wins knows."""
        space, known = self.space, ~np.isnan(self.values)
        won = known & (space.results[space.successors] * space.movers[:, None] > 0)
        ranks = np.searchsorted(np.sort(self.values[known]), self.values[won])
        return float(ranks.mean() / known.sum()) if len(ranks) else 0.0

    @property
    def counts(self) -> tuple[int, int]:
        """How many positions and moves have a value."""
        known = ~np.isnan(self.values)
        return int(known.any(axis=1).sum()), int(known.sum())

    def entries(self, visits: int, *, zeros: bool = True) -> dict[str, Any]:
        """As a native table.

        :param zeros: whether zeros are entries; else they are as good as missing.
        """
        found: dict[str, Any] = {}
        kept = ~np.isnan(self.values) if zeros else np.nan_to_num(self.values) != 0
        for index, cell in np.argwhere(kept).tolist():
            entry = found.setdefault(self.space.text(index), {})
            entry[str(cell + 1)] = [float(self.values[index, cell]), visits]
        return found


@dataclass(frozen=True, eq=False)
class Positions:
    """Values of positions.

    :ivar indexes: int64[k], the positions.
    :ivar numbers: float64[k], as they stand in the file.
    :ivar signs: int64[k], +1 where a large number is good for X, -1 where it is good for O.
    :ivar owners: int64[k], +1 X, -1 O, 0 both: whose table the value is in.
    :ivar whose: +1 or -1: whether a large number is good for X when X moves there, and for O when O does.
    """

    space: StateSpace
    indexes: Int64s
    numbers: Floats
    signs: Int64s
    owners: Int64s
    whose: tuple[int, int]
    learner = "td"
    are_beads = False

    @property
    def tables(self) -> str:
        """As ``Plays`` has it."""
        return "own" if self.owners.any() else "shared"

    @property
    def opened(self) -> Floats:
        """float64: the numbers of positions in which the game goes on."""
        return self.numbers[~self.space.terminal[self.indexes]]

    def unfolded(self, group: Images) -> "Positions":
        """The table over all images of its positions, for one whose keys are up to symmetry."""
        place: dict[tuple[int, int], int] = {}
        for _, found in images(self.space, self.indexes, group):
            for row, key in enumerate(zip(found.tolist(), self.owners.tolist(), strict=True)):
                place.setdefault(key, row)
        indexes = np.array([index for index, _ in place], np.int64)
        rows = np.array(list(place.values()), np.int64)
        numbers, signs, owners = self.numbers[rows], self.signs[rows], self.owners[rows]
        return Positions(self.space, indexes, numbers, signs, owners, self.whose)

    @cached_property
    def are_chances(self) -> bool:
        """Whether the numbers are chances, 1/2 where nothing is known, and not values, 0 where it is not."""
        opened = self.numbers[~self.space.terminal[self.indexes]]
        within = bool(np.all((self.numbers >= 0) & (self.numbers <= 1)))
        return within and int((opened == 0).sum()) <= int((opened == 0.5).sum())

    @cached_property
    def for_x(self) -> Floats:
        """float64[k]: the values as X's, 0 where nothing is known."""
        return (self.numbers - 0.5 * self.are_chances) * self.signs + 0.0

    @cached_property
    def mark(self) -> bytes:
        """The same for tables that play alike: nobody moves to the empty board."""
        order = np.lexsort((self.owners, self.indexes))
        order = order[self.indexes[order] != 0]
        return b"".join(part[order].tobytes() for part in (self.indexes, self.owners, self.for_x))

    @cached_property
    def score(self) -> float:
        """What the values themselves say for this reading, a standard score."""
        return agreement(self.space, self.indexes, self.for_x)

    @cached_property
    def faults(self) -> int:
        """Won positions with a value of weight that is worse for the winner than open ones on average."""
        results = self.space.results[self.indexes]
        heavy = np.abs(self.for_x) >= 0.5 * np.abs(self.for_x).max(initial=0)
        opened = self.for_x[~self.space.terminal[self.indexes]]
        usual = float(opened.mean()) if len(opened) else 0.0
        return int((heavy & (results != 0) & ((self.for_x - usual) * results < 0)).sum())

    @property
    def counts(self) -> tuple[int, int]:
        """How many positions have a value, and how many values there are."""
        return len(np.unique(self.indexes)), len(self.indexes)

    def entries(self, visits: int, *, zeros: bool = True) -> dict[str, Any]:
        """As a native table: each number for the side whose good it measures."""
        found: dict[str, Any] = {}
        parts = (self.indexes.tolist(), (self.numbers + 0.0).tolist(), self.signs.tolist())
        for index, value, sign in zip(*parts, strict=True):
            found.setdefault(self.space.text(index), {})["x" if sign > 0 else "o"] = [value, visits]
        return found
