"""What formats have in common: how files are recognised, read, checked and written, and what comes of it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np

from ttt_cli.documents import Count, aside
from ttt_cli.engine.policy import Policy, PolicyTable
from ttt_cli.engine.position import Position
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import STANDARD, Rules
from ttt_cli.engine.state_space import StateSpace, enumerated
from ttt_cli.errors import InvalidFileError, TttError, UsageError
from ttt_cli.learners import learner_class
from ttt_cli.learners.base import Learner
from ttt_cli.store.plays import Plays, entries_of, values_by_move
from ttt_cli.store.runs import Run
from ttt_cli.store.source import Source
from ttt_cli.store.state import State, learner_of

FORMAT = "ttt-state"
"""The program's own format."""
ANY_SIZE = 2**63
"""As a limit on files that are read in blocks."""
MOST_REASONS = 5
"""The most reasons for rejected rows in remarks."""
MOST_REJECTED = 1000
"""The most rejected rows that are reported one by one."""


Row = TypeVar("Row")
Said = TypeVar("Said")


@dataclass(frozen=True)
class Rejected:
    """A part of a file that was left out, or a fault in it."""

    where: str
    why: str


@dataclass(frozen=True)
class Options:
    """What the user states about a file.

    :ivar learner: the method whose table a foreign file becomes (an empty file only that of ``graph``); None:
        the one that fits best.
    :ivar visits: the visits of each entry where the file does not say.
    :ivar strict: whether it is an error if anything is wrong that would be repaired, kept or left out.
    :ivar stated: how to read a file of unknown origin, under the names of an agent's options: ``values``,
        ``unknown``, ``wins``, ``spelling.NAME``.
    :ivar playing: the ``choice`` rule and the rule for ``ties`` of the state, if they are not the file's.
    :ivar rules: the game; None: what the file says, or the usual one.
    :ivar trust_edits: whether to accept a native file that does not match its digest.
    :ivar table: whether to read the table of a native file, not just its header.
    """

    learner: str | None = None
    visits: int = 1
    strict: bool = False
    stated: Mapping[str, Any] = field(default_factory=dict)
    playing: Mapping[str, str] = field(default_factory=dict)
    rules: Rules | None = None
    trust_edits: bool = False
    table: bool = True


DEFAULTS = Options()


@dataclass(frozen=True, eq=False)
class Loaded:
    """A state and the file it was read from.

    :ivar format: ``ttt-state``, or the name of a foreign format.
    :ivar digest: of the file's content; of a native file without its learning curves.
    :ivar options: how the user said that the file is to be read.
    :ivar repaired: what was wrong in a foreign file and has been repaired, in words.
    :ivar rejected: what was left out.
    :ivar notes: what was inferred, and in short what is odd, in words.
    :ivar odd: what is wrong, but kept, since its author's program plays by it.
    """

    state: State
    path: Path
    format: str
    digest: str
    options: Options = DEFAULTS
    repaired: list[str] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    odd: list[Rejected] = field(default_factory=list)

    @property
    def native(self) -> bool:
        """Whether the file is in the program's own format."""
        return self.format == FORMAT

    @property
    def remarks(self) -> list[str]:
        """What a user of a foreign file should know: what was inferred, repaired, left out."""
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
    choice: str = "article"
    rules: Rules = STANDARD
    results: Mapping[str, int] | None = None
    plays: Plays | None = None
    spelled: Mapping[str, float] | None = None
    repaired: Sequence[str] = ()
    rejected: Iterable[Rejected] = ()
    notes: Sequence[str] = ()
    odd: Iterable[Rejected] = ()


