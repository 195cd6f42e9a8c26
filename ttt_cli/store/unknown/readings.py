"""The readings of a table: those of its keys times those of its values.

What has to hold filters the product: values stand at cells that are free, a cell or a player in the key fits
the position, no position is there twice.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ttt_cli.engine.arrays import Floats, Int64s
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.errors import InvalidFileError
from ttt_cli.store.unknown.cell_values import Values, decisions, namings
from ttt_cli.store.unknown.extras import Extras, explained
from ttt_cli.store.unknown.spelling import NUMBERED, KeyReading, turned
from ttt_cli.store.unknown.symmetry import groups, is_canonical
from ttt_cli.store.unknown.tables import Moves, Positions

LAST_FIRST = "rows from bottom right"
"""A number's digits from the least on: as usual as the other way."""
MISPLACED = 0.05
"""The largest share of a policy's moves that may go to occupied cells."""
ODD_ORDER = 5
ODD_MEANING = 2


@dataclass(frozen=True, eq=False)
class Reading:
    """A whole reading of a table.

    :ivar facets: what tells it from other readings, by the names they have on the command line.
    :ivar oddness: how unusual it is, see ``Spelling.oddness``.
    :ivar faults: values where there should be none; won positions that are worth little to the winner.
    :ivar keys: the reading of the keys.
    :ivar taken: how many numbers at occupied cells are no filler.
    :ivar texts: how many values of free cells are no numbers.
    :ivar folded: how many positions the file has, if each stands for all its images; else 0.
    """

    table: Moves | Positions
    facets: Mapping[str, str]
    oddness: int
    faults: int
    taken: int = 0
    texts: int = 0
    folded: int = 0


def readings(
    keys: Sequence[KeyReading], values: Values, space: StateSpace, where: str, symmetry: str | None = None
) -> Iterator[Reading]:
    """The readings of a table whose keys have these readings.

    :param symmetry: what images a key stands for (``yes``: all, ``rotations``, ``no``); None: the keys tell.
    :raises InvalidFileError: if they do not, but it is more than itself.
    """
    known = groups(space.rules)
    for reading in keys:
        folded = symmetry or next((name for name in known if is_canonical(reading, space, known[name])), "no")
        if symmetry is None and folded == "rotations":  # or the least of these and some mirrored ones
            raise InvalidFileError(
                "does a key stand for a position and its turned images alone, or for some mirrored ones too?",
                where=where,
                hint="say behind the colon of an agent, or to ttt import: spelling.symmetry=rotations (alone)"
                ", yes (all images) or no (each key is itself alone)",
            )
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


def policies(
    keys: Sequence[KeyReading], values: Sequence[Any], space: StateSpace, where: str, symmetry: str | None
) -> list[Reading]:
    """The readings of a table as a policy: those in which its values name cells, nearly all of them free."""
    found = []
    for decided in decisions(values):
        for reading in readings(keys, decided, space, where, symmetry):
            if reading.taken <= MISPLACED * len(decided.rows):
                found.append(reading)
    return found


def _readings(
    reading: KeyReading, values: Values, space: StateSpace, *, fixed: bool = False
) -> Iterator[Reading]:
    """The readings of a table whose keys have this one.

    :param fixed: whether numbers at occupied cells do not say that the cells come in another order.
    """
    for extras in explained(reading, values, space):
        is_number = reading.spelling.frame in NUMBERED
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


def _positions(
    reading: KeyReading, values: Values, extras: Extras, oddness: int, space: StateSpace
) -> Iterator[Reading]:
    indexes = reading.indexes[values.rows]
    owners = np.zeros(len(indexes), np.int64) if extras.owners is None else extras.owners[values.rows]
    if np.isinf(values.numbers).any() or len(np.unique(indexes * 3 + owners)) < len(indexes):
        return
    side = space.movers[indexes]
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
    reading: KeyReading, values: Values, extras: Extras, oddness: int, space: StateSpace
) -> Iterator[Reading]:
    indexes = reading.indexes[values.rows]
    for words, cells, numbers, rows in _placed(indexes, values, extras, space):
        at = indexes[rows]
        opened = ~space.terminal[at]
        if extras.owners is not None:
            opened &= extras.owners[values.rows[rows]] == space.movers[at]
        free = space.legal[at, cells]
        filler = Counter(numbers[opened & ~free & np.isfinite(numbers)].tolist()).most_common(1)
        same = filler[0][1] if filler and not extras.of_moves and not values.decided else 0
        taken = opened & ~free & np.isfinite(numbers)
        strange = int(taken.sum()) - same
        texts = int((opened & free & np.isinf(numbers)).sum())
        kept = opened & free & np.isfinite(numbers)
        places, which = np.unique(at[kept] * space.cells + cells[kept], return_inverse=True)
        if not kept.any() or (len(places) < len(which) and not extras.added):
            continue
        table = np.full(len(space) * space.cells, np.nan)
        table[places] = np.bincount(which, numbers[kept])
        by_move = table.reshape(-1, space.cells)
        side = space.movers[:, None]
        beside = (at[taken], cells[taken], numbers[taken])
        meanings = [("mover", side**2, (1, 1)), ("x", side, (1, -1)), ("o", -side, (-1, 1))]
        for meaning, signs, whose in meanings[:1] if values.decided else meanings:
            others = (beside[0], beside[1], beside[2] * signs[beside[0], 0]) if strange else None
            yield Reading(
                Moves(space, by_move * signs, whose, others, values.counted, values.decided),
                {**reading.spelling.facets, **extras.facets, **words, "values": _in_file(meaning, reading)},
                reading.spelling.oddness + extras.oddness + oddness + ODD_MEANING * (meaning != "mover"),
                strange + texts,
                strange,
                texts,
            )


def _placed(
    indexes: Int64s, values: Values, extras: Extras, space: StateSpace
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


def _in_file(meaning: str, reading: KeyReading) -> str:
    """The name of a meaning in a file whose own O moves first: it calls O what is X here."""
    first, second = reading.spelling.first, reading.spelling.second
    swapped = (first or "X") in "Oo" and (second or "O") in "Xx" and not reading.spelling.relative
    return {"x": "o", "o": "x"}.get(meaning, meaning) if swapped else meaning
