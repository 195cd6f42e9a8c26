"""The readings of a position-keyed table: those of its keys times those of its values.

What has to hold filters the product: values stand at cells that are free, a cell or a player in the key fits
the position, no position is there twice.

Values of moves, bead counts among them, make a table of ``q``, whose policy is the greedy one of the file's
author: the largest value of the free cells, equal ones alike, 0 where the file has none. Values of positions
make a table of ``td``: a side moves to the position that is best for it. Whose good a value measures is X's
(``x``), O's (``o``), that of the side to move (``mover``), of the side that has just moved (``moved``) or of
the player in the key (``owner``). What is good for one side is bad for the other, so that both sides' values
follow, but for ``owner``.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ttt_cli.engine.state_space import Floats, Int64s, StateSpace
from ttt_cli.store.formats.cell_values import Values, namings
from ttt_cli.store.formats.evidence import agreement, skill
from ttt_cli.store.formats.spelling import KeyReading, turned

MEANINGS = ("x", "o", "mover", "moved", "owner")

LAST_FIRST = "rows from bottom right"
"""A number's digits from the least on: as usual as the other way."""
ODD_ORDER = 5
ODD_MEANING = 2
ODD_COLUMN = 3
"""How odd it is that cells are counted so, that values mean that, that a part of the keys means nothing."""


