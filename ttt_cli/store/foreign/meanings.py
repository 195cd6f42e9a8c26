"""The readings of a table: the spelling of its keys combined with every meaning that its values may have.

``valued`` and ``policies`` list the ways to find values, or the moves of a policy, in the table. Under each,
readings differ in what a key holds besides its board (``_explanations``), in the order of the cells, in the
cell that each number belongs to (``_placements``), and in whose win a large number means (``_of_positions``,
``_of_moves``). Only combinations that fit the game are made: values are at free cells, a cell or a player in
a key fits the position, no position occurs twice.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from ttt_cli.engine.arrays import Bools, Floats, Int64s
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.store.foreign.keys import BITS, LAST_FIRST, NUMBERS, Spelling
from ttt_cli.store.foreign.questions import ADDED
from ttt_cli.store.foreign.reading import BEADS, MIN_MAPPED, Folding, Reading
from ttt_cli.store.foreign.values import MARKED, TRANSPOSED, Values, decisions, namings

ADDED_RARITY = 3  # of adding up two tables, which usually belong to two players
ORDER_RARITY = 5  # of cells that do not come row by row from the top left
LAST_FIRST_RARITY = 1  # of bits that begin with the last cell
MEANING_RARITY = 2  # of values for another side than usual, and of cells by column and row
MISPLACED = 0.05  # the largest share of moves at occupied cells, of policies and under keys up to symmetry


ColumnsAndValues = tuple[tuple[int, ...], Values]
"""The columns of the extras that are part of the values, and the values."""


def readings(
    spelling: Spelling, columns: tuple[int, ...], values: Values, folding: Folding | None, any_order: bool
) -> Iterator[Reading]:
    """The readings of a table whose keys are so spelled, and may stand for their images, and whose values are
    these, given the columns that are part of them.

    :param any_order: whether to try rare orders of cells even where nothing calls for them.
    """
    for explained in _explanations(spelling, columns, values):
        if explained.values.of_moves and spelling.turn == "moved":
            continue  # moves are valued before they are made
        combined = _combined(explained, folding, any_order)
        yield from combined if folding is None else (reading.unfolded(folding) for reading in combined)


class _Explained(NamedTuple):
    """A way to explain what the keys of a spelling hold besides their boards.

    :ivar values: those of moves, if the keys name cells.
    :ivar owners: int64[keys], the player in every key, +1 X, -1 O; None: whoever is to move.
    """

    spelling: Spelling
    values: Values
    owners: Int64s | None = None
    facets: Mapping[str, str] = {}

    @property
    def are_added(self) -> bool:
        """Whether the numbers of two players are added up."""
        return ADDED in self.facets.values()


def _combined(explained: _Explained, folding: Folding | None, any_order: bool) -> list[Reading]:
    """The readings of the keys themselves for one explanation, in every order of cells worth trying."""
    result = list[Reading]()
    spelling = explained.spelling
    usual_order = np.arange(spelling.space.cells)
    for oriented, image in chain([(spelling, usual_order)], spelling.reoriented()):
        # Rare orders are tried only if one is stated, or if moves would otherwise go to occupied cells.
        is_rare = _order_rarity(oriented) == ORDER_RARITY
        is_needed = any_order or (explained.values.of_moves and all(reading.faults for reading in result))
        if is_rare and not is_needed:
            continue
        if explained.values.of_moves:
            # In a stated order cells may be numbered too, unless it is that of a number's digits.
            numbered = image if any_order and oriented.form not in NUMBERS else usual_order
            ways = _of_moves(explained._replace(spelling=oriented), folding, numbered)
        else:
            ways = _of_positions(explained._replace(spelling=oriented))
        result += [way for way in ways if any_order or not (is_rare and way.faults)]
    return result


def _order_rarity(oriented: Spelling) -> int:
    """What the order of the cells adds to the rarity of a reading."""
    if oriented.form in NUMBERS and oriented.order == LAST_FIRST:  # in base 3 as common
        return LAST_FIRST_RARITY if oriented.form in BITS else 0
    return 0 if oriented.order == "rows" else ORDER_RARITY


def _reading(explained: _Explained, measure: str, usual: str, cells: str = "", **fields: Any) -> Reading:
    """The reading of numbers, given the meaning of a large one.

    :param measure: whose win it means; ``usual``: whose it usually means in such a table.
    :param cells: how moves name their cells, in words.
    :param fields: the other fields of the ``Reading``.
    """
    spelling = explained.spelling
    rarity = spelling.rarity + _order_rarity(spelling)
    if explained.are_added:
        rarity += ADDED_RARITY
    if measure != usual:
        rarity += MEANING_RARITY
    if cells.startswith(TRANSPOSED):
        rarity += MEANING_RARITY
    placed = {"cells": cells} if cells else {}
    values = {"values": _measure_in_file(measure, spelling)}
    facets = {**spelling.facets, **explained.facets, **placed, **values}
    return Reading(spelling, explained.values, facets, rarity, **fields)


def _measure_in_file(measure: str, spelling: Spelling) -> str:
    """Whose win a large number means, in the words of the file, which may call whoever moves first O."""
    if (spelling.first or "X") in "Oo0" and (spelling.second or "O") in "Xx" and not spelling.turn:
        return {"x": "o", "o": "x"}.get(measure, measure)
    return measure


def valued(spelling: Spelling, values: Values) -> Iterator[ColumnsAndValues]:
    """The ways to find values in a table: they are those of the keys, or of the cells in these."""
    yield (), values
    yield from (((), of_free) for of_free in _of_free_cells(spelling, values))
    if values.of_moves:
        return
    for columns, cells in _cell_columns(spelling):
        names, ids = np.unique(cells, return_inverse=True)
        of_cells = replace(values, shape="cells", names=names.tolist(), ids=ids[values.rows])
        at_open = np.unique(ids[~spelling.space.terminal[spelling.indexes]])  # an ended game has no move
        if any(namings(names[at_open].tolist(), spelling.space.rules)):
            yield columns, of_cells


def _of_free_cells(spelling: Spelling, values: Values) -> Iterator[Values]:
    """Lists of one number for each cell may hold those of the free cells, in order, and from there on always
    the same: if the numbers at occupied cells are not."""
    space = spelling.space
    if values.names != [*map(str, range(space.cells))]:
        return
    legal = space.legal[spelling.indexes[values.rows]]
    is_free = values.ids < legal.sum(axis=1)
    at_occupied = values.numbers[~legal[np.arange(len(legal)), values.ids]]
    if len(np.unique(values.numbers[~is_free])) == 1 < len(np.unique(at_occupied)):
        rows, numbers, ids = (column[is_free] for column in (values.rows, values.numbers, values.ids))
        yield replace(values, shape="list", rows=rows, numbers=numbers, ids=ids)


def _explanations(spelling: Spelling, columns: tuple[int, ...], values: Values) -> Iterator[_Explained]:
    """The ways to explain what the keys hold besides their boards and these columns."""
    others = [column for at, column in enumerate(spelling.extras) if at not in columns]
    # The same in every key says nothing, nor does how many stones there are.
    varied = [column for column in others if len(set(column)) > 1 and not _are_plies(column, spelling)]
    if not varied:
        yield _Explained(spelling, values)
    elif len(varied) == 1:
        for facets, owners in _players(varied[0], spelling):
            yield _Explained(spelling, values, owners, facets)


def _are_plies(column: Sequence[str], spelling: Spelling) -> bool:
    """Whether a column of the extras only counts the moves that were made, or are left."""
    plies = spelling.space.plies[spelling.indexes].tolist()
    if len({*column}) < 3 or not all(label.isdecimal() and len(label) < 3 for label in column):
        return False
    made = {int(label) - ply for label, ply in zip(column, plies, strict=True)}
    left = {int(label) + ply for label, ply in zip(column, plies, strict=True)}
    return len(made) == 1 or len(left) == 1


def _cell_columns(spelling: Spelling) -> Iterator[tuple[tuple[int, ...], list[str]]]:
    """The columns of the extras that may name the cell of a move, one or two of them, and the cell's name in
    every key. The board after the move names it, too."""
    columns = range(len(spelling.extras))
    for at in columns:
        if (cells := _cells_played(spelling.extras[at], spelling)) is not None:
            yield (at,), [*map(str, cells.tolist())]
    for chosen in [*((at,) for at in columns), *((at, at + 1) for at in columns[:-1])]:
        yield chosen, [*map(",".join, zip(*(spelling.extras[at] for at in chosen), strict=True))]


def _cells_played(column: Sequence[str], spelling: Spelling) -> Int64s | None:
    """int64[keys], the cells that lead from each key's position to the board in a column, if all do."""
    space = spelling.space
    digits = {spelling.empty: 0, spelling.second: 1, spelling.first: 2}
    if spelling.turn or not all(len(board) == space.cells and {*board} <= digits.keys() for board in column):
        return None
    codes = np.array([[digits[symbol] for symbol in board] for board in column], np.int64) @ space.powers
    moves = space.legal[spelling.indexes] & (space.successors[spelling.indexes] == space.find(codes)[:, None])
    return moves.argmax(axis=1) if moves.any(axis=1).all() else None


