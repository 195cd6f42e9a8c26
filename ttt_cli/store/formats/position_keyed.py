"""Files of unknown origin: learned values keyed by positions in some spelling, JSON or CSV.

``spelling`` finds the readings of the keys, ``tables`` those of keys and values together. Readings that play
alike are one. If more are left, the least odd one is taken, unless ``evidence`` speaks clearly for another;
if several are equally odd, the evidence has to decide; where it does not, the file is refused, naming the
facets that would decide it. A facet can be said outright; keys that do not fit a spelling said outright are
left out and reported.
"""

import math
import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ttt_cli.engine.rules import STANDARD, Rules
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.errors import InvalidFileError, UsageError, did_you_mean
from ttt_cli.store.csv_text import number_in
from ttt_cli.store.formats.cell_values import collect, namings
from ttt_cli.store.formats.format import Format
from ttt_cli.store.formats.imported import Imported, Options, Rejected, truncated
from ttt_cli.store.formats.spelling import FEW, NEARLY, KeyReading, spellings
from ttt_cli.store.formats.tables import MEANINGS, Moves, Positions, Reading, readings, second_board
from ttt_cli.store.plays import RANDOM, Plays, policy_by, values_by_move
from ttt_cli.store.source import Source
from ttt_cli.store.text import quoted

NAME = "position-keyed"
OF_KEYS = ("board", "empty", "first", "second", "mine", "theirs")
FACETS = (*OF_KEYS, "order", "cells", "player-x", "symmetry")
SYMMETRY = ("yes", "rotations", "no")
"""What images a key stands for, where that is said outright: all, turned ones, itself alone."""
CLEAR = 4.0
"""The least z-score gap at which the evidence decides between two readings."""
DOUBT = 2.0
"""The lead of an odder reading, in z-scores, that puts the usual one in doubt."""
FAIR = 2.5
"""The least z-score of one of several equally usual readings."""
SURE = 6.0, 0.5
"""The least z-score of an odder reading: this, or this times the square root of the positions. Values that
say nothing reach neither."""
TOLD = 3
"""The most readings, and keys, named in an error."""
MOST_TOLD = 12
"""The most values of a facet named in an error."""
OFTEN, MANY = 0.1, 3
"""The least share, and number, of equal values for theirs to be taken as the initial value."""
MOST_PARTS = 100
"""The most objects of a file that are tried as tables."""
SPARE = 0.05
"""The largest share of keys that may fit neither of two readings that ask for each other."""
NO_KEYS = ("None", "null")
"""What a key is that stands for no position."""
LONGEST = 1000
"""The longest key, in characters, that is looked at."""

_ITEM = re.compile(r"[^\s,;\[\]()]+")


@dataclass(frozen=True, eq=False)
class Document:
    """A table of a file: keys, values, and columns of what else is known of each key."""

    keys: list[str]
    values: list[Any]
    columns: tuple[list[str], ...] = ()

    def only(self, rows: Sequence[int]) -> "Document":
        """A part of the table: its rows of these numbers."""
        if len(rows) == len(self.keys):
            return self
        columns = tuple([column[row] for row in rows] for column in self.columns)
        return Document([self.keys[row] for row in rows], [self.values[row] for row in rows], columns)


def recognises(source: Source, options: Options) -> bool:
    """Any file that is no other format may be such a table."""
    return True


def read(source: Source, options: Options) -> Imported:
    """The table of a file: a JSON value, which may be an object of tables, or CSV, with the key in the first
    columns and a value in the last or one for each cell.

    :raises InvalidFileError: if no reading fits, or several do.
    """
    if source.is_json:
        return read_value(source.json, source.where, options)
    rules = options.rules or STANDARD
    try:
        return _read(_of_rows(source.rows, source.where, rules), source.where, options, rules)
    except InvalidFileError as error:
        error.hint = error.hint or "ttt formats lists what can be read"
        raise


def read_value(found: Any, where: str, options: Options) -> Imported:
    """The table of a JSON value, of which any may be a part.

    :raises InvalidFileError: if no reading fits, or several do.
    """
    rules = options.rules or STANDARD
    return _read(_documents(found, rules), where, options, rules)


