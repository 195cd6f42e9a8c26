"""The program's own files: a state in JSON, the experience of a book in CSV. Equal tables give equal bytes.

    {"format":"ttt-state",            #ttt-state {"format":"ttt-state",…}
    "version":1,                      position,move,plies,result,run,count
    "digest":"sha256:…",              ....X....,1,9,draw,3f0c…,17
    …
    "entries":{
    ".........":{"1":[0.25,1200],…},
    …
    }}

Entries are one a line, sorted, and read block by block; only an edited file is parsed as a whole. ``digest``
is that of the file with the digest itself left empty, so that any damage and any edit is noticed. A state is
identified by the same digest without learning curves, which are no part of what it has learned.
"""

import gc
import hashlib
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import BytesIO
from itertools import chain, groupby, islice, pairwise
from operator import itemgetter, le
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from ttt_cli.documents import StateFile
from ttt_cli.engine.rules import STANDARD
from ttt_cli.engine.state_space import MAX_POSITIONS
from ttt_cli.environment import command_line
from ttt_cli.errors import InvalidFileError, TttError
from ttt_cli.learners import LEARNERS, REMEDY, is_learner
from ttt_cli.learners.base import Entry
from ttt_cli.learners.entries import MAX_COUNT, all_faults
from ttt_cli.store.formats.format import (
    ANY_SIZE,
    DEFAULTS,
    FORMAT,
    ExportOptions,
    ExportSource,
    Format,
    Loaded,
    Options,
    Verification,
    fault_of,
)
from ttt_cli.store.plays import PLAYED, Plays
from ttt_cli.store.runs import Run, read_runs
from ttt_cli.store.source import Source
from ttt_cli.store.state import State, learner_of
from ttt_cli.store.text import decode, load_json, quoted
from ttt_cli.store.typed import check, rules_of

VERSION = 1
BATCH = 1000
"""Entries that are written at a time."""

_NO_DIGEST, _STATED = b'"digest":""', b'"digest":"%s"'
_DIGEST = re.compile(rb'"digest": ?"(sha256:[0-9a-f]{64})?"')
_CURVE = re.compile(rb'"curve": ?\{[^{}]*\},?')
_ENTRIES = re.compile(rb',?\r?\n"entries":\{\r?\n')
_LONG = re.compile(rb"[\[,:](-?\d{16,})(?=[\],}]|\r?\n)")
_NUMBERS = re.compile(r"[0-9]{1,19} [0-9]{1,19} [0-9]{1,19}")

MARK = b"#ttt-state "
COLUMNS = ["position", "move", "plies", "result", "run", "count"]

_GOOD_COPY = "go back to a good copy (ttt restore lists backups)"
_CUT_OFF = "ends in the middle: it was cut off"
_OTHERWISE = "is not as this program writes it: cut off, damaged or edited"


