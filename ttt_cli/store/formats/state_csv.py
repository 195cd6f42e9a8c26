"""The native experience file of a book: CSV that opens in any spreadsheet.

    #ttt-state {"format":"ttt-state",…}
    position,move,plies,result,run,count
    ....X....,1,9,draw,3f0c…,17

The first line is the header of a native JSON state, without entries. Files without it, without ``run`` (then
the whole file is one run, named after its content) or without ``count`` (then each row counts once) are read
too.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby, islice
from operator import itemgetter
from typing import Any

import orjson

from ttt_cli.engine.rules import STANDARD
from ttt_cli.errors import InvalidFileError
from ttt_cli.store.formats import native
from ttt_cli.store.formats.imported import Options
from ttt_cli.store.source import Source
from ttt_cli.store.state import State
from ttt_cli.store.strict_json import load_json
from ttt_cli.store.text import decode, quoted

MARK = b"#ttt-state "
COLUMNS = ["position", "move", "plies", "result", "run", "count"]
REQUIRED = COLUMNS[:4]

Row = tuple[str, list[Any]]
"""A position, and ``[move, plies, result, run, count]``."""


def _lines(blocks: Iterable[bytes], where: str) -> Iterator[tuple[int, str]]:
    number = 1
    for block in blocks:
        for line in decode(block, where, line=number).removesuffix("\n").split("\n"):
            yield number, line.removesuffix("\r")
            number += 1


def _rows(
    lines: Iterator[tuple[int, str]], header: dict[str, Any] | None, name: str, where: str
) -> Iterator[Row]:
    """The rows of lines that begin with the names of the columns.

    :param header: which has the runs; None: there is none.
    :param name: the run of rows that name none.
    """
    runs = None if header is None else {run["id"] for run in header["runs"]}
    number, line = next(lines, (2, ""))
    columns = line.split(",")
    optional = [
        column for column in COLUMNS[4:] if column in columns or (runs is not None and column == "run")
    ]
    if columns != REQUIRED + optional:
        raise InvalidFileError(f"expected the columns {','.join(COLUMNS)}", where=f"{where}: line {number}")
    has_run, has_count = "run" in columns, "count" in columns
    for number, line in lines:
        if not line:
            continue
        cells, place = line.split(","), f"{where}: line {number}"
        if len(cells) != len(columns):
            raise InvalidFileError(f"expected {len(columns)} columns, found {len(cells)}", where=place)
        run = cells[4] if has_run else name
        if runs is not None and run not in runs:
            raise InvalidFileError(f"run {quoted(run)} is not in the header", where=place)
        try:
            numbers = int(cells[1]), int(cells[2]), int(cells[-1]) if has_count else 1
        except ValueError:
            what = f"expected whole numbers as move, plies and count, found {quoted(line)}"
            raise InvalidFileError(what, where=place) from None
        yield cells[0], [numbers[0], numbers[1], cells[3], run, numbers[2]]


def _by_position(rows: Iterable[Row], where: str, *, in_order: bool) -> Iterator[tuple[str, list[list[Any]]]]:
    """The rows of each position.

    :raises ChangedError: where positions should be in order and are not.
    """
    last = ""
    for text, group in groupby(rows if in_order else sorted(rows, key=itemgetter(0)), itemgetter(0)):
        if text <= last:
            raise native.ChangedError(where, f"{quoted(text)} is out of order")
        last = text
        yield text, [row for _, row in group]


def _unstated(rows: Iterable[Row], digest: str, where: str) -> dict[str, Any]:
    """The header of a file without one: the usual board, runs that are known by name only."""
    games: dict[str, int] = {}
    for text, (_, _, _, run, count) in rows:
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
        "entries": {},
    }


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
        while batch := list(islice(entries, native.BATCH)):
            yield "".join(
                f"{','.join([key, *map(str, row)])}\n" for key, rows in batch for row in rows
            ).encode()

    def has_digest(self, source: Source) -> bool:
        return source.start.startswith(MARK)

    def streamed(self, blocks: Iterator[bytes], where: str) -> tuple[Any, native.Entries]:
        return _with_header(blocks, where, in_order=True)

    def whole(self, data: bytes, where: str) -> tuple[Any, native.Entries]:
        if data.startswith(MARK):
            return _with_header([data], where, in_order=False)
        digest = str(native.digest_of([data]))
        name = digest.removeprefix("sha256:")[:24]
        rows = list(_rows(_lines([data], where), None, name, where))
        return _unstated(rows, digest, where), _by_position(rows, where, in_order=False)


def _with_header(blocks: Iterable[bytes], where: str, *, in_order: bool) -> tuple[Any, native.Entries]:
    """The header of a file, which is its first line, and its entries."""
    lines = _lines(blocks, where)
    found = load_json(next(lines)[1].encode()[len(MARK) :], f"{where}: line 1")
    if isinstance(found, dict):
        found["entries"] = {}
    return found, _by_position(_rows(lines, found, "", where), where, in_order=in_order)
