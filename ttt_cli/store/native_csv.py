"""The native experience file of a book: CSV that opens in any spreadsheet.

    #ttt-state {"format":"ttt-state",…}
    position,move,plies,result,run,count
    ....X....,1,9,draw,3f0c…,17

The first line is the header of a native JSON state, without entries. Files without it, without ``run`` (then
the whole file is one run, named after its content) or without ``count`` (then each row counts once) are read
too.
"""

from collections.abc import Iterator
from typing import Any

import orjson

from ttt_cli.engine.rules import STANDARD
from ttt_cli.errors import InvalidFileError, TttError
from ttt_cli.learners.entries import check_spelling
from ttt_cli.store import native
from ttt_cli.store.reading import decode, load_json, quoted
from ttt_cli.store.state import Run, State, learner_of

MARK = b"#ttt-state "
COLUMNS = ("position", "move", "plies", "result", "run", "count")
REQUIRED = COLUMNS[:4]
RESULTS = ("X", "O", "draw")


def to_bytes(state: State) -> bytes:
    """A book's state as a native CSV file."""
    head = MARK + orjson.dumps(native.header(state), option=orjson.OPT_SORT_KEYS)
    entries = state.learner.to_entries(state.table)
    rows = [",".join([text, *map(str, row)]) for text, found in entries for row in found]
    return native.seal(head + b"\n" + "\n".join([",".join(COLUMNS), *rows]).encode() + b"\n")


def is_native_csv(data: bytes) -> bool:
    """Whether this is meant to be a native CSV file, whole or damaged."""
    return data.startswith(MARK) or data.startswith(",".join(REQUIRED).encode())


def from_bytes(data: bytes, where: str, *, trust_edits: bool = False) -> State:
    """The state of a native CSV file.

    :raises InvalidFileError: naming the line, if it is damaged or holds what no book can.
    """
    fields, first = None, 1
    if data.startswith(MARK):
        head = data.split(b"\n", 1)[0]
        found = load_json(head[len(MARK) :].strip(), f"{where}: line 1")
        fields = native.read_header(found, f"{where}: line 1")
        if not trust_edits:
            native.check_digest(data, str(found["digest"]), where)
        first = 2
    lines = decode(data, where).split("\n")[first - 1 :]
    name = native.digest(data)[len("sha256:") :][:24]
    entries: dict[str, list[list[Any]]] = {}
    places: dict[str, list[int]] = {}
    for number, text, row in _rows(lines, first, name, where):
        entries.setdefault(text, []).append(row)
        places.setdefault(text, []).append(number)
    if fields is None:
        fields = _unstated(entries, where)
    state = State(table=None, **fields)
    if state.learner.suffix != ".csv":
        raise InvalidFileError(f"a {state.learner.name} state is a JSON file, not CSV", where=where)
    known = {run.id for run in state.runs}
    for text, rows in entries.items():
        for number, row in zip(places[text], rows, strict=True):
            if row[3] not in known:
                raise InvalidFileError(
                    f"run {quoted(row[3])} is not in the header", where=f"{where}: line {number}"
                )
    for text, numbers in places.items():
        try:
            check_spelling(state.rules, [text])
        except TttError as error:
            raise InvalidFileError(error.message, where=f"{where}: line {numbers[0]}") from None
    try:
        table = state.learner.from_entries(state.rules, state.symmetric, entries.items())
    except TttError as error:
        line = _line_of_fault(state, entries, places)
        raise InvalidFileError(error.message, where=f"{where}: line {line}", hint=error.hint) from None
    return State(table=table, **fields)


def _rows(lines: list[str], first: int, name: str, where: str) -> Iterator[tuple[int, str, list[Any]]]:
    """Line number, position and ``[move, plies, result, run, count]`` of each row."""
    columns = tuple(lines[0].rstrip("\r").split(",")) if lines else ()
    if columns[:4] != REQUIRED or columns[4:] not in {(), ("run",), ("count",), ("run", "count")}:
        raise InvalidFileError(f"expected the columns {','.join(COLUMNS)}", where=f"{where}: line {first}")
    has_run, has_count = "run" in columns, "count" in columns
    for number, line in enumerate(lines[1:], first + 1):
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
        count = _whole(cells[-1], "count", place) if has_count else 1
        yield number, text, [_whole(move, "move", place), _whole(plies, "plies", place), result, run, count]


def _whole(text: str, column: str, where: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise InvalidFileError(f"{column} is {quoted(text)}, not a whole number", where=where)
    return int(text)


def _unstated(entries: dict[str, list[list[Any]]], where: str) -> dict[str, Any]:
    """The state of a file without a header: the usual board, runs that are known by name only."""
    if any(len(text) != STANDARD.cells for text in entries):
        raise InvalidFileError(
            "positions of an unusual board need a header that states its rules", where=where
        )
    games: dict[str, int] = {}
    for text, rows in entries.items():
        for _, _, _, run, count in rows:
            games[run] = games.get(run, 0) + (count if text == "." * STANDARD.cells else 0)
    runs = [Run(run, "import", count or None, None) for run, count in sorted(games.items())]
    return {
        "learner": learner_of("book", "default"),
        "rules": STANDARD,
        "symmetric": False,
        "runs": tuple(runs),
    }


def _line_of_fault(state: State, entries: dict[str, list[list[Any]]], places: dict[str, list[int]]) -> int:
    """The line of the first row that the learner refuses, alone or after those before it."""
    for text, rows in entries.items():
        try:
            _alone(state, text, rows)
        except TttError:
            for count in range(1, len(rows) + 1):
                try:
                    _alone(state, text, rows[:count])
                except TttError:
                    return places[text][count - 1]
    return 0


def _alone(state: State, text: str, rows: list[list[Any]]) -> None:
    """Let the learner look at some rows of one position alone."""
    state.learner.from_entries(state.rules, state.symmetric, [(text, rows)])