@dataclass(frozen=True)
class Verification:
    """The outcome of checking a file.

    :ivar format: the format's name; empty if none fits.
    :ivar repaired: what is wrong but can be repaired.
    :ivar rejected: what is wrong.
    :ivar units: what ``positions`` and ``moves`` count, as ``Learner.units``.
    :ivar symmetric: whether these are classes of them, up to symmetry.
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
    """A player to export, and what to write where a format leaves a choice.

    :ivar name: for titles.
    :ivar state: what it has learned, if it plays by a state.
    :ivar answers: its policy.
    :ivar reached: the positions to write; None: ``positions`` decides.
    :ivar ending: of the file's name.
    :ivar start: the position that a graph begins with; None: all that the player knows.
    :ivar depth: the number of plies of a graph.
    :ivar best: only the moves that the player would play.
    """

    name: str
    state: State | None
    answers: Policy
    reached: Positions | None = None
    ending: str = ""
    start: Position | None = None
    depth: int | None = None
    best: bool = False

    @property
    def space(self) -> StateSpace:
        """All positions of the board; raises UsageError if these are too many."""
        space = enumerated(self.answers.rules)
        if space is None:
            message = f"{self.answers.rules.describe()} has too many positions to write them all"
            hint = "policy-csv and policy-json hold those that a trained state has seen"
            raise UsageError(message, where=self.name, hint=hint)
        return space

    @cached_property
    def policy(self) -> PolicyTable:
        """Its policy in every position of the ``space``."""
        return self.answers.table(self.space)

    @cached_property
    def positions(self) -> Positions:
        """The positions to write: ``reached``, or on a board too large for a state space those that the state
        has seen, or the ``space``."""
        if self.reached is not None:
            return self.reached
        large = enumerated(self.answers.rules) is None
        seen = self.state.seen if self.state is not None and large else None
        return self.space if seen is None else seen[seen.order()]


class Format:
    """A kind of file: how it is recognised, read, checked and written.

    :cvar name: as ``--format`` takes it.
    :cvar about: a description in one line.
    :cvar learner: the method whose table it holds; where that differs from file to file, words for the list
        of formats or nothing.
    :cvar holds: what it is read as: a ``table``, which can go on learning, a ``policy``, ``games``, or
        ``measures`` of players; empty if it is only written.
    :cvar written: whether the program writes such files.
    :cvar rules: the only game that it supports; None: any.
    :cvar endings: the endings of such files' names.
    :cvar options: the options of ``ttt export`` that it takes.
    :cvar ambiguous: whether it can be read in several ways, of which a user may state one.
    :cvar limit: on such a file's size, in bytes.
    """

    name: ClassVar[str]
    about: ClassVar[str]
    learner: ClassVar[str] = ""
    holds: ClassVar[Literal["table", "policy", "games", "measures", ""]] = ""
    written: ClassVar[bool] = False
    rules: ClassVar[Rules | None] = None
    endings: ClassVar[tuple[str, ...]] = ()
    options: ClassVar[tuple[str, ...]] = ()
    ambiguous: ClassVar[bool] = False
    limit: ClassVar[int] = 64 * 2**20

    def recognises(self, source: Source, options: Options) -> bool:
        """Whether a file is meant to be in this format, sound or not."""
        return False

    def read(self, source: Source, options: Options) -> Loaded | ForeignTable | Policy:
        """Read a file; one that holds no player is refused by default.

        :raises InvalidFileError: naming the place and what is wrong there.
        """
        raise InvalidFileError(f"is a {self.name} file, not a player", where=source.where, hint=self.about)

    def load(self, source: Source, options: Options) -> Loaded | Policy:
        """Read a file, as ``read``; a foreign table becomes a state.

        :raises TttError: if the ``read`` of a plug-in returns anything else.
        """
        found = self.read(source, options)
        if isinstance(found, ForeignTable):
            return _as_state(found, self.name, source, options)
        if not isinstance(found, Loaded | Policy):
            what = f"the format {self.name} reads {type(found).__name__}, not ForeignTable, Loaded or Policy"
            raise TttError(what, where=source.where)
        return found

    def verify(self, source: Source, options: Options = DEFAULTS) -> Verification:
        """Report every fault in a file; by default, what ``read`` reports.

        :raises InvalidFileError: if it cannot be read.
        """
        found = self.load(source, options)
        rules = found.state.rules if isinstance(found, Loaded) else found.rules
        if options.rules not in (None, rules):
            what = f"plays {rules.describe()}, not {options.rules.describe()}"
            raise InvalidFileError(what, where=source.where)
        if not isinstance(found, Loaded):
            return Verification(self.name, len(found) if isinstance(found, Sized) else 0)
        state, rejected = found.state, found.rejected + found.odd
        held = state.learner.units, state.symmetric
        return Verification(self.name, *state.entries, found.repaired, rejected, *held)

    def fits(self, state: State | None) -> bool:
        """Whether a player with this state, or with none, can be written: by default any player, or where the
        format is a method's, that method's states for the format's game."""
        if not self.learner:
            return True
        return state is not None and state.learner.name == self.learner and self.rules in (None, state.rules)

    def write(self, player: ExportSource) -> Iterable[bytes]:
        """Write a player, in chunks.

        :raises UsageError: if it has no such form.
        """
        raise NotImplementedError(f"{self.name} files are not written")


