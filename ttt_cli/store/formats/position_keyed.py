"""Files of unknown origin: learned values keyed by positions in some spelling, JSON or CSV.

``spelling`` finds the readings of the keys, ``tables`` those of keys and values together. Readings that play
alike are one. If more are left, the least odd one is taken, unless ``evidence`` speaks clearly for another;
if several are equally odd, the evidence has to decide; where it does not, the file is refused, naming the
facets that would decide it. A facet can be said outright; keys that do not fit a spelling said outright are
left out and reported.
"""

import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ttt_cli.engine.rules import STANDARD, Rules
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.errors import InvalidFileError, UsageError
from ttt_cli.store.csv_text import number_in
from ttt_cli.store.formats.cell_values import collect, namings
from ttt_cli.store.formats.format import Format
from ttt_cli.store.formats.imported import Imported, Options, Rejected, truncated
from ttt_cli.store.formats.spelling import KeyReading, spellings
from ttt_cli.store.formats.tables import MEANINGS, Reading, readings
from ttt_cli.store.source import Source
from ttt_cli.store.text import quoted

NAME = "position-keyed"
FACETS = ("board", "order", "empty", "first", "second", "mine", "theirs", "cells", "player-x")
CLEAR = 4.0
"""So many standard scores apart two readings have to be, for the evidence to decide between them."""
DOUBT = 2.0
"""So many an odder reading has to be ahead, for the usual one to be in doubt."""
FAIR = 2.5
"""So many above chance one of equally usual readings has to be."""
SURE = 6.0, 0.5
"""And so many an odder one, or so many for the square root of the positions; values that say nothing do not
come to either."""
TOLD = 3
"""So many readings and keys are named in an error."""
MOST_PARTS = 100
"""So many objects in a file may be tables."""
LONGEST = 200
"""The longest key, in characters, that is looked at."""


@dataclass(frozen=True, eq=False)
class Document:
    """A table of a file: keys, values, and columns of what else is known of each key."""

    keys: list[str]
    values: list[Any]
    columns: tuple[list[str], ...] = ()


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
            if not any(namings(set(part), rules)) and spellings(list(part), rules)[0]
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
    """The tables that rows may be: with a value in the last column, or with one for each cell.

    :raises InvalidFileError: naming the line that is of another length.
    """
    for number, row in numbered:
        if len(row) != len(numbered[0][1]):
            raise InvalidFileError(
                f"expected {len(numbered[0][1])} fields as before, found {len(row)}",
                where=f"{where}, line {number}",
            )
    rows = [row for _, row in numbered]
    if rows and number_in(rows[0][-1].strip()) is None:
        rows = rows[1:]  # a header
    if not rows or len(rows[0]) < 2:
        raise InvalidFileError("expected rows of a position and a value", where=where)
    numbers = [[number_in(field.strip()) for field in row] for row in rows]
    for values in (1, rules.cells):
        if len(rows[0]) <= values:
            continue
        if all(None not in found[-values:] for found in numbers):
            keys = ["\t".join(row[:-values]) for row in rows]
            yield Document(keys, [found[-1] if values == 1 else found[-values:] for found in numbers])


def _read(documents: Iterator[Document], where: str, options: Options, rules: Rules) -> Imported:
    space = StateSpace.of(rules)
    said = _said(options)
    failure: InvalidFileError | None = None
    tried = -1
    for document in documents:
        try:
            return _table(document, where, options, said, space)
        except InvalidFileError as error:
            if isinstance(error, _UndecidedError):
                raise
            if len(document.keys) > tried:  # the error that matters is that of the largest table
                failure, tried = error, len(document.keys)
    raise failure or InvalidFileError("holds no table of positions", where=where)


class _UndecidedError(InvalidFileError):
    """Several readings fit."""


def _said(options: Options) -> dict[str, str]:
    """The facets that the user has said outright.

    :raises UsageError: if there is no such facet or meaning.
    """
    for name in options.spelling:
        if name not in FACETS:
            raise UsageError(f"a spelling has no {name!r}", hint=f"it has {', '.join(FACETS)}")
    if options.values_for is None:
        return options.spelling
    if options.values_for not in MEANINGS:
        raise UsageError(f"values are for {', '.join(MEANINGS)}, not for {options.values_for!r}")
    return {**options.spelling, "values": options.values_for}


