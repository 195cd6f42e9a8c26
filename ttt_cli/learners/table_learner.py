"""Learners that keep a ``Table``. A method declares its columns and gives the game loop its two parts; how it
trains, and how its tables are merged, written and read, follows from these."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from functools import partial
from itertools import islice
from typing import Any, ClassVar, TypeVar, cast

import numpy as np

from ttt_cli.engine.arrays import Bools, Int64s
from ttt_cli.engine.kernel import Part
from ttt_cli.engine.policy import Answer, Answering, Policy
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.symmetry import classes
from ttt_cli.learners import loop
from ttt_cli.learners.base import Entry, mean_of
from ttt_cli.learners.entries import (
    MAX_COUNT,
    as_counts,
    as_floats,
    columns_of,
    entry_error,
    members,
    parse_keys,
    read_batches,
    report,
    require,
)
from ttt_cli.learners.growth import OPEN, add_row, nothing_to_add
from ttt_cli.learners.loop import Batch, BatchLearner
from ttt_cli.learners.table import Column, Table, chunks

AnyTable = TypeVar("AnyTable", bound=Table)


def looked_up(
    table: Table, answer: Callable[[Int64s, Positions, Bools], Answer], positions: Positions
) -> Answer:
    """A policy's answer for positions; from a table of classes, by way of their canonical forms.

    :param answer: takes the rows of positions, or of canonical forms, these themselves, and their legal
        moves, bool[k, cells].
    """
    if not table.symmetric:
        return answer(table.find(positions), positions, positions.legal)
    in_classes = classes(positions)
    rows = table.find(in_classes.positions)
    probabilities, values, known = answer(rows, in_classes.positions, in_classes.legal)
    shared = in_classes.lift_probabilities(probabilities, positions.legal)
    return shared, np.where(positions.legal, in_classes.lift(values), np.nan), known


class TableLearner(BatchLearner[AnyTable]):
    """A method by its columns and its parts of the game loop."""

    table_kind: ClassVar[type[Table]] = Table
    unseen_up_to: ClassVar[int] = OPEN
    """Which positions get rows in a growing table: ``OPEN``, those that are open; ``DRAWN``, all."""

    epsilon: float

    def row_columns(self, rules: Rules) -> Sequence[Column]:
        return ()

    def move_columns(self) -> Sequence[Column]:
        return ()

    @property
    @abstractmethod
    def kernel_parts(self) -> tuple[Part, Part]:
        """``choose`` and ``learn``; see ``learners.loop``."""

    @abstractmethod
    def rule(self, table: AnyTable) -> tuple[Any, ...]:
        """What the parts take: parameters, and whatever arrays the method needs."""

    def exploration(self, table: AnyTable, number: int) -> tuple[float, float, float]:
        """Epsilon in the first game, epsilon in the end, and the number of games after which it is half way:
        by default a constant. Asked anew for each batch.

        :param number: of the batch's first game in the run.
        """
        return float(self.epsilon), float(self.epsilon), 1.0

    def answer(self, table: AnyTable, rows: Int64s, positions: Positions, legal: Bools) -> Answer:
        """The policy's answer; see ``looked_up``."""
        raise NotImplementedError

    def policy(self, table: AnyTable) -> Policy:
        return Answering(table.rules, partial(looked_up, table, partial(self.answer, table)))

    def empty(self, rules: Rules, symmetric: bool = False) -> AnyTable:
        columns = self.row_columns(rules), self.move_columns()
        return cast(AnyTable, self.table_kind(rules, symmetric, *columns))

    # ---- Learning ----

    def play(self, table: AnyTable, batch: Batch) -> None:
        """Play or replay games by ``loop.game_loop``, first making room for all that they can add."""
        table.reserve(len(batch.history))
        choose, learn = self.kernel_parts
        add, unseen = (nothing_to_add, -1) if table.complete else (add_row, self.unseen_up_to)
        name = self.name if self.choice == "default" else f"{self.name}.{self.choice}"
        play_games = loop.game_loop(name, choose, learn, add, unseen, self.learns_resigned)
        exploration = self.exploration(table, batch.number)
        trail = tuple(np.zeros((2, table.rules.cells + 1), np.uint32))
        play_games(*table.buffers, table.growth, self.rule(table), exploration, batch, trail)

    # ---- Merging ----

    def merge(self, base: AnyTable, parts: Sequence[AnyTable]) -> AnyTable:
        merged = deepcopy(base)
        for part in parts:  # in one pass: a part may only now be read from its file
            rows = merged.include_table(part)
            for at in chunks(np.arange(len(rows))):
                _add_learned(merged, rows[at], part, at, base)
        self.derive(merged)
        return merged

    def changes(self, base: AnyTable, part: AnyTable) -> AnyTable:
        if part.complete or not part.learned:
            return part
        count = part.learned[-1]
        changed = part.records[count].copy()
        changed[: len(base.records)] -= base.records[count]
        added = np.arange(len(base.rows), len(part.rows))
        return part.subset(np.union1d(part.rows_with(changed != 0), added))

    # ---- Files ----

    def to_entries(self, table: AnyTable) -> Iterator[Entry]:
        """For each position learned about an object, by cell from 1 or by side (``x``, ``o``): of means with
        their counts, ``{"5": [value, visits]}``, or of counts, ``{"1": 12, "5": -2}``."""
        names = [str(cell + 1) for cell in range(table.rules.cells)] if table.by_move else ["x", "o"]
        for rows in table.chunks_by_text():
            if table.by_move:
                at, moves = table.moves_of(rows)
                counted = table.moves[table.learned[-1]][moves] != 0
                at, moves = at[counted], moves[counted]
                slots = table.moves["cell"][moves]
                learned = [table.moves[name][moves] for name in table.learned]
            else:
                at, slots = np.nonzero(table.rows[table.learned[-1]][rows])
                learned = [table.rows[name][rows][at, slots] for name in table.learned]
            columns = [(column + 0).tolist() for column in learned]  # + 0: no -0.0
            values = columns[0] if len(columns) == 1 else map(list, zip(*columns, strict=True))
            pairs = zip(map(names.__getitem__, slots.tolist()), values, strict=True)
            lengths = np.bincount(at, minlength=len(rows))
            seen = lengths > 0
            for text, length in zip(table.positions(rows[seen]).texts(), lengths[seen].tolist(), strict=True):
                yield text, dict(islice(pairs, length))

    def from_entries(self, rules: Rules, symmetric: bool, entries: Iterable[Entry]) -> AnyTable:
        table = self.empty(rules, symmetric)
        value = "[value, visits from 1]" if len(table.learned) == 2 else "a whole number other than 0"
        keys = "moves, by their cells" if table.by_move else 'sides, "x" and "o"'
        read_batches(entries, partial(self.read, table), f"{value} for some of the {keys}")
        self.derive(table)
        return table

    def read(self, table: AnyTable, keys: list[str], entries: list[Any]) -> None:
        """Read a batch of a file's entries into the table.

        :raises InvalidFileError: if one is malformed, or of a position that can have none.
        """
        positions = parse_keys(keys, table.rules, table.symmetric)
        legal = table.legal(positions)
        if table.by_move:
            slot_of = {str(cell + 1): cell for cell in range(table.rules.cells)}
        else:
            slot_of = {"x": 0, "o": 1}
        at, slots, values = members(entries, slot_of)
        require(not table.by_move or legal[at, slots])
        if len(table.learned) == 2:
            means, counts = columns_of(values, 2)
            learned = [as_floats(means), as_counts(counts, 1)]
        else:
            require(all(values))
            learned = [as_counts(values, -MAX_COUNT)]
        rows = table.include(positions)
        for name, column in zip(table.learned, learned, strict=True):
            if table.by_move:
                table.moves[name][table.moves_on(rows, legal, at, slots)] = column
            else:
                table.rows[name][rows[at], slots] = column

    def check(self, table: AnyTable) -> None:
        for column in (*table.row_columns, *table.move_columns):
            if column.span:
                least, most = column.span
                values = table.records[column.name]
                if values.min(initial=most) >= least and values.max(initial=least) <= most:
                    continue  # found without a copy of a large table's size
                rows = table.rows_with((values < least) | (values > most))
                for text in table.positions(rows).texts():
                    fault = f"a {column.name} beyond what learning gives, {least:g} to {most:g}"
                    report(entry_error(text, fault))

    def size(self, table: AnyTable) -> tuple[int, int]:
        learned = table.records[table.learned[-1]] != 0
        return len(table.rows_with(learned)), int(np.count_nonzero(learned))

    def seen(self, table: AnyTable) -> Positions:
        rows = table.rows_with(table.records[table.learned[-1]] != 0)
        return table.all_positions(table.positions(rows))


def _add_learned(merged: Table, merged_rows: Int64s, part: Table, part_rows: Int64s, base: Table) -> None:
    """Add what some rows of a part have learned since the base to the same rows of the merged table: counts,
    and values weighted by these."""
    into, source = merged_rows, part_rows  # indices of records
    if part.by_move:
        into, source = merged.moves_of(merged_rows)[1], part.moves_of(part_rows)[1]
    *mean, count = part.learned
    before, learned = merged.records[count][into], part.records[count][source]
    in_base = into < len(base.records)
    for counts in (before, learned):
        counts[in_base] -= base.records[count][into[in_base]]
    for name in mean:
        values = merged.records[name]
        values[into] = mean_of(values[into], before, part.records[name][source], learned)
    merged.records[count][into] += learned
