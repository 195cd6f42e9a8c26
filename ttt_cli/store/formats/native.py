"""The common part of native state files: header and runs, digest, the search for faults.

``digest`` is taken over the file's own bytes with the digest itself left empty, so that any damage and any
edit is noticed. A state is identified by the same digest without learning curves: they are what was seen of a
player, not what it has learned.
"""

import gc
import hashlib
import re
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from io import BytesIO
from itertools import islice
from typing import Any, BinaryIO

from ttt_cli.documents import StateFile
from ttt_cli.environment import command_line
from ttt_cli.errors import InvalidFileError, TttError, UsageError
from ttt_cli.learners import LEARNERS, REMEDY, is_learner
from ttt_cli.learners.entries import MOST
from ttt_cli.store.formats.format import ExportOptions, ExportSource, Format, Native, Verification
from ttt_cli.store.formats.imported import DEFAULTS, Options, Rejected, fault_of, truncated
from ttt_cli.store.plays import PLAYED, Plays
from ttt_cli.store.runs import read_runs
from ttt_cli.store.source import Source
from ttt_cli.store.state import State, learner_of
from ttt_cli.store.typed import check, rules_of

FORMAT = "ttt-state"
VERSION = 1
BATCH = 1000
"""Entries that are written, or searched for faults, at a time."""
MOST_FAULTY = 100
"""Faulty entries that are reported."""

_NO_DIGEST = b'"digest":""'
_DIGEST = re.compile(rb'"digest": ?"(sha256:[0-9a-f]{64})?"')
_CURVE = re.compile(rb'"curve": ?\{[^{}]*\},?')
_LONG = re.compile(rb"[\[,:](-?\d{16,})(?=[\],}]|\r?\n)")

NOT_OURS = "is not as this program writes it: cut off, damaged or edited"

Entries = Iterable[tuple[str, Any]]
"""Positions and what is known of them."""


def header(state: State) -> dict[str, Any]:
    """The object at the head of a native file, its digest still empty.

    :raises UsageError: for a game that the format cannot express.
    :raises TttError: for more games than can be counted.
    """
    rules, learner = state.rules, state.learner
    if rules.misere:
        raise UsageError(f"a state that plays {rules.describe()} is not kept in files")
    if (state.games or 0) >= 2**63:
        raise TttError("cannot be saved: it would know more games than can be counted")
    return {
        "format": FORMAT,
        "version": VERSION,
        "digest": "",
        "learner": learner.name,
        **({} if learner.name in LEARNERS else {"kernel_version": learner.kernel_version}),
        "rules": rules.fields(),
        "symmetry": state.symmetric,
        "choice": learner.choice,
        **({"plays": state.plays.to_json()} if state.plays else {}),
        "games": state.games,
        "runs": [run.to_json() for run in state.runs],
    }


