"""Learners that keep a ``Table``: how they play, learn, are merged and kept in files, which follows from the
columns that a method declares."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from functools import partial
from itertools import islice
from typing import Any, ClassVar, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from ttt_cli.engine.arrays import Bools, Floats, Int8s, Int64s, Uint8s, Uint16s
from ttt_cli.engine.game import Game
from ttt_cli.engine.kernel import Part
from ttt_cli.engine.policy import Policy, thresholds
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.symmetry import classes
from ttt_cli.learners import loop
from ttt_cli.learners.base import Entry, Learner, Shard, taught
from ttt_cli.learners.entries import (
    MOST,
    Batch,
    are_lists,
    chained,
    counts,
    in_batches,
    members,
    numbers,
    require,
    unfit,
)
from ttt_cli.learners.growth import OPEN
from ttt_cli.learners.table import Column, Table, pieces
from ttt_cli.learners.weighted_mean import WeightedMean

AnyTable = TypeVar("AnyTable", bound=Table)

Answers = tuple[Floats, Floats, Bools]
"""Of some positions the probabilities, the values (float64[k, cells], NaN where there is none) and bool[k],
which of them are known."""


class Learned(Policy):
    """What a table's owner plays: its rows, looked up for the positions, or classes, that are asked for.

    :param answer: takes the rows of positions, those positions and their moves, bool[k, cells].
    """

    def __init__(self, table: Table, answer: Callable[[Int64s, Positions, Bools], Answers]) -> None:
        self.rules, self._table, self._answer = table.rules, table, answer
        self._last: tuple[Positions, Answers] | None = None

    def probabilities(self, positions: Positions) -> Floats:
        return self._answers(positions)[0]

    def values(self, positions: Positions) -> Floats:
        return self._answers(positions)[1]

    def known(self, positions: Positions) -> Bools:
        return np.concatenate([self._answers(part)[2] for part in positions.parts()])

    def _answers(self, positions: Positions) -> Answers:
        if self._last is None or self._last[0] is not positions:
            self._last = positions, self._looked_up(positions)
        return self._last[1]

    def _looked_up(self, positions: Positions) -> Answers:
        if not self._table.symmetric:
            return self._answer(self._table.find(positions), positions, positions.legal)
        found = classes(positions)
        rows = self._table.find(found.positions)
        probabilities, values, known = self._answer(rows, found.positions, found.legal)
        shared = found.lift_probabilities(probabilities, positions.legal)
        return shared, np.where(positions.legal, found.lift(values), np.nan), known


class TableLearner(Learner[AnyTable]):
    """A method that declares its columns, and gives the game loop its parts."""

    table_kind: ClassVar[type[Table]] = Table
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
    def rule(self, table: AnyTable) -> tuple[Any, ...]:
        """The constants and arrays that the parts are given."""

    @abstractmethod
    def exploration(self, table: AnyTable, number: int) -> tuple[float, float, float]:
        """Exploration from the ``number``-th game of the run on: in the first game, in the last, and the
        games after which it has fallen half way."""

    def derive(self, table: AnyTable) -> None:
        """Work out the derived columns."""

    def answer(self, table: AnyTable, rows: Int64s, positions: Positions, legal: Bools) -> Answers:
        """What the table's owner plays in some rows, as ``Learned`` asks for it."""
        raise NotImplementedError

    def policy(self, table: AnyTable) -> Policy:
        return Learned(table, partial(self.answer, table))

    def empty(self, rules: Rules, symmetric: bool = False) -> AnyTable:
        columns = self.row_columns(rules), self.move_columns(rules)
        return cast(AnyTable, self.table_kind(rules, symmetric, *columns, self.choice))

    def updated(self, table: AnyTable) -> AnyTable:
        """The table with its derived columns by this learner's choice rule, which may be another one's."""
        if table.choice != self.choice:
            table.choice = self.choice
            self.derive(table)
        return table

    # ---- Learning ----

    def train(self, table: AnyTable, shard: Shard) -> Int64s:
        cells, results = table.rules.cells, np.zeros(3, np.int64)
        alone = shard.opponent is None and shard.behaviour is None
        draws = 1 if alone and self.one_number and cells <= loop.ONE_NUMBER else cells
        board = table.rules, table.symmetric, table.complete
        fixed = loop.NO_SIDE if alone else loop.fixed_sides(*board, shard.opponent, shard.behaviour)

        def ahead(history: Int8s, luck: Floats, number: int) -> tuple[Int64s, loop.Asked]:
            waiting, nobody = np.zeros(len(history), np.uint32), np.zeros(3, np.int64)
            self.play(table, shard.taught, history, luck, number, (*fixed[:2], waiting), nobody)

            def asked(policy: Policy, games: Int64s) -> Floats:
                rows, at = np.unique(waiting[games].astype(np.int64), return_inverse=True)
                return thresholds(loop.probabilities(table, policy, rows)[0])[at]

            return np.flatnonzero(waiting), asked

        stepped = not alone and not table.complete
        for games in loop.batches(shard, cells, draws, self.choice, ahead if stepped else None):
            self.play(table, shard.taught, *games, loop.NO_SIDE if stepped else fixed, results)
            if shard.journal is not None:
                shard.journal.append(np.maximum(games[0], loop.NOT_YET))
        return results

    def learn(self, table: AnyTable, game: Game, sides: str = "xo") -> None:
        if self.learns_resigned or not game.resigned:
            history = np.full((1, table.rules.cells), loop.NOT_YET, np.int8)
            history[0, : len(game.moves)] = table.options(game)
            results = np.zeros(3, np.int64)
            self.play(table, taught(sides), history, np.zeros((0, 1)), 0, loop.NO_SIDE, results)

    def play(
        self,
        table: AnyTable,
        sides: int,
        history: Int8s,
        luck: Floats,
        number: int,
        fixed: loop.Fixed,
        results: Int64s,
    ) -> None:
        """Play games, or follow them, as ``loop.play_games``, and make room for them before."""
        self.updated(table).reserve(len(history))
        name = self.name if self.choice == "default" else f"{self.name}_{self.choice}"
        board = (not table.complete, table.symmetric)
        kernel = loop.composed(name, *self.parts, self.unseen_up_to, self.learns_resigned, *board)
        how = (table.growth, self.rule(table), self.exploration(table, number), sides)
        path, taken = np.zeros((2, table.rules.cells + 1), np.uint32)
        kernel(*table.room, *how, history, luck, number, fixed, results, path, taken)

    # ---- Merging ----

    def merge(self, base: AnyTable, parts: Sequence[AnyTable]) -> AnyTable:
        merged, means = deepcopy(base), dict[str, WeightedMean]()
        for part in parts:  # once: each may be a file that is read then
            rows = merged.take_in(part)
            for some in pieces(np.arange(len(rows))):
                for half, (columns, theirs, _) in enumerate(part.halves):
                    if any(column.counts for column in columns):
                        taken, at = some, rows[some]
                        if half == 1:
                            taken, at = part.moves_in(taken)[1], merged.moves_in(at)[1]
                        mine, before = merged.halves[half][1], base.halves[half][1]
                        self._join(columns, theirs, taken, mine, at, before, means)
        for columns, mine, _ in merged.halves:
            for column in columns:
                if column.name in means:
                    mine[column.name] = means[column.name].replaced(mine[column.name])
        self.derive(merged)
        return merged

    def _join(
        self,
        columns: Sequence[Column],
        theirs: NDArray[Any],
        taken: Int64s,
        mine: NDArray[Any],
        at: Int64s,
        before: NDArray[Any],
        means: dict[str, WeightedMean],
    ) -> None:
        """Add what some records of a part have learned since ``before`` to those of the merged table at
        ``at``: counts, and means to ``means``."""
        for count in (column for column in columns if column.counts):
            found, old = theirs[count.name][taken], at < len(before)
            found[old] -= before[count.name][at[old]]
            for mean in (column for column in columns if column.mean_by == count.name):
                found, (width,) = np.maximum(found, 0), count.shape or (1,)
                places = (width * at[:, None] + np.arange(width)).ravel()
                joined = means.setdefault(mean.name, WeightedMean())
                joined.add(places, theirs[mean.name][taken].ravel(), found.ravel())
            mine[count.name][at] += found

    def changes(self, base: AnyTable, part: AnyTable) -> AnyTable:
        if part.complete:
            return part
        changed = [np.arange(len(base.rows), len(part.rows))]
        for (columns, mine, owners_of), (_, old, _) in zip(part.halves, base.halves, strict=True):
            for column in columns:
                if column.counts:
                    differ = mine[column.name][: len(old)] != old[column.name]
                    changed.append(owners_of(np.flatnonzero(differ.reshape(len(old), -1).any(axis=1))))
        return part.part(np.unique(np.concatenate(changed)))

    # ---- Files ----

    def shown(self, table: AnyTable) -> tuple[bool, list[str]]:
        """Whether the entries of a file show columns of the moves, not the rows; and which: a mean with the
        count that weighs it, or one count."""
        by_move = any(column.counts for column in table.move_columns)
        columns = table.move_columns if by_move else table.row_columns
        return by_move, [column.name for column in columns if column.counts or column.mean_by]

    def to_entries(self, table: AnyTable) -> Iterator[Entry]:
        """For each position that something has been learned of, by cell, from 1, or by side, ``x`` and ``o``,
        the mean and its count, ``{"5": [value, visits]}``, or the count: ``{"1": 12, "5": -2}``."""
        by_move, shown = self.shown(table)
        names = [str(cell + 1) for cell in range(table.rules.cells)] if by_move else ["x", "o"]
        for rows in table.pieces():
            positions = table.positions(rows)
            if by_move:
                legal = table.legal(positions)
                at, which = np.nonzero(table.by_cell(table.moves[shown[-1]], rows, legal))
                found = [table.by_cell(table.moves[name], rows, legal)[at, which] for name in shown]
            else:
                at, which = np.nonzero(table.rows[shown[-1]][rows])
                found = [table.rows[name][rows[at], which] for name in shown]
            columns = [(column + 0).tolist() for column in found]  # -0.0 is written 0.0
            values = columns[0] if len(columns) == 1 else map(list, zip(*columns, strict=True))
            together = zip(map(names.__getitem__, which.tolist()), values, strict=True)
            lengths = np.bincount(at, minlength=len(rows))
            some = lengths > 0
            for text, length in zip(positions[some].texts(), lengths[some].tolist(), strict=True):
                yield text, dict(islice(together, length))

    def from_entries(self, rules: Rules, symmetric: bool, entries: Iterable[Entry]) -> AnyTable:
        table = self.empty(rules, symmetric)
        by_move, shown = self.shown(table)
        read = partial(self._read, by_move, len(shown) == 2)
        batches = in_batches(rules, symmetric, entries, read)
        for rows_of, (at, which, columns) in table.include_all(batches):
            rows = rows_of[at]
            for name, column in zip(shown, columns, strict=True):
                if by_move:
                    table.moves[name][table.rows["first"][rows].astype(np.int64) + which] = column
                else:
                    table.rows[name][rows, which] = column
        self.derive(table)
        return table

    def holds(self, legal: Bools) -> Bools:
        """bool[k]: of which positions a table by moves can have entries, given their moves."""
        return np.greater(legal.sum(axis=1), 0)

    def _read(self, by_move: bool, pairs: bool, batch: Batch) -> tuple[Uint16s, Uint8s, list[Any]]:
        """Of each member of some entries: the number of its entry; the place of its move among the
        position's, or its side (0 X, 1 O); and the columns.

        :raises InvalidFileError: for an entry that is not one of this table.
        """
        kinds = {str(cell + 1): cell for cell in range(batch.legal.shape[1])} if by_move else {"x": 0, "o": 1}
        member = "[value, visits], visits from 1," if pairs else "a whole number other than 0"
        fault = f"expected {member} for some of the " + (f"cells {batch.cells}" if by_move else "sides x, o")
        require(not by_move or self.holds(batch.legal), "has no entry: there is no choice between moves")
        at, which, values = members(batch.found, kinds, fault)
        require(not by_move or batch.legal[at, which], fault)
        places = batch.places[at, which] if by_move else which
        small = at.astype(np.uint16), places.astype(np.uint8)  # all of a file is held so
        if not pairs:
            require(all(values), fault)
            return *small, [counts(values, fault, 1 - MOST, MOST - 1)]
        require(are_lists(values, 2), fault)
        both = chained(values)
        return *small, [numbers(both[::2], fault), counts(both[1::2], fault, 1)]

    def check(self, table: AnyTable) -> None:
        for columns, records, owners_of in table.halves:
            for column in columns:
                least, most = column.span or (-np.inf, np.inf)
                values = records[column.name].reshape(len(records), -1)
                outside = np.flatnonzero(((values < least) | (values > most)).any(axis=1))[:1]
                if len(outside):
                    found = ", ".join(f"{value:g}" for value in values[outside[0]])
                    why = f"a {column.name} of {found} where learning gives {least:g} to {most:g}"
                    raise unfit(table.positions(owners_of(outside)).text(0), why)

    def entry_visits(self, entry: Any) -> int | None:
        pairs = [pair for pair in entry.values() if isinstance(pair, list)]
        return sum(pair[1] for pair in pairs) if pairs else None

    def seen(self, table: AnyTable) -> Positions:
        by_move, shown = self.shown(table)
        learned = (table.moves if by_move else table.rows)[shown[-1]] != 0
        return table.spread(
            table.positions(table.owners(learned) if by_move else np.flatnonzero(learned.any(axis=1)))
        )
