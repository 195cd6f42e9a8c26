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
from ttt_cli.errors import InvalidFileError, TttError
from ttt_cli.learners.entries import unfit
from ttt_cli.store.formats import native
from ttt_cli.store.formats.imported import Options
from ttt_cli.store.reading import LIMIT, allowed
from ttt_cli.store.runs import FORMULA
from ttt_cli.store.source import Source
from ttt_cli.store.state import State
from ttt_cli.store.strict_json import load_json
from ttt_cli.store.text import decode, quoted

MARK = b"#ttt-state "
COLUMNS = ("position", "move", "plies", "result", "run", "count")
REQUIRED = COLUMNS[:4]
RESULTS = ("X", "O", "draw")
BATCH = 1000
"""Entries that are written at a time."""

Lines = Iterator[tuple[int, str]]
"""Lines with their numbers."""
Numbered = tuple[int, str, list[Any]]
"""The number of a line, its position, and ``[move, plies, result, run, count]``."""


def _lines(blocks: Iterable[bytes], where: str) -> Lines:
    number = 1
    for block in blocks:
        for line in decode(block, where, line=number).removesuffix("\n").split("\n"):
            yield number, line.removesuffix("\r")
            number += 1


def _header(lines: Lines, where: str) -> Any:
    """The header of a file, which is its first line."""
    return load_json(next(lines)[1].encode()[len(MARK) :], f"{where}: line 1")


def _rows(lines: Lines, found: dict[str, Any] | None, name: str, where: str) -> Iterator[Numbered]:
    """The rows of lines that begin with the names of the columns.

    :param found: the header, which has the runs; None: there is none.
    :param name: the run of rows that name none.
    """
    number, line = next(lines, (2, ""))
    columns = tuple(line.split(","))
    fits = columns[:4] == REQUIRED and columns[4:] in {(), ("run",), ("count",), ("run", "count")}
    if not fits or (found and "run" not in columns):
        raise InvalidFileError(f"expected the columns {','.join(COLUMNS)}", where=f"{where}: line {number}")
    has_run, has_count = "run" in columns, "count" in columns
    known = found and {run["id"] for run in found["runs"]}
    for number, line in lines:
        if not line:
            continue
        cells, place = line.split(","), f"{where}: line {number}"
        if len(cells) != len(columns):
            raise InvalidFileError(f"expected {len(columns)} columns, found {len(cells)}", where=place)
        text, move, plies, result = cells[:4]
        if result not in RESULTS:
            raise InvalidFileError(f"the result is {quoted(result)}, not X, O or draw", where=place)
        run = cells[4] if has_run else name
        if has_run and run.startswith(FORMULA):
            raise InvalidFileError(f"the run {quoted(run)} is a formula to a spreadsheet", where=place)
        if known is not None and run not in known:
            raise InvalidFileError(f"run {quoted(run)} is not in the header", where=place)
        count = _number(cells[-1], "count", place) if has_count else 1
        yield number, text, [_number(move, "move", place), _number(plies, "plies", place), result, run, count]


def _number(text: str, column: str, where: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise InvalidFileError(f"{column} is {quoted(text)}, not a whole number", where=where)
    return int(text)


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


def _gathered(rows: Iterable[Numbered]) -> Iterator[tuple[str, list[list[Any]]]]:
    """The rows of each position, in whatever order they are."""
    entries: dict[str, list[list[Any]]] = {}
    for _, text, row in rows:
        entries.setdefault(text, []).append(row)
    yield from entries.items()


def _unstated(rows: Iterable[Numbered], digest: str, where: str) -> dict[str, Any]:
    """The header of a file without one: the usual board, runs that are known by name only."""
    games: dict[str, int] = {}
    for _, text, (_, _, _, run, count) in rows:
        if len(text) != STANDARD.cells:
            raise InvalidFileError(
                "positions of an unusual board need a header that states its rules", where=where
            )
        games[run] = games.get(run, 0) + (count if text == "." * STANDARD.cells else 0)
    runs = [
        {"id": run, "kind": "import", "games": games[run] or None, "results": None} for run in sorted(games)
    ]
    return {
        "format": native.FORMAT,
        "version": native.VERSION,
        "digest": digest,
        "learner": "book",
        "rules": STANDARD.fields(),
        "symmetry": False,
        "choice": "default",
        "games": sum(games.values()) if all(games.values()) else None,
        "runs": runs,
    }


def _numbered(data: bytes, where: str) -> tuple[dict[str, Any], Iterable[Numbered]]:
    """The header and the rows of a file, in whatever order they are, with or without a header."""
    lines = _lines([data], where)
    if data.startswith(MARK):
        found = _header(lines, where)
        return found, _rows(lines, found, "", where)
    digest = str(native.digest_of(data))
    rows = list(_rows(lines, None, digest.removeprefix("sha256:")[:24], where))
    return _unstated(rows, digest, where), rows


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

    def lines(self, blocks: Iterator[bytes], where: str) -> tuple[Any, native.Entries]:
        head = next(blocks, b"")
        if not head.startswith(MARK):
            raise native.OtherLayoutError("line 1")
        lines = _lines(chain([head], blocks), where)
        found = _header(lines, where)
        return found, _in_order(_rows(lines, found, "", where))

    def whole(self, data: bytes, where: str) -> tuple[Any, native.Entries]:
        found, rows = _numbered(data, where)
        return found, _gathered(rows)

    def fault(self, error: TttError, fields: dict[str, Any], source: Source) -> TttError:
        """The error with the line of the first row that the learner refuses, alone or after others of its
        position."""
        if error.where.startswith(source.where) or source.size > allowed(LIMIT):
            return error
        _, rows = _numbered(source.data, source.where)
        same = [row for row in rows if unfit(row[1], "").where == error.where]

        def refused(last: int) -> bool:
            try:
                native.make_state(fields, _gathered(same[: last + 1]))
            except TttError:
                return True
            return False

        if not same:
            return super().fault(error, fields, source)
        first = bisect_left(range(len(same) - 1), True, key=refused)
        return InvalidFileError(
            error.message, where=f"{source.where}: line {same[first][0]}", hint=error.hint
        )
