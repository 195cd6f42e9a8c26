"""The outcome of reading a foreign file: its experience in native form, and what was done to get there."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ttt_cli.engine.position import Position
from ttt_cli.engine.rules import STANDARD, Rules
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.errors import InvalidFileError, NotationError, TttError, UsageError
from ttt_cli.store.plays import Plays, values_by_move
from ttt_cli.store.runs import Run
from ttt_cli.store.state import State, learner_of

MOST_REASONS, MOST_PLACES = 5, 2
"""The most reasons for rejected rows in remarks, and rows named for each."""
MOST_REJECTED = 1000
"""The most rejected rows that are reported one by one."""


@dataclass(frozen=True, order=True)
class Row:
    """A row of a book: how many games with this move (a cell from 1) in this position ended so.

    :ivar plies: the length of the games.
    :ivar result: ``X``, ``O`` or ``draw``.
    """

    position: str
    move: int
    plies: int
    result: str
    count: int = 1


@dataclass(frozen=True)
class Rejected:
    """A part of a file that was left out, or a fault in it."""

    where: str
    why: str


@dataclass(frozen=True)
class Options:
    """What the user states about a file.

    :ivar visits: the visits of each entry where the file does not say.
    :ivar strict: whether a part that cannot be from a game is an error; else it is left out.
    :ivar values_for: whose good the values measure: ``x``, ``o``, ``mover`` (the side to move) or ``moved``
        (the side that has just moved); None: what the data say.
    :ivar spelling: facets of the spelling of a position-keyed file, by name.
    :ivar unknown: what a move that is not in the file counts as in its author's program, in the file's
        units; ``random``: it is only made where the file holds none; None: 0.
    :ivar wins: whether that program sees a win that is not in the file: ``known`` or ``unknown``.
    :ivar rules: the game; None: what the file says, or the usual one.
    :ivar trust_edits: whether to accept a native file that does not match its digest.
    :ivar table: whether to read the table of a native file, not just its header.
    :ivar empty_brain: whether to read an empty file as the brain of a graph that has seen nothing.
    """

    visits: int = 1
    strict: bool = False
    values_for: str | None = None
    spelling: dict[str, str] = field(default_factory=dict)
    unknown: float | str | None = None
    wins: str | None = None
    rules: Rules | None = None
    trust_edits: bool = False
    table: bool = True
    empty_brain: bool = False

    @property
    def readings(self) -> dict[str, str]:
        """The stated ways to read the file, under the names of an agent's options."""
        stated = {"values": self.values_for, "unknown": self.unknown, "wins": self.wins}
        facets = {f"spelling.{name}": value for name, value in self.spelling.items()}
        return {name: str(value) for name, value in stated.items() if value is not None} | facets


DEFAULTS = Options()


@dataclass(frozen=True)
class Imported:
    """The content of a foreign file.

    :ivar learner: the method whose table it becomes.
    :ivar choice: the choice rule it is played by.
    :ivar entries: as in a native file of that learner; empty for a book.
    :ivar rows: of a book.
    :ivar games: the number of games, if the file says so.
    :ivar results: how these ended: ``x``, ``o``, ``draw``.
    :ivar repaired: what was wrong and has been repaired, in words.
    :ivar rejected: what was left out.
    :ivar notes: what was inferred, in words.
    :ivar plays: how its author's program plays by it, if not as the learner does.
    :ivar spelled: numbers that an export must spell as the file does (0 for 0.0), by position.
    """

    format: str
    learner: str
    choice: str = "article"
    rules: Rules = STANDARD
    entries: dict[str, Any] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    games: int | None = None
    results: dict[str, int] | None = None
    repaired: list[str] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    plays: Plays | None = None
    spelled: dict[str, float] = field(default_factory=dict)

    @property
    def positions(self) -> int:
        """The number of positions in the file."""
        return len(self.entries) or len({row.position for row in self.rows})

    @property
    def moves(self) -> int:
        """The number of moves in the file; of ``td``, of values."""
        entry_moves = learner_of(self.learner, self.choice).entry_moves
        moves = sum(map(entry_moves, self.entries.values()))
        return moves or len({(row.position, row.move) for row in self.rows})

    @property
    def remarks(self) -> list[str]:
        """What a user of the file should know: what was inferred, repaired, left out."""
        by_reason: dict[str, list[str]] = {}
        for item in self.rejected:
            by_reason.setdefault(item.why, []).append(item.where)
        remarks = [*self.notes, *self.repaired]
        for why, places in list(by_reason.items())[:MOST_REASONS]:
            hidden = len(places) - MOST_PLACES
            more = f" and {hidden:,} more (ttt verify lists them)" if hidden > 0 else ""
            remarks.append(f"left out {', '.join(places[:MOST_PLACES])}{more}: {why}")
        if (reasons := len(by_reason) - MOST_REASONS) > 0:
            remarks.append(f"and for {reasons:,} more reasons; ttt verify lists them")
        return remarks