@dataclass(frozen=True, eq=False)
class Moves:
    """Values of moves: float64[n, cells] from the mover's side, NaN where there is none."""

    space: StateSpace
    values: Floats
    learner = "q"

    @cached_property
    def mark(self) -> bytes:
        """The same for tables that play alike."""
        return np.nan_to_num(self.values).tobytes()

    @cached_property
    def score(self) -> float:
        """What the values themselves say for this reading, a standard score."""
        return skill(self.space, self.values)

    @property
    def counts(self) -> tuple[int, int]:
        """How many positions and moves have a value."""
        known = ~np.isnan(self.values)
        return int(known.any(axis=1).sum()), int(known.sum())

    def entries(self, visits: int) -> dict[str, Any]:
        """As a native table; zeros, the values before any learning, count as not visited."""
        found: dict[str, Any] = {}
        for index, cell in np.argwhere(np.nan_to_num(self.values) != 0).tolist():
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
    """

    space: StateSpace
    indexes: Int64s
    numbers: Floats
    signs: Int64s
    owners: Int64s
    learner = "td"

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

    def entries(self, visits: int) -> dict[str, Any]:
        """As a native table, from 0 to 1.

        Chances are taken as they are. Other values, of which 0 says nothing, are scaled so that 0 becomes
        1/2, which is what an unknown position is worth.
        """
        size = 0.5 if self.are_chances else max(1.0, float(np.abs(self.numbers).max(initial=0)))
        for_x = 0.5 + 0.5 * (self.for_x / size)
        found: dict[str, Any] = {}
        for index, value, owner in zip(
            self.indexes.tolist(), for_x.tolist(), self.owners.tolist(), strict=True
        ):
            entry = found.setdefault(self.space.texts[index], {})
            if owner >= 0:
                entry["x"] = [value, visits]
            if owner <= 0:
                entry["o"] = [1 - value, visits]
        return found


@dataclass(frozen=True, eq=False)
class Reading:
    """A whole reading of a table.

    :ivar facets: what tells it from other readings, by the names they have on the command line.
    :ivar oddness: how unusual it is, see ``Spelling.oddness``.
    :ivar faults: values where there should be none; won positions that are worth little to the winner.
    """

    table: Moves | Positions
    facets: Mapping[str, str]
    oddness: int
    faults: int


@dataclass(frozen=True, eq=False)
class _Extras:
    """What the items of a key beside the board are taken for.

    :ivar cells: the cell's name in every key, if one is there.
    :ivar owners: int64[keys], +1 X, -1 O: the player in every key, if there is one.
    """

    facets: Mapping[str, str]
    oddness: int
    cells: Sequence[str] | None = None
    owners: Int64s | None = None


def readings(keys: Sequence[KeyReading], values: Values, space: StateSpace) -> Iterator[Reading]:
    """The readings of a table whose keys have these readings."""
    for reading in keys:
        for extras in _explained(reading, values, space):
            is_number = reading.spelling.frame == "base-3 number"
            if values.shape == "position" and extras.cells is None:
                yield from _positions(reading, values, extras, int(is_number), space)
                for other in turned(reading, space) if is_number else ():
                    if other.spelling.order == LAST_FIRST:
                        yield from _positions(other, values, extras, 0, space)
                continue
            natural = list(_moves(reading, values, extras, 0, space))
            yield from natural
            if is_number or all(found.faults for found in natural):
                for other in turned(reading, space):
                    usual = is_number and other.spelling.order == LAST_FIRST
                    yield from _moves(other, values, extras, 0 if usual else ODD_ORDER, space)


def _explained(reading: KeyReading, values: Values, space: StateSpace) -> Iterator[_Extras]:
    """The ways to explain what stands in the keys beside the board."""
    columns = list(range(len(reading.extras)))
    spans: list[tuple[int, ...]] = [()]
    if values.shape == "position":
        spans += [(at,) for at in columns] + [(at, at + 1) for at in columns[:-1]]
    for span in spans:
        cells = None
        if span:
            cells = [",".join(parts) for parts in zip(*(reading.extras[at] for at in span), strict=True)]
            if not any(namings(set(cells), space.rules)):
                continue
        beside = [reading.extras[at] for at in columns if at not in span]
        varied = sum(len(set(column)) > 1 for column in beside)
        yield _Extras({}, ODD_COLUMN * varied, cells)
        for column in beside:
            rest = varied - (len(set(column)) > 1)
            for facets, owners in _players(column, reading, space):
                yield _Extras(facets, ODD_COLUMN * rest, cells, owners)


def _players(
    column: Sequence[str], reading: KeyReading, space: StateSpace
) -> Iterator[tuple[dict[str, str], Int64s | None]]:
    """The ways to take a column for the players: as the stones are written, or either way round.

    None if it does not say more than the board does: who is to move.
    """
    labels = sorted(set(column))
    if len(labels) > 2:
        return
    spelling = reading.spelling
    first, second = ((stone or "").rstrip(".").lower() for stone in (spelling.first, spelling.second))
    known = {first: 1, second: -1}
    if all(label.lower() in known for label in labels) and not spelling.relative:
        yield {}, _sided(column, {label: known[label.lower()] for label in labels})
    elif len(labels) == 2:
        owners = _sided(column, dict(zip(labels, (1, -1), strict=True)))
        opened = ~space.terminal[reading.indexes]
        turns = (owners * _side(space, reading.indexes))[opened]
        if len(set(turns.tolist())) == 1:
            yield {}, None
        else:
            yield {"player-x": labels[0]}, owners
            yield {"player-x": labels[1]}, -owners


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
    whose = np.zeros_like(owners)
    opened = side[~space.terminal[indexes] & (space.plies[indexes] > 0)]
    usual = "moved" if len(set(opened.tolist())) == 1 else None
    if extras.owners is not None:
        usual = "owner"
        if len(np.unique(indexes)) < len(indexes):
            meanings, whose = {}, owners  # each player has a value of its own for a position
        meanings["owner"] = owners
    for meaning, signs in meanings.items():
        odd = 0 if usual in (None, meaning) else ODD_MEANING
        table = Positions(space, indexes, values.numbers, signs, whose)
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
        same = filler[0][1] if filler and extras.cells is None else 0
        taken = opened & ~free & np.isfinite(numbers)
        faults = int(taken.sum()) - same + int((opened & free & np.isinf(numbers)).sum())
        kept = opened & free & np.isfinite(numbers)
        places = at[kept] * space.cells + cells[kept]
        if not kept.any() or len(np.unique(places)) < len(places):
            continue
        table = np.full(len(space) * space.cells, np.nan)
        table[places] = numbers[kept]
        by_move = table.reshape(-1, space.cells)
        side = _side(space, np.arange(len(space)))[:, None]
        for meaning, signs in (("mover", 1), ("x", side), ("o", -side)):
            yield Reading(
                Moves(space, by_move * signs),
                {**reading.spelling.facets, **extras.facets, **words, "values": _in_file(meaning, reading)},
                reading.spelling.oddness + extras.oddness + oddness + ODD_MEANING * (meaning != "mover"),
                faults,
            )


def _placed(
    indexes: Int64s, values: Values, extras: _Extras, space: StateSpace
) -> Iterator[tuple[dict[str, str], Int64s, Floats, Int64s]]:
    """The cells (from 0) of the numbers: in what words, the cells, the numbers, and which of ``values``."""
    every, places = np.arange(len(values.rows)), values.places
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
