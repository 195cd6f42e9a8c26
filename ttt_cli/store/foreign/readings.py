"""The readings of a table: those of its keys combined with those of its values.

Only combinations that fit the game are kept: values are at free cells, a cell or a player in a key fits the
position, no position occurs twice.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from ttt_cli.engine.arrays import Bools, Floats, Int64s
from ttt_cli.store.foreign.keys import LAST_FIRST, NUMBERED, Boards
from ttt_cli.store.foreign.reading import Images, Reading
from ttt_cli.store.foreign.values import Values, namings

ADDED = "added"
"""As ``player-x``: neither of two tables is X's, their program adds them up."""
OTHER_ORDER, UNUSUAL_NUMBER, UNEXPLAINED, ADDED_UP, OTHER_MEANING = 5, 1, 3, 3, 2
"""The rarity of cells that do not come row by row from the top left; of a number whose powers count from the
other end than usual; of a part of a key that says nothing; of adding up two tables, which usually belong to
two players; of moves not valued for the mover, and positions not for X or the table's only player."""


class _Meaning(NamedTuple):
    """What keys and values are taken for.

    :ivar values: those of the file, of moves where the keys name cells.
    :ivar owners: int64[keys], the player in every key, +1 X, -1 O; None: whoever is to move.
    """

    boards: Boards
    values: Values
    owners: Int64s | None
    facets: Mapping[str, str]
    rarity: int

    def reading(self, measure: str, usual: str, words: Mapping[str, str], **numbers: Any) -> Reading:
        """The reading under which values measure the good of ``x``, ``o``, …

        If O moves first in the file, what is X here is called O.

        :param usual: what values usually measure.
        :param words: further facets.
        :param numbers: the other fields of ``Reading``.
        """
        boards, rarity = self.boards, self.rarity + OTHER_MEANING * (measure != usual)
        if (boards.first or "X") in "Oo" and (boards.second or "O") in "Xx" and not boards.turn:
            measure = {"x": "o", "o": "x"}.get(measure, measure)
        facets = {**boards.facets, **self.facets, **words, "values": measure}
        return Reading(boards, self.values, facets, rarity, **numbers)


def readings(boards: Boards, values: Values, group: Images | None) -> Iterator[Reading]:
    """The readings of a table whose keys are these boards.

    :param group: the symmetries that a key stands for, if it does for any.
    """
    usual = NUMBERED.get(boards.form)
    for meaning in _meanings(boards, values):
        of_moves, found = meaning.values.shape != "position", list[Reading]()
        if of_moves and boards.turn == "moved":
            continue  # moves are valued before they are made
        for oriented in chain([boards], boards.reoriented()):
            if oriented.order == "rows" or (usual and oriented.order == LAST_FIRST):
                rarity = UNUSUAL_NUMBER * (oriented.order != (usual or "rows"))
            elif of_moves and (usual or (group is None and all(reading.faults for reading in found))):
                rarity = OTHER_ORDER  # numbers are at occupied cells otherwise
            elif usual:
                continue
            else:
                break
            rarity += boards.rarity + meaning.rarity
            ordered = meaning._replace(boards=oriented, rarity=rarity)
            found += _of_moves(ordered, group is not None) if of_moves else _of_positions(ordered)
        yield from found if group is None else (reading.unfolded(group) for reading in found)


def _meanings(boards: Boards, values: Values) -> Iterator[_Meaning]:
    """The ways to explain the extras of the keys: a move's cell, a player, nothing."""
    columns = range(len(boards.extras))
    ways: list[tuple[tuple[int, ...], Values]] = [((), values)]
    if values.shape == "position":
        for span in [*((at,) for at in columns), *((at, at + 1) for at in columns[:-1])]:
            named = [",".join(parts) for parts in zip(*(boards.extras[at] for at in span), strict=True)]
            names, ids = np.unique(named, return_inverse=True)
            if any(namings(names.tolist(), boards.space.rules)):
                of_cells = replace(values, shape="cells", names=names.tolist(), ids=ids[values.rows])
                ways.append((span, of_cells))
        if len(columns) == 1 and (played := _cells_played(boards.extras[0], boards)) is not None:
            cells = [str(cell) for cell in range(boards.space.cells)]
            ways.append(((0,), replace(values, shape="cells", names=cells, ids=played[values.rows])))
    for span, taken in ways:
        rest = [boards.extras[at] for at in columns if at not in span]
        if any(_may_be_board(column, boards.space.cells) for column in rest):
            continue
        varied = UNEXPLAINED * sum(len(set(column)) > 1 for column in rest)
        players = [(column, way) for column in rest for way in _players(column, boards)]
        if not any(named for _, (named, _, _) in players):
            yield _Meaning(boards, taken, None, {}, varied)
        for column, (_, facets, owners) in players:
            rarity = varied - UNEXPLAINED * (len(set(column)) > 1)
            yield _Meaning(boards, taken, owners, facets, rarity + ADDED_UP * (ADDED in facets.values()))


def second_board(boards: Boards) -> str | None:
    """An extra of the keys that may be a board itself, other than the one after a move."""
    columns = (column for column in boards.extras if _may_be_board(column, boards.space.cells))
    return next((column[0] for column in columns if _cells_played(column, boards) is None), None)


def _may_be_board(column: Sequence[str], cells: int) -> bool:
    """Whether a column says more than a player, a cell or a number of plies, so it cannot be ignored."""
    return len(set(column)) > cells + 1 or _is_board(column, cells)


