"""Files of unknown origin: learned values keyed by positions in some spelling, JSON or CSV.

``foreign.files`` finds keys and values in the file, ``foreign.search`` the one reading of both that is meant
(or asks the user), and this module turns it into entries, notes and the rule of play.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from operator import itemgetter
from typing import Any

import numpy as np

from ttt_cli.engine.arrays import Floats
from ttt_cli.engine.rules import STANDARD, Rules
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.errors import InvalidFileError
from ttt_cli.store.foreign.files import Candidate, tables_of_json, tables_of_rows
from ttt_cli.store.foreign.questions import OTHERWISE, NoPositionsError, UndecidedError
from ttt_cli.store.foreign.reading import Reading
from ttt_cli.store.foreign.search import search
from ttt_cli.store.foreign.values import quoted_key
from ttt_cli.store.formats.format import ExportSource, FileOptions, ForeignTable, Format, Rejected, entries_of
from ttt_cli.store.formats.lines import as_lines
from ttt_cli.store.plays import RANDOM, PlayRule
from ttt_cli.store.source import Source
from ttt_cli.store.text import quoted

MAX_KEY_LENGTH = 1000  # characters of a key
_DIGITS = str.maketrans(".XO", "012")
UNTRAINED = "was it saved before its training?"


class PositionKeyed(Format):
    """Tables of unknown origin: a JSON value, which may be an object of tables, or CSV, with the key in the
    first columns and a value in the last or one for each cell."""

    name = "position-keyed"
    about = "JSON or CSV of unknown origin: positions in any spelling to values"
    learner = "q or td"
    holds = "table"
    ambiguous = True

    def recognises(self, source: Source, options: FileOptions) -> bool:
        """Always true: any file that is in no other format may be such a table."""
        return True

    def read(self, source: Source, options: FileOptions) -> ForeignTable:
        rules = options.rules or STANDARD
        if source.is_json:
            tables = tables_of_json(source.json, source.where, rules)
        else:
            tables = tables_of_rows(source.rows, source.where, rules)
        try:
            return read_tables(tables, source, options)
        except InvalidFileError as error:
            if not (error.hint or source.is_json):
                error.hint = "ttt show --formats lists what can be read"
            raise


class QTable(PositionKeyed):
    """A table of Q-learning, the values of the moves for the side to move, by cell.

        {"121220100": [9 floats], …}

    Nine digits, the first cell first, 0 empty, 1 X, 2 O. Occupied cells and ended positions hold a filler,
    which is ignored. Other programs may mean something else by the same digits, so it is read like any table
    of unknown origin.
    """

    name = "q-table"
    about = "JSON, {'121220100': [9 numbers], …}: 0 empty, 1 X, 2 O"
    learner = "q"
    rules = STANDARD
    suffixes = (".json",)

    def recognises(self, source: Source, options: FileOptions) -> bool:
        """Whether nine digits have nine numbers each, and the user does not state a reading."""
        table = source.json
        if options.stated or not isinstance(table, dict):
            return False
        rows = all(isinstance(row, list) and len(row) == STANDARD.cells for row in table.values())
        return rows and all(re.fullmatch("[012]{9}", key) for key in table)

    def read(self, source: Source, options: FileOptions) -> ForeignTable:
        return replace(super().read(source, options), choice="article")

    def write(self, player: ExportSource) -> list[bytes]:
        """The values of all open positions."""
        assert player.state is not None
        space = StateSpace.of(STANDARD)
        positions = space[~space.terminal]
        values = player.state.in_own_units().policy.values(positions)
        assert values is not None
        keys = (text.translate(_DIGITS) for text in positions.texts())
        rows = np.nan_to_num(values) + 0.0  # -0.0 is written 0.0
        return [b"{\n" + as_lines(sorted(zip(keys, rows.tolist(), strict=True))) + b"\n}\n"]


def read_tables(candidates: Iterator[Candidate], source: Source, options: FileOptions) -> ForeignTable:
    """Read the first table that can be read of those that a file may hold.

    :raises InvalidFileError: if no reading fits, or several may be meant.
    """
    failures: list[tuple[tuple[bool, int], InvalidFileError]] = []
    while True:
        keys = 0
        try:
            if (candidate := next(candidates, None)) is None:
                break
            keys = len(candidate.keys)
            return _read_table(candidate, source, options)
        except InvalidFileError as error:  # which candidates raises, too, for what cannot be a table
            if isinstance(error, UndecidedError) and error.fits:
                raise
            # What counts most is the failure of a table of positions, then that of the largest table.
            failures.append(((not isinstance(error, NoPositionsError), keys), error))
    if not failures:
        expected = "expected positions with their values: an object, records or CSV"
        hint = f"{expected}; ttt show --formats lists more"
        raise InvalidFileError("holds no table of positions", where=source.where, hint=hint)
    raise max(failures, key=itemgetter(0))[1]


def _read_table(table: Candidate, source: Source, options: FileOptions) -> ForeignTable:
    """The entries of a table's reading, with what is left out and what the user should know."""
    rules = options.rules or STANDARD
    table = _checked(table, rules, source.where)
    reading, assumed = search(table, options, rules, source.where)
    is_policy = reading.values.are_decisions
    unknown = options.stated.get("unknown", RANDOM if is_policy else table.unknown or 0.0)
    plays = reading.plays(unknown, options.stated.get("wins", PlayRule.wins))
    is_usual = reading.of_moves and plays == PlayRule()  # then it is a table of q, which needs no zeros
    values = reading.by_slot
    if is_usual:
        values[values == 0] = np.nan
    entries = entries_of(values, reading.of_moves, reading.spelling.space, options.visits)
    if not entries:
        message, hint = "holds only zeros, so nothing has been learned", UNTRAINED
        if reading.occupied:
            message = f"its {reading.occupied:,} numbers that are not 0 belong to no move that can be made"
            hint = "are its keys the boards after the moves?"
        raise InvalidFileError(message, where=source.where, hint=hint)
    facets = [(name, text) for name, text in reading.facets.items() if name != "values" or not is_policy]
    spelled = ", ".join(f"{name} {quoted(text)}" for name, text in facets)
    notes = [
        *table.notes,
        f"read as {spelled}",
        *assumed,
        *_remarks(reading, entries),
        *_one_sided(reading, values),
    ]
    if is_policy:
        more = ", but a move that wins at once is made" if plays.wins == "known" else ""
        notes.append(f"a policy: each board is answered with a cell; other boards are played at random{more}")
    elif beads := reading.drawn_by:
        if options.playing.get("choice") != "most":
            drawn = f"the numbers look like {beads}, by which a move is drawn (choice=most: the largest)"
            empty = int((np.nansum(values, axis=1) == 0)[~np.isnan(values).all(axis=1)].sum())
            notes += [drawn, f"boards without {beads}, where it resigns: {empty:,}"] if empty else [drawn]
    else:
        notes.append(plays.about_unknown(options.stated))
    learner = "q" if reading.of_moves else "td"
    rejected = _left_out(reading, table)
    rule = None if is_usual else plays
    return ForeignTable(learner, entries, "default", rules, plays=rule, rejected=rejected, notes=notes)