def _players(column: Sequence[str], spelling: Spelling) -> Iterator[tuple[dict[str, str], Int64s | None]]:
    """The ways to read a column of the extras as players: facets, and owners as in ``_Explained``."""
    labels = sorted(set(column))
    space = spelling.space
    movers = space.movers[spelling.indexes]
    still_open = ~space.terminal[spelling.indexes]
    stones = ((spelling.first, 1), (spelling.second, -1))
    side_of = {(stone or "").rstrip(".").lower(): side for stone, side in stones}
    if all(label.lower() in side_of for label in labels) and spelling.turn != "moved":
        owners = np.array([side_of[label.lower()] for label in column], np.int64)
        relative = owners * movers if spelling.turn else owners  # "mine" belongs to whoever is to move
        yield {}, max(relative, owners, key=lambda sides: int((sides == movers).sum()))
        if not (spelling.turn or (owners == movers)[still_open].any()):
            yield {}, None  # they only say who has just moved
    elif len(labels) == 2:
        owners = np.array([1 if label == labels[0] else -1 for label in column], np.int64)
        if len(set((owners * movers)[still_open].tolist())) == 1:
            yield {}, None  # the labels only say who is to move
        yield {"player-x": labels[0]}, owners
        yield {"player-x": labels[1]}, -owners
        yield {"player-x": ADDED}, None


