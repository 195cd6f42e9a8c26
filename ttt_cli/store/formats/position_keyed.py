"""Files of unknown origin: learned values keyed by positions in some spelling, JSON or CSV.

From path to table: ``foreign.files`` finds keys and values in the file, ``foreign.search`` the one reading of
both that is meant (or asks), and what is said of it here becomes notes and the rule that the table plays by.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ttt_cli.engine.rules import STANDARD
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.errors import InvalidFileError
from ttt_cli.store.foreign.files import Candidate, tables_of_json, tables_of_rows
from ttt_cli.store.foreign.questions import Question, UndecidedError, in_words, questions, stated_facets
from ttt_cli.store.foreign.readings import Reading
from ttt_cli.store.foreign.search import SHOWN, NoPositionsError, search
from ttt_cli.store.foreign.table import Table
from ttt_cli.store.formats.format import Format
from ttt_cli.store.formats.imported import Imported, Options, Rejected, truncated
from ttt_cli.store.plays import RANDOM, Plays, policy_by, values_of_moves
from ttt_cli.store.source import Source
from ttt_cli.store.text import quoted

NAME = "position-keyed"
OFTEN, MANY = 0.1, 3
"""The least share, and number, of equal values for theirs to be taken as the initial value."""
LONGEST = 1000
"""The longest key, in characters, that is looked at."""


def read_value(found: Any, where: str, options: Options) -> Imported:
    """The table of a JSON value, of which any may be a part.

    :raises InvalidFileError: if no reading fits, or several do.
    """
    return _read(tables_of_json(found, options.rules or STANDARD), where, options)


def _read(candidates: Iterator[Candidate], where: str, options: Options) -> Imported:
    failures: list[tuple[bool, int, InvalidFileError]] = []
    for candidate in candidates:
        try:
            return _imported(candidate, where, options)
        except UndecidedError as error:
            raise UndecidedError(error.questions, where, options.readings) from None
        except InvalidFileError as error:
            failures.append((not isinstance(error, NoPositionsError), len(candidate.keys), error))
    if not failures:
        raise InvalidFileError("holds no table of positions", where=where)
    raise max(failures, key=lambda failure: failure[:2])[2]  # that of the largest table matters


def _imported(found: Candidate, where: str, options: Options) -> Imported:
    """A table as it is imported.

    :raises InvalidFileError: if no reading fits, or several do.
    """
    space, stated = StateSpace.of(options.rules or STANDARD), stated_facets(options)
    if not found.keys:
        raise InvalidFileError("holds no positions", where=where)
    if (many := len(found.keys)) > 2 * len(space) * space.cells:
        message = f"has {many:,} keys, but there are only {len(space):,} positions"
        raise InvalidFileError(message, where=where)
    if len(longest := max(found.keys, key=len)) > LONGEST:
        message = f"a key of {len(longest):,} characters is not a position"
        raise NoPositionsError(message, where=f"{where}, key {quoted(longest)}")
    found, notes = found.without_filler(space.rules)
    reading, rivals, assumed = search(found, options, stated, space, where)
    about_unknown = (_about_unknown(it.table, options) for it in [reading, *rivals])
    question = next(filter(None, about_unknown), None)
    if rivals or question:
        facets = [it.facets for it in sorted([reading, *rivals], key=lambda it: it.rarity)]
        raise UndecidedError([*questions(facets), *([question] if question else [])], where)
    table = reading.table
    notes += [f"read as {in_words(reading.facets)}", *assumed, *_remarks(reading, found.keys)]
    plays = _plays(table, options)
    zeros = plays != Plays()
    entries = table.entries(options.visits, zeros=zeros)
    if not entries:
        raise InvalidFileError(
            "holds only zeros for moves that can be made, so nothing has been learned", where=where
        )
    if (left := table.counts[1] - sum(map(len, entries.values()))) > 0:
        notes.append(f"zeros, the values before any learning, count as not visited: {left:,}")
    if table.decided:
        notes.append("a policy: each board is answered with a cell; other boards are played at random")
    elif plays.choice == "draw":
        notes.append("the numbers look like beads, of which one is drawn (choice=most: the most beads)")
    else:
        notes.append(f"what is not in the file: {plays.about_unknown()}")
    return Imported(
        NAME,
        table.learner,
        choice="default",
        rules=space.rules,
        entries=entries,
        rejected=truncated(_rejected(reading, found.keys)),
        notes=notes,
        plays=plays if zeros or table.learner == "td" else None,
    )


def _rejected(reading: Reading, keys: list[str]) -> list[Rejected]:
    """The boards that are left out, with the reason."""
    boards = reading.boards
    late = "the game went on after it was won, or ended otherwise"
    late += f" (unless {boards.unless})" if boards.unless else ""
    return [
        Rejected(f"key {quoted(keys[row])}", late if boards.ended[row] else "no position in this spelling")
        for row in np.flatnonzero(boards.left_out & ~boards.nothing).tolist()
    ]


def _remarks(reading: Reading, keys: list[str]) -> Iterator[str]:
    """What is left out that is not a board, and what else is worth saying."""
    if len(nothing := np.flatnonzero(reading.boards.nothing)):
        shown = ", ".join(quoted(keys[row]) for row in nothing[:SHOWN])
        more = f" and {len(nothing) - SHOWN:,} more" if len(nothing) > SHOWN else ""
        yield f"left out as no positions: {shown}{more}"
    if reading.folded:
        yield (
            f"the keys are up to symmetry: {reading.folded:,} stand for {reading.table.counts[0]:,} "
            "positions (spelling.symmetry=no says that each is itself alone)"
        )
    if reading.taken:
        apart = "stand at occupied cells: cells are those of the board played"
        yield f"{reading.taken:,} numbers {apart if reading.folded else 'at occupied cells are left out'}"
    if reading.texts:
        yield f"{reading.texts:,} values of free cells are no numbers and are left out"


def _plays(table: Table, options: Options) -> Plays:
    """How the file's author plays by a table."""
    drawn = table.are_beads and not table.decided
    plays = Plays(choice="draw" if drawn else "most", wins=options.wins or Plays.wins, tables=table.tables)
    if options.unknown == RANDOM or (table.decided and options.unknown is None):
        return replace(plays, unknown=RANDOM)
    x, o = (float(options.unknown or 0) * sign + 0.0 for sign in table.whose)
    return replace(plays, unknown=(x, o))


