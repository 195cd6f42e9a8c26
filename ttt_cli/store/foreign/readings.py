"""The readings of a table: those of its keys times those of its values.

What has to hold filters the product: values stand at cells that are free, a cell or a player in the key fits
the position, no position is there twice.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ttt_cli.engine.arrays import Floats, Int64s
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.store.foreign.conventions import ADDED, Convention
from ttt_cli.store.foreign.keys import LAST_FIRST, NUMBERED, Boards
from ttt_cli.store.foreign.reading import Images, Reading
from ttt_cli.store.foreign.values import Values, namings


class _Meant(NamedTuple):
    """What keys and values are taken for.

    :ivar values: those of the file, of moves where the keys name cells.
    :ivar owners: int64[keys], +1 X, -1 O: the player in every key; None if that is who is to move.
    """

    boards: Boards
    values: Values
    owners: Int64s | None
    facets: Mapping[str, str]
    conventions: Sequence[Convention]

    @property
    def of_moves(self) -> bool:
        """Whether the values are those of moves."""
        return self.values.shape != "position"

    def orders(self) -> Iterator[tuple["_Meant", bool]]:
        """The same under each order of the cells, and whether that is one to be tried in any case."""
        usual = NUMBERED.get(self.boards.spelling.form)
        for boards in (self.boards, *self.boards.turned()):
            order, rare = boards.spelling.order, [Convention.OTHER_ORDER]
            either_end = order == "rows" or (usual is not None and order == LAST_FIRST)
            if either_end:
                rare = [Convention.UNUSUAL_NUMBER] * (order != (usual or "rows"))
            meant = self._replace(boards=boards, conventions=[*self.conventions, *rare])
            yield meant, either_end or (usual is not None and self.of_moves)

    def named(
        self, meaning: str, usual: str, words: Mapping[str, str] | None = None
    ) -> tuple[dict[str, str], list[Convention]]:
        """The facets and the conventions of a reading under which values have this meaning.

        In a file whose own O moves first, what is X here is called O.

        :param words: the facets about the cells of moves.
        """
        spelling, other = self.boards.spelling, [Convention.OTHER_MEANING] * (meaning != usual)
        if (spelling.first or "X") in "Oo" and (spelling.second or "O") in "Xx" and not spelling.turn:
            meaning = {"x": "o", "o": "x"}.get(meaning, meaning)
        facets = {**spelling.facets, **self.facets, **(words or {}), "values": meaning}
        return facets, [*spelling.conventions, *self.conventions, *other]


def readings(boards: Boards, values: Values, group: Images | None) -> Iterator[Reading]:
    """The readings of a table whose keys are these boards.

    :param group: the symmetries whose images a key stands for, if it does.
    """
    for meant in _explained(boards, values):
        if meant.of_moves and boards.spelling.turn == "moved":
            continue  # moves are valued before they are made
        found: list[Reading] = []
        for ordered, always in meant.orders():
            # other orders only where all before have numbers at occupied cells
            if always or (meant.of_moves and group is None and all(reading.faults for reading in found)):
                found += _moves(ordered, group is not None) if meant.of_moves else _positions(ordered)
        yield from found if group is None else (reading.unfolded(group) for reading in found)


def _explained(boards: Boards, values: Values) -> Iterator[_Meant]:
    """The ways to explain what stands in the keys beside the board."""
    columns, rules = list(range(len(boards.beside))), boards.space.rules
    ways: list[tuple[tuple[int, ...], Values]] = [((), values)]
    if values.shape == "position":
        spans: list[tuple[int, ...]] = [(at,) for at in columns]
        for span in spans + [(at, at + 1) for at in columns[:-1]]:
            names = [",".join(parts) for parts in zip(*(boards.beside[at] for at in span), strict=True)]
            if any(namings(set(names), rules)):
                named = [names[row] for row in values.rows.tolist()]
                ways.append((span, replace(values, shape="cells", names=named)))
        if len(columns) == 1 and (played := _played(boards.beside[0], boards)) is not None:
            ways.append(((0,), replace(values, shape="list", places=played[values.rows])))
    for span, meant in ways:
        rest = [boards.beside[at] for at in columns if at not in span]
        if any(_says_more(column, rules.cells) for column in rest):
            continue
        varied = sum(len(set(column)) > 1 for column in rest)
        players = [(column, way) for column in rest for way in _players(column, boards)]
        if not any(named for _, (named, _, _) in players):
            yield _Meant(boards, meant, None, {}, [Convention.UNEXPLAINED] * varied)
        for column, (_, facets, owners) in players:
            unexplained = [Convention.UNEXPLAINED] * (varied - (len(set(column)) > 1))
            added = [Convention.ADDED_UP] * (facets.get("player-x") == ADDED)
            yield _Meant(boards, meant, owners, facets, unexplained + added)


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
    spelling, space = boards.spelling, boards.space
    digits = {spelling.empty: 0, spelling.second: 1, spelling.first: 2}
    if spelling.turn or not _is_board(column, space.cells) or not {*"".join(column)} <= digits.keys():
        return None
    codes = np.array([[digits[symbol] for symbol in item] for item in column], np.int64) @ space.powers
    after = space.find(codes)[:, None]
    moves = space.legal[boards.indexes] & (space.successors[boards.indexes] == after)
    return moves.argmax(axis=1) if moves.any(axis=1).all() else None


def _players(column: Sequence[str], boards: Boards) -> Iterator[tuple[bool, dict[str, str], Int64s | None]]:
    """The ways to take a column for the players: whether as the stones are written, the facets, the players;
    None if it does not say more than the board does: who is to move."""
    labels = sorted(set(column))
    spelling, space = boards.spelling, boards.space
    sides, stones = space.movers[boards.indexes], (spelling.first, spelling.second)
    known = {(stone or "").rstrip(".").lower(): side for stone, side in zip(stones, (1, -1), strict=True)}
    if len(labels) > 2:
        return
    if all(label.lower() in known for label in labels) and spelling.turn != "moved":
        owners = np.array([known[label.lower()] for label in column], np.int64)
        # one's own stones are those of whoever is to move
        yield True, {}, owners * sides if spelling.turn else owners
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
    space, spelling = boards.space, boards.spelling
    indexes = boards.indexes[values.rows]
    player = np.zeros(len(indexes), np.int64) if owners is None else owners[values.rows]
    if np.isinf(values.numbers).any() or len(np.unique(indexes * 3 + player)) < len(indexes):
        return
    side = space.movers[indexes]
    one = np.ones_like(side)
    meanings = {"x": one, "o": -one, "mover": side, "moved": -side}
    factors = {"x": (1, -1), "o": (-1, 1), "mover": (-1, -1)}
    whose = np.zeros_like(player)
    to_move = set(side[~space.terminal[indexes] & (space.plies[indexes] > 0)].tolist())
    usual = "moved" if len(to_move) == 1 else None
    if spelling.turn:
        usual = spelling.turn
    if owners is not None:
        usual = "owner"
        if len(np.unique(indexes)) < len(indexes):
            meanings, whose = {}, player  # each player has a value of its own for a position
        meanings["owner"] = player
    for meaning, signs in meanings.items():
        named, good = meant.named(meaning, usual or meaning), factors.get(meaning, (1, 1))
        yield Reading(*named, boards, values, indexes, whose, values.numbers, signs, good)


def _moves(meant: _Meant, folded: bool) -> Iterator[Reading]:
    """The readings of numbers as values of moves, for each way to number the cells and each meaning."""
    boards, values, owners, space = meant.boards, meant.values, meant.owners, meant.boards.space
    every = boards.indexes[values.rows]
    for words, cells, numbers, rows in _placed(every, values, space):
        indexes = every[rows]
        opened = ~space.terminal[indexes]
        if owners is not None:
            opened &= owners[values.rows[rows]] == space.movers[indexes]
        free, known = space.legal[indexes, cells], np.isfinite(numbers)
        occupied = opened & ~free & known
        filler = Counter(numbers[occupied].tolist()).most_common(1)
        taken = int(occupied.sum()) - (filler[0][1] if filler and not values.decided else 0)
        texts = int((opened & free & np.isinf(numbers)).sum())
        # Where keys stand for all images, cells may be those of the board as it is played.
        kept = opened & known if folded and taken else opened & known & free
        places, which = np.unique(indexes[kept] * space.cells + cells[kept], return_inverse=True)
        added = meant.facets.get("player-x") == ADDED
        if not (opened & known & free).any() or (len(places) < len(which) and not added):
            continue
        at, cell = np.divmod(places, space.cells)
        summed: Floats = np.bincount(which, numbers[kept]).astype(np.float64)
        meanings = {"mover": (1, 1), "x": (1, -1), "o": (-1, 1)}
        for meaning in ["mover"] if values.decided else meanings:
            good = meanings[meaning]
            signs = np.where(space.movers > 0, *good)[at]
            named = meant.named(meaning, "mover", words)
            yield Reading(*named, boards, values, at, cell, summed, signs, good, taken, texts)


def _placed(
    indexes: Int64s, values: Values, space: StateSpace
) -> Iterator[tuple[dict[str, str], Int64s, Floats, Int64s]]:
    """The cells (from 0) of the numbers: in what words, the cells, the numbers, and which of ``values``."""
    every, places = np.arange(len(values.rows)), values.places
    if values.shape == "cells":
        for words, named in namings(set(values.names), space.rules):
            cells = np.array([named[name] for name in values.names], np.int64)
            yield {"cells": words}, cells, values.numbers, every
        return
    if values.shape == "list":
        yield {}, places, values.numbers, every
        return
    free = space.legal[indexes].sum(axis=1)
    if np.all((np.bincount(values.rows)[values.rows] == free) | (free == 0)):
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