def _is_board(column: Sequence[str], cells: int) -> bool:
    words = len(set(column)) > 1 and all(len(item) == cells for item in column)
    return words and not {*"".join(column)} & {*",()[]"}


def _cells_played(column: Sequence[str], boards: Boards) -> Int64s | None:
    """int64[keys], the cells that lead from each key's position to the board in a column, if all do."""
    space, digits = boards.space, {boards.empty: 0, boards.second: 1, boards.first: 2}
    if boards.turn or not _is_board(column, space.cells) or not {*"".join(column)} <= digits.keys():
        return None
    codes = np.array([[digits[symbol] for symbol in item] for item in column], np.int64) @ space.powers
    moves = space.legal[boards.indexes] & (space.successors[boards.indexes] == space.find(codes)[:, None])
    return moves.argmax(axis=1) if moves.any(axis=1).all() else None


def _players(column: Sequence[str], boards: Boards) -> Iterator[tuple[bool, dict[str, str], Int64s | None]]:
    """The ways to take a column for players: whether they are called as their stones, facets, owners."""
    labels, space = sorted(set(column)), boards.space
    sides, stones = space.movers[boards.indexes], (boards.first, boards.second)
    known = {(stone or "").rstrip(".").lower(): side for stone, side in zip(stones, (1, -1), strict=True)}
    if len(labels) > 2:
        return
    if all(label.lower() in known for label in labels) and boards.turn != "moved":
        owners = np.array([known[label.lower()] for label in column], np.int64)
        yield True, {}, owners * sides if boards.turn else owners  # "mine" belongs to whoever is to move
    elif len(labels) == 2:
        owners = np.array([1 if label == labels[0] else -1 for label in column], np.int64)
        if len(set((owners * sides)[~space.terminal[boards.indexes]].tolist())) == 1:
            yield False, {}, None
        else:
            yield False, {"player-x": labels[0]}, owners
            yield False, {"player-x": labels[1]}, -owners
            yield False, {"player-x": ADDED}, None


def _of_positions(meaning: _Meaning) -> Iterator[Reading]:
    """The readings of numbers as values of positions: one for each side whose good they may measure."""
    boards, values, owners = meaning.boards, meaning.values, meaning.owners
    space, indexes = boards.space, boards.indexes[values.rows]
    side, player = space.movers[indexes], None if owners is None else owners[values.rows]
    keys = indexes if player is None else indexes * 3 + player
    if np.isinf(values.numbers).any() or len(np.unique(keys)) < len(keys):
        return
    measures = {"x": (1, 1), "o": (-1, -1), "mover": (1, -1), "moved": (-1, 1)}  # good as X and O move
    to_move = set(side[~space.terminal[indexes] & (space.plies[indexes] > 0)].tolist())
    usual = boards.turn or ("moved" if len(to_move) == 1 else "")
    given = {"indexes": indexes, "numbers": values.numbers}
    if player is not None:
        usual = "owner"
        slots = (player < 0).astype(np.int64)
        yield meaning.reading("owner", usual, {}, **given, slots=slots, signs=(1, 1))
        if len(np.unique(indexes)) < len(indexes):
            return  # each player has a value of its own for a position
    for measure, good in measures.items():
        slots = (np.where(side > 0, *good) < 0).astype(np.int64)
        signs = good[1], -good[0]  # after a move the other side is to move
        yield meaning.reading(measure, usual or measure, {}, **given, slots=slots, signs=signs)


def _of_moves(meaning: _Meaning, folded: bool) -> Iterator[Reading]:
    """The readings of numbers as values of moves, for each way to number the cells and each measure."""
    values, owners, space = meaning.values, meaning.owners, meaning.boards.space
    every = meaning.boards.indexes[values.rows]
    goes_on: Bools = ~space.terminal[every]
    if owners is not None:
        goes_on &= owners[values.rows] == space.movers[every]
    for words, cells, numbers, rows in _placed(every, meaning):
        indexes, opened, known = every[rows], goes_on[rows], np.isfinite(numbers)
        free = space.legal[indexes, cells]
        filler = Counter(numbers[opened & ~free & known].tolist())
        occupied = filler.total() - (0 if values.are_decisions else max(filler.values(), default=0))
        left_out = np.stack([rows, cells], axis=1)[opened & free & ~known]
        kept = opened & known & free
        if not kept.any():
            continue
        if folded and occupied:  # cells may be those of the board as it is played, not of the key
            kept = opened & known
        places, which = np.unique(indexes[kept] * space.cells + cells[kept], return_inverse=True)
        if len(places) < len(which) and meaning.facets.get("player-x") != ADDED:
            continue
        at, cell = np.divmod(places, space.cells)
        summed: Floats = np.bincount(which, numbers[kept]).astype(np.float64)
        given = {"indexes": at, "slots": cell, "numbers": summed}
        given |= {"occupied": occupied, "left_out": left_out}
        for measure, signs in {"mover": (1, 1), "x": (1, -1), "o": (-1, 1)}.items():
            if measure == "mover" or not values.are_decisions:
                yield meaning.reading(measure, "mover", words, **given, signs=signs)


def _placed(every: Int64s, meaning: _Meaning) -> Iterator[tuple[dict[str, str], Int64s, Floats, Int64s]]:
    """The ways to place numbers: the facets, the cells (from 0), the numbers, and their rows in ``every``.

    :param every: int64[m], the position of each number.
    """
    values, space = meaning.values, meaning.boards.space
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
