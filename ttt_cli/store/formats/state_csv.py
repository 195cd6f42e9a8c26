"""The native experience file of a book: CSV that opens in any spreadsheet.

    #ttt-state {"format":"ttt-state",…}
    position,move,plies,result,run,count
    ....X....,1,9,draw,3f0c…,17

The first line is the header of a native JSON state, without entries. Files without it, without ``run`` (then
the whole file is one run, named after its content) or without ``count`` (then each row counts once) are read
too.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import chain, groupby, islice
from operator import itemgetter
from typing import Any

import orjson

from ttt_cli.engine.rules import STANDARD
from ttt_cli.errors import InvalidFileError
from ttt_cli.store.formats import native
from ttt_cli.store.formats.format import Native
from ttt_cli.store.formats.imported import Options
from ttt_cli.store.runs import Run, is_formula
from ttt_cli.store.source import Source
from ttt_cli.store.state import State, learner_of
from ttt_cli.store.strict_json import load_json
from ttt_cli.store.text import decode, quoted

MARK = b"#ttt-state "
COLUMNS = ("position", "move", "plies", "result", "run", "count")
REQUIRED = COLUMNS[:4]
RESULTS = ("X", "O", "draw")
BATCH = 1000
"""Entries that are written at a time."""

Numbered = tuple[int, str, list[Any]]
"""The number of a line, its position, and ``[move, plies, result, run, count]``."""


def _header(data: bytes, where: str) -> tuple[str, dict[str, Any]]:
    """The digest that a file states, and the fields of its state."""
    line = data.split(b"\n", 1)[0]
    found = load_json(line[len(MARK) :].strip(), f"{where}: line 1")
    fields = native.read_header(found, f"{where}: line 1")
    if fields["learner"].suffix != ".csv":
        raise InvalidFileError(f"a {fields['learner'].name} state is a JSON file, not CSV", where=where)
    return str(found["digest"]), fields


def _lines(blocks: Iterable[bytes], where: str) -> Iterator[str]:
    """The lines of blocks after the first."""
    number = 1
    for block in blocks:
        lines = decode(block, where, line=number).removesuffix("\n").split("\n")
        yield from lines[number == 1 :]
        number += len(lines)


def _in_order(rows: Iterable[Numbered]) -> Iterator[tuple[str, list[list[Any]]]]:
    """The rows of each position.

    :raises OtherLayoutError: where positions are not in order.
    """
    last = ""
    for text, group in groupby(rows, itemgetter(1)):
        numbered = list(group)
        if text <= last:
            raise native.OtherLayoutError(f"line {numbered[0][0]}")
        last = text
        yield text, [row for _, _, row in numbered]


def _known(rows: Iterable[Numbered], fields: dict[str, Any], where: str) -> Iterator[Numbered]:
    """The rows, if the header has their runs.

    :raises InvalidFileError: naming the line of one whose run it has not.
    """
    known = {run.id for run in fields["runs"]}
    for number, text, row in rows:
        if row[3] not in known:
            raise InvalidFileError(
                f"run {quoted(row[3])} is not in the header", where=f"{where}: line {number}"
            )
        yield number, text, row


def _gathered(rows: Iterable[Numbered]) -> dict[str, list[list[Any]]]:
    entries: dict[str, list[list[Any]]] = {}
    for _, text, row in rows:
        entries.setdefault(text, []).append(row)
    return entries


def _rows(lines: Iterator[str], first: int, name: str | None, where: str) -> Iterator[Numbered]:
    """The rows of lines that begin with the names of the columns.

    :param name: the run of rows that name none; None: there must not be any.
    """
    columns = tuple(next(lines, "").rstrip("\r").split(","))
    if columns[:4] != REQUIRED or columns[4:] not in {(), ("run",), ("count",), ("run", "count")}:
        raise InvalidFileError(f"expected the columns {','.join(COLUMNS)}", where=f"{where}: line {first}")
    has_run, has_count = "run" in columns, "count" in columns
    if not has_run and name is None:
        raise native.OtherLayoutError("the columns")
    for number, line in enumerate(lines, first + 1):
        row = line.rstrip("\r")
        if not row:
            continue
        cells = row.split(",")
        place = f"{where}: line {number}"
        if len(cells) != len(columns):
            raise InvalidFileError(f"expected {len(columns)} columns, found {len(cells)}", where=place)
        text, move, plies, result = cells[:4]
        if result not in RESULTS:
            raise InvalidFileError(f"the result is {quoted(result)}, not X, O or draw", where=place)
        run = cells[4] if has_run else name
        if has_run and is_formula(cells[4]):
            raise InvalidFileError(f"the run {quoted(run)} is a formula to a spreadsheet", where=place)
        count = _number(cells[-1], "count", place) if has_count else 1
        yield number, text, [_number(move, "move", place), _number(plies, "plies", place), result, run, count]


def _number(text: str, column: str, where: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise InvalidFileError(f"{column} is {quoted(text)}, not a whole number", where=where)
    return int(text)


def _unstated(rows: Iterable[Numbered], where: str) -> dict[str, Any]:
    """The state of a file without a header: the usual board, runs that are known by name only."""
    games: dict[str, int] = {}
    for _, text, (_, _, _, run, count) in rows:
        if len(text) != STANDARD.cells:
            raise InvalidFileError(
                "positions of an unusual board need a header that states its rules", where=where
            )
        games[run] = games.get(run, 0) + (count if text == "." * STANDARD.cells else 0)
    runs = [Run(run, "import", count or None, None) for run, count in sorted(games.items())]
    return {
        "learner": learner_of("book", "default"),
        "rules": STANDARD,
        "symmetric": False,
        "runs": tuple(runs),
    }


def _line_of_fault(fields: dict[str, Any], rows: list[Numbered]) -> int:
    """The line of the first row that the learner refuses, alone or after others of its position."""
    positions = list(_gathered(rows).items())

    def refused(entries: list[tuple[str, list[list[Any]]]]) -> bool:
        try:
            native.make_state(fields, entries, "")
        except InvalidFileError:
            return True
        return False

    first, stop = 0, len(positions)
    while stop - first > 1:
        middle = (first + stop) // 2
        first, stop = (first, middle) if refused(positions[first:middle]) else (middle, stop)
    text, same = positions[first]
    before = bisect_left(range(len(same) - 1), True, key=lambda more: refused([(text, same[: more + 1])]))
    return [number for number, position, _ in rows if position == text][before]


class StateCsv(native.NativeFormat):
    """Native files, CSV."""

    about = "the same of an experience book: CSV with a line of JSON at its head"
    learner = "book"
    endings = (".csv",)

    def recognises(self, source: Source, options: Options) -> bool:
        """Whether this is meant to be a native CSV file, whole or damaged."""
        return source.start.startswith((MARK, ",".join(REQUIRED).encode()))

    def content(self, state: State) -> Iterator[bytes]:
        head = orjson.dumps(native.header(state), option=orjson.OPT_SORT_KEYS)
        yield MARK + head + b"\n" + ",".join(COLUMNS).encode() + b"\n"
        entries = state.learner.to_entries(state.table)
        while batch := list(islice(entries, BATCH)):
            yield "".join(
                f"{','.join([key, *map(str, row)])}\n" for key, rows in batch for row in rows
            ).encode()

    def streamed(self, source: Source, options: Options) -> Native:
        """The state of a file as this program writes it: its rows pass by in blocks."""
        digest = native.Digest()
        blocks = digest.over(source.blocks())
        head = next(blocks, b"")
        if not head.startswith(MARK):
            raise native.OtherLayoutError("line 1")
        stated, fields = _header(head, source.where)
        try:
            rows = _rows(_lines(chain([head], blocks), source.where), 2, None, source.where)
            entries = _in_order(_known(rows, fields, source.where))
            state = native.make_state(fields, entries, source.where, options)
        except InvalidFileError:
            for _ in blocks:  # damage explains the fault
                pass
            digest.check(stated, source.where)
            raise native.OtherLayoutError("the rows") from None  # reading it whole finds the line
        digest.check(stated, source.where)
        return Native(state, digest.learned)

    def whole(self, source: Source, options: Options) -> Native:
        """The state of a file whose rows are in any order, with or without a header."""
        data, where, fields, first = source.data, source.where, None, 1
        digest = native.digest_of(data)
        if data.startswith(MARK):
            stated, fields = _header(data, where)
            if not options.trust_edits:
                digest.check(stated, where)
            first = 2
        lines = iter(decode(data, where).split("\n")[first - 1 :])
        name = str(digest).removeprefix("sha256:")[:24]
        rows = list(_rows(lines, first, name, where))
        if fields is None:
            fields = _unstated(rows, where)
        rows = list(_known(rows, fields, where))
        try:
            state = native.make_state(fields, _gathered(rows).items(), where, options)
        except InvalidFileError as error:
            place = f"{where}: line {_line_of_fault(fields, rows)}"
            raise InvalidFileError(error.message, where=place, hint=error.hint) from None
        return Native(state, digest.learned)