def _documents(found: Any, rules: Rules) -> Iterator[Document]:
    """The tables that a JSON value may be: itself, or the objects in it, together."""
    if isinstance(found, list) and all(
        isinstance(item, list) and len(item) == 2 and isinstance(item[0], str) for item in found
    ):
        yield Document([item[0] for item in found], [item[1] for item in found])
    if isinstance(found, dict):
        yield Document(list(found), list(found.values()))
    level = [("", found)]
    for _ in range(2):
        level = [
            (name, inner)
            for _, part in level
            if isinstance(part, dict)
            for name, inner in part.items()
            if isinstance(inner, dict) and inner
        ]
        if len(level) > MOST_PARTS:
            return
        tables = [
            (name, part)
            for name, part in level
            if not any(namings(set(part), rules)) and any(spellings(list(part), rules))
        ]
        if tables:
            names = [name for name, part in tables for _ in part]
            yield Document(
                [key for _, part in tables for key in part],
                [value for _, part in tables for value in part.values()],
                (names,) if len(tables) > 1 else (),
            )
        elif level and len(largest := max((part for _, part in level), key=len)) > len(found):
            yield Document(list(largest), list(largest.values()))


def _of_rows(numbered: list[tuple[int, list[str]]], where: str, rules: Rules) -> Iterator[Document]:
    """The tables that rows may be: with one value for each cell, or with a value or a list of them in the
    last column. A column that only counts the rows is left aside.

    :raises InvalidFileError: naming the line that is of another length.
    """
    if (paired := _paired(numbered)) is not None:
        yield paired
        return
    for number, row in numbered:
        if len(row) != len(numbered[0][1]):
            raise InvalidFileError(
                f"expected {len(numbered[0][1])} fields, as in the first row, found {len(row)}",
                where=f"{where}, line {number}",
            )
    rows = [row for _, row in numbered]
    if rows and type(_value_in(rows[0][-1])) is not type(_value_in(rows[-1][-1])):
        rows = rows[1:]  # a header
    if not rows or len(rows[0]) < 2:
        raise InvalidFileError("expected rows of a position and a value", where=where)
    counted = [str(number) for number in range(len(rows) + 1)]
    if len(rows) == 3**rules.cells and len(rows[0]) == rules.cells:
        rows = [[number, *row] for number, row in zip(counted[:-1], rows, strict=True)]
    elif (
        len(rows) > 1 and len(rows[0]) > 2 and [row[0].strip() for row in rows] in (counted[:-1], counted[1:])
    ):
        rows = [row[1:] for row in rows]
    values = [[_value_in(field) for field in row[-rules.cells :]] for row in rows]
    if len(rows[0]) > rules.cells and all(type(value) is float for row in values for value in row):
        yield Document(["\t".join(row[: -rules.cells]) for row in rows], values)
    for row, found in zip(rows, values, strict=True):
        if found[-1] is None:
            raise InvalidFileError(f"{quoted(row[-1])} is no value", where=f"{where}, key {quoted(row[0])}")
    yield Document(["\t".join(row[:-1]) for row in rows], [found[-1] for found in values])


def _paired(numbered: list[tuple[int, list[str]]]) -> Document | None:
    """The table of rows of different lengths: a position, then cells and values by turns."""
    if len({len(row) for _, row in numbered}) == 1:
        return None
    rows = [row[:-1] if len(row) % 2 == 0 and not row[-1].strip() else row for _, row in numbered]
    numbers = [[number_in(field) for field in row[1:]] for row in rows]
    if any(len(row) % 2 or None in row for row in numbers):
        return None
    values = [
        [[f"{cell:g}", value] for cell, value in zip(row[::2], row[1::2], strict=True)] for row in numbers
    ]
    return Document([row[0] for row in rows], values)


def _value_in(field: str) -> Any:
    """The number, or the list of numbers, that a field of a CSV file is; None if it is neither."""
    field = field.strip()
    if not field.startswith(("[", "(")):
        return number_in(field)
    items = [number_in(item) for item in _ITEM.findall(field)]
    return None if None in items else items


def _read(documents: Iterator[Document], where: str, options: Options, rules: Rules) -> Imported:
    space = StateSpace.of(rules)
    said = _said(options)
    failures: list[tuple[bool, int, InvalidFileError]] = []
    for document in documents:
        try:
            return _table(document, where, options, said, space)
        except InvalidFileError as error:
            if isinstance(error, _UndecidedError):
                raise
            near = not isinstance(error, _NoPositionsError)
            failures.append((near, len(document.keys), error))
    if not failures:
        raise InvalidFileError("holds no table of positions", where=where)
    raise max(failures, key=lambda failure: failure[:2])[2]  # that of the largest table matters


