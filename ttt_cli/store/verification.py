"""Reading a file of any kind to report every fault in it, with its place; nothing is changed."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ttt_cli.errors import InvalidFileError, TttError
from ttt_cli.learners import LEARNERS
from ttt_cli.store import games, library, native, native_csv
from ttt_cli.store.formats.imported import Imported, Rejected, told
from ttt_cli.store.formats.states import read_large, read_whole
from ttt_cli.store.reading import is_large, load_json, read_bytes
from ttt_cli.store.state import State

RECORDS = "game-records"


@dataclass(frozen=True)
class Verification:
    """What reading a file found.

    :ivar format: its name; empty if no format fits.
    :ivar repaired: what is wrong but can be put right.
    :ivar faults: what is wrong.
    :ivar unfit: whether it cannot be used as it is.
    """

    format: str
    positions: int = 0
    moves: int = 0
    repaired: list[str] = field(default_factory=list)
    faults: list[Rejected] = field(default_factory=list)
    unfit: bool = False


def verify(path: Path) -> Verification:
    """Read a file and report every fault in it."""
    where = str(path)
    try:
        if is_large(path) and (large := read_large(path)):
            return _foreign(large[0])
        data = read_bytes(path)
    except TttError as error:
        return Verification("", faults=[_fault(error, where)], unfit=True)
    if not data and (learner := path.name.partition(".")[0]) in LEARNERS:
        lost = f"is empty, where training keeps what {learner} has learned (take it from a backup)"
        return Verification("", faults=[Rejected("the whole file", lost)], unfit=True)
    if native.is_native(data) or native_csv.is_native_csv(data):
        return _native(data, where)
    if path.suffix == ".jsonl" or path.name == games.LOG:
        return _records(data, where)
    try:
        return _foreign(read_whole(data, path)[0])
    except TttError as error:
        return Verification("", faults=[_fault(error, where)], unfit=True)


def _foreign(found: Imported) -> Verification:
    return Verification(found.format, found.positions, found.moves, found.repaired, found.rejected)


def _fault(error: TttError, where: str) -> Rejected:
    """A fault without the file's name in its place."""
    place = error.where.removeprefix(where).lstrip(":, ")
    return Rejected(
        place or "the whole file", f"{error.message} ({error.hint})" if error.hint else error.message
    )


def _native(data: bytes, where: str) -> Verification:
    """Of a native file: besides the first fault, an edit alone and every single entry that is wrong."""
    try:
        return _sound(library.parse(data, where))
    except TttError as error:
        faults = [_fault(error, where)]
    try:
        state = library.parse(data, where, trust_edits=True)
    except TttError as error:
        faults += [
            fault for fault in _entry_faults(data, where) or [_fault(error, where)] if fault not in faults
        ]
        return Verification(native.FORMAT, faults=told(faults), unfit=True)
    sound = _sound(state)
    return Verification(native.FORMAT, sound.positions, sound.moves, faults=faults, unfit=True)


def _sound(state: State) -> Verification:
    count = moves = 0
    for _, entry in state.learner.to_entries(state.table):
        count += 1
        moves += state.learner.entry_moves(entry)
    return Verification(native.FORMAT, count, moves)


def _entry_faults(data: bytes, where: str) -> list[Rejected]:
    """The entries of a JSON state that are wrong by themselves."""
    if native_csv.is_native_csv(data):
        return []
    try:
        found = load_json(data, where)
        fields = native.read_header(found, where)
        entries = found["entries"]
        fields["learner"].empty(fields["rules"], fields["symmetric"])
    except (TttError, KeyError):
        return []
    if not isinstance(entries, dict) or not fields["learner"].entries_stand_alone:
        return []
    return list(_single(fields, list(entries.items())))


def _single(fields: dict[str, Any], entries: list[tuple[str, Any]]) -> Iterator[Rejected]:
    """The faulty among the entries: halves of them are read together as long as one is wrong."""
    open_spans = [(0, len(entries))]
    while open_spans:
        start, stop = open_spans.pop()
        try:
            fields["learner"].from_entries(fields["rules"], fields["symmetric"], entries[start:stop])
        except TttError as error:
            if stop - start == 1:
                yield _fault(error, "")
            else:
                middle = (start + stop) // 2
                open_spans += [(middle, stop), (start, middle)]


def _records(data: bytes, where: str) -> Verification:
    """Of game records: every line that is none."""
    faults: list[Rejected] = []
    seen: set[tuple[str, int]] = set()
    ids: dict[str, int] = {}
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        place = f"line {number}"
        try:
            record = games.GameRecord.from_json(load_json(line, "", line=number), place)
            if record.id in ids:
                raise InvalidFileError(f"the same id as line {ids[record.id]}", where=place)
        except TttError as error:
            fault = _fault(error, "")
            faults.append(Rejected(fault.where if fault.where.startswith("line") else place, fault.why))
            continue
        ids[record.id] = number
        seen.update(zip(record.game().texts(), record.moves, strict=False))
    positions = len({text for text, _ in seen})
    return Verification(RECORDS, positions, len(seen), faults=told(faults), unfit=bool(faults))