def _of_positions(explained: _Explained) -> Iterator[Reading]:
    """Numbers as values of positions, for each side whose good they may measure."""
    spelling, values, owners, _ = explained
    space = spelling.space
    every = spelling.indexes[values.rows]
    is_known: Bools = np.isfinite(values.numbers)
    if owners is not None and len(np.unique(every)) < len(every):
        are_movers = owners[values.rows] == space.movers[every]
        if are_movers[space.plies[every] % 2 == 1].all():
            # They say who is to move, in games that either side began; those of O are of another game.
            is_known = is_known & are_movers
            owners = None
    rows = values.rows[is_known]
    indexes = spelling.indexes[rows]
    mover = space.movers[indexes]
    player = None if owners is None else owners[rows]
    keys = indexes if player is None else indexes * 3 + player
    if space.terminal[indexes].all() or len(np.unique(keys)) < len(keys):
        return  # ends of games show how they were won, not how to win
    unknown = np.flatnonzero(~is_known)
    left_out = np.stack([unknown, np.zeros_like(unknown)], axis=1)
    fields: dict[str, Any] = {"indexes": indexes, "numbers": values.numbers[is_known], "left_out": left_out}
    if player is not None:
        slots = (player < 0).astype(np.int64)
        yield _reading(explained, "owner", "owner", **fields, slots=slots, signs=(1, 1))
        if len(np.unique(indexes)) < len(indexes):
            return  # each player has a value of its own for a position
    to_move = set(mover[~space.terminal[indexes] & (space.plies[indexes] > 0)].tolist())
    usual = spelling.turn or ("moved" if len(to_move) == 1 else "")
    usual = usual if player is None else "owner"
    measures = {"mover": (-1, -1), "moved": (1, 1)}  # as ``Reading.signs``: X, or O, has just moved
    if not spelling.turn:  # boards that do not show which side is X have no values for X
        measures = {"x": (1, -1), "o": (-1, 1), **measures}
    for measure, (after_x, after_o) in measures.items():
        slots = (np.where(mover > 0, -after_o, after_x) < 0).astype(np.int64)
        signs = (after_x, after_o)
        yield _reading(explained, measure, usual or measure, **fields, slots=slots, signs=signs)


def _of_moves(explained: _Explained, folding: Folding | None, order: Int64s) -> Iterator[Reading]:
    """Numbers as values of moves, for each way to place them and each side whose good they may measure.

    :param order: int64[cells], in which the names of cells may come, if not row by row.
    """
    spelling, values, owners, _ = explained
    space = spelling.space
    every = spelling.indexes[values.rows]
    goes_on: Bools = ~space.terminal[every]
    if owners is not None:
        goes_on &= owners[values.rows] == space.movers[every]
    measures = {"mover": (1, 1)}
    if not (values.are_decisions or spelling.turn):
        measures |= {"x": (1, -1), "o": (-1, 1), "cost": (-1, -1)}
    for words, placement in _placements(every, values, space, order):
        fields = _placed(placement, explained, folding, goes_on)
        if fields:
            for measure, signs in measures.items():
                yield _reading(explained, measure, "mover", words, **fields, signs=signs)