class _UndecidedError(InvalidFileError):
    """Several readings fit."""


class _NoPositionsError(InvalidFileError):
    """The keys are nothing like positions."""


def _said(options: Options) -> dict[str, str]:
    """The facets that the user has said outright.

    :raises UsageError: if there is no such facet or meaning.
    """
    for name in options.spelling:
        if name not in FACETS:
            near = did_you_mean(name, FACETS)
            known = f"it has {', '.join(FACETS)}"
            raise UsageError(f"a spelling has no {name!r}", hint=f"{near} {known}" if near else known)
    if options.spelling.get("symmetry", "no") not in SYMMETRY:
        raise UsageError(f"symmetry is {', '.join(SYMMETRY)}, not {options.spelling['symmetry']!r}")
    said = {name: value for name, value in options.spelling.items() if name != "symmetry"}
    if options.values_for is None:
        return said
    if options.values_for not in MEANINGS:
        raise UsageError(f"values are for {', '.join(MEANINGS)}, not for {options.values_for!r}")
    return {**said, "values": options.values_for}


def _table(
    document: Document, where: str, options: Options, said: Mapping[str, str], space: StateSpace
) -> Imported:
    """The table of a document.

    :raises InvalidFileError: if no reading fits, or several do.
    """
    if not document.keys:
        raise InvalidFileError("holds no positions", where=where)
    if len(document.keys) > 2 * len(space) * space.cells:
        raise InvalidFileError(
            f"has {len(document.keys):,} keys, but there are only {len(space):,} positions", where=where
        )
    longest = max(document.keys, key=len)
    if len(longest) > LONGEST:
        raise _NoPositionsError(
            f"a key of {len(longest):,} characters is not a position", where=f"{where}, key {quoted(longest)}"
        )
    document, notes = _visited(document, space)
    found: list[Reading] = []
    rejected: list[Rejected] = []
    fitting: list[KeyReading] = []
    for fitting, keys, left_out in _fitting(document, said, options, space, where):
        rejected = left_out
        values = collect(keys.values, keys.keys, space.rules, where)
        if not len(values.rows):
            raise InvalidFileError("holds no values", where=where)
        found = list(readings(fitting, values, space, options.spelling.get("symmetry")))
        if any(_agrees(reading.facets, said) for reading in found):
            break
    beside = next(filter(None, (second_board(reading, space) for reading in fitting)), None)
    if not found and beside is not None:
        more = f"the keys hold more than a position: {quoted(beside)} beside the first"
        raise InvalidFileError(
            more, where=where, hint="in the game meant here a board and who is to move are all"
        )
    chosen, assumed = _decide(found, said, where)
    table = chosen.table
    notes += [f"read as {_words(chosen.facets)}", *assumed]
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
    plays = _plays(table, options, where)
    zeros = plays != Plays()
    entries = table.entries(options.visits, zeros=zeros)
    if not entries:
        raise InvalidFileError("holds only zeros, so nothing has been learned", where=where)
    positions, moves = len(entries), sum(map(len, entries.values()))
    if (left := table.counts[1] - moves) > 0:
        notes.append(f"zeros, the values before any learning, count as not visited: {left:,}")
    if plays.choice == "draw":
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


def _visited(document: Document, space: StateSpace) -> tuple[Document, list[str]]:
    """A document without what was never learned: keys that are null, and of a table with all the boards there
    are those whose value is the most frequent one, if it is that of every other board or more; with notes."""
    rows = [row for row, key in enumerate(document.keys) if key not in NO_KEYS]
    notes = []
    if len(rows) < len(document.keys):
        notes.append(f"a key that is {NO_KEYS[0]} is left out")
    if len(document.keys) == 3**space.cells:
        values = [str(value) for value in document.values]
        ((filler, many),) = Counter(values).most_common(1)
        if many >= len(values) / 2:
            rows = [row for row in rows if values[row] != filler]
            notes.append(f"{many:,} rows like the most frequent one count as boards never seen")
    return document.only(rows), notes


