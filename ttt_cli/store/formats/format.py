"""The base class of file formats, and the values that reading, verifying and exporting files pass around.

A format reads a file as a ``Loaded`` state, a ``Policy``, or a ``ForeignTable`` of another program, of which
``Format.load`` makes a state. ``FileOptions`` are what the user says about a file.
"""

from collections.abc import Iterable, Mapping, Sequence, Sized
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Literal, cast

import numpy as np

from ttt_cli.documents import Count, aside
from ttt_cli.engine.arrays import Floats
from ttt_cli.engine.policy import Policy, PolicyTable
from ttt_cli.engine.position import Position
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import STANDARD, Rules
from ttt_cli.engine.state_space import StateSpace, enumerated
from ttt_cli.errors import InvalidFileError, TttError, UsageError
from ttt_cli.learners import learner_of
from ttt_cli.store.plays import PlayRule
from ttt_cli.store.runs import Run
from ttt_cli.store.source import Source
from ttt_cli.store.state import State
from ttt_cli.user_code import guarded, is_ours

FORMAT = "ttt-state"  # the program's own format
MAX_REASONS = 5  # for rejected rows in remarks
MAX_REJECTED = 1000  # rows that are reported one by one


@dataclass(frozen=True)
class Rejected:
    """A part of a file that was left out, or a fault in it."""

    where: str
    why: str

    @classmethod
    def by(cls, error: TttError, where: str) -> "Rejected":
        """The fault that an error reports; its place is relative to the file at ``where``."""
        place = error.where.removeprefix(where).lstrip(":, ")
        hint = error.cli_hint or error.hint
        return cls(place or "the whole file", f"{error.message} ({hint})" if hint else error.message)


@dataclass(frozen=True)
class FileOptions:
    """What the user states about a file.

    :ivar learner: the method whose table a foreign file must be; None: any. An empty file is read for
        ``graph`` only.
    :ivar visits: the visits of each entry if the file does not say.
    :ivar strict: whether to refuse a file of which anything would be repaired, left out, or kept though odd.
    :ivar stated: how to read a file of unknown origin, under the names of an agent's options: ``values``,
        ``unknown``, ``wins``, ``spelling.NAME``.
    :ivar playing: how the player in it plays, if not as the file says: ``choice``, ``ties`` and, of an agent,
        its other options.
    :ivar rules: the game; None: what the file says, or the usual one.
    :ivar trust_edits: whether to accept a native file that does not match its digest.
    :ivar table: whether to read the table of a native file, not just its header.
    """

    learner: str | None = None
    visits: int = 1
    strict: bool = False
    stated: Mapping[str, Any] = field(default_factory=dict)
    playing: Mapping[str, Any] = field(default_factory=dict)
    rules: Rules | None = None
    trust_edits: bool = False
    table: bool = True


DEFAULTS = FileOptions()


@dataclass(frozen=True, eq=False)
class Loaded:
    """A state and the file it was read from.

    :ivar format: ``ttt-state``, or the name of a foreign format.
    :ivar digest: of the file's content; of a native file without its learning curves.
    :ivar options: those that the file was read with.
    :ivar repaired: descriptions of what was wrong in a foreign file and has been repaired.
    :ivar rejected: what was left out.
    :ivar notes: descriptions of what was inferred, and a summary of ``odd``.
    :ivar odd: what is wrong but kept, since its author's program plays by it.
    """

    DOCUMENT = ("format", "repaired", "rejected", "notes")

    state: State
    path: Path
    format: str
    digest: str
    options: FileOptions = DEFAULTS
    repaired: list[str] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    odd: list[Rejected] = field(default_factory=list)

    @property
    def native(self) -> bool:
        return self.format == FORMAT

    @property
    def remarks(self) -> list[str]:
        """What the user of a foreign file should know, in sentences that name the file."""
        left_out = [f"left out {text}" for text in in_short(self.rejected)]
        return [f"{self.path}: {text}" for text in (*self.notes, *self.repaired, *left_out)]


@dataclass(frozen=True, eq=False)
class ForeignTable:
    """A table as another program's file holds it; ``Format.load`` makes a state of it.

    :ivar learner: the method whose table it is.
    :ivar entries: as in a native file of that learner; the run of a book's rows is left empty.
    :ivar choice: the choice rule it is played by.
    :ivar results: how the games ended, if the file says so.
    :ivar plays: how its author's program plays by it, if not as the learner does.
    :ivar spelled: numbers that an export must spell as the file does (0 for 0.0), by position.
    :ivar repaired: this and the following are as in ``Loaded``.
    """

    learner: str
    entries: Mapping[str, Any]
    choice: str = "default"
    rules: Rules = STANDARD
    results: Mapping[str, int] | None = None
    plays: PlayRule | None = None
    spelled: Mapping[str, float] | None = None
    repaired: Sequence[str] = ()
    rejected: Iterable[Rejected] = ()
    notes: Sequence[str] = ()
    odd: Iterable[Rejected] = ()