def _about_unknown(table: Table, options: Options) -> Question | None:
    """Whether a move that is not in the file counts as 0 or as the usual initial value, if that matters."""
    if options.unknown is not None or table.decided or table.are_beads or not len(table.opened):
        return None
    numbers, counts = np.unique(table.opened, return_counts=True)
    often = int(counts.argmax())
    if not numbers[often] or counts[often] < MANY or counts[often] <= OFTEN * table.counts[1]:
        return None
    # Of values of moves the numbers here are the mover's; of positions they are as the file has them.
    value = abs(float(numbers[often])) if table.whose[0] != table.whose[1] else float(numbers[often])
    plays = Plays(wins=options.wins or Plays.wins, tables=table.tables)
    values = table.by_slot
    if not table.of_moves:
        values = values_of_moves(values, table.space, plays)
    played = []
    for guess in (0.0, value):
        x, o = (guess * sign + 0.0 for sign in table.whose)
        policy = policy_by(values, table.space, replace(plays, unknown=(x, o)))
        played.append(policy.table(table.space).played)
    if np.array_equal(played[0], played[1]):
        return None
    return Question(
        "what does a move count as that is not in the file",
        {
            "unknown=0": "0",
            f"unknown={value:g}": f"{value:g}, as {counts[often]:,} of {table.counts[1]:,} values",
            "unknown=random": "nothing, it is made only where no move is known",
        },
    )


class PositionKeyed(Format):
    """Tables of unknown origin."""

    name = NAME
    about = "JSON or CSV of unknown origin: positions in any spelling to values"
    learner = "q or td"
    holds = "table"
    spelled = True

    def recognises(self, source: Source, options: Options) -> bool:
        """Any file that is no other format may be such a table."""
        return True

    def read(self, source: Source, options: Options) -> Imported:
        """The table of a file: a JSON value, which may be an object of tables, or CSV, with the key in the
        first columns and a value in the last or one for each cell.

        :raises InvalidFileError: if no reading fits, or several do.
        """
        if source.is_json:
            return read_value(source.json, source.where, options)
        try:
            rows = tables_of_rows(source.rows, source.where, options.rules or STANDARD)
            return _read(rows, source.where, options)
        except InvalidFileError as error:
            error.hint = error.hint or "ttt show --formats lists what can be read"
            raise
