"""Learners that keep a ``Table``: how they play, learn, are merged and kept in files, which follows from the
columns that a method declares."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ttt_cli.engine.arrays import Bools, Int64s, Uint8s, Uint16s
from ttt_cli.engine.game import Game
from ttt_cli.engine.kernel import Part
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.learners import lockstep, loop
from ttt_cli.learners.base import Entry, Learner, Shard, taught
from ttt_cli.learners.entries import (
    Batch,
    cell_names,
    check_members,
    counts_of,
    in_batches,
    members,
    objects,
    unfit,
    values_and_visits,
)
from ttt_cli.learners.growth import FIRST, OPEN
from ttt_cli.learners.random_numbers import seed_from, uniform
from ttt_cli.learners.table import Column, Table
from ttt_cli.learners.weighted_mean import MergeAccumulator

SIDES = "xo"

Members = tuple[Uint16s, Uint8s, tuple[NDArray[Any], ...]]
"""Of each member of some entries: the number of its entry; its cell, or side (0 X, 1 O); and the columns."""


class TableLearner(Learner[Table]):
    """A method that declares its columns, and gives the game loop its parts."""

    unseen_up_to: ClassVar[int] = OPEN
    """Which positions are added to a table that grows: open ones only, or up to ``DRAWN`` all."""
    one_number: ClassVar[bool] = False
    """Whether ``choose`` hands back what it leaves of its uniform number."""

    def row_columns(self, rules: Rules) -> Sequence[Column]:
        """The columns of the rows."""
        return ()

    def move_columns(self, rules: Rules) -> Sequence[Column]:
        """The columns of the moves."""
        return ()

    @property
    @abstractmethod
    def parts(self) -> tuple[Part, Part]:
        """``choose`` and ``learn``, see ``learners.loop``."""

    @abstractmethod
    def rule(self, table: Table, games: int) -> tuple[Any, ...]:
        """What the parts are given, with room for all that this many games can add to it."""

    @abstractmethod
    def exploration(self, table: Table, number: int) -> tuple[float, float, float]:
        """Exploration from the ``number``-th game of the run on: in the first game, in the last, and the
        games after which it has fallen half way."""

    def derive(self, table: Table, rows: Int64s) -> None:
        """Work out the derived columns of these rows."""

    def empty(self, rules: Rules, symmetric: bool = False) -> Table:
        return Table(rules, symmetric, self.row_columns(rules), self.move_columns(rules))

    def train(self, table: Table, shard: Shard) -> Int64s:
        cells, results, seed = table.rules.cells, np.zeros(3, np.int64), seed_from(shard.rng)
        alone = shard.opponent is None and shard.behaviour is None
        draws = 1 if alone and self.one_number and cells <= loop.ONE_NUMBER else cells
        fixed = loop.NO_SIDE if alone else loop.fixed_sides(table, shard.opponent, shard.behaviour)
        stepped, done = not alone and not table.complete, 0
        while done < shard.games:
            first = shard.first + done
            most = lockstep.batch_of(self, first) if stepped else loop.CHUNK * cells // draws
            count = min(most, shard.games - done)
            history, luck = np.full((count, cells), loop.NOT_YET, np.int8), np.empty((count, draws))
            uniform(luck.reshape(-1), seed, done * draws)
            if stepped:
                lockstep.play(self, table, shard, history, luck, first, results)
            else:
                loop.play(self, table, shard.taught, history, luck, first, fixed, results)
            if shard.journal is not None:
                shard.journal.append(np.maximum(history, loop.NOT_YET))
            done += count
        return results

    def learn(self, table: Table, game: Game, sides: str = "xo") -> None:
        if self.learns_resigned or not game.resigned:
            loop.follow(self, table, game, taught(sides))

    # ---- Merging ----

    def merge(self, base: Table, parts: Sequence[Table]) -> Table:
        merged, joined = deepcopy(base), dict[str, MergeAccumulator]()
        for part in parts:
            rows = np.arange(len(part.rows))
            rows[FIRST:] = merged.include(part.positions(slice(FIRST, None)))
            for columns, theirs, mine, start, at in (
                (base.row_columns, part.rows, merged.rows, base.rows, rows),
                (base.move_columns, part.moves, merged.moves, base.moves, merged.moves_in(rows)[1]),
            ):
                old, weights = at < len(start), {column.mean_by for column in columns}
                for column in columns:
                    counted = column.mean_by or column.name
                    if not column.mean_by and (not column.counts or counted in weights):
                        continue
                    found = theirs[counted].copy()
                    found[old] -= start[counted][at[old]]
                    if column.mean_by:
                        found = np.maximum(found, 0)
                        entries = (2 * at[:, None] + np.arange(2)).ravel() if column.sides else at
                        joining = joined.setdefault(column.name, MergeAccumulator())
                        joining.add(entries, theirs[column.name].ravel(), found.ravel())
                    mine[counted][at] += found
        changed = [np.arange(len(base.rows), len(merged.rows))]
        for columns, mine in ((base.row_columns, merged.rows), (base.move_columns, merged.moves)):
            for column in columns:
                if column.mean_by and column.name in joined:
                    mine[column.name] = joined[column.name].means(mine[column.name])
                    at = joined[column.name].places // (2 if column.sides else 1)
                    changed.append(at if columns is base.row_columns else merged.owners_of(at))
        self.derive(merged, np.unique(np.concatenate(changed)))
        return merged

    def changes(self, base: Table, part: Table) -> Table:
        if part.complete:
            return part
        changed = np.arange(len(part.rows)) >= len(base.rows)
        for column in part.row_columns:
            if column.counts:
                old = part.rows[column.name][: len(base.rows)]
                changed[: len(old)] |= (old != base.rows[column.name]).reshape(len(old), -1).any(axis=1)
        for column in part.move_columns:
            if column.counts:
                old = part.moves[column.name][: len(base.moves)]
                changed[base.owners(old != base.moves[column.name])] = True
        found, _ = part.part(np.flatnonzero(changed))
        return found

    # ---- Files ----

    def _shown(self, table: Table) -> tuple[bool, list[str]]:
        """Whether the entries of a file show columns of the moves, not the rows; and which: a mean with the
        count that weighs it, or one count."""
        by_move = any(column.counts for column in table.move_columns)
        columns = table.move_columns if by_move else table.row_columns
        return by_move, [column.name for column in columns if column.counts or column.mean_by]

    def members(self, table: Table) -> Iterator[tuple[Positions, Members]]:
        """The members of a file's entries, in the order of its texts: some positions at a time, and what the
        table has learned of them."""
        by_move, shown = self._shown(table)
        for rows in table.pieces():
            positions = table.positions(rows)
            if by_move:
                legal = table.legal(positions)
                at, which = np.nonzero(table.by_cell(table.moves[shown[-1]], rows, legal))
                found = [table.by_cell(table.moves[name], rows, legal)[at, which] for name in shown]
            else:
                at, which = np.nonzero(table.rows[shown[-1]][rows])
                found = [table.rows[name][rows[at], which] for name in shown]
            columns = tuple(column + 0 for column in found)  # -0.0 is written 0.0
            yield positions, (at.astype(np.uint16), which.astype(np.uint8), columns)

    def to_entries(self, table: Table) -> Iterator[Entry]:
        """For each position that something has been learned of, by cell, from 1, or by side, ``x`` and ``o``,
        the mean and its count, ``{"5": [value, visits]}``, or the count: ``{"1": 12, "5": -2}``."""
        names = list(cell_names(table.rules)) if self._shown(table)[0] else list(SIDES)
        for positions, (at, which, columns) in self.members(table):
            listed = [column.tolist() for column in columns]
            values = listed[0] if len(listed) == 1 else map(list, zip(*listed, strict=True))
            yield from objects(positions, at.astype(np.int64), map(names.__getitem__, which.tolist()), values)

    def from_entries(self, rules: Rules, symmetric: bool, entries: Iterable[Entry]) -> Table:
        table = self.empty(rules, symmetric)
        by_move, shown = self._shown(table)
        kept = in_batches(
            rules, symmetric, entries, lambda batch: self._read(batch, by_move, len(shown) == 2)
        )
        nothing = Positions.start(rules)[:0]
        table.include(Positions.concatenate([nothing, *(positions for positions, _ in kept)]))
        while kept:
            positions, (at, which, columns) = kept.popleft()
            rows = table.find(positions)[at]
            for name, column in zip(shown, columns, strict=True):
                if by_move:
                    table.moves[name][table.rows["first"][rows].astype(np.int64) + which] = column
                else:
                    table.rows[name][rows, which] = column
        self.derive(table, np.arange(FIRST, len(table.rows)))
        return table

    def holds(self, legal: Bools) -> Bools:
        """bool[k]: of which positions a table by moves can have entries, given their moves."""
        return np.greater(legal.sum(axis=1), 0)

    def _read(self, batch: Batch, by_move: bool, pairs: bool) -> Members:
        """The members of entries; moves by their place among the position's.

        :raises InvalidFileError: naming an entry that is not one of this table.
        """
        names = cell_names(batch.positions.rules) if by_move else {"x": 0, "o": 1}
        taken = members(batch.found, names)
        columns = taken and (values_and_visits if pairs else counts_of)(taken[2])
        if taken and columns:
            at, which, _ = taken
            if not by_move:
                return at, which, columns
            if batch.legal[at, which].all() and self.holds(batch.legal).all():
                return at, batch.places[at, which].astype(np.uint8), columns
        for text, cells, found in batch.by_cell():
            if by_move and not self.holds(batch.legal[[batch.texts.index(text)]])[0]:
                raise unfit(text, "has no entry: there is no choice between moves")
            check_members(text, found, cells if by_move else names, pairs)
        raise AssertionError("every entry is sound")

    def check(self, table: Table) -> None:
        by_row, by_move = (table.row_columns, table.rows), (table.move_columns, table.moves)
        for columns, records in (by_row, by_move):
            for column in columns:
                least, most = column.span or (-np.inf, np.inf)
                values = records[column.name].reshape(len(records), -1)
                outside = np.flatnonzero(((values < least) | (values > most)).any(axis=1))[:1]
                if len(outside):
                    row = table.owners_of(outside) if records is by_move[1] else outside
                    found = ", ".join(f"{value:g}" for value in values[outside[0]])
                    why = f"a {column.name} of {found} where learning gives {least:g} to {most:g}"
                    raise unfit(table.positions(row).text(0), why)

    def entry_visits(self, entry: Any) -> int | None:
        pairs = [pair for pair in entry.values() if isinstance(pair, list)]
        return sum(pair[1] for pair in pairs) if pairs else None

    def seen(self, table: Table) -> Positions:
        by_move, shown = self._shown(table)
        learned = (table.moves if by_move else table.rows)[shown[-1]] != 0
        return table.spread(
            table.positions(table.owners(learned) if by_move else np.flatnonzero(learned.any(axis=1)))
        )