class Digest:
    """The digest of a file, computed block by block: LF line ends, the digest itself left out."""

    def __init__(self, blocks: Iterable[bytes] = ()) -> None:
        self._all, self._learned, self._begun = hashlib.sha256(), hashlib.sha256(), False
        deque(self.over(blocks), maxlen=0)

    def over(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """Yield blocks of whole lines, adding each; the first one holds the stated digest."""
        for block in blocks:
            plain = block.replace(b"\r\n", b"\n")
            if not self._begun:
                plain, self._begun = _DIGEST.sub(_NO_DIGEST, plain, count=1), True
            self._all.update(plain)
            self._learned.update(_CURVE.sub(b"", plain) if b'"curve"' in plain else plain)
            yield block

    def __str__(self) -> str:
        return f"sha256:{self._all.hexdigest()}"

    @property
    def learned(self) -> str:
        """The digest of the file without learning curves."""
        return f"sha256:{self._learned.hexdigest()}"


class ChangedError(InvalidFileError):
    """A file is not as this program has written it."""

    def __init__(self, where: str, why: str, line: int = 0) -> None:
        hint = _GOOD_COPY
        if why != _CUT_OFF:
            accept = command_line("ttt", "verify", "--accept", where)
            hint = f"if you edited it on purpose: {accept}; if not, {hint}"
        super().__init__(why, where=f"{where}: line {line}" if line else where, hint=hint)


def write_sealed(parts: Iterable[bytes], file: BinaryIO) -> None:
    """Write the parts of a file, then the digest in place of the empty one in the first."""
    digest = Digest()
    counted = digest.over(parts)
    first = next(counted)
    file.write(first.replace(_NO_DIGEST, _STATED % (b" " * 71), 1))
    file.writelines(counted)
    file.seek(first.index(_NO_DIGEST))
    file.write(_STATED % str(digest).encode())


def sealed(parts: Iterable[bytes]) -> bytes:
    """The content of a file with its digest."""
    file = BytesIO()
    write_sealed(parts, file)
    return file.getvalue()


@contextmanager
def no_collection() -> Iterator[None]:
    """Suspend Python's search for cyclic garbage: entries have no cycles, and going through millions of them
    again and again takes half of the time."""
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
    return {
        "format": FORMAT,
        "version": VERSION,
        "digest": "",
        "learner": learner.name,
        **({} if learner.name in LEARNERS else {"kernel_version": learner.kernel_version}),
        "rules": rules.fields(),
        "symmetry": state.symmetric,
        "choice": learner.choice,
        **({"plays": state.plays.fields()} if state.plays else {}),
        "games": state.games,
        "runs": [run.fields() for run in state.runs],
    }


def _read_header(found: Any, where: str) -> State:
    """The state of a header, without its table."""

    def require(fits: bool, key: str, why: str, hint: str = "") -> None:
        if not fits:
            raise InvalidFileError(why, where=f'{where}: "{key}"', hint=hint)

    version = found.get("version") if isinstance(found, dict) else None
    newer = type(version) is int and version > VERSION
    known = f"format version {version} is newer than this program knows ({VERSION})"
    require(not newer, "version", known, "install a newer version of ttt")
    check(found, StateFile, where)
    name, symmetric = found["learner"], found["symmetry"]
    require(is_learner(name), "learner", f"{name} is not a built-in learner", REMEDY)
    rules = rules_of(found["rules"], f'{where}: "rules"')
    try:
        learner = learner_of(name, found["choice"])
    except TttError as error:
        raise InvalidFileError(error.message, where=f'{where}: "choice"', hint=error.hint) from None
    made_by, ours = found.get("kernel_version", 0), learner.kernel_version
    newer_learner = f"made by version {made_by} of {name}, and this is version {ours}"
    require(made_by <= ours, "kernel_version", newer_learner, "use the newer one")
    require(symmetric or not learner.symmetric_only, "symmetry", f"expected true, as {name} always has it")
    runs, plays = read_runs(found["runs"], learner, rules, symmetric, where), None
    if "plays" in found:
        fits = name in PLAYED and not symmetric and rules.positions_bound <= MAX_POSITIONS
        require(fits, "plays", f"goes with {' and '.join(PLAYED)} without symmetry, on boards up to 4x4")
        plays = Plays.from_json(found["plays"], f'{where}: "plays"')
    state = State(learner, rules, symmetric, None, runs, plays)
    games = f"the runs add up to {state.games}, not {found['games']}"
    require(state.games == found["games"], "games", games)
    return state


def _with_table(state: State, entries: Iterable[Entry]) -> State:
    learner = state.as_read
    with no_collection():
        table = learner.from_entries(state.rules, state.symmetric, entries)
    if all(run.kind in ("train", "play") for run in state.runs):  # other programs use other units
        learner.check(table)
    return replace(state, learner=learner, table=table)


def _check_order(keys: list[str], where: str) -> str:
    """Check that keys are sorted; returns the last."""
    if any(map(le, keys[1:], keys)):
        first = next(after for before, after in pairwise(keys) if after <= before)
        raise ChangedError(where, f"{_OTHERWISE} (position {quoted(first)} is out of order)")
    return keys[-1]


@dataclass(frozen=True)
class _AtMost:
    """Entries, and a bound on their number, for which a table makes room."""

    entries: Iterable[Entry]
    most: int

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __length_hint__(self) -> int:
        return self.most


class NativeFormat(Format):
    """A native format: a layout of the header and of the entries, which are one a line."""

    name = FORMAT
    holds = "table"
    written = True
    limit = ANY_SIZE

    def content(self, state: State) -> Iterator[bytes]:
        """The content of a state's file in parts, the digest in the first still empty."""
        raise NotImplementedError

    def parsed(self, source: Source, blocks: Iterator[bytes], *, edited: bool) -> tuple[Any, Iterable[Entry]]:
        """The header and the entries of a file.

        :param blocks: its content, in blocks of whole lines.
        :param edited: whether to accept another layout than this program writes.
        :raises InvalidFileError: also while iterating over the entries.
        """
        raise NotImplementedError

    def read(self, source: Source, options: Options) -> Loaded:
        digest, where, fault = Digest(), source.where, None
        blocks = digest.over(source.blocks())
        found, entries = self.parsed(source, blocks, edited=options.trust_edits)
        state = _read_header(found, where)
        if (learner := state.learner).suffix not in self.endings:
            raise InvalidFileError(f"a {learner.name} state is a {learner.suffix} file", where=where)
        try:
            if options.table:
                least = len('"":{"1":1},\n') + state.rules.cells
                state = _with_table(state, _AtMost(entries, source.size // least))
        except ChangedError:
            raise
        except TttError as error:
            place = error.where if error.where.startswith(where) else f"{where}: {error.where}"
            fault = InvalidFileError(error.message, where=place, hint=error.hint)
        deque(blocks, maxlen=0)
        if not options.trust_edits and str(digest) != found["digest"]:  # damage explains a fault
            why = "the content does not match its digest: the file is damaged or was edited"
            changed = ChangedError(where, why)
            changed.hint = _GOOD_COPY if fault else changed.hint  # what has a fault cannot be accepted
            raise changed
        if fault:
            raise fault
        return Loaded(state, Path(where), FORMAT, digest.learned, options)

    def fits(self, state: State | None) -> bool:
        return state is not None and state.learner.suffix in self.endings

    def write(self, player: ExportSource, wanted: ExportOptions) -> Iterable[bytes]:
        assert player.state is not None
        return [sealed(self.content(player.state))]

    def check(self, source: Source, options: Options = DEFAULTS) -> Verification:
        """Report an edit, and all wrong entries or the first other fault."""
        try:
            return super().check(source, options)
        except TttError as error:
            first, found = error, Verification(FORMAT)
        edited = isinstance(first, ChangedError)
        with all_faults() as wrong:
            try:
                if first.message != _CUT_OFF:
                    found = super().check(source, replace(options, trust_edits=edited))
            except TttError as error:
                further = TttError("nothing is checked before these are repaired", where="further on")
                wrong.append(further if wrong else error)
        faults = dict.fromkeys(fault_of(error, source.where) for error in (first, *wrong))
        return replace(Verification(FORMAT) if wrong else found, rejected=[*faults], unfit=True)


class StateJson(NativeFormat):
    """States as JSON."""

    about = "all that a learner has learned, JSON; CSV for a book"
    learner = "any"
    endings = (".json",)

    def recognises(self, source: Source, options: Options) -> bool:
        return b'"ttt-state"' in source.start and not source.start.startswith(b"#")

    def content(self, state: State) -> Iterator[bytes]:
        yield b"{" + _lines([*_header(state).items()]) + b',\n"entries":{\n'
        entries, separator = state.learner.to_entries(state.table), b""
        while batch := list(islice(entries, BATCH)):
            lines = _lines(batch)
            if b"null" in lines:
                message = "cannot be saved: a value is not finite"
                raise TttError(message, hint="the old file is kept")
            if any(abs(int(match[1])) > MAX_COUNT for match in _LONG.finditer(lines)):
                message = f"cannot be saved: a count has grown beyond {MAX_COUNT:,}"
                raise TttError(message, hint="the old file is kept")
            yield separator + lines
            separator = b",\n"
        yield b"\n}}\n"

    def parsed(self, source: Source, blocks: Iterator[bytes], *, edited: bool) -> tuple[Any, Iterable[Entry]]:
        where, head = source.where, b""
        if edited:
            found = load_json(source.data, where)
            whole = found.get("entries") if isinstance(found, dict) else None
            return found, whole.items() if isinstance(whole, dict) else ()
        while not (begun := _ENTRIES.search(head)):
            if not (block := next(blocks, b"")):
                raise ChangedError(where, _OTHERWISE if head.rstrip().endswith(b"}") else _CUT_OFF)
            head += block
        line = head.count(b"\n", 0, begun.end()) + 1
        entries = _json_entries(chain([head[begun.end() :]], blocks), line, where)
        return load_json(head[: begun.start()] + b',"entries":{}}', where), entries


def _lines(items: Sequence[tuple[str, Any]]) -> bytes:
    """The members of an object, one a line."""
    dumps, keys = orjson.dumps, orjson.OPT_SORT_KEYS
    return b",\n".join([dumps(name) + b":" + dumps(value, option=keys) for name, value in items])


def _json_entries(blocks: Iterable[bytes], line: int, where: str) -> Iterator[Entry]:
    """The entries in blocks of lines, the first of which has the number ``line``."""
    ended, last = False, ""
    for block in blocks:
        text = block.rstrip()
        if ended and text:
            raise ChangedError(where, _OTHERWISE, line)
        ended = ended or text == b"}}" or text.endswith(b"\n}}")
        text = text.removesuffix(b"}}" * ended).rstrip(b",\r\n")
        try:
            found = orjson.loads(b"{" + text + b"}")
        except orjson.JSONDecodeError as error:
            why = _OTHERWISE if block.endswith(b"\n") or b"\n}}" in text else _CUT_OFF
            raise ChangedError(where, why, line + error.lineno - 1) from None
        if len(found) != text.count(b"\n") + bool(text):
            raise ChangedError(where, _OTHERWISE, line)
        last = _check_order([last, *found], where)
        yield from found.items()
        line += block.count(b"\n")
    if not ended:
        raise ChangedError(where, _CUT_OFF, line)


class StateCsv(NativeFormat):
    """Books as CSV. The header is optional (runs are then known by name alone), and so are columns ``run``
    (the file is then one run, named after its content) and ``count`` (each row then counts once)."""

    about = "the same of an experience book: CSV with a line of JSON at its head"
    learner = "book"
    endings = (".csv",)

    def recognises(self, source: Source, options: Options) -> bool:
        return source.start.startswith((MARK, ",".join(COLUMNS[:4]).encode()))

    def content(self, state: State) -> Iterator[bytes]:
        head = orjson.dumps(_header(state), option=orjson.OPT_SORT_KEYS)
        yield MARK + head + b"\n" + ",".join(COLUMNS).encode() + b"\n"
        entries = state.learner.to_entries(state.table)
        while batch := list(islice(entries, BATCH)):
            lines = [",".join([key, *map(str, row)]) for key, rows in batch for row in rows]
            yield "".join(f"{line}\n" for line in lines).encode()

    def parsed(self, source: Source, blocks: Iterator[bytes], *, edited: bool) -> tuple[Any, Iterable[Entry]]:
        where, lines = source.where, _text_lines(blocks, source.where)
        if source.start.startswith(MARK):
            found = load_json(next(lines)[1].encode()[len(MARK) :], f"{where}: line 1")
            if isinstance(found, dict):
                found["entries"] = {}
            return found, _by_position(_rows(lines, found, "", where), "" if edited else where)
        digest = str(Digest([source.data]))
        listed = list(_rows(lines, None, digest.removeprefix("sha256:")[:24], where))
        games = Counter[str]()
        for text, (_, _, _, run, count) in listed:
            games[run] += 0 if text.strip(".") else count
        runs = tuple(Run(run, "import", games[run] or None) for run in sorted(games))
        state = State(learner_of("book", "default"), STANDARD, False, None, runs)
        header = {**_header(state), "digest": digest, "entries": {}}
        return header, _by_position(listed)


def _text_lines(blocks: Iterable[bytes], where: str) -> Iterator[tuple[int, str]]:
    number = 1
    for block in blocks:
        for line in decode(block, where, line=number).removesuffix("\n").split("\n"):
            yield number, line.removesuffix("\r")
            number += 1


def _rows(
    lines: Iterator[tuple[int, str]], header: dict[str, Any] | None, name: str, where: str
) -> Iterator[tuple[str, list[Any]]]:
    """A position and ``[move, plies, result, run, count]`` from each line after that of the columns.

    :param name: the run of rows that name none.
    """
    runs = None if header is None else {run["id"] for run in header["runs"]}
    number, line = next(lines, (2, ""))
    columns = line.split(",")
    has_run, has_count = "run" in columns, "count" in columns
    if columns != COLUMNS[:4] + ["run"] * (has_run or runs is not None) + ["count"] * has_count:
        raise InvalidFileError(f"expected the columns {','.join(COLUMNS)}", where=f"{where}: line {number}")
    for number, line in lines:
        if not line:
            continue
        cells, place = line.split(","), f"{where}: line {number}"
        if len(cells) != len(columns):
            raise InvalidFileError(f"expected {len(columns)} columns, found {len(cells)}", where=place)
        run = cells[4] if has_run else name
        if runs is not None and run not in runs:
            raise InvalidFileError(f"run {quoted(run)} is not in the header", where=place)
        numbers = cells[1], cells[2], cells[-1] if has_count else "1"
        if not _NUMBERS.fullmatch(" ".join(numbers)):
            what = f"expected whole numbers as move, plies and count, found {quoted(line)}"
            raise InvalidFileError(what, where=place)
        move, plies, count = map(int, numbers)
        yield cells[0], [move, plies, cells[3], run, count]


def _by_position(rows: Iterable[tuple[str, list[Any]]], where: str = "") -> Iterator[tuple[str, list[Any]]]:
    """The rows of each position.

    :param where: the file, if its rows must be sorted.
    """
    last = ""
    for text, group in groupby(rows if where else sorted(rows, key=itemgetter(0)), itemgetter(0)):
        last = _check_order([last, text], where)
        yield text, [row for _, row in group]


NATIVE = (StateJson(), StateCsv())
