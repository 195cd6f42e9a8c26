"""The readings of a table: those of its keys times those of its values.

What has to hold filters the product: values stand at cells that are free, a cell or a player in the key fits
the position, no position is there twice.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

import numpy as np

from ttt_cli.engine.arrays import Bools, Floats, Int64s
from ttt_cli.store.foreign.keys import LAST_FIRST, NUMBERED, Boards
from ttt_cli.store.foreign.reading import Images, Reading
from ttt_cli.store.foreign.values import Values, namings

ADDED = "added"
"""As ``player-x``: neither of two tables is X's."""
OTHER_ORDER, UNUSUAL_NUMBER, UNEXPLAINED, ADDED_UP, OTHER_MEANING = 5, 1, 3, 3, 2
"""How rare it is that cells do not come row by row from the top left; that the first digit of a number in
base 3 counts least, or the first bit of a set most; that a part of a key says nothing; that a program adds
two tables up, which usually belong to two players; that moves are not worth something to the mover, positions
not to X or the table's only player."""


Found = tuple[Int64s, Int64s, Floats, tuple[int, int], int, int]
"""The fields of a reading from ``indexes`` to ``texts``."""


class _Meant(NamedTuple):
    """What keys and values are taken for.

    :ivar values: those of the file, of moves where the keys name cells.
    :ivar owners: int64[keys], +1 X, -1 O: the player in every key; None if that is who is to move.
    """

    boards: Boards
    values: Values
    owners: Int64s | None
    facets: Mapping[str, str]
    rarity: int

    def reading(self, meaning: str, usual: str, words: Mapping[str, str], found: Found) -> Reading:
        """A reading of it under which values have this meaning.

        In a file whose own O moves first, what is X here is called O.
        """
        boards, rarity = self.boards, self.rarity + OTHER_MEANING * (meaning != usual)
        if (boards.first or "X") in "Oo" and (boards.second or "O") in "Xx" and not boards.turn:
            meaning = {"x": "o", "o": "x"}.get(meaning, meaning)
        facets = {**boards.facets, **self.facets, **words, "values": meaning}
        return Reading(boards, self.values, facets, rarity, *found)


def readings(boards: Boards, values: Values, group: Images | None) -> Iterator[Reading]:
    """The readings of a table whose keys are these boards.

    :param group: the symmetries whose images a key stands for, if it does.
    """
    usual = NUMBERED.get(boards.form)
    for meant in _explained(boards, values):
        of_moves, found = meant.values.shape != "position", list[Reading]()
        if of_moves and boards.turn == "moved":
            continue  # moves are valued before they are made
        for turned in chain([boards], boards.turned()):
            if turned.order == "rows" or (usual and turned.order == LAST_FIRST):
                rare = UNUSUAL_NUMBER * (turned.order != (usual or "rows"))
            elif of_moves and (usual or (group is None and all(reading.faults for reading in found))):
                rare = OTHER_ORDER  # where cells are no powers, if numbers stand at occupied cells otherwise
            elif usual:
                continue
            else:
                break
            ordered = meant._replace(boards=turned, rarity=boards.rarity + meant.rarity + rare)
            found += _moves(ordered, group is not None) if of_moves else _positions(ordered)
        yield from found if group is None else (reading.unfolded(group) for reading in found)


def _explained(boards: Boards, values: Values) -> Iterator[_Meant]:
    """The ways to explain what stands in the keys beside the board: a move's cell, a player, nothing."""
    columns = range(len(boards.beside))
    ways: list[tuple[tuple[int, ...], Values]] = [((), values)]
    if values.shape == "position":
        for span in [*((at,) for at in columns), *((at, at + 1) for at in columns[:-1])]:
            named = [",".join(parts) for parts in zip(*(boards.beside[at] for at in span), strict=True)]
            names, ids = np.unique(named, return_inverse=True)
            if any(namings(names.tolist(), boards.space.rules)):
                ways.append(
                    (span, replace(values, shape="cells", names=names.tolist(), ids=ids[values.rows]))
                )
        if len(columns) == 1 and (played := _played(boards.beside[0], boards)) is not None:
            cells = [str(cell) for cell in range(boards.space.cells)]
            ways.append(((0,), replace(values, shape="cells", names=cells, ids=played[values.rows])))
    for span, meant in ways:
        rest = [boards.beside[at] for at in columns if at not in span]
        if any(_says_more(column, boards.space.cells) for column in rest):
            continue
        varied = UNEXPLAINED * sum(len(set(column)) > 1 for column in rest)
        players = [(column, way) for column in rest for way in _players(column, boards)]
        if not any(named for _, (named, _, _) in players):
            yield _Meant(boards, meant, None, {}, varied)
        for column, (_, facets, owners) in players:
            rarity = varied - UNEXPLAINED * (len(set(column)) > 1)
            yield _Meant(boards, meant, owners, facets, rarity + ADDED_UP * (ADDED in facets.values()))


def second_board(boards: Boards) -> str | None:
    """What stands beside the board in a key and could be a board itself, or numbers, other than the board
    after a move."""
    columns = (column for column in boards.beside if _says_more(column, boards.space.cells))
    return next((column[0] for column in columns if _played(column, boards) is None), None)


def _says_more(column: Sequence[str], cells: int) -> bool:
    """Whether a column is more than the name of a player, a cell or a number of plies: no part of a position
    that may be passed over."""
    return len(set(column)) > cells + 1 or _is_board(column, cells)