class Digest:
    """The digest of a file, computed block by block: LF line ends, the digest itself left out."""

    def __init__(self) -> None:
        self._hash, self._learned = hashlib.sha256(), hashlib.sha256()
        self._blank = False

    def over(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """The blocks of whole lines as they are, each added when it is asked for; the first one holds the
        stated digest."""
        for block in blocks:
            plain = block.replace(b"\r\n", b"\n")
            if not self._blank:
                plain, self._blank = _DIGEST.sub(_NO_DIGEST, plain, count=1), True
            self._hash.update(plain)
            self._learned.update(_CURVE.sub(b"", plain) if b'"curve"' in plain else plain)
            yield block

    def __str__(self) -> str:
        return "sha256:" + self._hash.hexdigest()

    @property
    def learned(self) -> str:
        """The digest that the file would have without learning curves."""
        return "sha256:" + self._learned.hexdigest()


def digest_of(blocks: Iterable[bytes]) -> Digest:
    """The digest of a file's content."""
    digest = Digest()
    deque(digest.over(blocks), maxlen=0)
    return digest


class ChangedError(InvalidFileError):
    """A file is not as it was written."""

    def __init__(self, where: str, why: str, line: int = 0) -> None:
        accept = f"if you edited it on purpose: {command_line('ttt', 'verify', '--accept', where)}"
        place = f"{where}: line {line}" if line else where
        super().__init__(
            why, where=place, hint=f"{accept}; if not, go back to a good copy (ttt restore lists backups)"
        )


def write_sealed(file: BinaryIO, parts: Iterable[bytes]) -> None:
    """Write a file's content, and then its digest into its first part."""
    if not file.seekable():
        file.write(sealed(parts))
        return
    remaining = iter(parts)
    first = next(remaining)
    digest, place = hashlib.sha256(first), first.index(_NO_DIGEST) + len(_NO_DIGEST) - 1
    file.write(first[:place] + b"sha256:" + bytes(64) + first[place:])
    for part in remaining:
        digest.update(part)
        file.write(part)
    file.seek(place + len(b"sha256:"))
    file.write(digest.hexdigest().encode())


def sealed(parts: Iterable[bytes]) -> bytes:
    """A file's content with its digest in place of the empty one."""
    file = BytesIO()
    write_sealed(file, parts)
    return file.getvalue()


def checked(entries: bytes) -> bytes:
    """A part of a file's entries, unless it holds what no reader would take.

    :raises TttError: if a number among these entries is not finite, or a count too large.
    """
    if b"null" in entries:
        raise TttError("cannot be saved: a value has grown beyond all numbers", hint="the old file is kept")
    if any(abs(int(match[1])) > MOST for match in _LONG.finditer(entries)):
        raise TttError(f"cannot be saved: a count has grown beyond {MOST:,}", hint="the old file is kept")
    return entries


def make_state(fields: dict[str, Any], entries: Entries) -> State:
    """The state of a header's fields and a file's entries.

    :raises InvalidFileError: naming the entry that no state can hold.
    """
    trained = [run.details["params"] for run in fields["runs"] if run.kind == "train"]
    learner = fields["learner"].trained_with(trained)
    with no_collection():
        table = learner.from_entries(fields["rules"], fields["symmetric"], entries)
    if all(run.kind in ("train", "play") for run in fields["runs"]):  # other programs have other units
        learner.check(table)
    return State(table=table, **fields)


@contextmanager
def no_collection() -> Iterator[None]:
    """Suspend Python's search for cyclic garbage: entries hold no cycles, and to go through millions of them
    again and again takes half of the time."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def read_header(found: Any, where: str) -> dict[str, Any]:
    """The fields of ``State``, but for the table, from a header.

    :raises InvalidFileError: naming the key that is missing or wrong.
    """
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise InvalidFileError(f'not a native state: no "format": "{FORMAT}"', where=where)
    version = found.get("version")
    if type(version) is int and version > VERSION:
        raise InvalidFileError(
            f"format version {version} is newer than this program knows ({VERSION})",
            where=f'{where}: "version"',
            hint="install a newer version of ttt",
        )
    check(found, StateFile, where)
    name, symmetric = found["learner"], found["symmetry"]
    if not is_learner(name):
        raise InvalidFileError(
            f"is a state of the learner {name}, which is not built in", where=where, hint=REMEDY
        )
    rules = rules_of(found["rules"], f'{where}: "rules"')
    try:
        learner = learner_of(name, found["choice"])
    except TttError as error:
        raise InvalidFileError(error.message, where=f'{where}: "choice"', hint=error.hint) from None
    made_by = found.get("kernel_version", learner.kernel_version)
    if made_by > learner.kernel_version:
        raise InvalidFileError(
            f"was made by version {made_by} of {name}, and this is version {learner.kernel_version}",
            where=where,
            hint="use the newer one",
        )
    runs = read_runs(found["runs"], learner, rules, symmetric, where)
    fields = {"learner": learner, "rules": rules, "symmetric": symmetric, "runs": runs}
    games = State(table=None, **fields).games
    for key, wrong, why in (
        ("symmetry", learner.symmetric_only and not symmetric, f"expected true, as {name} always has it"),
        ("games", games != found["games"], f"the runs add up to {games}, not {found['games']}"),
        (
            "plays",
            "plays" in found and (name not in PLAYED or symmetric),
            f"goes with {' and '.join(PLAYED)} without symmetry",
        ),
    ):
        if wrong:
            raise InvalidFileError(why, where=f'{where}: "{key}"')
    if "plays" in found:
        fields["plays"] = Plays.from_json(found["plays"], f'{where}: "plays"')
    return fields


class NativeFormat(Format):
    """A native format, JSON or CSV: a layout of the header and of the entries, which stand one a line."""

    name = FORMAT
    holds = "table"
    written = True
    in_blocks = True

    def content(self, state: State) -> Iterator[bytes]:
        """A file's content, its digest still empty in the first part."""
        raise NotImplementedError

    def has_digest(self, source: Source) -> bool:
        """Whether a file is laid out as this program writes it, unless it is damaged or edited."""
        return True

    def streamed(self, blocks: Iterator[bytes], where: str) -> tuple[Any, Entries]:
        """The header and the entries of such a file, in blocks of whole lines.

        :raises InvalidFileError: where it is not as written; also while the entries are gone through.
        """
        raise NotImplementedError

    def whole(self, data: bytes, where: str) -> tuple[Any, Entries]:
        """The header and the entries of any other file."""
        raise NotImplementedError

    def read(self, source: Source, options: Options) -> Native:
        """A native file: line by line, as this program wrote it, which its digest vouches for; one that was
        edited, or has no digest, at once.

        :raises InvalidFileError: if it is damaged, newer than this program, or holds what no state can.
        """
        digest, where = Digest(), source.where
        blocks = digest.over(source.blocks())
        if options.trust_edits or not self.has_digest(source):
            found, entries = self.whole(source.data, where)
        else:
            found, entries = self.streamed(blocks, where)
        fields = read_header(found, where)
        if (learner := fields["learner"]).suffix not in self.endings:
            raise InvalidFileError(f"a {learner.name} state is a {learner.suffix} file", where=where)
        state, fault = State(table=None, **fields), None
        try:
            if options.table:
                state = make_state(fields, entries)
        except ChangedError:
            raise
        except TttError as error:
            place = error.where if error.where.startswith(where) else f"{where}: {error.where}"
            fault = InvalidFileError(error.message, where=place, hint=error.hint)
        deque(blocks, maxlen=0)
        if not options.trust_edits and str(digest) != found["digest"]:  # damage explains a fault
            why = "the content does not fit its digest: the file is damaged or was edited"
            raise ChangedError(where, why)
        if fault:
            raise fault
        return Native(state, digest.learned)

    def fits(self, state: State | None) -> bool:
        """Whether there is a state, and it is kept in files that end so."""
        return state is not None and state.learner.suffix in self.endings

    def write(self, player: ExportSource, wanted: ExportOptions) -> Iterator[bytes]:
        """A state as it is."""
        assert player.state is not None
        yield sealed(self.content(player.state))

    def check(self, source: Source) -> Verification:
        """Every fault in a file: besides the first one an edit alone, and the entries that are wrong."""
        try:
            return _sound(self.read(source, DEFAULTS).state)
        except TttError as error:
            faults = [fault_of(error, source.where)]
        try:
            state = self.read(source, Options(trust_edits=True)).state
        except TttError as error:
            found = self._faulty_entries(source) or [fault_of(error, source.where)]
            faults += [fault for fault in found if fault not in faults]
            return Verification(FORMAT, faults=truncated(faults), unfit=True)
        return replace(_sound(state), faults=faults, unfit=True)

    def _faulty_entries(self, source: Source) -> list[Rejected]:
        """The entries that are wrong by themselves."""
        faults: list[Rejected] = []
        try:
            found, entries = self.whole(source.data, source.where)
            fields, remaining = read_header(found, source.where), iter(entries)
        except TttError:
            return []
        while fields["learner"].entries_stand_alone and (some := list(islice(remaining, BATCH))):
            for entry in some if _fault(fields, some) else ():
                if len(faults) == MOST_FAULTY:
                    more = "entries that are not looked at before these are mended"
                    return [*faults, Rejected("further on", more)]
                if fault := _fault(fields, [entry]):
                    faults.append(fault)
        return faults


def _fault(fields: dict[str, Any], entries: Entries) -> Rejected | None:
    try:
        make_state(fields, entries)
    except TttError as error:
        return fault_of(error, "")
    return None


def _sound(state: State) -> Verification:
    return Verification(FORMAT, *state.entries, state.learner.units)
