"""The program's own files: a state in JSON, the experience of a book in CSV. Equal tables give equal bytes.

    {"format":"ttt-state",            #ttt-state {"format":"ttt-state",…}
    "version":1,                      position,move,plies,result,run,count
    "digest":"sha256:…",              ....X....,1,9,draw,3f0c…,17
    …
    "entries":{
    ".........":{"1":[0.25,1200],…},
    …
    }}

Entries are sorted, one per line, and read block by block; a file in another layout is parsed as a whole.
``digest`` is that of the file with the digest itself left empty, so that any damage and any edit is noticed.
A state is identified by the same digest without learning curves, which are not part of what it has learned.
"""

import gc
import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from io import BytesIO
from itertools import chain, groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Literal, NotRequired, TypedDict

import orjson

from ttt_cli.documents import Count, fields_of, note
from ttt_cli.engine.rules import STANDARD
from ttt_cli.environment import command_line
from ttt_cli.errors import InvalidFileError, TttError, UsageError
from ttt_cli.learners import LEARNERS, learner_of
from ttt_cli.learners.base import Entry
from ttt_cli.learners.entries import MAX_COUNT, MAX_FAULTS, all_faults, report
from ttt_cli.store.formats.format import (
    FORMAT,
    ExportSource,
    FileOptions,
    Format,
    Loaded,
    Rejected,
    Verification,
)
from ttt_cli.store.formats.lines import (
    BATCH,
    OtherLayoutError,
    as_lines,
    object_chunks,
    split_object,
    text_lines,
    unsavable,
)
from ttt_cli.store.plays import PlayRule
from ttt_cli.store.runs import Run, read_runs
from ttt_cli.store.source import Source
from ttt_cli.store.state import State
from ttt_cli.store.system import LIMIT, scaled
from ttt_cli.store.text import load_json, quoted
from ttt_cli.store.typed import rules_of, validate

VERSION = 1

Parsed = tuple[State, str, Iterable[Entry]]
"""The state of a file without its table, the digest that the file states, and its entries."""

_NO_DIGEST = b'"digest":""'
_STATED_DIGEST = b'"digest":"%s"'
_DIGEST = re.compile(rb'"digest": ?"(sha256:[0-9a-f]{64})?"')
_CURVE = re.compile(rb'"curve": ?\{[^{}]*\},?')
_ROW = "([^,]*),([0-9]{1,19}),([0-9]{1,19}),([^,]*)"  # position, move, plies and result in a row of a book
_RUN, _COUNT = ",([^,]*)", ",([0-9]{1,19})"

MARK = b"#ttt-state "
MARKS = (MARK, b'"' + MARK)  # how a CSV state begins: as written, and as a spreadsheet saves it
COLUMNS = ["position", "move", "plies", "result", "run", "count"]

_GOOD_COPY = "go back to a good copy: ttt restore lists backups"


class StateFile(TypedDict):
    """A native state file (JSON)."""

    format: Literal["ttt-state"]
    version: Literal[1]
    digest: Annotated[str, note(pattern="^sha256:[0-9a-f]{64}$")]
    learner: str
    kernel_version: NotRequired[Count]
    rules: dict[str, Count]
    symmetry: bool
    choice: str
    plays: NotRequired[PlayRule]
    games: Count | None
    runs: list[Run]
    entries: Annotated[dict[str, Any], note(propertyNames={"pattern": "^[XO.-]+( [0-9]+)?$"})]


class Digest:
    """The digest of a file with LF line ends and an empty digest, computed block by block."""

    def __init__(self, blocks: Iterable[bytes] = ()) -> None:
        self._all = hashlib.sha256()
        self._learned = hashlib.sha256()
        self._has_begun = False
        for block in blocks:
            self.add(block)

    def add(self, block: bytes) -> bytes:
        """Add a block, the first with the stated digest, and return it."""
        plain = block.replace(b"\r\n", b"\n")
        if not self._has_begun:
            plain = _DIGEST.sub(_NO_DIGEST, plain, count=1)
            self._has_begun = True
        self._all.update(plain)
        self._learned.update(_CURVE.sub(b"", plain))
        return block

    def __str__(self) -> str:
        return f"sha256:{self._all.hexdigest()}"

    @property
    def learned(self) -> str:
        """The digest of the file without learning curves."""
        return f"sha256:{self._learned.hexdigest()}"