def why_not(text: str) -> str:
    """Why a board in native text is not a position of the usual game."""
    try:
        Position(text)
    except NotationError as error:
        return error.message
    raise AssertionError(f"{text} is a position")


class Report:
    """Collects the rows of a file that are left out.

    :ivar rejected: the first of them.
    :ivar count: the number of all.
    """

    def __init__(self, where: str, strict: bool) -> None:
        self.where, self.strict = where, strict
        self.rejected: list[Rejected] = []
        self.count = 0

    def leave_out(self, place: str, why: str) -> None:
        """Leave a row out; if the reading is strict, raise InvalidFileError instead."""
        if self.strict:
            raise InvalidFileError(why, where=f"{self.where}, {place}")
        self.count += 1
        if self.count <= MOST_REJECTED:
            self.rejected.append(Rejected(place, why))

    def of(self, rows: int, what: str) -> list[Rejected]:
        """The rows left out; raises InvalidFileError if that is all ``rows``, none being from ``what``."""
        if self.count and self.count == rows:
            first = self.rejected[0]
            message = f"none of the {rows:,} rows can be from {what}: {first.why}"
            raise InvalidFileError(message, where=f"{self.where}, {first.where}")
        return truncated(self.rejected, self.count)


def truncated(rejected: list[Rejected], count: int = 0) -> list[Rejected]:
    """The first thousand of ``count`` rejected rows (default: those listed), and the number of the others."""
    more = max(len(rejected), count) - MOST_REJECTED
    return rejected[:MOST_REJECTED] + [Rejected("further on", f"{more:,} more rows")] * (more > 0)


def fault_of(error: TttError, where: str) -> Rejected:
    """An error as a fault of the file that it names."""
    place = error.where.removeprefix(where).lstrip(":, ")
    why = f"{error.message} ({error.hint})" if error.hint else error.message
    return Rejected(place or "the whole file", why)


def to_state(found: Imported, digest: str, learner: str | None = None, visits: int = 1) -> State:
    """The state of a foreign file's content, with one run named after ``digest``, in hexadecimal.

    :param learner: the method whose table it becomes; None: the one that fits best.
    :raises UsageError: if it cannot become that.
    """
    name, entries = found.learner, found.entries
    if learner not in (None, name):
        if (name, learner) != ("td", "q"):
            message = f"a {found.format} file cannot become a table of {learner}"
            hint = f"it becomes one of {name}" + " or q" * (name == "td")
            raise UsageError(message, where="--learner", hint=hint)
        name, entries = "q", _move_values(found, visits)
    made = learner_of(name, found.choice)
    details = {"format": found.format, **({"spelled": found.spelled} if found.spelled else {})}
    run = Run(digest[:24], "import", found.games, found.results, details)
    if name == "book":
        entries = {}
        for row in found.rows:
            fields = [row.move, row.plies, row.result, run.id, row.count]
            entries.setdefault(row.position, []).append(fields)
    table = made.from_entries(found.rules, False, entries.items())
    return State(made, found.rules, False, table, (run,), found.plays)


def _move_values(found: Imported, visits: int) -> dict[str, Any]:
    """The values of moves from those of the positions after them, chances of 0 to 1 as values of -1 to 1."""
    space = StateSpace.of(found.rules)
    own, td = found.plays or Plays(tables="own"), learner_of("td", found.choice)
    values = values_by_move(td, td.from_entries(found.rules, False, found.entries.items()), own)
    if found.plays is None:
        values = 2 * values - 1
    made: dict[str, Any] = {}
    for index, cell in np.argwhere(~np.isnan(values)).tolist():
        if found.plays or values[index, cell]:
            made.setdefault(space.text(index), {})[str(cell + 1)] = [float(values[index, cell]), visits]
    return made