@dataclass(frozen=True)
class Verification:
    """The outcome of checking a file.

    :ivar format: the format's name; empty if none fits.
    :ivar repaired: descriptions of what is wrong but can be repaired.
    :ivar rejected: the other faults.
    :ivar units: what ``positions`` and ``moves`` count, as ``Learner.units``.
    :ivar symmetric: whether they are counted up to symmetry.
    :ivar unfit: whether the file cannot be used.
    """

    format: str
    positions: Count = 0
    moves: Count = 0
    repaired: list[str] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    units: tuple[str, str] = aside(("position", "move"))
    symmetric: bool = aside(False)
    unfit: bool = aside(False)


@dataclass(frozen=True, eq=False)
class ExportSource:
    """A player to export, and the choices that a format leaves.

    :ivar name: for titles.
    :ivar state: what it has learned, if it plays by a state.
    :ivar policy: how it plays.
    :ivar reached: the positions to write; None: ``positions`` decides.
    :ivar suffix: that of the file's name.
    :ivar start: the root of a graph; None: the graph has all positions that the player knows.
    :ivar depth: the number of plies of a graph; None: all.
    :ivar best: whether to write only the moves that the player would play.
    """

    name: str
    state: State | None
    policy: Policy
    reached: Positions | None = None
    suffix: str = ""
    start: Position | None = None
    depth: int | None = None
    best: bool = False

    @property
    def space(self) -> StateSpace:
        """All positions of the board; raises UsageError if there are too many."""
        space = enumerated(self.policy.rules)
        if space is None:
            message = f"{self.policy.rules.describe()} has too many positions to write them all"
            hint = "policy-csv and policy-json hold those that a trained state has seen"
            raise UsageError(message, where=self.name, hint=hint)
        return space

    @cached_property
    def table(self) -> PolicyTable:
        """Its policy in every position of the ``space``."""
        return self.policy.table(self.space)

    @cached_property
    def positions(self) -> Positions:
        """The positions to write: ``reached``, or the ``space``, or if there is none those that the state has
        seen."""
        if self.reached is not None:
            return self.reached
        seen = self.state.seen if self.state is not None and enumerated(self.policy.rules) is None else None
        return self.space if seen is None else seen[seen.order()]


class Format:
    """A kind of file: how it is recognised, read, checked and written.

    :cvar name: as ``--format`` takes it.
    :cvar about: a description in one line.
    :cvar learner: the method whose table it holds, or words for the list of formats if that varies.
    :cvar holds: what it is read as: a ``table``, which can go on learning, a ``policy``, ``games``, or
        ``measures`` of players; empty if it is only written.
    :cvar rules: the only game that it supports; None: any.
    :cvar suffixes: the suffixes of such files.
    :cvar options: the options of ``ttt export`` that it takes.
    :cvar ambiguous: whether such files can be read in several ways, so that ``FileOptions.stated`` applies.
    :cvar limit: the largest size of such a file, in bytes.
    """

    name: ClassVar[str]
    about: ClassVar[str]
    learner: ClassVar[str] = ""
    holds: ClassVar[Literal["table", "policy", "games", "measures", ""]] = ""
    rules: ClassVar[Rules | None] = None
    suffixes: ClassVar[tuple[str, ...]] = ()
    options: ClassVar[tuple[str, ...]] = ()
    ambiguous: ClassVar[bool] = False
    limit: ClassVar[int] = 64 * 2**20

    @property
    def written(self) -> bool:
        """Whether players are written as such files."""
        return type(self).write is not Format.write

    def recognises(self, source: Source, options: FileOptions) -> bool:
        """Whether a file appears to be in this format, sound or damaged."""
        return False

    def read(self, source: Source, options: FileOptions) -> Loaded | ForeignTable | Policy:
        """Read a file; one that holds no player is refused by default.

        :raises InvalidFileError: naming the place and what is wrong there.
        """
        raise InvalidFileError(f"is a {self.name} file, not a player", where=source.where, hint=self.about)

    def load(self, source: Source, options: FileOptions) -> Loaded | Policy:
        """Read a file as ``read`` does, and make a state of a foreign table.

        :raises TttError: if a plug-in's ``read`` returns anything else.
        """
        failed = f"{self.name} raised "
        with nullcontext() if is_ours(self) else guarded(source.where, failed, InvalidFileError):
            found = self.read(source, options)
            if isinstance(found, ForeignTable):
                return _as_state(found, self.name, source, options)
        if not isinstance(found, Loaded | Policy):
            what = f"the format {self.name} reads {type(found).__name__}, not ForeignTable, Loaded or Policy"
            raise TttError(what, where=source.where)
        return found

    def verify(self, source: Source, options: FileOptions) -> Verification:
        """Report every fault in a file; by default those that ``load`` reports.

        :raises InvalidFileError: if it cannot be read.
        """
        found = self.load(source, options)
        rules = found.state.rules if isinstance(found, Loaded) else found.rules
        if options.rules not in (None, rules):
            what = f"plays {rules.describe()}, not {options.rules.describe()}"
            raise InvalidFileError(what, where=source.where)
        if not isinstance(found, Loaded):
            return Verification(self.name, len(found) if isinstance(found, Sized) else 0)
        state = found.state
        faults = found.rejected + found.odd
        units = state.learner.units
        return Verification(self.name, *state.size, found.repaired, faults, units, state.symmetric)

    def fits(self, state: State | None) -> bool:
        """Whether a player can be written that plays by this state, or by none (None): by default any player,
        or for the format of a learner only that learner's states."""
        if not self.learner:
            return True
        return state is not None and state.learner.name == self.learner and self.rules in (None, state.rules)

    def write(self, player: ExportSource) -> Iterable[bytes]:
        """The chunks of a player's file.

        :raises UsageError: if the format cannot express the player.
        """
        raise NotImplementedError(f"{self.name} files are not written")