def _as_state(foreign: ForeignTable, format_name: str, source: Source, options: Options) -> Loaded:
    """A state with one run, named after the file's digest.

    :raises UsageError: if it cannot become a table of the learner that the options name.
    :raises InvalidFileError: naming an entry that is wrong, or under ``strict`` all that is.
    """
    learner, table = _learner_and_table(foreign, format_name, source, options)
    digest = sha256(source.data).hexdigest()
    games = None if foreign.results is None else sum(foreign.results.values())
    details = {"format": format_name, **({"spelled": foreign.spelled} if foreign.spelled else {})}
    run = Run(digest[:24], "import", games, foreign.results, details)
    learner.tag_run(table, run.id)
    rejected, odd = truncated(foreign.rejected), truncated(foreign.odd)
    left_out = [f"left out {text}" for text in in_short(rejected)]
    kept = [f"kept {text}" for text in in_short(odd)]
    if options.strict and (faults := [*foreign.repaired, *kept, *left_out]):
        raise InvalidFileError(f"refused by --strict: {'; '.join(faults)}", where=source.where)
    return Loaded(
        State(learner, foreign.rules, False, table, (run,), foreign.plays),
        Path(source.where),
        format_name,
        f"sha256:{digest}",
        options,
        repaired=[*foreign.repaired],
        rejected=rejected,
        notes=[*foreign.notes, *kept],
        odd=odd,
    )


def _learner_and_table(
    foreign: ForeignTable, format_name: str, source: Source, options: Options
) -> tuple[Learner[Any], Any]:
    """The learner that the options name, and its table."""
    learner = learner_of(foreign.learner, foreign.choice)
    try:
        table = learner.from_entries(foreign.rules, False, foreign.entries.items())
    except InvalidFileError as error:
        place = f"{source.where}: {error.where}"
        raise InvalidFileError(error.message, where=place, hint=error.hint) from None
    if options.learner in (None, foreign.learner):
        return learner, table
    target = learner_class(options.learner)
    if (learner.values_of, target.values_of) != ("positions", "moves"):
        message = f"a {format_name} file cannot become a table of {options.learner}"
        hint = f"it becomes one of {foreign.learner}{' or q' if learner.values_of == 'positions' else ''}"
        raise UsageError(message, where="--learner", hint=hint)
    values = values_by_move(learner, table, foreign.plays)
    if foreign.plays is None:  # chances of 0 to 1 become values of -1 to 1
        values = np.where(values == 0.5, np.nan, 2 * values - 1)
    entries = entries_of(values, True, StateSpace.of(foreign.rules), options.visits)
    converted = learner_of(target, foreign.choice)
    return converted, converted.from_entries(foreign.rules, False, entries.items())


def judged(
    rows: Sequence[tuple[int, Row]], judge: Callable[[Row], Said | str], where: str
) -> tuple[dict[Row, Said], Iterator[Rejected]]:
    """What each distinct row of a file says, and those that are left out; rows come with their lines.

    :param judge: gives what a row says, or the fault in it.
    :raises InvalidFileError: if no row is left.
    """
    found = {row: judge(row) for row in dict.fromkeys(row for _, row in rows)}
    sound = {row: said for row, said in found.items() if not isinstance(said, str)}
    rejected = (Rejected(f"line {line}", str(found[row])) for line, row in rows if row not in sound)
    if rows and not sound:
        first = next(rejected)
        message = f"none of the {len(rows):,} rows can be from a game: {first.why}"
        raise InvalidFileError(message, where=f"{where}, {first.where}")
    return sound, rejected


def in_short(rejected: Sequence[Rejected]) -> list[str]:
    """What was left out, by reason, in words."""
    by_reason: dict[str, list[str]] = {}
    for item in rejected:
        by_reason.setdefault(item.why, []).append(item.where)
    texts = []
    for why, (first, *others) in by_reason.items():
        more = f" and {len(others):,} more (ttt verify lists them)" if others else ""
        texts.append(f"{first}{more}: {why}")
    if texts[MOST_REASONS:]:
        texts[MOST_REASONS:] = ["more for other reasons (ttt verify lists them)"]
    return texts


def truncated(rejected: Iterable[Rejected]) -> list[Rejected]:
    """The first thousand, and the number of the others."""
    others = iter(rejected)
    first = list(islice(others, MOST_REJECTED))
    more = sum(1 for _ in others)
    return [*first, Rejected("further on", f"{more:,} more rows")] if more > 0 else first


def fault_of(error: TttError, where: str) -> Rejected:
    """An error as a fault of the file that it names."""
    place = error.where.removeprefix(where).lstrip(":, ")
    hint = error.flags or error.hint
    why = f"{error.message} ({hint})" if hint else error.message
    return Rejected(place or "the whole file", why)


BookRow = tuple[str, int, int, str]
"""A row of a book: position, move (a cell from 1), plies of the game, result (``X``, ``O`` or ``draw``)."""


def book_entries(rows: Mapping[BookRow, int]) -> dict[str, list[Any]]:
    """The entries of a book for a ``ForeignTable``, given how often each row was seen."""
    entries: dict[str, list[Any]] = {}
    for (text, *row), count in rows.items():
        entries.setdefault(text, []).append([*row, "", count])
    return entries
