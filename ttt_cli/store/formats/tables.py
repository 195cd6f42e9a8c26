"""The readings of a position-keyed table: those of its keys times those of its values.

What has to hold filters the product: values stand at cells that are free, a cell or a player in the key fits
the position, no position is there twice.

Values of moves, bead counts among them, make a table of ``q``. Values of positions make a table of ``td``: a
side moves to the position that is best for it. Whose good a value measures is X's (``x``), O's (``o``), that
of the side to move (``mover``), of the side that has just moved (``moved``) or of the player in the key
(``owner``). What is good for one side is bad for the other, unless each has a table of its own. Numbers are
kept as they stand in the file, each for the side whose good it measures, so that what is exactly equal there
is so here and nothing else.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations
from typing import Any

import numpy as np

from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import Floats, Int64s, StateSpace
from ttt_cli.store.formats.cell_values import Values, namings
from ttt_cli.store.formats.evidence import agreement, skill
from ttt_cli.store.formats.spelling import KeyReading, turned
from ttt_cli.store.plays import are_beads

Images = tuple[tuple[int, ...], ...]
MEANINGS = ("x", "o", "mover", "moved", "owner")

LAST_FIRST = "rows from bottom right"
"""A number's digits from the least on: as usual as the other way."""
NEARLY_ALL = 0.95
"""The least share of keys that have to be the smallest of their images."""
LEAST_CANONICAL, LEAST_TURNED = 12, 100
"""And so many have to have other images, for that to be no chance; more where they may only be turned."""
ODD_ORDER = 5
ODD_MEANING = 2
ODD_COLUMN = 3
"""How odd it is that cells are counted so, that values mean that, that a part of the keys means nothing."""


@dataclass(frozen=True, eq=False)
class Moves:
    """Values of moves.

    :ivar values: float64[n, cells] from the mover's side, NaN where there is none.
    :ivar whose: +1 or -1: whether a large number is good for X when X moves, and for O when O does.
    :ivar taken: numbers at occupied cells: the positions, the cells, the numbers from the mover's side.
    """

    space: StateSpace
    values: Floats
    whose: tuple[int, int] = (1, 1)
    taken: tuple[Int64s, Int64s, Floats] | None = None
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
        return self.whose == (1, 1) and are_beads(self.values[~np.isnan(self.values)])

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
        return Moves(self.space, values, self.whose)

    @cached_property
    def mark(self) -> bytes:
        """The same for tables that play alike."""
        return (np.nan_to_num(self.values) + 0.0).tobytes()

    @cached_property
    def score(self) -> float:
        """What the values themselves say for this reading, a standard score."""
        return skill(self.space, self.values)

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
            entry = found.setdefault(self.space.texts[index], {})
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
            found.setdefault(self.space.texts[index], {})["x" if sign > 0 else "o"] = [value, visits]
        return found


@dataclass(frozen=True, eq=False)
class Reading:
    """A whole reading of a table.

    :ivar facets: what tells it from other readings, by the names they have on the command line.
    :ivar oddness: how unusual it is, see ``Spelling.oddness``.
    :ivar faults: values where there should be none; won positions that are worth little to the winner.
    :ivar keys: the reading of the keys.
    :ivar taken: how many numbers at occupied cells are no filler.
    :ivar folded: how many positions the file has, if each stands for all its images; else 0.
    """

    table: Moves | Positions
    facets: Mapping[str, str]
    oddness: int
    faults: int
    taken: int = 0
    folded: int = 0


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
    powers = 3 ** np.arange(space.cells - 1, -1, -1, dtype=np.int64)
    stones = space.stones[indexes].astype(np.int64)
    for image in group:
        yield image, space.find(stones[:, list(image)] @ powers)