def _placed(
    placement: tuple[Int64s, Floats, Int64s], explained: _Explained, folding: Folding | None, goes_on: Bools
) -> dict[str, Any]:
    """The fields of a ``Reading`` for numbers placed at moves; empty if they cannot be meant so.

    :param goes_on: bool[m], whether the player of each number can move in its position.
    """
    cells, numbers, at = placement
    spelling, values, *_ = explained
    space = spelling.space
    indexes, still_open = spelling.indexes[values.rows[at]], goes_on[at]
    is_known = np.isfinite(numbers)
    is_free = space.legal[indexes, cells]
    if folding and not folding.turned:
        is_free = np.ones_like(is_free)  # on some image of the board
    at_occupied = Counter(numbers[still_open & ~is_free & is_known].tolist())
    filler = 0 if values.are_decisions else max(at_occupied.values(), default=0)
    occupied = at_occupied.total() - filler
    is_kept = still_open & is_known & is_free
    # Of a player who is not to move; 0 says nothing.
    is_idle = ~still_open & ~space.terminal[indexes] & (numbers != 0)
    many = int(is_kept.sum())
    has_one_per_key = len(np.unique(values.rows)) == len(values.rows)  # not a number for each cell
    is_strict = folding is not None or values.are_decisions
    if not many or (has_one_per_key and occupied > many) or (is_strict and occupied > MISPLACED * many):
        return {}
    moves, move_of = np.unique(indexes[is_kept] * space.cells + cells[is_kept], return_inverse=True)
    if len(moves) < len(move_of) and not explained.are_added:
        return {}
    positions, slots = np.divmod(moves, space.cells)
    return {
        "indexes": positions,
        "slots": slots,
        "numbers": np.bincount(move_of, numbers[is_kept]).astype(np.float64),
        "occupied": occupied,
        "left_out": np.stack([at, cells], axis=1)[is_free & (still_open & ~is_known | is_idle)],
    }


def _placements(
    every: Int64s, values: Values, space: StateSpace, order: Int64s
) -> Iterator[tuple[str, tuple[Int64s, Floats, Int64s]]]:
    """The ways to place numbers whose positions are ``every``, int64[m]: in words, the cells (from 0), the
    numbers, and their indexes in ``Values``; for ``order`` see ``_of_moves``."""
    places = values.ids
    at = np.arange(len(values.rows))
    if values.shape == "cells":
        named = np.unique(places[~space.terminal[every]])  # at the end of a game there is no move
        cell_of = np.zeros(len(values.names), np.int64)
        for words, cells in namings([values.names[name] for name in named.tolist()], space.rules):
            cell_of[named] = cells
            if words == MARKED:  # by one sign, or by that of whoever moves
                goes_on = ~space.terminal[every]
                signs = np.array([-1 if "-" in name else 1 for name in values.names])[places[goes_on]]
                if len(np.unique(signs)) > 1 and len(np.unique(signs * space.movers[every[goes_on]])) > 1:
                    continue
            yield words, (cell_of[places], values.numbers, at)
            if (order[cells] != cells).any():
                in_order = f"{words} in the order of the board"
                yield in_order, (order[cell_of[places]], values.numbers, at)
        return
    free = space.legal[every].sum(axis=1)
    if np.all((np.bincount(values.rows)[values.rows] == free) | (free == 0)):
        free_first = np.argsort(~space.legal, axis=1, kind="stable")
        cells = free_first[every, np.minimum(places, space.cells - 1)]
        yield "free ones alone", (cells, values.numbers, at)
    for first in (0, 1):
        beads = values.numbers - first
        if np.all(np.isfinite(beads) & (beads == np.round(beads)) & (beads >= 0) & (beads < space.cells)):
            codes = values.rows * space.cells + beads.astype(np.int64)
            drawn, at, counts = np.unique(codes, return_index=True, return_counts=True)
            yield f"{BEADS} from {first}", (drawn % space.cells, counts.astype(np.float64), at)


def policies(spelling: Spelling, values: Sequence[Any]) -> Iterator[ColumnsAndValues]:
    """The ways to read the values of a table as moves; none if an open position occurs twice."""
    (still_open,) = np.nonzero(~spelling.space.terminal[spelling.indexes])  # ended boards hold no move
    boards, answers = spelling.select(still_open), [values[row] for row in still_open.tolist()]
    if len(np.unique(boards.indexes)) == len(still_open):
        for columns, moves in _answers(boards, answers):
            yield columns, replace(moves, rows=still_open[moves.rows])


def _answers(spelling: Spelling, values: Sequence[Any]) -> Iterator[ColumnsAndValues]:
    """The ways to read the values of open positions as moves. A value is a cell, or the board's column of a
    cell whose row is in the key; or, where each position has one value, what the move is worth that the key,
    or the other part of a pair, names."""
    yield from (((), moves) for moves in decisions(values))
    kinds = {*map(type, values)}
    if kinds == {int}:
        for at, column in enumerate(spelling.extras):
            yield from (((at,), moves) for moves in decisions([*map("{},{}".format, column, values)]))
    if len(values) >= MIN_MAPPED:
        for columns, cells in _cell_columns(spelling):
            yield from ((columns, moves) for moves in decisions(cells))
        if kinds == {list} and {*map(len, values)} == {2}:
            for part in zip(*values, strict=True):
                yield from (((), moves) for moves in decisions(part))