def _table(
    document: Document, where: str, options: Options, said: Mapping[str, str], space: StateSpace
) -> Imported:
    """The table of a document.

    :raises InvalidFileError: if no reading fits, or several do.
    """
    keys = document.keys
    if not keys:
        raise InvalidFileError("holds no positions", where=where)
    if len(keys) > 2 * len(space) * space.cells:
        raise InvalidFileError(
            f"has {len(keys):,} keys; {len(space):,} positions do not need so many", where=where
        )
    longest = max(keys, key=len)
    if len(longest) > LONGEST:
        raise InvalidFileError(
            f"a key of {len(longest):,} characters is no position", where=f"{where}, key {quoted(longest)}"
        )
    fitting, breaking = spellings(keys, space.rules, document.columns)
    fitting = [reading for reading in fitting if _agrees(reading.spelling.facets, said)]
    rejected: list[Rejected] = []
    if not fitting and options.spelling and not options.strict:
        for reading in breaking:
            if _agrees(reading.spelling.facets, said):
                document, rejected = _without(document, reading)
                fitting = [
                    found
                    for found in spellings(document.keys, space.rules, document.columns)[0]
                    if found.spelling == reading.spelling
                ]
                break
    if not fitting:
        raise _misfit(keys, breaking, said, where)
    values = collect(document.values, document.keys, space.rules, where)
    if not len(values.rows):
        raise InvalidFileError("holds no values", where=where)
    chosen, custom = _decide(list(readings(fitting, values, space)), said, where)
    table = chosen.table
    positions, moves = table.counts
    return Imported(
        NAME,
        table.learner,
        choice="default",
        rules=space.rules,
        entries=table.entries(options.visits),
        rejected=truncated(rejected),
        notes=[f"read as {_words(chosen.facets)}", *custom],
        positions=positions,
        moves=moves,
    )


def _agrees(facets: Mapping[str, str], said: Mapping[str, str]) -> bool:
    """Whether a reading is as the user has said, as far as it has the facets."""
    return all(facets.get(name, value) == value for name, value in said.items())


def _without(document: Document, reading: KeyReading) -> tuple[Document, list[Rejected]]:
    """The document without the keys that break a reading, and these."""
    broken = set(reading.broken)
    kept = [row for row in range(len(document.keys)) if row not in broken]
    rejected = [
        Rejected(f"key {quoted(document.keys[row])}", "no position in this spelling")
        for row in sorted(broken)
    ]
    columns = tuple([column[row] for row in kept] for column in document.columns)
    return (
        Document([document.keys[row] for row in kept], [document.values[row] for row in kept], columns),
        rejected,
    )


def _decide(found: list[Reading], said: Mapping[str, str], where: str) -> tuple[Reading, list[str]]:
    """The one reading of all that fit, and what was decided by custom alone.

    :raises InvalidFileError: if there is none, or several are left.
    """
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
        leader, usual = ranked[0], leader
        rivals = [reading for reading in ranked[1:] if leader.table.score - reading.table.score < CLEAR]
        rivals += [usual] * (usual not in rivals and ahead < CLEAR)
    if rivals:
        raise _undecided([leader, *rivals], where)
    near = [reading for reading in ranked if leader.table.score - reading.table.score < CLEAR]
    facets = {name for reading in near for name in reading.facets if name in leader.facets}
    open_facets = {
        name: leader.facets[name]
        for name in sorted(facets)
        if any(reading.facets.get(name) != leader.facets[name] for reading in near)
    }
    custom = f"by custom, since the file does not tell: {_words(open_facets)}"
    return leader, [custom] if open_facets else []


def _undecided(rivals: list[Reading], where: str) -> InvalidFileError:
    """The refusal of a file that can be read in several ways, with the facets that would decide."""
    shown = rivals[:TOLD]
    names = dict.fromkeys(name for reading in shown for name in reading.facets)
    differing = [name for name in names if len({reading.facets.get(name) for reading in shown}) > 1]
    told_apart = [
        " ".join(f"{name}={reading.facets[name]}" for name in differing if name in reading.facets)
        for reading in shown
    ]
    if differing == ["values"]:
        hint = "say whose good the values measure: ttt import FILE --values-for x, o, mover or moved"
    else:
        said = (f"{name}={shown[0].facets[name]}" for name in differing if name in shown[0].facets)
        hint = f"say which: ttt import FILE {' '.join(f'--spelling {shlex.quote(item)}' for item in said)}"
    return _UndecidedError(
        f"{len(rivals)} readings fit equally well: {'; '.join(told_apart)}", where=where, hint=hint
    )


def _misfit(
    keys: Sequence[str], breaking: Sequence[KeyReading], said: Mapping[str, str], where: str
) -> InvalidFileError:
    """The refusal of a file whose keys are no positions, with the keys that broke the best spellings."""
    nearest = [reading for reading in breaking if _agrees(reading.spelling.facets, said)][:TOLD]
    if not nearest:
        shown = ", ".join(quoted(key) for key in keys[:TOLD])
        return InvalidFileError(
            f"the keys are no positions of {STANDARD.describe()}, such as {shown}", where=where
        )
    reasons = []
    for reading in nearest:
        words = _words(reading.spelling.facets)
        shown = ", ".join(quoted(keys[row]) for row in reading.broken[:TOLD])
        reasons.append(f"{len(reading.broken)} of {len(keys)} are none with {words} ({shown})")
    return InvalidFileError(
        f"in no spelling are all keys positions: {'; '.join(reasons)}",
        where=where,
        hint="to leave those keys out, say the spelling: ttt import FILE --spelling first=…",
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
)