def is_canonical(reading: KeyReading, space: StateSpace, group: Images) -> bool:
    """Whether of all images of a position a file's keys have one alone, the least under some order."""
    indexes = np.unique(reading.indexes)
    found = np.stack([rows for _, rows in images(space, indexes, group)])
    several = (found != found[0]).any(axis=0)
    if several.sum() < (LEAST_CANONICAL if group == space.rules.symmetries else LEAST_TURNED):
        return False
    classes = np.unique(found[:, several].min(axis=0))
    if len(classes) < NEARLY_ALL * several.sum():
        return False
    stones = space.stones[found[:, several]].astype(np.int64)  # [images, k, cells]
    if reading.spelling.relative:
        side = _side(space, found[0, several])
        stones = np.where((side < 0)[None, :, None] & (stones > 0), 3 - stones, stones)
    powers = 3 ** np.arange(space.cells - 1, -1, -1, dtype=np.int64)
    for order in space.rules.symmetries:
        weights = np.empty_like(powers)
        weights[list(order)] = powers
        for ranks in permutations(range(3)):
            codes = np.array(ranks)[stones] @ weights
            if (codes[0] == codes.min(axis=0)).mean() >= NEARLY_ALL:
                return True
    return False


@dataclass(frozen=True, eq=False)
class _Extras:
    """What the items of a key beside the board are taken for.

    :ivar cells: the cell's name in every key, if one is there.
    :ivar played: int64[keys], the cell in every key, if the board after the move is there.
    :ivar owners: int64[keys], +1 X, -1 O: the player in every key, if there is one.
    """

    facets: Mapping[str, str]
    oddness: int
    cells: Sequence[str] | None = None
    owners: Int64s | None = None
    played: Int64s | None = None

    @property
    def of_moves(self) -> bool:
        """Whether the keys name moves."""
        return self.cells is not None or self.played is not None


def readings(
    keys: Sequence[KeyReading], values: Values, space: StateSpace, symmetry: str | None = None
) -> Iterator[Reading]:
    """The readings of a table whose keys have these readings.

    :param symmetry: what images a key stands for (``yes``: all, ``rotations``, ``no``); None: the keys tell.
    """
    known = groups(space.rules)
    for reading in keys:
        folded = symmetry or next((name for name in known if is_canonical(reading, space, known[name])), "no")
        if folded in known:
            for found in _readings(reading, values, space, fixed=True):
                yield replace(
                    found,
                    table=found.table.unfolded(known[folded]),
                    faults=found.faults - found.taken,
                    folded=found.table.counts[0],
                )
        else:
            yield from _readings(reading, values, space)


def _readings(
    reading: KeyReading, values: Values, space: StateSpace, *, fixed: bool = False
) -> Iterator[Reading]:
    """The readings of a table whose keys have this one.

    :param fixed: whether numbers at occupied cells do not say that the cells come in another order.
    """
    for extras in _explained(reading, values, space):
        is_number = reading.spelling.frame == "base-3 number"
        if values.shape == "position" and not extras.of_moves:
            yield from _positions(reading, values, extras, int(is_number), space)
            for other in turned(reading, space) if is_number else ():
                if other.spelling.order == LAST_FIRST:
                    yield from _positions(other, values, extras, 0, space)
            continue
        if reading.spelling.after:
            continue  # moves are valued before they are made
        natural = list(_moves(reading, values, extras, 0, space))
        yield from natural
        if is_number or (not fixed and all(found.faults for found in natural)):
            for other in turned(reading, space):
                usual = is_number and other.spelling.order == LAST_FIRST
                yield from _moves(other, values, extras, 0 if usual else ODD_ORDER, space)


def _explained(reading: KeyReading, values: Values, space: StateSpace) -> Iterator[_Extras]:
    """The ways to explain what stands in the keys beside the board."""
    columns = list(range(len(reading.extras)))
    spans: list[tuple[int, ...]] = [()]
    if values.shape == "position":
        spans += [(at,) for at in columns] + [(at, at + 1) for at in columns[:-1]]
        for played in [_played(column, reading, space) for column in reading.extras[:1] if len(columns) == 1]:
            if played is not None:
                yield _Extras({}, 0, played=played)
    for span in spans:
        cells = None
        if span:
            cells = [",".join(parts) for parts in zip(*(reading.extras[at] for at in span), strict=True)]
            if not any(namings(set(cells), space.rules)):
                continue
        beside = [reading.extras[at] for at in columns if at not in span]
        if any(_is_board(column, space) for column in beside):
            continue
        varied = sum(len(set(column)) > 1 for column in beside)
        players = [(column, list(_players(column, reading, space))) for column in beside]
        if not any(named for _, found in players for named, _, _ in found):
            yield _Extras({}, ODD_COLUMN * varied, cells)
        for column, found in players:
            rest = varied - (len(set(column)) > 1)
            for _, facets, owners in found:
                yield _Extras(facets, ODD_COLUMN * rest, cells, owners)