def _fitting(
    document: Document, said: Mapping[str, str], options: Options, space: StateSpace, where: str
) -> Iterator[tuple[list[KeyReading], Document, list[Rejected]]]:
    """The readings of a document's keys, the part of it that they fit, and what was left out: boards of games
    that went on after a win, and what does not fit a spelling said outright.

    :raises InvalidFileError: if nothing fits, or something does not and nothing may be left out.
    """
    keys_say = {name: value for name, value in said.items() if name in OF_KEYS}
    own = "mine" in said or "theirs" in said
    every_board = len(document.keys) == 3**space.cells
    nearly = FEW if every_board or own else NEARLY
    every = spellings(document.keys, space.rules, document.columns, own=own, nearly=nearly)
    _check_said(keys_say, [reading.spelling.facets for part in every for reading in part], where)
    fitting, near = (
        [reading for reading in part if _agrees(reading.spelling.facets, keys_say)] for part in every
    )
    if keys_say and not fitting and not near:
        together = ", ".join(f"{name}={value}" for name, value in keys_say.items())
        raise InvalidFileError(f"the file does not bear out {together} together", where=where)
    if fitting:
        if not keys_say and all(reading.spelling.relative for reading in fitting):
            _late([*fitting, *near], space, where)  # boards played on after a win may look like one's own
        yield fitting, document, []
        if not keys_say:
            return
    late = _late(near, space, where)
    if options.strict or not (late or keys_say):
        if not options.strict:
            _check_beginners(near, every_board, where)
        raise _misfit(document.keys, near, where)
    ways = [(late, "the game went on after it was won, or ended otherwise")] if late else []
    if keys_say:
        usual = sorted(near, key=lambda reading: (reading.spelling.oddness, len(reading.broken)))
        ways += [(reading, "no position in this spelling") for reading in usual if reading is not late]
    for reading, why in ways:
        kept, rejected = _without(document, reading, why)
        fitting, _ = spellings(kept.keys, space.rules, kept.columns, own=own)
        fitting = [found for found in fitting if _agrees(found.spelling.facets, keys_say)]
        if reading is not late:
            fitting = [found for found in fitting if found.spelling == reading.spelling]
        if fitting:
            yield fitting, kept, rejected


def _check_beginners(near: Sequence[KeyReading], every_board: bool, where: str) -> None:
    """Ask who moves first, or whose stones are whose, where each of them explains what the other does not.

    :raises InvalidFileError: if that is so.
    """
    fixed = [reading for reading in near if not reading.spelling.relative]
    for reading in fixed:
        first, second = reading.spelling.first, reading.spelling.second
        for other in fixed:
            if (other.spelling.first, other.spelling.second) != (second, first):
                continue
            neither = set(reading.broken) & set(other.broken)
            if every_board or len(neither - {*reading.overtime, *other.overtime}) <= SPARE * len(
                reading.indexes
            ):
                left_out = f"{len(reading.broken):,} keys do not fit if {first!r} always begins"
                left_out += f", {len(other.broken):,} if {second!r} does"
                ways = [f"spelling.{role}={stone}" for role in ("first", "mine") for stone in (first, second)]
                raise InvalidFileError(
                    f"it holds games that either side began: {left_out}",
                    where=where,
                    hint="say behind the colon of an agent, or to ttt import, which of them count, or whose "
                    f"stones are the player's own: {', '.join(ways[:-1])} or {ways[-1]}",
                )


def _late(near: Sequence[KeyReading], space: StateSpace, where: str) -> KeyReading | None:
    """The reading whose only broken keys are boards on which the game is over, if there is one.

    :raises InvalidFileError: if whoever moved first and one's own stones explain the other keys equally well.
    """
    found = [reading for reading in near if set(reading.broken) <= set(reading.overtime)]
    usual = [reading for reading in found if not reading.spelling.relative]
    late = next(iter([*usual, *found]), None)
    if late is None:
        return None
    for other in found:
        if late.spelling.relative or not other.spelling.relative:
            continue
        both = (late.indexes >= 0) & (other.indexes >= 0)
        opened = other.indexes[both & ~space.terminal[other.indexes]]
        both_move = len(set((space.plies[opened] % 2).tolist())) == 2
        if both_move and (late.indexes != other.indexes)[both].any():
            either = [f"spelling.{name}={value}" for name, value in _stones(late) + _stones(other)]
            raise InvalidFileError(
                "either one side always moves first, or the stones are one's own and the other's",
                where=where,
                hint=f"say which behind the colon of an agent, or to ttt import: {' or '.join(either)}",
            )
    return late


