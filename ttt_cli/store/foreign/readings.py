"""The readings of a table: those of its keys times those of its values.

What has to hold filters the product: values stand at cells that are free, a cell or a player in the key fits
the position, no position is there twice.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ttt_cli.engine.arrays import Floats, Int64s
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.store.foreign.keys import NUMBERED, Boards
from ttt_cli.store.foreign.table import Images, Table
from ttt_cli.store.foreign.values import Values, namings

ADDED = "added"
"""As ``player-x``: the two tables are no players', the program adds them up (double Q-learning)."""
LAST_FIRST = "rows from bottom right"
"""A number's digits from the least on: as usual as the other way."""
RARE_MEANING, RARE_COLUMN, RARE_ORDER = 2, 3, 5
"""How rare it is that values mean that, that a part of the keys means nothing, that cells are counted so."""


@dataclass(frozen=True, eq=False)
class Reading:
    """One way to read a table.

    :ivar facets: what tells it from others, by the names on the command line.
    :ivar rarity: how far it is from what people do.
    :ivar boards: its keys, those among them that are left out too.
    :ivar taken: how many numbers at occupied cells are no filler.
    :ivar texts: how many values of free cells are no numbers.
    :ivar folded: how many positions the file has, if each stands for all its images; else 0.
    """

    facets: Mapping[str, str]
    rarity: int
    boards: Boards
    table: Table
    taken: int = 0
    texts: int = 0
    folded: int = 0

    @property
    def rank(self) -> float:
        """How likely it is: what the numbers say for it, less what it asks one to believe."""
        return self.table.score - 3 * self.rarity - int(self.boards.left_out.sum())

    @property
    def faults(self) -> int:
        """How many numbers stand or say what they should not."""
        return self.table.faults + self.texts + (0 if self.folded else self.taken)


class _Meant(NamedTuple):
    """What is taken for what: of the items of a key beside the board, and so of the values.

    :ivar owners: int64[keys], +1 X, -1 O: the player in every key; None if that is who is to move.
    :ivar values: those of the file, of moves where the keys name cells.
    """

    facets: Mapping[str, str]
    rarity: int
    owners: Int64s | None
    values: Values


def readings(boards: Boards, values: Values, space: StateSpace, group: Images | None) -> Iterator[Reading]:
    """The readings of a table whose keys are these boards.

    :param group: the symmetries whose images a key stands for, if it does.
    """
    numbered = boards.spelling.form in NUMBERED
    for meant in _explained(boards, values, space):
        of_moves = meant.values.shape != "position"
        if of_moves and boards.spelling.mover == "moved":
            continue  # moves are valued before they are made
        found: list[Reading] = []
        for ordered, rare in [(boards, int(numbered)), *((it, RARE_ORDER) for it in boards.turned(space))]:
            last_first = numbered and ordered.spelling.order == LAST_FIRST
            natural = of_moves and group is None and all(reading.faults for reading in found)
            if ordered is boards or last_first or (natural or (numbered and of_moves)):
                read = _moves if of_moves else _positions
                for reading in read(ordered, meant, group, space):
                    more = meant.rarity + (0 if last_first else rare)
                    found.append(replace(reading, rarity=reading.rarity + more))
        for reading in found:
            if group is None:
                yield reading
            else:
                table = reading.table.unfolded(group, as_played=reading.taken > 0)
                yield replace(reading, table=table, folded=reading.table.counts[0])


def _explained(boards: Boards, values: Values, space: StateSpace) -> Iterator[_Meant]:
    """The ways to explain what stands in the keys beside the board."""
    columns = list(range(len(boards.beside)))
    ways: list[tuple[tuple[int, ...], Values]] = [((), values)]
    if values.shape == "position":
        spans: list[tuple[int, ...]] = [(at,) for at in columns]
        for span in spans + [(at, at + 1) for at in columns[:-1]]:
            names = [",".join(parts) for parts in zip(*(boards.beside[at] for at in span), strict=True)]
            if any(namings(set(names), space.rules)):
                named = [names[row] for row in values.rows.tolist()]
                ways.append((span, replace(values, shape="cells", names=named)))
        if len(columns) == 1 and (played := _played(boards.beside[0], boards, space)) is not None:
            ways.append(((0,), replace(values, shape="list", places=played[values.rows])))
    for span, meant in ways:
        rest = [boards.beside[at] for at in columns if at not in span]
        if any(_is_board(column, space) for column in rest):
            continue
        varied = sum(len(set(column)) > 1 for column in rest)
        players = [(column, way) for column in rest for way in _players(column, boards, space)]
        if not any(named for _, (named, _, _) in players):
            yield _Meant({}, RARE_COLUMN * varied, None, meant)
        for column, (_, facets, owners) in players:
            unexplained = varied - (len(set(column)) > 1) + (facets.get("player-x") == ADDED)
            yield _Meant(facets, RARE_COLUMN * unexplained, owners, meant)


