"""Files of unknown origin: learned values keyed by positions in some spelling, JSON or CSV.

``spelling`` finds the readings of the keys, ``tables`` those of keys and values together. Readings that play
alike are one. If more are left, the least odd one is taken, unless ``evidence`` speaks clearly for another;
if several are equally odd, the evidence has to decide; where it does not, the file is refused, naming the
facets that would decide it. A facet can be said outright; keys that do not fit a spelling said outright are
left out and reported.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ttt_cli.engine.rules import STANDARD, Rules
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.errors import InvalidFileError
from ttt_cli.store.formats.format import Format
from ttt_cli.store.formats.imported import Imported, Options, Rejected, truncated
from ttt_cli.store.plays import RANDOM, Plays, policy_by, values_by_move
from ttt_cli.store.source import Source
from ttt_cli.store.text import quoted
from ttt_cli.store.unknown.candidates import Candidate, candidates_of_json, candidates_of_rows, learned_part
from ttt_cli.store.unknown.cell_values import collect
from ttt_cli.store.unknown.decision import decide
from ttt_cli.store.unknown.extras import second_board
from ttt_cli.store.unknown.facets import agrees, in_words, said_outright
from ttt_cli.store.unknown.keys import NoPositionsError, fitting_keys
from ttt_cli.store.unknown.questions import Question, UndecidedError, asked
from ttt_cli.store.unknown.readings import Reading, policies, readings
from ttt_cli.store.unknown.spelling import KeyReading
from ttt_cli.store.unknown.tables import Moves, Positions

NAME = "position-keyed"
OFTEN, MANY = 0.1, 3
"""The least share, and number, of equal values for theirs to be taken as the initial value."""
LONGEST = 1000
"""The longest key, in characters, that is looked at."""


def read_value(found: Any, where: str, options: Options) -> Imported:
    """The table of a JSON value, of which any may be a part.

    :raises InvalidFileError: if no reading fits, or several do.
    """
    rules = options.rules or STANDARD
    return _read(candidates_of_json(found, rules), where, options, rules)


def _read(candidates: Iterator[Candidate], where: str, options: Options, rules: Rules) -> Imported:
    space = StateSpace.of(rules)
    said = said_outright(options)
    failures: list[tuple[bool, int, InvalidFileError]] = []
    for candidate in candidates:
        try:
            return _table(candidate, where, options, said, space)
        except InvalidFileError as error:
            if isinstance(error, UndecidedError):
                raise
            near = not isinstance(error, NoPositionsError)
            failures.append((near, len(candidate.keys), error))
    if not failures:
        raise InvalidFileError("holds no table of positions", where=where)
    raise max(failures, key=lambda failure: failure[:2])[2]  # that of the largest table matters


def _table(
    candidate: Candidate, where: str, options: Options, said: Mapping[str, str], space: StateSpace
) -> Imported:
    """The table of a candidate.

    :raises InvalidFileError: if no reading fits, or several do.
    """
    if not candidate.keys:
        raise InvalidFileError("holds no positions", where=where)
    if len(candidate.keys) > 2 * len(space) * space.cells:
        raise InvalidFileError(
            f"has {len(candidate.keys):,} keys, but there are only {len(space):,} positions", where=where
        )
    longest = max(candidate.keys, key=len)
    if len(longest) > LONGEST:
        raise NoPositionsError(
            f"a key of {len(longest):,} characters is not a position", where=f"{where}, key {quoted(longest)}"
        )
    candidate, notes = learned_part(candidate, space.rules)
    found: list[Reading] = []
    rejected: list[Rejected] = []
    fitting: list[KeyReading] = []
    for fitting, keys, left_out in fitting_keys(candidate, said, options, space, where):
        rejected = left_out
        symmetry = options.spelling.get("symmetry")
        found = [] if options.values_for else policies(fitting, keys.values, space, where, symmetry)
        if not found:
            values = collect(keys.values, keys.keys, space.rules, where)
            if not len(values.rows):
                raise InvalidFileError("holds no values", where=where)
            found = list(readings(fitting, values, space, where, symmetry))
        if any(agrees(reading.facets, said) for reading in found):
            break
    beside = next(filter(None, (second_board(reading, space) for reading in fitting)), None)
    if not found and beside is not None:
        more = f"the keys hold more than a position: {quoted(beside)} beside the first"
        raise InvalidFileError(
            more, where=where, hint="in the game meant here a board and who is to move are all"
        )
    try:
        chosen, assumed = decide(found, said, where)
    except UndecidedError as error:
        tables = [reading.table for reading in error.rivals]
        if question := next(filter(None, (_about_unknown(table, options) for table in tables)), None):
            raise asked([*error.open, question], where) from None
        raise
    table = chosen.table
    notes += [f"read as {in_words(chosen.facets)}", *assumed]
    if chosen.folded:
        notes.append(
            f"the keys are up to symmetry: {chosen.folded:,} stand for {table.counts[0]:,} positions "
            "(spelling.symmetry=no says that each is itself alone)"
        )
        if chosen.taken:
            notes.append(
                f"{chosen.taken:,} numbers stand at occupied cells: cells are those of the board played"
            )
    elif chosen.taken:
        notes.append(f"{chosen.taken:,} numbers at occupied cells are left out")
    if chosen.texts:
        notes.append(f"{chosen.texts:,} values of free cells are no numbers and are left out")
    plays = _plays(table, options, where)
    zeros = plays != Plays()
    entries = table.entries(options.visits, zeros=zeros)
    if not entries:
        raise InvalidFileError(
            "holds only zeros for moves that can be made, so nothing has been learned", where=where
        )
    positions, moves = len(entries), sum(map(len, entries.values()))
    if (left := table.counts[1] - moves) > 0:
        notes.append(f"zeros, the values before any learning, count as not visited: {left:,}")
    if isinstance(table, Moves) and table.decided:
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
        rejected=truncated(rejected),
        notes=notes,
        positions=positions,
        moves=moves,
        plays=plays if zeros or table.learner == "td" else None,
    )


def _plays(table: Moves | Positions, options: Options, where: str) -> Plays:
    """How the file's author plays by a table.

    :raises InvalidFileError: if that depends on what an unknown move counts as, and there are two guesses.
    """
    decided = isinstance(table, Moves) and table.decided
    sides = (options.unknown if options.unknown is not None else 0.0,) * 2
    plays = Plays(
        choice="draw" if table.are_beads and not decided else "most",
        wins=options.wins or Plays.wins,
        tables=table.tables,
    )
    if options.unknown == RANDOM or (decided and options.unknown is None):
        return replace(plays, unknown=RANDOM)
    if question := _about_unknown(table, options):
        raise asked([question], where)
    x, o = (float(side) * sign + 0.0 for side, sign in zip(sides, table.whose, strict=True))
    return replace(plays, unknown=(x, o))


def _about_unknown(table: Moves | Positions, options: Options) -> Question | None:
    """Whether a move that is not in the file counts as 0 or as the usual initial value, if that matters."""
    opened = table.opened
    decided = isinstance(table, Moves) and table.decided
    if options.unknown is not None or decided or table.are_beads or not len(opened):
        return None
    numbers, counts = np.unique(opened, return_counts=True)
    often = int(counts.argmax())
    if not numbers[often] or counts[often] < MANY or counts[often] <= OFTEN * table.counts[1]:
        return None
    # Of values of moves the numbers here are the mover's; of positions they are as the file has them.
    value = abs(float(numbers[often])) if table.whose[0] != table.whose[1] else float(numbers[often])
    x, o = (value * sign + 0.0 for sign in table.whose)
    plays = Plays(wins=options.wins or Plays.wins, tables=table.tables)
    values = values_by_move(table.learner, table.entries(1).items(), table.space, plays)
    guesses = [policy_by(values, table.space, replace(plays, unknown=pair)) for pair in ((0.0, 0.0), (x, o))]
    as_zero, as_often = (guess.table(table.space).played for guess in guesses)
    if np.array_equal(as_zero, as_often):
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
        rules = options.rules or STANDARD
        try:
            return _read(candidates_of_rows(source.rows, source.where, rules), source.where, options, rules)
        except InvalidFileError as error:
            error.hint = error.hint or "ttt show --formats lists what can be read"
            raise