def second_board(reading: KeyReading, space: StateSpace) -> str | None:
    """What stands beside the board in a key and could be a board itself, other than that after a move."""
    boards = (column for column in reading.extras if _is_board(column, space))
    return next((column[0] for column in boards if _played(column, reading, space) is None), None)


def _is_board(column: Sequence[str], space: StateSpace) -> bool:
    words = len(set(column)) > 1 and all(len(item) == space.cells for item in column)
    return words and not {*"".join(column)} & {*",()[]"}


def _played(column: Sequence[str], reading: KeyReading, space: StateSpace) -> Int64s | None:
    """int64[keys]: the cells that lead from each key's position to the board in a column, if all do."""
    spelling = reading.spelling
    digits = {spelling.empty: 0, spelling.second: 1, spelling.first: 2}
    if spelling.relative or not _is_board(column, space) or not {*"".join(column)} <= digits.keys():
        return None
    powers = 3 ** np.arange(space.cells - 1, -1, -1, dtype=np.int64)
    boards = np.array([[digits[symbol] for symbol in item] for item in column], np.int64)
    after = space.find(boards @ powers)[:, None]
    moves = space.legal[reading.indexes] & (space.successors[reading.indexes] == after)
    return moves.argmax(axis=1) if moves.any(axis=1).all() else None


def _players(
    column: Sequence[str], reading: KeyReading, space: StateSpace
) -> Iterator[tuple[bool, dict[str, str], Int64s | None]]:
    """The ways to take a column for the players: whether as the stones are written, the facets, the players.

    None if it does not say more than the board does: who is to move.
    """
    labels = sorted(set(column))
    if len(labels) > 2:
        return
    spelling = reading.spelling
    first, second = ((stone or "").rstrip(".").lower() for stone in (spelling.first, spelling.second))
    known = {first: 1, second: -1}
    if all(label.lower() in known for label in labels) and not spelling.after:
        owners = _sided(column, {label: known[label.lower()] for label in labels})
        if spelling.relative:  # its own stones are those of whoever is to move
            owners = owners * _side(space, reading.indexes)
        yield True, {}, owners
    elif len(labels) == 2:
        owners = _sided(column, dict(zip(labels, (1, -1), strict=True)))
        opened = ~space.terminal[reading.indexes]
        turns = (owners * _side(space, reading.indexes))[opened]
        if len(set(turns.tolist())) == 1:
            yield False, {}, None
        else:
            yield False, {"player-x": labels[0]}, owners
            yield False, {"player-x": labels[1]}, -owners


def _sided(column: Sequence[str], sides: Mapping[str, int]) -> Int64s:
    return np.array([sides[label] for label in column], np.int64)


def _side(space: StateSpace, indexes: Int64s) -> Int64s:
    """int64[k]: +1 where X is to move."""
    return np.where(space.plies[indexes] % 2 == 0, 1, -1)


def _in_file(meaning: str, reading: KeyReading) -> str:
    """The name of a meaning in a file whose own O moves first: it calls O what is X here."""
    first, second = reading.spelling.first, reading.spelling.second
    swapped = (first or "X") in "Oo" and (second or "O") in "Xx" and not reading.spelling.relative
    return {"x": "o", "o": "x"}.get(meaning, meaning) if swapped else meaning


def _positions(
    reading: KeyReading, values: Values, extras: _Extras, oddness: int, space: StateSpace
) -> Iterator[Reading]:
    indexes = reading.indexes[values.rows]
    owners = np.zeros(len(indexes), np.int64) if extras.owners is None else extras.owners[values.rows]
    if np.isinf(values.numbers).any() or len(np.unique(indexes * 3 + owners)) < len(indexes):
        return
    side = _side(space, indexes)
    meanings = {"x": np.ones_like(side), "o": -np.ones_like(side), "mover": side, "moved": -side}
    factors = {"x": (1, -1), "o": (-1, 1), "mover": (-1, -1)}
    whose = np.zeros_like(owners)
    opened = side[~space.terminal[indexes] & (space.plies[indexes] > 0)]
    usual = "moved" if len(set(opened.tolist())) == 1 else None
    if reading.spelling.relative:
        usual = "moved" if reading.spelling.after else "mover"
    if extras.owners is not None:
        usual = "owner"
        if len(np.unique(indexes)) < len(indexes):
            meanings, whose = {}, owners  # each player has a value of its own for a position
        meanings["owner"] = owners
    for meaning, signs in meanings.items():
        odd = 0 if usual in (None, meaning) else ODD_MEANING
        table = Positions(space, indexes, values.numbers, signs, whose, factors.get(meaning, (1, 1)))
        yield Reading(
            table,
            {**reading.spelling.facets, **extras.facets, "values": _in_file(meaning, reading)},
            reading.spelling.oddness + extras.oddness + oddness + odd,
            table.faults,
        )


