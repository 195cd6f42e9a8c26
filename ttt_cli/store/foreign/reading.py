"""The readings of a table: the spelling of its keys combined with every meaning that its values may have.

They differ in what a key holds besides its board (``_meanings``), in the order of the cells, in the cell
that each number belongs to (``_placements``), and in whose win a large number means (``_of_positions``,
``_of_moves``). Only combinations that fit the game are made: values are at free cells, a cell or a player in
a key fits the position, no position occurs twice. ``policies`` takes values for moves, to be combined alike.

Values of moves, counts of beads among them, become a table of ``q``, values of positions one of ``td``.
Numbers stay exactly as in the file, each for the side whose good it measures, so that equal ones stay equal.

A trained table prefers good moves to bad ones. So under the right reading it chooses better than chance;
under a wrong one (values taken for the other side's, cells counted from the wrong number) it does not. A move
is good if it wins more often when both sides go on at random: known for every position, and independent of
any table. ``Reading.score`` is a standard score: about 0, give or take 1, for numbers that say nothing.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import chain
from typing import Any, Literal, NamedTuple

import numpy as np

from ttt_cli.engine.arrays import Bools, Floats, Int64s
from ttt_cli.engine.policy import best_moves
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.store.foreign.keys import BITS, LAST_FIRST, MIN_CANONICAL, NUMBERS, Images, Spelling, images
from ttt_cli.store.foreign.questions import ADDED
from ttt_cli.store.foreign.values import MARKED, TURNED, Values, decisions, namings
from ttt_cli.store.plays import PlayRule

BEADS = "beads"  # the facet ``cells`` begins so where a list names a cell once for each bead
EMPTY_BOXES = 0.5  # the largest share of boards without beads; with more, numbers are values that begin at 0
INEXACT = 0.02  # the largest rounding error of probabilities that add up to 1
MIN_UNEQUAL = 3  # on fewer boards with unequal numbers these may add up to 1 by chance
PROBABILITIES_SHARE = 0.95  # the least share of boards on which probabilities must add up
MIN_MAPPED = 20  # with fewer positions it may be chance that each has one number only, or one move
MIN_IDS = 100  # if at least so many positions have a different whole number each, these are not values
ADDED_RARITY = 3  # of adding up two tables, which usually belong to two players
ORDER_RARITY = 5  # of cells that do not come row by row from the top left
LAST_FIRST_RARITY = 1  # of bits that begin with the last cell
MEANING_RARITY = 2  # of values for another side than usual, and of cells by column and row
MISPLACED = 0.05  # the largest share of moves at occupied cells, of policies and under keys up to symmetry


class Folding(NamedTuple):
    """How keys stand for their images: the symmetries, and whether moves are turned with the boards."""

    group: Images
    turned: bool = True


Measured = tuple[str, str, Mapping[str, str], dict[str, Any]]
"""Whose win a large number means, and usually means in such a table; the facets of how numbers were placed;
and the other fields of the ``Reading``."""


@dataclass(frozen=True, eq=False)
class Reading:
    """A way to read a table: numbers, each of a position or of a move in it.

    :ivar spelling: the table's keys, including those left out.
    :ivar values: the numbers as the file has them.
    :ivar facets: what distinguishes it from others, under the names of the command line.
    :ivar rarity: how far it is from what authors usually write.
    :ivar indexes: int64[k], the positions.
    :ivar slots: int64[k], of moves the cells, from 0; of positions the side whose good it is, 0 X's, 1 O's.
    :ivar numbers: float64[k], as in the file.
    :ivar signs: +1 or -1, whether a large number is good for X when X moves, and for O when O does.
    :ivar left_out: int64[m, 2], values of positions or free cells that are not numbers, or of games that the
        other side began: their places in ``values``, cells.
    :ivar occupied: how many numbers at occupied cells are not filler.
    :ivar classes: how many positions the file has, if each stands for all its images; else 0.
    :ivar stands_for: the symmetries that keys may stand for, if that is open.
    """

    spelling: Spelling
    values: Values
    facets: Mapping[str, str]
    rarity: int
    indexes: Int64s
    slots: Int64s
    numbers: Floats
    signs: tuple[int, int]
    left_out: Int64s
    occupied: int = 0
    classes: int = 0
    stands_for: Sequence[str] = ()

    @property
    def of_moves(self) -> bool:
        """Whether the numbers are those of moves."""
        return self.values.shape != "position"

    @cached_property
    def positions(self) -> int:
        """The number of positions that have a number."""
        return len(np.unique(self.indexes))

    @property
    def tables(self) -> str:
        """``own`` or ``shared``, as in ``PlayRule.tables``."""
        return "own" if not self.of_moves and self.positions < len(self.indexes) else "shared"

    @cached_property
    def still_open(self) -> Bools:
        """bool[k], whether the game goes on at the positions, or after the moves."""
        space = self.spelling.space
        return ~space.terminal[space.successors[self.indexes, self.slots] if self.of_moves else self.indexes]

    @cached_property
    def worth(self) -> Floats:
        """float64[k], the numbers from the mover's side; those of positions from X's, less ``even``."""
        numbers = self.numbers
        if self.of_moves:
            return numbers * np.where(self.spelling.space.movers > 0, *self.signs)[self.indexes] + 0.0
        return (numbers - self.even) * (1 - 2 * self.slots) + 0.0

    @property
    def even(self) -> float:
        """What an even position is worth: 1/2 if the numbers look like chances to win, the mean of open
        positions if they are all on one side of 0, such as points or per cent, else 0."""
        numbers, undecided = self.numbers, self.numbers[self.still_open]
        if np.all((numbers >= 0) & (numbers <= 1)):
            return 0.5 if (undecided == 0).sum() <= (undecided == 0.5).sum() else 0.0
        one_sided = np.all(numbers >= 0) or np.all(numbers <= 0)
        return float(undecided.mean()) if one_sided and len(undecided) else 0.0

    @property
    def by_slot(self) -> Floats:
        """The numbers by position, NaN where there is none: float64[n, cells] of moves, from the mover's
        side; float64[n, 2] of positions, X's good and O's, as in the file."""
        space = self.spelling.space
        values = np.full((len(space), space.cells if self.of_moves else 2), np.nan)
        values[self.indexes, self.slots] = self.worth if self.of_moves else self.numbers
        return values

    @property
    def by_board(self) -> tuple[Int64s, Floats]:
        """The boards of which there are moves, int64[k], few of those of a large game; and what ``by_slot``
        has of them."""
        boards, places = np.unique(self.indexes, return_inverse=True)
        values = np.full((len(boards), self.spelling.space.cells), np.nan)
        values[places, self.slots] = self.worth
        return boards, values

    @cached_property
    def fingerprint(self) -> bytes:
        """Equal for readings that play alike: zeros of moves and the empty board say nothing."""
        slots = self.slots if self.of_moves or self.tables == "own" else np.zeros_like(self.slots)
        order = np.lexsort((slots, self.indexes))
        order = order[(self.worth != 0 if self.of_moves else self.indexes != 0)[order]]
        return b"".join(array[order].tobytes() for array in (self.indexes, slots, self.worth))

    @cached_property
    def drawn_by(self) -> str:
        """What the numbers are if moves are drawn by them; empty if the largest is taken.

        ``beads``: whole numbers that are called so, or listed one by one, or have three values or more, on
        few boards only 0;
        ``probabilities``: with a sum of 1 or 100 on nearly all boards, also on those with unequal ones.
        """
        numbers = self.worth
        if not self.of_moves or self.signs != (1, 1) or not np.all(numbers >= 0):
            return ""
        are_beads = self.values.are_counts or self.facets.get("cells", "").startswith(BEADS)
        values = np.nan_to_num(self.by_board[1])
        sums, largest = values.sum(axis=1), values.max(axis=1, keepdims=True)
        few_are_empty = len(np.unique(numbers)) > 2 and (sums == 0).mean() <= EMPTY_BOXES
        if np.all(numbers == np.round(numbers)) and (are_beads or few_are_empty):
            return "beads"
        add_up = (abs(sums - 1) < INEXACT) | (abs(sums - 100) < 100 * INEXACT)  # per cent
        unequal = ((values > 0) & (values < largest)).any(axis=1)
        if unequal.sum() < MIN_UNEQUAL:
            return ""
        share = min(add_up[sums > 0].mean(), add_up[unequal].mean())
        return "probabilities" if share >= PROBABILITIES_SHARE else ""

    @property
    def rank(self) -> float:
        """How likely it is: what the numbers say for it, less what it asks one to believe."""
        return self.score - 3 * self.rarity - int(self.spelling.misfits.sum())

    @cached_property
    def score(self) -> float:
        """What the numbers themselves say for this reading, as a standard score."""
        space = self.spelling.space
        boards = len(np.unique(self.spelling.indexes[~self.spelling.left_out]))
        images = max(1.0, self.positions / boards)  # of a board, which are no more evidence than it is
        if self.of_moves:
            return _skill(space, *self.by_board) / float(np.sqrt(images))
        return _agreement(self.worth, _prospects(space.rules)[self.indexes]) / float(np.sqrt(images))

    @cached_property
    def score_by_side(self) -> float:
        """``score`` of values of positions, without the means of each side to move: where stones may be one's
        own, it is no evidence that one side stands better than the other."""
        space = self.spelling.space
        worth, prospects = self.worth.copy(), _prospects(space.rules)[self.indexes]
        for side in np.unique(movers := space.movers[self.indexes]):
            for numbers in (worth, prospects):
                numbers[movers == side] -= numbers[movers == side].mean()
        return _agreement(worth, prospects)

    @cached_property
    def faults(self) -> int:
        """The numbers that should not be where they are: of moves, those at occupied cells, and infinite
        ones; of positions, large ones of won games that are worse for the winner than open games are."""
        if self.of_moves:
            return self.occupied + int(np.isinf(self.values.numbers[self.left_out[:, 0]]).sum())
        undecided = self.worth[self.still_open]
        average = undecided.mean() if len(undecided) else 0.0
        gained = (self.worth - average) * self.spelling.space.results[self.indexes]
        are_large = abs(self.worth) >= 0.5 * abs(self.worth).max(initial=0)
        return int((are_large & (gained < 0)).sum())

    @property
    def says_only(self) -> str:
        """What the numbers say instead of values, in words; empty if they are values."""
        if self.of_moves:
            of_boards = self.spelling.space.cells * len(np.unique(self.values.rows)) == len(self.values.rows)
            is_stones = len(np.unique(self.values.numbers)) <= 3 and not self.values.are_decisions
            return "which cells are taken" if of_boards and is_stones and self.occupied else ""
        plies = self.spelling.space.plies[self.indexes]
        pairs = np.unique([plies, self.numbers], axis=1)
        if len(plies) >= MIN_MAPPED and pairs.shape[1] == len(np.unique(plies)):
            return "how many stones are on the board"
        names = np.unique(self.numbers[(self.numbers >= 0) & (self.numbers % 1 == 0)])
        return "which board is which" if MIN_IDS <= len(names) == len(self.numbers) else ""

    def unfolded(self, folding: Folding) -> "Reading":
        """The reading over all images of its positions, of a table whose keys are up to symmetry."""
        (group, turned), space, parts = folding, self.spelling.space, []
        by_key = self.of_moves and not (turned and self._has_one_of_equivalent_moves(group))
        # What has a number already: a position, a side's good in it, or a move.
        done = np.zeros((len(space), max(space.cells, 2)), np.bool_)
        for image, places in images(space, self.indexes, group):
            slots = np.argsort(image)[self.slots] if self.of_moves and turned else self.slots
            column = 0 if by_key else slots
            new = ~done[places, column] & (space.legal[places, slots] if self.of_moves else True)
            done[places, column] = True
            parts.append((places[new], slots[new], self.numbers[new]))
        indexes, slots, numbers = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        classes = self.positions if turned else 0
        return replace(self, indexes=indexes, slots=slots, numbers=numbers, classes=classes)

    def _has_one_of_equivalent_moves(self, group: Images) -> bool:
        """Whether keys are canonical forms of a position with a move, so that the equivalent moves of a
        symmetric board have one key."""
        space, rows = self.spelling.space, self.values.rows
        if self.drawn_by or self.values.are_decisions or len(np.unique(rows)) < len(rows):
            return False
        ways = images(space, self.indexes, group)
        moves = np.stack([places * space.cells + np.argsort(image)[self.slots] for image, places in ways])
        equivalent = moves[(moves // space.cells == self.indexes) & (moves != moves[0])]  # of the same board
        return len(equivalent) >= MIN_CANONICAL and not np.isin(equivalent, moves[0]).any()

    def plays(self, unknown: float | Literal["random"], wins: str = PlayRule.wins) -> PlayRule:
        """How its program plays if a move that the table does not hold counts as ``unknown``."""
        x, o = self.signs
        pair = unknown if isinstance(unknown, str) else (unknown * x + 0.0, unknown * o + 0.0)
        return PlayRule("random", "draw" if self.drawn_by else "most", pair, wins, self.tables)


def readings(
    spelling: Spelling, values: Values, folding: Folding | None, any_order: bool
) -> Iterator[Reading]:
    """The readings of a table whose keys are so spelled, and may stand for their images.

    :param any_order: whether to try rare orders of cells even where nothing calls for them.
    """
    renamed = dict[str, str]()
    if (spelling.first or "X") in "Oo0" and (spelling.second or "O") in "Xx" and not spelling.turn:
        renamed = {"x": "o", "o": "x"}  # O moves first in the file, where X here is called O
    for meant, owners, key_facets in _meanings(spelling, values):
        of_moves, are_added = meant.shape != "position", ADDED in key_facets.values()
        if of_moves and spelling.turn == "moved":
            continue  # moves are valued before they are made
        combined = list[Reading]()
        for oriented in chain([spelling], spelling.reoriented()):
            order_rarity = ORDER_RARITY if oriented.order != "rows" else 0
            if spelling.form in NUMBERS and oriented.order == LAST_FIRST:  # in base 3 as common
                order_rarity = LAST_FIRST_RARITY if spelling.form in BITS else 0
            # Rare orders are tried only if one is stated, or if moves would otherwise go to occupied cells.
            is_rare = order_rarity == ORDER_RARITY
            if is_rare and not (any_order or (of_moves and all(reading.faults for reading in combined))):
                continue
            ways = _of_positions(oriented, meant, owners)
            if of_moves:
                ways = _of_moves(oriented, meant, owners, are_added, folding)
            for measure, usual, words, fields in ways:
                value_facets = {**words, "values": renamed.get(measure, measure)}
                rarity = spelling.rarity + order_rarity + ADDED_RARITY * are_added
                rarity += MEANING_RARITY * ((measure != usual) + words.get("cells", "").startswith(TURNED))
                facets = {**oriented.facets, **key_facets, **value_facets}
                reading = Reading(oriented, meant, facets, rarity, **fields)
                if not (is_rare and reading.faults):
                    combined.append(reading)
        yield from combined if folding is None else (reading.unfolded(folding) for reading in combined)


def _meanings(
    spelling: Spelling, values: Values
) -> Iterator[tuple[Values, Int64s | None, Mapping[str, str]]]:
    """The ways to explain what the keys hold besides their boards: the values, which are of moves if the keys
    name cells; int64[keys], the player in every key, +1 X, -1 O (None: whoever is to move); and facets."""
    ways: list[tuple[tuple[int, ...], Values]] = [((), values)]
    if values.shape == "position":
        for columns, cells in _cell_columns(spelling):
            names, ids = np.unique(cells, return_inverse=True)
            of_cells = replace(values, shape="cells", names=names.tolist(), ids=ids[values.rows])
            if any(namings(of_cells.names, spelling.space.rules)):
                ways.append((columns, of_cells))
    for columns, meant in ways:
        others = [column for at, column in enumerate(spelling.extras) if at not in columns]
        varied = [column for column in others if len(set(column)) > 1]  # the same in every key says nothing
        if not varied:
            yield meant, None, {}
        elif len(varied) == 1:
            for facets, owners in _players(varied[0], spelling):
                yield meant, owners, facets


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
    space, digits = spelling.space, {spelling.empty: 0, spelling.second: 1, spelling.first: 2}
    if spelling.turn or not all(len(it) == space.cells and {*it} <= digits.keys() for it in column):
        return None
    codes = np.array([[digits[symbol] for symbol in it] for it in column], np.int64) @ space.powers
    moves = space.legal[spelling.indexes] & (space.successors[spelling.indexes] == space.find(codes)[:, None])
    return moves.argmax(axis=1) if moves.any(axis=1).all() else None


def _players(column: Sequence[str], spelling: Spelling) -> Iterator[tuple[dict[str, str], Int64s | None]]:
    """The ways to take a column of the extras for players: facets, and owners as in ``_meanings``."""
    labels, space = sorted(set(column)), spelling.space
    movers, stones = space.movers[spelling.indexes], (spelling.first, spelling.second)
    side_of = {(stone or "").rstrip(".").lower(): side for stone, side in zip(stones, (1, -1), strict=True)}
    if all(label.lower() in side_of for label in labels) and spelling.turn != "moved":
        owners = np.array([side_of[label.lower()] for label in column], np.int64)
        relative = owners * movers if spelling.turn else owners  # "mine" belongs to whoever is to move
        yield {}, max(relative, owners, key=lambda sides: int((sides == movers).sum()))
    elif len(labels) == 2:
        owners = np.array([1 if label == labels[0] else -1 for label in column], np.int64)
        if len(set((owners * movers)[~space.terminal[spelling.indexes]].tolist())) == 1:
            yield {}, None  # the labels only say who is to move
        yield {"player-x": labels[0]}, owners
        yield {"player-x": labels[1]}, -owners
        yield {"player-x": ADDED}, None


def _of_positions(spelling: Spelling, values: Values, owners: Int64s | None) -> Iterator[Measured]:
    """Numbers as values of positions, for each side whose good they may measure."""
    space, known, every = spelling.space, np.isfinite(values.numbers), spelling.indexes[values.rows]
    if owners is not None and len(np.unique(every)) < len(every):
        are_movers = owners[values.rows] == space.movers[every]
        if are_movers[space.plies[every] % 2 == 1].all():
            # They say who is to move, in games that either side began; those of O are of another game.
            known, owners = known & are_movers, None
    rows, unknown = values.rows[known], np.flatnonzero(~known)
    indexes = spelling.indexes[rows]
    mover, player = space.movers[indexes], None if owners is None else owners[rows]
    keys = indexes if player is None else indexes * 3 + player
    if space.terminal[indexes].all() or len(np.unique(keys)) < len(keys):
        return  # ends of games show how they were won, not how to win
    left_out = np.stack([unknown, np.zeros_like(unknown)], axis=1)
    fields = {"indexes": indexes, "numbers": values.numbers[known], "left_out": left_out}
    if player is not None:
        yield "owner", "owner", {}, {**fields, "slots": (player < 0) + 0, "signs": (1, 1)}
        if len(np.unique(indexes)) < len(indexes):
            return  # each player has a value of its own for a position
    to_move = set(mover[~space.terminal[indexes] & (space.plies[indexes] > 0)].tolist())
    usual = spelling.turn or ("moved" if len(to_move) == 1 else "")
    usual = usual if player is None else "owner"
    measures = {"x": (1, 1), "o": (-1, -1), "mover": (1, -1), "moved": (-1, 1)}
    if spelling.turn:  # boards that do not show which side is X have no values for X
        measures = {"mover": measures["mover"], "moved": measures["moved"]}
    for measure, (with_x_to_move, with_o_to_move) in measures.items():
        slots = np.where(mover > 0, with_x_to_move, with_o_to_move) < 0
        signs = (with_o_to_move, -with_x_to_move)  # after a move the other side is to move
        yield measure, usual or measure, {}, {**fields, "slots": slots + 0, "signs": signs}


def _of_moves(
    spelling: Spelling, values: Values, owners: Int64s | None, are_added: bool, folding: Folding | None
) -> Iterator[Measured]:
    """Numbers as values of moves, for each way to place them and each side whose good they may measure."""
    space, every = spelling.space, spelling.indexes[values.rows]
    goes_on: Bools = ~space.terminal[every]
    if owners is not None:
        goes_on &= owners[values.rows] == space.movers[every]
    one_a_key = len(np.unique(values.rows)) == len(values.rows)  # not a row with a number for each cell
    for words, cells, numbers, rows in _placements(every, values, space):
        indexes, still_open, known = every[rows], goes_on[rows], np.isfinite(numbers)
        free = space.legal[indexes, cells]
        if folding and not folding.turned:
            free = np.ones_like(free)  # on some image of the board
        at_occupied = Counter(numbers[still_open & ~free & known].tolist())
        filler = 0 if values.are_decisions else max(at_occupied.values(), default=0)
        occupied = at_occupied.total() - filler
        kept = still_open & known & free
        if not kept.any() or (one_a_key and occupied > kept.sum()):
            continue
        if (folding or values.are_decisions) and occupied > MISPLACED * kept.sum():
            continue
        moves, move_of = np.unique(indexes[kept] * space.cells + cells[kept], return_inverse=True)
        if len(moves) < len(move_of) and not are_added:
            continue
        at, cell = np.divmod(moves, space.cells)
        summed: Floats = np.bincount(move_of, numbers[kept]).astype(np.float64)
        left_out = np.stack([rows, cells], axis=1)[still_open & free & ~known]
        fields = {"indexes": at, "slots": cell, "numbers": summed, "occupied": occupied, "left_out": left_out}
        for measure, signs in {"mover": (1, 1), "x": (1, -1), "o": (-1, 1)}.items():
            if measure == "mover" or not (values.are_decisions or spelling.turn):
                yield measure, "mover", words, {**fields, "signs": signs}


def _placements(
    every: Int64s, values: Values, space: StateSpace
) -> Iterator[tuple[dict[str, str], Int64s, Floats, Int64s]]:
    """The ways to place numbers whose positions are ``every``, int64[m]: facets, the cells (from 0), the
    numbers, and their rows in ``every``."""
    places, rows = values.ids, np.arange(len(values.rows))
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
            yield {"cells": words}, cell_of[places], values.numbers, rows
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
            yield {"cells": f"{BEADS} from {first}"}, drawn % space.cells, counts.astype(np.float64), rows


def policies(spelling: Spelling, values: Sequence[Any]) -> Iterator[tuple[tuple[int, ...], Values]]:
    """The ways to take the values of open positions for moves, each with the columns of the extras that are
    part of these: the values are cells, or the columns of cells whose rows are in the keys. Or, where each
    position has one value, this is what a cell in the key, or in one place of a pair, is worth."""
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


@lru_cache(maxsize=4)
def _prospects(rules: Rules) -> Floats:
    """float64[n], the mean result for X (+1 won, -1 lost) when both sides play at random from here on."""
    space = StateSpace.of(rules)
    means = space.results.astype(np.float64)
    for layer in space.backwards():
        legal = space.legal[layer]
        after = np.where(legal, means[space.successors[layer]], 0.0).sum(axis=1)
        means[layer] += after / np.maximum(legal.sum(axis=1), 1)
    return means


def _agreement(worth: Floats, prospects: Floats) -> float:
    """The standard score of the correlation of values with prospects, float64[k] each."""
    if len(worth) < 3 or worth.std() == 0 or prospects.std() == 0:
        return 0.0
    return float(np.corrcoef(worth, prospects)[0, 1]) * float(np.sqrt(len(worth) - 1))


def _skill(space: StateSpace, boards: Int64s, values: Floats) -> float:
    """How much better than chance the moves of the largest value are: the sum of two standard scores.

    One is for what the moves are worth, the other for winning at once where that is possible: the surest
    sign, since a win for the wrong side is only a block.

    :param values: float64[k, cells] of these boards from the mover's side, NaN where unknown (worth 0).
    """
    some = ~np.isnan(values).all(axis=1) & ~space.terminal[boards]
    known, values = boards[some], values[some]
    legal, after = space.legal[known], space.successors[known]
    side = space.movers[known][:, None]
    chosen = best_moves(np.nan_to_num(values), legal)
    wins = legal & (space.results[after] * side > 0)
    worth = np.where(legal, _prospects(space.rules)[after] * side, 0.0)
    return _standard_score(worth, chosen, legal) + _standard_score(wins.astype(np.float64), chosen, legal)


def _standard_score(worth: Floats, chosen: Bools, legal: Bools) -> float:
    """The standard score of the mean worth (0 where not legal) of the cells chosen, against cells drawn at
    random; all arrays are [k, cells]."""
    cells, taken = legal.sum(axis=1), np.maximum(chosen.sum(axis=1), 1)
    mean = worth.sum(axis=1) / np.maximum(cells, 1)
    gain = (worth * chosen).sum(axis=1) / taken - mean
    spread = (np.where(legal, worth - mean[:, None], 0.0) ** 2).sum(axis=1) / np.maximum(cells, 1)
    # The variance of the mean of `taken` cells, drawn without replacement.
    variance = spread / taken * (cells - taken) / np.maximum(cells - 1, 1)
    total = float(np.sqrt(variance.sum()))
    return float(gain.sum()) / total if total > 0 else 0.0