def _stones(reading: KeyReading) -> list[tuple[str, str]]:
    """The facet that says whose stones these are."""
    return [item for item in reading.spelling.facets.items() if item[0] in ("first", "mine")]


def _plays(table: Moves | Positions, options: Options, where: str) -> Plays:
    """How the file's author plays by a table.

    :raises InvalidFileError: if that depends on what an unknown move counts as, and there are two guesses.
    """
    draws = table.are_beads
    sides = (options.unknown if options.unknown is not None else 0.0,) * 2
    plays = Plays(choice="draw" if draws else "most", wins=options.wins or Plays.wins, tables=table.tables)
    if options.unknown == RANDOM:
        return replace(plays, unknown=RANDOM)
    x, o = (float(side) * sign + 0.0 for side, sign in zip(sides, table.whose, strict=True))
    plays = replace(plays, unknown=(x, o))
    opened = table.opened
    if options.unknown is not None or draws or not len(opened):
        return plays
    numbers, counts = np.unique(opened, return_counts=True)
    often = int(counts.argmax())
    if not numbers[often] or counts[often] < MANY or counts[often] <= OFTEN * table.counts[1]:
        return plays
    # Of values of moves the numbers here are the mover's; of positions they are as the file has them.
    value = abs(float(numbers[often])) if table.whose[0] != table.whose[1] else float(numbers[often])
    x, o = (value * sign + 0.0 for sign in table.whose)
    values = values_by_move(table.learner, table.entries(1).items(), table.space, plays)
    guesses = [policy_by(values, table.space, replace(plays, unknown=pair)) for pair in ((0.0, 0.0), (x, o))]
    as_zero, as_often = (guess.table(table.space).probabilities for guess in guesses)
    if np.array_equal(as_zero, as_often):
        return plays
    raise _UndecidedError(
        f"does a move that is not in the file count as 0 or as {value:g}, which {counts[often]:,} of "
        f"{table.counts[1]:,} values are?",
        where=where,
        hint=f"say which behind the colon of an agent: unknown=0, unknown={value:g} or unknown=random (only "
        "made where none is known); or to ttt import --unknown",
    )


def _agrees(facets: Mapping[str, str], said: Mapping[str, str]) -> bool:
    """Whether a reading is as the user has said."""
    return all(facets.get(name) == value for name, value in said.items())


def _check_said(said: Mapping[str, str], found: Sequence[Mapping[str, str]], where: str) -> None:
    """Refuse what is said outright if no reading bears it out, naming what readings have instead.

    :raises InvalidFileError: naming the facet, its value and the values that are possible.
    """
    for name, value in said.items():
        known = list(dict.fromkeys(facets[name] for facets in found if name in facets))
        if value not in known and found:
            others = f"it may be {', '.join(map(quoted, known[:MOST_TOLD]))}"
            if not known:
                names = dict.fromkeys(other for facets in found for other in facets)
                others = f"it has {', '.join(names)}"
            raise InvalidFileError(f"the file does not bear out {name}={value}", where=where, hint=others)


def _without(document: Document, reading: KeyReading, why: str) -> tuple[Document, list[Rejected]]:
    """The document without the keys that break a reading, and these."""
    broken = set(reading.broken)
    kept = [row for row in range(len(document.keys)) if row not in broken]
    rejected = [Rejected(f"key {quoted(document.keys[row])}", why) for row in sorted(broken)]
    return document.only(kept), rejected