def write_sealed(chunks: Iterable[bytes], file: BinaryIO) -> None:
    """Write the chunks of a file, then its digest in place of the empty one in the first chunk."""
    digest = Digest()
    counted = map(digest.add, chunks)
    first = next(counted)
    file.write(first.replace(_NO_DIGEST, _STATED_DIGEST % (b" " * len(str(digest))), 1))
    with no_collection():
        file.writelines(counted)
    file.seek(first.index(_NO_DIGEST))
    file.write(_STATED_DIGEST % str(digest).encode())


def sealed(chunks: Iterable[bytes]) -> bytes:
    """The content of a file with its digest."""
    file = BytesIO()
    write_sealed(chunks, file)
    return file.getvalue()


@contextmanager
def no_collection() -> Iterator[None]:
    """Suspend cyclic garbage collection: entries have no cycles, and scanning millions of them repeatedly
    takes half of the time."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def _header(state: State) -> dict[str, Any]:
    """The object at the head of a native file, its digest still empty."""
    rules, learner = state.rules, state.learner
    if (state.games or 0) >= 2**63:
        raise TttError("cannot be saved: it would have more games than can be counted")
    made_by = {} if learner.name in LEARNERS else {"kernel_version": learner.kernel_version}
    plays = {"plays": fields_of(state.plays)} if state.plays else {}
    return {
        "format": FORMAT,
        "version": VERSION,
        "digest": "",
        "learner": learner.name,
        **made_by,
        "rules": rules.fields(),
        "symmetry": state.symmetric,
        "choice": learner.choice,
        **plays,
        "games": state.games,
        "runs": state.runs,
    }


def _read_header(found: Any, where: str) -> State:
    """The state that a header describes, without its table."""
    version = found.get("version") if isinstance(found, dict) else None
    if type(version) is int and version > VERSION:
        why = f"format version {version} is newer than this program knows ({VERSION})"
        raise InvalidFileError(why, where=f'{where}: "version"', hint="install a newer version of ttt")
    validate(found, StateFile, where)
    rules = rules_of(found["rules"], f'{where}: "rules"')
    symmetric = found["symmetry"]
    try:
        learner = learner_of(found["learner"], found["choice"])
        runs = read_runs(found["runs"], learner, rules, symmetric, where)
        plays = PlayRule(**found["plays"]) if "plays" in found else None
        state = State(learner, rules, symmetric, None, runs, plays)
    except UsageError as error:
        raise InvalidFileError(error.message, where=where, hint=error.hint, cli_hint=error.cli_hint) from None
    needed, ours = found.get("kernel_version", 0), learner.kernel_version
    if needed > ours:
        why = f"needs version {needed} of {learner.name}; this is version {ours}"
        raise InvalidFileError(why, where=f'{where}: "kernel_version"')
    if learner.symmetric_only and not symmetric:
        why = f"expected true: {learner.name} tables are always symmetric"
        raise InvalidFileError(why, where=f'{where}: "symmetry"')
    if state.games != found["games"]:
        why = f"the runs add up to {state.games}, not {found['games']}"
        raise InvalidFileError(why, where=f'{where}: "games"')
    return state


def _with_table(state: State, entries: Iterable[Entry]) -> State:
    learner = state.continuing_learner
    with no_collection():
        table = learner.from_entries(state.rules, state.symmetric, entries)
    if all(run["kind"] in ("train", "play") for run in state.runs):  # other programs use other units
        learner.check(table)
    return replace(state, learner=learner, table=table)


class NativeFormat(Format):
    """A native format: how the header and the entries, one per line, are laid out."""

    name = FORMAT
    holds = "table"
    limit = 2**63  # any size: it is read in blocks

    def chunks(self, state: State) -> Iterator[bytes]:
        """The chunks of a state's file; the digest, in the first, is still empty."""
        raise NotImplementedError

    def parsed(self, blocks: Iterator[bytes], where: str, *, whole: bool) -> Parsed:
        """The parts of a file.

        :param blocks: its content, in blocks of whole lines.
        :param whole: whether to parse it as a whole, in any layout.
        :raises OtherLayoutError: if not ``whole``, at a layout that this program does not write.
        :raises InvalidFileError: also while iterating over the entries.
        """
        raise NotImplementedError

    def read(self, source: Source, options: FileOptions) -> Loaded:
        try:
            if not options.trust_edits:
                return self._read(source, options, whole=False)
        except OtherLayoutError:
            if source.size > scaled(LIMIT):
                why = "is not as this program writes it: cut off, damaged or edited"
                raise InvalidFileError(why, where=source.where, hint=_GOOD_COPY) from None
        try:
            return self._read(source, options, whole=True)
        except InvalidFileError as error:
            error.hint = error.hint or _GOOD_COPY
            raise

    def _read(self, source: Source, options: FileOptions, *, whole: bool) -> Loaded:
        where = source.where
        digest = Digest()
        blocks = map(digest.add, source.blocks())
        state, stated_digest, entries = self.parsed(blocks, where, whole=whole)
        learner = state.learner
        if learner.suffix not in self.suffixes:
            raise InvalidFileError(f"a {learner.name} state is a {learner.suffix} file", where=where)
        fault = None
        try:
            if options.table:
                state = _with_table(state, entries)
        except TttError as error:
            place = error.where if error.where.startswith(where) else f"{where}: {error.where}"
            fault = InvalidFileError(error.message, where=place, hint=error.hint)
        for _ in blocks:
            pass  # the digest takes in the rest
        if not options.trust_edits and str(digest) != stated_digest:  # which explains a fault, too
            if not (options.table or whole):
                raise OtherLayoutError  # read as a whole, it may turn out to be cut off
            why = "the content does not match its digest: the file is damaged or was edited"
            accept = command_line("ttt", "verify", "--accept", where)
            hint = "" if fault else f"if you edited it on purpose: {accept}; if not, "
            raise InvalidFileError(why, where=where, hint=hint + _GOOD_COPY) from fault
        if fault:
            raise fault
        return Loaded(state, Path(where), FORMAT, digest.learned, options)

    def fits(self, state: State | None) -> bool:
        return state is not None and state.learner.suffix in self.suffixes

    def write(self, player: ExportSource) -> Iterator[bytes]:
        assert player.state is not None
        yield sealed(self.chunks(player.state))

    def verify(self, source: Source, options: FileOptions) -> Verification:
        """Report an edit, all wrong entries, and the first other fault."""
        with all_faults() as wrong:
            try:
                found = super().verify(source, options)
            except TttError as error:
                if wrong:  # which could not be accepted
                    error.hint = _GOOD_COPY
                wrong.insert(0, error)
                if isinstance(error.__cause__, TttError):  # a fault, beside a digest that does not match
                    wrong.append(error.__cause__)
        if not wrong:
            return found
        faults = [*dict.fromkeys(Rejected.by(error, source.where) for error in wrong)]
        if len(faults) > MAX_FAULTS:
            faults[MAX_FAULTS + 1 :] = [
                Rejected("further on", "nothing more is checked until these are repaired")
            ]
        return Verification(FORMAT, rejected=faults, unfit=True)