def _as_state(foreign: ForeignTable, format_name: str, source: Source, options: FileOptions) -> Loaded:
    """Make a state with a single run, whose id is the file's digest.

    :raises UsageError: if it is not a table of the learner that the options name.
    :raises InvalidFileError: naming a wrong entry, or, if ``strict``, everything that is wrong.
    """
    learner = learner_of(foreign.learner, foreign.choice)
    if options.learner not in (None, learner.name):
        message = f"a {format_name} file becomes a table of {learner.name}, not {options.learner}"
        raise UsageError(message, where="--learner")
    try:
        table = learner.from_entries(foreign.rules, False, foreign.entries.items())
    except InvalidFileError as error:
        error.where = f"{source.where}: {error.where}"
        raise
    digest = sha256(source.data).hexdigest()
    games = None if foreign.results is None else sum(foreign.results.values())
    record = {"id": digest[:24], "kind": "import", "games": games, "results": foreign.results}
    spelled = {"spelled": foreign.spelled} if foreign.spelled else {}
    run = cast(Run, {**record, "format": format_name, **spelled})
    learner.tag_run(table, run["id"])
    rejected, odd = truncated(foreign.rejected), truncated(foreign.odd)
    left_out = [f"left out {text}" for text in in_short(rejected)]
    kept = [f"kept {text}" for text in in_short(odd)]
    faults = [*foreign.repaired, *kept, *left_out]
    if options.strict and faults:
        raise InvalidFileError(f"refused by --strict: {'; '.join(faults)}", where=source.where)
    state = State(learner, foreign.rules, False, table, (run,), foreign.plays)
    return Loaded(
        state,
        Path(source.where),
        format_name,
        f"sha256:{digest}",
        options,
        repaired=[*foreign.repaired],
        rejected=rejected,
        notes=[*foreign.notes, *kept],
        odd=odd,
    )


def entries_of(values: Floats, of_moves: bool, space: StateSpace, visits: int) -> dict[str, Any]:
    """The entries of a native table.

    :param values: those of moves to the mover, float64[n, cells], or of positions to X and to O,
        float64[n, 2]; NaN where there is none.
    """
    names = [str(cell + 1) for cell in range(space.cells)] if of_moves else ["x", "o"]
    rows, slots = np.nonzero(~np.isnan(values))
    texts, numbers = space[rows].texts(), values[rows, slots].tolist()
    entries: dict[str, Any] = {}
    for text, slot, number in zip(texts, slots.tolist(), numbers, strict=True):
        entries.setdefault(text, {})[names[slot]] = [number, visits]
    return entries


def in_short(rejected: Sequence[Rejected]) -> list[str]:
    """A description for each reason: its first place, and the number of others."""
    by_reason: dict[str, list[str]] = {}
    for item in rejected:
        by_reason.setdefault(item.why, []).append(item.where)
    texts = []
    for why, (first, *others) in by_reason.items():
        more = f" and {len(others):,} more (ttt verify lists them)" if others else ""
        texts.append(f"{first}{more}: {why}")
    if texts[MAX_REASONS:]:
        texts[MAX_REASONS:] = ["more for other reasons (ttt verify lists them)"]
    return texts


def truncated(rejected: Iterable[Rejected]) -> list[Rejected]:
    """The first ``MAX_REJECTED``, and the number of the others."""
    others = iter(rejected)
    first = list(islice(others, MAX_REJECTED))
    more = sum(1 for _ in others)
    return [*first, Rejected("further on", f"{more:,} more rows")] if more > 0 else first