def _decide(found: list[Reading], said: Mapping[str, str], where: str) -> tuple[Reading, list[str]]:
    """The one reading of all that fit, and what was decided by custom alone.

    :raises InvalidFileError: if there is none, or several are left.
    """
    _check_said(said, [reading.facets for reading in found], where)
    found = [reading for reading in found if _agrees(reading.facets, said)]
    if not found:
        raise InvalidFileError(
            "the keys are positions, but the values do not fit them",
            where=where,
            hint="expected a number a position, or numbers at the cells that are free",
        )
    found = [reading for reading in found if not reading.faults] or found
    alike: dict[bytes, Reading] = {}
    for reading in sorted(found, key=lambda reading: reading.oddness):
        alike.setdefault(reading.table.mark, reading)
    ranked = sorted(alike.values(), key=lambda reading: -reading.table.score)
    least = min(reading.oddness for reading in ranked)
    leader = next(reading for reading in ranked if reading.oddness == least)
    ahead = ranked[0].table.score - leader.table.score
    rivals = [
        reading
        for reading in ranked
        if reading is not leader
        and reading.oddness <= least
        and (leader.table.score - reading.table.score < CLEAR or leader.table.score < FAIR)
    ]
    sure = max(SURE[0], SURE[1] * math.sqrt(ranked[0].table.counts[0]))
    if ranked[0].table.score >= sure and ahead > DOUBT:
        usual, top = leader, ranked[0].table.score
        leader = min((it for it in ranked if top - it.table.score <= DOUBT), key=lambda it: it.oddness)
        if isinstance(usual.table, Moves) and leader.facets["values"] != usual.facets["values"]:
            raise _undecided(
                [usual, leader], where, "a program that takes the largest value would play badly"
            )
        near = [it for it in ranked if it is not leader and leader.table.score - it.table.score < CLEAR]
        rivals = [it for it in near if it is usual or it.oddness <= leader.oddness]
    if rivals:
        raise _undecided([leader, *rivals], where)
    near = [reading for reading in ranked if leader.table.score - reading.table.score < CLEAR]
    facets = {name for reading in near for name in reading.facets if name in leader.facets}
    open_facets = {
        name: leader.facets[name]
        for name in sorted(facets - said.keys())
        if any(reading.facets.get(name) != leader.facets[name] for reading in near)
    }
    custom = f"assumed as usual, since the file does not say: {_words(open_facets)}"
    return leader, [custom] if open_facets else []


def _undecided(rivals: list[Reading], where: str, why: str = "") -> InvalidFileError:
    """The refusal of a file that can be read in several ways, with the facets that would decide."""
    names = dict.fromkeys(name for reading in rivals for name in reading.facets)
    differing = [name for name in names if len({reading.facets.get(name) for reading in rivals}) > 1]
    told_apart = dict.fromkeys(
        " ".join(f"{name}={reading.facets[name]}" for name in differing if name in reading.facets)
        for reading in rivals
    )
    if differing == ["values"]:
        hint = "say whose perspective the values use: ttt import FILE --values-for x, o, mover or moved; or "
        hint += "behind the colon of an agent: values=x"
    else:
        said = [(name, rivals[0].facets[name]) for name in differing if name in rivals[0].facets]
        options = " ".join(_option(name, value) for name, value in said)
        agent = ",".join(f"{'' if name == 'values' else 'spelling.'}{name}={value}" for name, value in said)
        hint = f"say which: ttt import FILE {options}; or behind the colon of an agent: {agent}"
    if differing == ["player-x"]:
        hint += "; if the program adds two tables up, neither: save their sum"
    return _UndecidedError(
        f"{why or f'{len(told_apart)} readings fit equally well'}: {'; '.join(list(told_apart)[:TOLD])}",
        where=where,
        hint=hint,
    )


def _option(name: str, value: str) -> str:
    return f"--values-for {value}" if name == "values" else f"--spelling {shlex.quote(f'{name}={value}')}"


def _misfit(keys: Sequence[str], nearest: Sequence[KeyReading], where: str) -> InvalidFileError:
    """The refusal of a file whose keys are no positions, with the keys that broke the best spellings."""
    if not nearest:
        shown = ", ".join(quoted(key) for key in keys[:TOLD])
        return _NoPositionsError(
            f"the keys are not positions of {STANDARD.describe()}, such as {shown}", where=where
        )
    reasons: dict[str, str] = {}
    for reading in nearest:
        shown = ", ".join(quoted(keys[row]) for row in reading.broken[:TOLD])
        reason = f"{len(reading.broken)} of {len(keys)} are none ({shown})"
        reasons.setdefault(reason, f"with {_words(reading.spelling.facets)}")
    told = [f"{reason} {words}" for reason, words in list(reasons.items())[:TOLD]]
    ((name, value),) = _stones(nearest[0])
    return InvalidFileError(
        f"in no spelling are all keys positions: {'; '.join(told)}",
        where=where,
        hint=f"to leave those keys out: ttt import FILE {_option(name, value)}; or behind the colon of an "
        f"agent: spelling.{name}={value}",
    )


def _words(facets: Mapping[str, str]) -> str:
    """Facets in words."""
    return ", ".join(f"{name} {quoted(value)}" for name, value in facets.items())


FORMAT = Format(
    NAME,
    "JSON or CSV of unknown origin: positions in any spelling to values",
    learner="q or td",
    recognises=recognises,
    read=read,
    spelled=True,
)