class StateJson(NativeFormat):
    about = "all that a learner has learned, JSON; CSV for a book"
    learner = "any"
    suffixes = (".json",)

    def recognises(self, source: Source, options: FileOptions) -> bool:
        return not source.start.startswith(MARKS) and source.says(b"format", b"ttt-state")

    def chunks(self, state: State) -> Iterator[bytes]:
        head = as_lines(_header(state).items(), orjson.OPT_SORT_KEYS)
        entries = state.learner.to_entries(state.table)
        option = orjson.OPT_SORT_KEYS | orjson.OPT_STRICT_INTEGER
        for number, chunk in enumerate(object_chunks(b"{" + head + b',\n"entries":{\n', entries, option)):
            if number and b"null" in chunk:  # orjson writes NaN and infinity as null
                raise unsavable("a value is not finite")
            yield chunk

    def parsed(self, blocks: Iterator[bytes], where: str, *, whole: bool) -> Parsed:
        if whole:
            found = load_json(b"".join(blocks), where)
            return _read_header(found, where), found["digest"], found["entries"].items()
        found, entries = split_object(blocks, "entries", where, orjson.loads)
        return _read_header(found, where), found["digest"], entries


class StateCsv(NativeFormat):
    """Books as CSV. The header is optional (runs are then known by name alone), and so are columns ``run``
    (the file is then one run, named after its content) and ``count`` (each row then counts once)."""

    about = "the same of an experience book: CSV with a line of JSON at its head"
    learner = "book"
    suffixes = (".csv",)

    def recognises(self, source: Source, options: FileOptions) -> bool:
        return source.start.startswith((*MARKS, ",".join(COLUMNS[:4]).encode()))

    def chunks(self, state: State) -> Iterator[bytes]:
        head = orjson.dumps(_header(state), option=orjson.OPT_SORT_KEYS)
        yield MARK + head + b"\n" + ",".join(COLUMNS).encode() + b"\n"
        entries = state.learner.to_entries(state.table)
        while batch := list(islice(entries, BATCH)):
            if any(row[-1] > MAX_COUNT for _, rows in batch for row in rows):
                raise unsavable(f"a count has grown beyond {MAX_COUNT:,}")
            lines = [",".join([key, *map(str, row)]) for key, rows in batch for row in rows]
            yield "".join(f"{line}\n" for line in lines).encode()

    def parsed(self, blocks: Iterator[bytes], where: str, *, whole: bool) -> Parsed:
        first = next(blocks)
        if first.startswith(MARKS[1]):
            why = "was saved by a spreadsheet, which has taken its first line apart"
            hint = f"{_GOOD_COPY}; without that line the rows can be read"
            raise InvalidFileError(why, where=where, hint=hint)
        if first.startswith(MARK):
            lines = text_lines(chain([first], blocks), where)
            found = load_json(next(lines)[1].encode().replace(MARK, b" " * len(MARK), 1), where)
            if isinstance(found, dict):
                found["entries"] = {}
            state = _read_header(found, where)
            rows = _rows(lines, {run["id"] for run in state.runs}, "", where)
            return state, found["digest"], _by_position(rows, whole)
        data = b"".join([first, *blocks])
        digest = str(Digest([data]))
        listed = list(_rows(text_lines([data], where), None, digest.removeprefix("sha256:")[:24], where))
        games = Counter[str]()
        for text, (_, _, _, run, count) in listed:
            games[run] += 0 if text.strip(".") else count  # each game has one row with the empty board
        learner = learner_of("book", "default")
        unknown = {"kind": "import", "results": None}
        records = [{**unknown, "id": run, "games": games[run] or None} for run in sorted(games)]
        runs = read_runs(records, learner, STANDARD, False, where)
        return State(learner, STANDARD, False, None, runs), digest, _by_position(listed, True)