def _checked(table: Candidate, rules: Rules, where: str) -> Candidate:
    """A table of a plausible size, without boards never seen.

    :raises InvalidFileError: if it has too many keys, or none that was learned, or one that is too long.
    """
    if not table.keys:
        raise InvalidFileError("holds no positions", where=where)
    many, most = len(table.keys), rules.positions_bound
    if many > 2 * most * rules.cells:  # a key for each cell and side
        message = f"has {many:,} keys, but there are at most {most:,} positions of {rules.describe()}"
        raise InvalidFileError(message, where=where, **OTHERWISE)
    longest = max(table.keys, key=len)
    if len(longest) > MAX_KEY_LENGTH:
        message = f"a key of {len(longest):,} characters is not a position"
        raise NoPositionsError(message, where=f"{where}, key {quoted_key(longest)}")
    return table.without_filler(rules)


def _left_out(reading: Reading, table: Candidate) -> list[Rejected]:
    """What is left out: keys that are not positions, and values that are not numbers."""
    spelling, values = reading.spelling, reading.values

    def place(row: int) -> str:
        return f"key {quoted_key(table.keys[row])}"

    own = "the stones are the mover's own and the opponent's (spelling.mine)"
    played_on = f"the game goes on after a win, or {own}"
    rejected = [
        Rejected(place(row), played_on if spelling.played_on[row] else "not a position in this spelling")
        for row in np.flatnonzero(spelling.left_out).tolist()
    ]
    kept = np.flatnonzero(~spelling.left_out)
    for at, cell in reading.left_out.tolist():
        number = values.numbers[at]
        if np.isnan(number):
            why = "no value"
        elif np.isinf(number):
            why = "not a finite number"
        else:
            why = "its player is not to move (in games that X began)"
        of_cell = f", cell {cell + 1}" if reading.of_moves else ""
        rejected.append(Rejected(place(kept[values.rows[at]]) + of_cell, why))
    return rejected


def _remarks(reading: Reading, entries: Mapping[str, Any]) -> Iterator[str]:
    """What was inferred: the symmetry of a table, and what in it says nothing."""
    if reading.classes:
        images = f"{reading.classes:,} stand for {reading.positions:,} positions"
        turned = " and their moves, turned likewise," if reading.of_moves else ""
        alone = "(spelling.symmetry=no says that each stands for itself alone)"
        yield f"the keys{turned} are up to symmetry: {images} {alone}"
    if reading.occupied:
        yield f"{reading.occupied:,} numbers at occupied cells count as filler"
    zeros = len(reading.numbers) - sum(map(len, entries.values()))
    if zeros > 0:
        yield f"zeros, the values before any learning, count as not visited: {zeros:,}"


def _one_sided(reading: Reading, values: Floats) -> Iterator[str]:
    """What follows where one side alone has learned, from the values by position."""
    space = reading.spelling.space
    if reading.of_moves:
        movers = space.movers[~np.isnan(values).all(axis=1)]
    else:  # a value says what the move that has led to its position is worth
        after_a_move = reading.still_open & (space.plies[reading.indexes] > 0)
        movers = -space.movers[reading.indexes[after_a_move]]
    sides = np.unique(movers).tolist()
    if len(sides) == 1:
        known, other, order = ("X", "O", "first") if sides[0] > 0 else ("O", "X", "second")
        yield f"it only knows moves of whoever moves {order}, here {known}: as {other} it has learned nothing"