def second_board(boards: Boards, space: StateSpace) -> str | None:
    """What stands beside the board in a key and could be a board itself, other than that after a move."""
    columns = (column for column in boards.beside if _is_board(column, space))
    return next((column[0] for column in columns if _played(column, boards, space) is None), None)


def _is_board(column: Sequence[str], space: StateSpace) -> bool:
    words = len(set(column)) > 1 and all(len(item) == space.cells for item in column)
    return words and not {*"".join(column)} & {*",()[]"}


def _played(column: Sequence[str], boards: Boards, space: StateSpace) -> Int64s | None:
    """int64[keys]: the cells that lead from each key's position to the board in a column, if all do."""
    spelling = boards.spelling
    digits = {spelling.empty: 0, spelling.second: 1, spelling.first: 2}
    if spelling.mover or not _is_board(column, space) or not {*"".join(column)} <= digits.keys():
        return None
    codes = np.array([[digits[symbol] for symbol in item] for item in column], np.int64) @ space.powers
    after = space.find(codes)[:, None]
    moves = space.legal[boards.indexes] & (space.successors[boards.indexes] == after)
    return moves.argmax(axis=1) if moves.any(axis=1).all() else None


def _players(
    column: Sequence[str], boards: Boards, space: StateSpace
) -> Iterator[tuple[bool, dict[str, str], Int64s | None]]:
    """The ways to take a column for the players: whether as the stones are written, the facets, the players;
    None if it does not say more than the board does: who is to move."""
    labels = sorted(set(column))
    spelling, sides = boards.spelling, space.movers[boards.indexes]
    known = {
        (stone or "").rstrip(".").lower(): side
        for stone, side in ((spelling.first, 1), (spelling.second, -1))
    }
    if len(labels) > 2:
        return
    if all(label.lower() in known for label in labels) and spelling.mover != "moved":
        owners = np.array([known[label.lower()] for label in column], np.int64)
        # one's own stones are those of whoever is to move
        yield True, {}, owners * sides if spelling.mover else owners
    elif len(labels) == 2:
        owners = np.array([1 if label == labels[0] else -1 for label in column], np.int64)
        if len(set((owners * sides)[~space.terminal[boards.indexes]].tolist())) == 1:
            yield False, {}, None
        else:
            yield False, {"player-x": labels[0]}, owners
            yield False, {"player-x": labels[1]}, -owners
            yield False, {"player-x": ADDED}, None


def _positions(boards: Boards, meant: _Meant, group: Images | None, space: StateSpace) -> Iterator[Reading]:
    """The readings of numbers as values of positions: one for each side whose good they may measure."""
    facets, _, owners, values = meant
    indexes, spelling = boards.indexes[values.rows], boards.spelling
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
    if spelling.mover:
        usual = {"to move": "mover", "moved": "moved"}[spelling.mover]
    if owners is not None:
        usual = "owner"
        if len(np.unique(indexes)) < len(indexes):
            meanings, whose = {}, player  # each player has a value of its own for a position
        meanings["owner"] = player
    for meaning, signs in meanings.items():
        table = Table(space, "td", indexes, whose, values.numbers, signs, factors.get(meaning, (1, 1)))
        rarity = spelling.rarity + RARE_MEANING * (usual not in (None, meaning))
        named = {**spelling.facets, **facets, "values": _in_file(meaning, boards)}
        yield Reading(named, rarity, boards, table)


def _moves(boards: Boards, meant: _Meant, group: Images | None, space: StateSpace) -> Iterator[Reading]:
    """The readings of numbers as values of moves, for each way to number the cells and each meaning."""
    facets, _, owners, values = meant
    spelling, every = boards.spelling, boards.indexes[values.rows]
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
        kept = opened & known if group is not None and taken else opened & known & free
        places, which = np.unique(indexes[kept] * space.cells + cells[kept], return_inverse=True)
        added = facets.get("player-x") == ADDED
        if not (opened & known & free).any() or (len(places) < len(which) and not added):
            continue
        at, cell = np.divmod(places, space.cells)
        summed: Floats = np.bincount(which, numbers[kept]).astype(np.float64)
        meanings = {"mover": (1, 1), "x": (1, -1), "o": (-1, 1)}
        for meaning in ["mover"] if values.decided else meanings:
            whose = meanings[meaning]
            signs = np.where(space.movers > 0, *whose)[at]
            table = Table(space, "q", at, cell, summed, signs, whose, values.counted, values.decided)
            rarity = spelling.rarity + RARE_MEANING * (meaning != "mover")
            named = {**spelling.facets, **facets, **words, "values": _in_file(meaning, boards)}
            yield Reading(named, rarity, boards, table, taken, texts)


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


def _in_file(meaning: str, boards: Boards) -> str:
    """The name of a meaning in a file whose own O moves first: it calls O what is X here."""
    spelling = boards.spelling
    swapped = (spelling.first or "X") in "Oo" and (spelling.second or "O") in "Xx" and not spelling.mover
    return {"x": "o", "o": "x"}.get(meaning, meaning) if swapped else meaning