def _moves(
    reading: KeyReading, values: Values, extras: _Extras, oddness: int, space: StateSpace
) -> Iterator[Reading]:
    indexes = reading.indexes[values.rows]
    for words, cells, numbers, rows in _placed(indexes, values, extras, space):
        at = indexes[rows]
        opened = ~space.terminal[at]
        if extras.owners is not None:
            opened &= extras.owners[values.rows[rows]] == _side(space, at)
        free = space.legal[at, cells]
        filler = Counter(numbers[opened & ~free & np.isfinite(numbers)].tolist()).most_common(1)
        same = filler[0][1] if filler and not extras.of_moves else 0
        taken = opened & ~free & np.isfinite(numbers)
        strange = int(taken.sum()) - same
        faults = strange + int((opened & free & np.isinf(numbers)).sum())
        kept = opened & free & np.isfinite(numbers)
        places = at[kept] * space.cells + cells[kept]
        if not kept.any() or len(np.unique(places)) < len(places):
            continue
        table = np.full(len(space) * space.cells, np.nan)
        table[places] = numbers[kept]
        by_move = table.reshape(-1, space.cells)
        side = _side(space, np.arange(len(space)))[:, None]
        beside = (at[taken], cells[taken], numbers[taken])
        for meaning, signs, whose in (
            ("mover", side**2, (1, 1)),
            ("x", side, (1, -1)),
            ("o", -side, (-1, 1)),
        ):
            others = (beside[0], beside[1], beside[2] * signs[beside[0], 0]) if strange else None
            yield Reading(
                Moves(space, by_move * signs, whose, others),
                {**reading.spelling.facets, **extras.facets, **words, "values": _in_file(meaning, reading)},
                reading.spelling.oddness + extras.oddness + oddness + ODD_MEANING * (meaning != "mover"),
                faults,
                strange,
            )


def _placed(
    indexes: Int64s, values: Values, extras: _Extras, space: StateSpace
) -> Iterator[tuple[dict[str, str], Int64s, Floats, Int64s]]:
    """The cells (from 0) of the numbers: in what words, the cells, the numbers, and which of ``values``."""
    every, places = np.arange(len(values.rows)), values.places
    if extras.played is not None:
        yield {}, extras.played[values.rows], values.numbers, every
        return
    if extras.cells is not None or values.shape == "cells":
        names = values.names
        if extras.cells is not None:
            names = [extras.cells[row] for row in values.rows.tolist()]
        for words, named in namings(set(names), space.rules):
            yield {"cells": words}, np.array([named[name] for name in names], np.int64), values.numbers, every
        return
    if values.shape == "list":
        yield {}, places, values.numbers, every
        return
    free = space.legal[indexes].sum(axis=1)
    lengths = np.bincount(values.rows)[values.rows]
    if np.all((lengths == free) | (free == 0)):
        order = np.argsort(~space.legal, axis=1, kind="stable")  # the free cells first
        cells = order[indexes, np.minimum(places, space.cells - 1)]
        yield {"cells": "free ones alone"}, cells, values.numbers, every
    for first in (0, 1):
        beads = values.numbers - first
        if np.all(np.isfinite(beads) & (beads == np.round(beads)) & (beads >= 0) & (beads < space.cells)):
            drawn, rows, counts = np.unique(
                values.rows * space.cells + beads.astype(np.int64), return_index=True, return_counts=True
            )
            yield {"cells": f"beads from {first}"}, drawn % space.cells, counts.astype(np.float64), rows
