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
from typing import Any, BinaryIO

from ttt_cli.documents import StateFile
from ttt_cli.engine.rules import Rules
from ttt_cli.environment import command_line
from ttt_cli.errors import InvalidFileError, TttError, UsageError
from ttt_cli.learners import LEARNERS, REMEDY, is_learner
from ttt_cli.learners.entries import MOST
from ttt_cli.store.formats.format import ExportOptions, ExportSource, Format, Native, Verification
from ttt_cli.store.formats.imported import DEFAULTS, Options, Rejected, fault_of, truncated
from ttt_cli.store.plays import PLAYED, Plays
from ttt_cli.store.reading import LIMIT, allowed
from ttt_cli.store.runs import read_runs
from ttt_cli.store.source import Source
from ttt_cli.store.state import State, learner_of
from ttt_cli.store.typed import check

FORMAT = "ttt-state"
VERSION = 1

_NO_DIGEST = b'"digest":""'
_DIGEST = re.compile(rb'"digest": ?"(sha256:[0-9a-f]{64})?"')
_CURVE = re.compile(rb'"curve": ?\{[^{}]*\},?')
_LONG = re.compile(rb"[\[,:](-?\d{16,})(?=[\],}]|\r?\n)")
_KEYS = set(StateFile.__annotations__)

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
        self._hash = hashlib.sha256()
        self._learned: hashlib._Hash | None = None
        self._blank = False

    def update(self, block: bytes) -> None:
        """Add a block of whole lines; the first one holds the stated digest."""
        plain = block.replace(b"\r\n", b"\n")
        if not self._blank:
            plain, self._blank = _DIGEST.sub(_NO_DIGEST, plain, count=1), True
        learned = _CURVE.sub(b"", plain) if b'"curve"' in plain else plain
        if learned is not plain and self._learned is None:
            self._learned = self._hash.copy()
        if self._learned is not None:
            self._learned.update(learned)
        self._hash.update(plain)

    def over(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """The blocks as they are, each added when it is asked for."""
        for block in blocks:
            self.update(block)
            yield block

    def __str__(self) -> str:
        return "sha256:" + self._hash.hexdigest()

    @property
    def learned(self) -> str:
        """The digest that the file would have without learning curves."""
        return "sha256:" + (self._learned or self._hash).hexdigest()

    def check(self, stated: str, where: str) -> None:
        """Compare with the digest that the file states.

        :raises InvalidFileError: if they differ.
        """
        if str(self) != stated:
            raise InvalidFileError(
                "the content does not fit its digest: the file is damaged or was edited",
                where=where,
                hint=f"if you edited it on purpose: {command_line('ttt', 'verify', '--accept', where)}; "
                "if not, go back to a good copy (ttt restore lists backups)",
            )


def digest_of(content: bytes) -> Digest:
    """The digest of a file's content."""
    digest = Digest()
    digest.update(content)
    return digest


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
    for match in _LONG.finditer(entries):
        if abs(int(match[1])) > MOST:
            raise TttError(f"cannot be saved: a count has grown beyond {MOST:,}", hint="the old file is kept")
    return entries


class OtherLayoutError(Exception):
    """A file is not laid out as this program writes it, so it has to be read whole."""


def make_state(fields: dict[str, Any], entries: Entries, options: Options = DEFAULTS) -> State:
    """The state of a header's fields and a file's entries; its table is None where none is wanted.

    :raises InvalidFileError: naming the entry that no state can hold.
    """
    if not options.table:
        deque(entries, maxlen=0)
        return State(table=None, **fields)
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
    check({"entries": {}, **found}, StateFile, where)
    name = found["learner"]
    known = _KEYS - {"kernel_version"} if name in LEARNERS else _KEYS
    for key in sorted(found.keys() - known):
        raise InvalidFileError("unknown key", where=f"{where}: {key!r}", hint="see ttt schema state")
    if not is_learner(name):
        raise InvalidFileError(
            f"is a state of the learner {name}, which is not built in", where=where, hint=REMEDY
        )
    if found["rules"].keys() != {"rows", "cols", "line"}:
        raise InvalidFileError("must hold rows, cols and line", where=f'{where}: "rules"')
    try:
        learner, rules = learner_of(name, found["choice"]), Rules(**found["rules"])
    except TttError as error:
        raise InvalidFileError(error.message, where=where, hint=error.hint) from None
    made_by = found.get("kernel_version", learner.kernel_version)
    if made_by > learner.kernel_version:
        raise InvalidFileError(
            f"was made by version {made_by} of {name}, and this is version {learner.kernel_version}",
            where=where,
            hint="use the newer one",
        )
    symmetric = found["symmetry"]
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

    def lines(self, blocks: Iterator[bytes], where: str) -> tuple[Any, Entries]:
        """The header and the entries of a file that is as this program wrote it, in blocks of whole lines.

        :raises OtherLayoutError: where it is not; also while the entries are gone through.
        """
        raise NotImplementedError

    def whole(self, data: bytes, where: str) -> tuple[Any, Entries]:
        """The header and the entries of any other file."""
        raise NotImplementedError

    def fault(self, error: TttError, fields: dict[str, Any], source: Source) -> TttError:
        """The error for entries that make no state, with its place in the file."""
        place = ": ".join(filter(None, (source.where, error.where)))
        return InvalidFileError(error.message, where=place, hint=error.hint)

    def faulty_entries(self, source: Source) -> list[Rejected]:
        """The entries that are wrong by themselves."""
        return []

    def read(self, source: Source, options: Options) -> Native:
        """A native file: in blocks where it is as this program wrote it, which its digest vouches for; any
        other strictly and at once.

        :raises InvalidFileError: if it is damaged, newer than this program, or holds what no state can.
        """
        if not options.trust_edits:
            digest = Digest()
            blocks = digest.over(source.blocks())
            try:
                return self._read(self.lines(blocks, source.where), digest, blocks, source, options)
            except OtherLayoutError as error:
                if source.size > allowed(LIMIT):
                    raise InvalidFileError(
                        "is not as this program writes it: cut off, damaged or edited",
                        where=f"{source.where}: {error}",
                        hint="go back to a good copy",
                    ) from None
        found = self.whole(source.data, source.where)
        return self._read(found, digest_of(source.data), iter(()), source, options)

    def _read(
        self,
        content: tuple[Any, Entries],
        digest: Digest,
        blocks: Iterator[bytes],
        source: Source,
        options: Options,
    ) -> Native:
        """
        :param blocks: those of the file that may not have passed by its digest yet.
        """
        found, entries = content
        fields = read_header(found, source.where)
        learner = fields["learner"]
        if learner.suffix not in self.endings:
            raise InvalidFileError(f"a {learner.name} state is a {learner.suffix} file", where=source.where)
        fault: TttError | None = None
        try:
            state = make_state(fields, entries, options)
        except TttError as error:
            fault = error
            deque(blocks, maxlen=0)  # damage explains the fault
        if not options.trust_edits:
            digest.check(found["digest"], source.where)
        if fault is not None:
            raise self.fault(fault, fields, source) from None
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
            found = self.faulty_entries(source) or [fault_of(error, source.where)]
            faults += [fault for fault in found if fault not in faults]
            return Verification(FORMAT, faults=truncated(faults), unfit=True)
        return replace(_sound(state), faults=faults, unfit=True)


def _sound(state: State) -> Verification:
    return Verification(FORMAT, *state.entries, state.learner.units)