def _is_board(column: Sequence[str], cells: int) -> bool:
    words = len(set(column)) > 1 and all(len(item) == cells for item in column)
    return words and not {*"".join(column)} & {*",()[]"}


def _played(column: Sequence[str], boards: Boards) -> Int64s | None:
    """int64[keys]: the cells that lead from each key's position to the board in a column, if all do."""
    space, digits = boards.space, {boards.empty: 0, boards.second: 1, boards.first: 2}
    if boards.turn or not _is_board(column, space.cells) or not {*"".join(column)} <= digits.keys():
        return None
    codes = np.array([[digits[symbol] for symbol in item] for item in column], np.int64) @ space.powers
    moves = space.legal[boards.indexes] & (space.successors[boards.indexes] == space.find(codes)[:, None])
    return moves.argmax(axis=1) if moves.any(axis=1).all() else None


def _players(column: Sequence[str], boards: Boards) -> Iterator[tuple[bool, dict[str, str], Int64s | None]]:
    """The ways to take a column for the players: whether as the stones are written, the facets, the players;
    None if it does not say more than the board does: who is to move."""
    labels, space = sorted(set(column)), boards.space
    sides, stones = space.movers[boards.indexes], (boards.first, boards.second)
    known = {(stone or "").rstrip(".").lower(): side for stone, side in zip(stones, (1, -1), strict=True)}
    if len(labels) > 2:
        return
    if all(label.lower() in known for label in labels) and boards.turn != "moved":
        owners = np.array([known[label.lower()] for label in column], np.int64)
        # one's own stones are those of whoever is to move
        yield True, {}, owners * sides if boards.turn else owners
    elif len(labels) == 2:
        owners = np.array([1 if label == labels[0] else -1 for label in column], np.int64)
        if len(set((owners * sides)[~space.terminal[boards.indexes]].tolist())) == 1:
            yield False, {}, None
        else:
            yield False, {"player-x": labels[0]}, owners
            yield False, {"player-x": labels[1]}, -owners
            yield False, {"player-x": ADDED}, None


def _positions(meant: _Meant) -> Iterator[Reading]:
    """The readings of numbers as values of positions: one for each side whose good they may measure."""
    boards, values, owners = meant.boards, meant.values, meant.owners
    space, indexes = boards.space, boards.indexes[values.rows]
    side, player = space.movers[indexes], None if owners is None else owners[values.rows]
    keys = indexes if player is None else indexes * 3 + player
    if np.isinf(values.numbers).any() or len(np.unique(keys)) < len(keys):
        return
    meanings = {"x": (1, 1), "o": (-1, -1), "mover": (1, -1), "moved": (-1, 1)}  # good as X and O move
    to_move = set(side[~space.terminal[indexes] & (space.plies[indexes] > 0)].tolist())
    usual = boards.turn or ("moved" if len(to_move) == 1 else "")
    if player is not None:
        usual = "owner"
        slots = (player < 0).astype(np.int64)
        yield meant.reading("owner", usual, {}, (indexes, slots, values.numbers, (1, 1), 0, 0))
        if len(np.unique(indexes)) < len(indexes):
            return  # each player has a value of its own for a position
    for meaning, good in meanings.items():
        slots = (np.where(side > 0, *good) < 0).astype(np.int64)
        whose = good[1], -good[0]  # who moves is not to move afterwards
        found = indexes, slots, values.numbers, whose, 0, 0
        yield meant.reading(meaning, usual or meaning, {}, found)


def _moves(meant: _Meant, folded: bool) -> Iterator[Reading]:
    """The readings of numbers as values of moves, for each way to number the cells and each meaning."""
    values, owners, space = meant.values, meant.owners, meant.boards.space
    every = meant.boards.indexes[values.rows]
    goes_on: Bools = ~space.terminal[every]
    if owners is not None:
        goes_on &= owners[values.rows] == space.movers[every]
    for words, cells, numbers, rows in _placed(every, meant):
        indexes, opened, known = every[rows], goes_on[rows], np.isfinite(numbers)
        free = space.legal[indexes, cells]
        filler = Counter(numbers[opened & ~free & known].tolist())
        taken = filler.total() - (0 if values.decided else max(filler.values(), default=0))
        texts = int((opened & free & np.isinf(numbers)).sum())
        kept = opened & known & free
        added = meant.facets.get("player-x") == ADDED
        if not kept.any():
            continue
        if (
            folded and taken
        ):  # where keys stand for all images, cells may be those of the board as it is played
            kept = opened & known
        places, which = np.unique(indexes[kept] * space.cells + cells[kept], return_inverse=True)
        if len(places) < len(which) and not added:
            continue
        at, cell = np.divmod(places, space.cells)
        summed: Floats = np.bincount(which, numbers[kept]).astype(np.float64)
        for meaning, whose in {"mover": (1, 1), "x": (1, -1), "o": (-1, 1)}.items():
            if meaning == "mover" or not values.decided:
                yield meant.reading(meaning, "mover", words, (at, cell, summed, whose, taken, texts))


def _placed(every: Int64s, meant: _Meant) -> Iterator[tuple[dict[str, str], Int64s, Floats, Int64s]]:
    """The cells (from 0) of the numbers: in what words, the cells, the numbers, and which of all they are.

    :param every: int64[m], the position of each number.
    """
    values, space = meant.values, meant.boards.space
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
            drawn, rows, counts = np.unique(
                values.rows * space.cells + beads.astype(np.int64), return_index=True, return_counts=True
            )
            yield {"cells": f"beads from {first}"}, drawn % space.cells, counts.astype(np.float64), rows
