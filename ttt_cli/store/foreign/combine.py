"""The readings of a table: those of its keys combined with those of its values.

Only combinations that fit the game are kept: values are at free cells, a cell or a player in a key fits the
position, no position occurs twice.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from ttt_cli.engine.arrays import Bools, Floats, Int64s
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.store.foreign.keys import LAST_FIRST, Spelling
from ttt_cli.store.foreign.reading import ADDED, LEAST_MAPPED, Images, Reading
from ttt_cli.store.foreign.values import TURNED, Values, decisions, namings

OTHER_ORDER, LAST_DIGIT_FIRST, ADDED_UP, OTHER_MEANING = 5, 1, 3, 2
"""The rarity of cells that do not come row by row from the top left; of a number whose lowest digit is the
first cell; of adding up two tables, which usually belong to two players; of moves not valued for the mover,
positions not for X or the table's only player, and cells by column and row."""

AS_PLAYED = 0.05
"""The share of numbers at occupied cells beyond which a folded table's cells are not those of its keys."""

Measured = tuple[str, str, Mapping[str, str], dict[str, Any]]
"""Whose good numbers measure, whose they usually do, further facets, and the other fields of ``Reading``."""


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
            if spelling.form == "base-3 number" and oriented.order == LAST_FIRST:
                is_usual, rarity = True, LAST_DIGIT_FIRST
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
            ways += [(span, of_cells)] * any(namings(of_cells.names, spelling.space.rules))
    for span, taken in ways:
        rest = [column for at, column in enumerate(spelling.extras) if at not in span]
        varied = [column for column in rest if len(set(column)) > 1]
        if not varied:
            yield taken, None, {}, 0
        elif len(varied) == 1:
            for facets, owners in _players(varied[0], spelling):
                yield taken, owners, facets, ADDED_UP * (ADDED in facets.values())


def _cell_names(spelling: Spelling) -> Iterator[tuple[tuple[int, ...], list[str]]]:
    """The extras of the keys that may name a cell, one or two of them, by their columns."""
    columns = range(len(spelling.extras))
    for span in [*((at,) for at in columns), *((at, at + 1) for at in columns[:-1])]:
        yield span, [*map(",".join, zip(*(spelling.extras[at] for at in span), strict=True))]


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
        if folded and occupied > AS_PLAYED * kept.sum():
            kept = opened & known  # the cells are those of the board as it is played, not of the key
        elif folded:
            occupied = 0
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
        for words, cells in namings(values.names, space.rules):
            yield {"cells": words}, cells[places], values.numbers, rows
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
            yield {"cells": f"beads from {first}"}, drawn % space.cells, counts.astype(np.float64), rows