def _rows(
    lines: Iterator[tuple[int, str]], runs: set[str] | None, name: str, where: str
) -> Iterator[tuple[str, list[Any]]]:
    """The position and ``[move, plies, result, run, count]`` of each row; the first line names the columns.

    :param runs: the ids of the runs that the header lists; None if there is no header.
    :param name: the run of rows that name none.
    :raises InvalidFileError: naming the row that is wrong, unless ``all_faults`` are listed.
    """
    number, line = next(lines, (2, ""))
    columns = line.split(",", len(COLUMNS))
    has_run, has_count = "run" in columns or runs is not None, "count" in columns
    if columns != COLUMNS[:4] + ["run"] * has_run + ["count"] * has_count:
        raise InvalidFileError(f"expected the columns {','.join(COLUMNS)}", where=f"{where}: line {number}")

    row = re.compile(_ROW + (_RUN if has_run else "()") + (_COUNT if has_count else "()"))
    for number, line in lines:
        match = row.fullmatch(line)
        if match and (runs is None or match[5] in runs):
            text, move, plies, result, run, count = match.groups()
            yield text, [int(move), int(plies), result, run if has_run else name, int(count or 1)]
        elif line:
            listed = " and a run of the header" if runs is not None else ""
            why = f"expected {','.join(columns)} with whole numbers{listed}, found {quoted(line, 100)}"
            report(InvalidFileError(why, where=f"{where}: line {number}"))


def _by_position(rows: Iterable[tuple[str, list[Any]]], unsorted: bool) -> Iterator[Entry]:
    position = itemgetter(0)
    before = ""
    for text, group in groupby(sorted(rows, key=position) if unsorted else rows, position):
        if text < before:
            raise OtherLayoutError
        before = text
        yield text, [row for _, row in group]


NATIVE = (StateJson(), StateCsv())
