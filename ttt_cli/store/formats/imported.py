"""What a foreign file holds once it is read: the experience in native form, and what the reader did to it."""

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

TOLD, PLACES = 5, 2
"""Reasons told for rejected rows where a file is only used, and rows named for each."""
MOST_REJECTED = 1000
"""The most rejected rows reported one by one; of further ones, their number."""


@dataclass(frozen=True, order=True)
class Row:
    """A row of a book: in how many games ``move`` was played in ``position``, the games ending alike.

    :ivar position: its text.
    :ivar move: the cell, from 1.
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
    """A part of a file that cannot be from a game and was left out."""

    where: str
    why: str


@dataclass(frozen=True)
class Options:
    """What a user says outright about a file.

    :ivar visits: how often each entry counts as visited where the file does not tell.
    :ivar strict: whether a part that cannot be from a game is an error instead of being left out.
    :ivar values_for: whose good the values measure: ``x``, ``o``, ``mover`` (the side to move) or ``moved``
        (the side that has just moved); None: what the data say.
    :ivar spelling: facets of the spelling of a position-keyed file, by name.
    :ivar unknown: what its author's program makes of a move that is not in the file: it counts so much, in
        the file's units, or is ``random``, only made where the file holds none; None: 0.
    :ivar wins: whether that program sees a win that is not in the file: ``known`` or ``unknown``.
    :ivar rules: the game it is about; None: what the file says, or the usual one.
    :ivar empty_brain: whether a file of no bytes is meant: the brain of a graph that has seen nothing.
    :ivar trust_edits: whether a native file whose digest does not fit its content is no error.
    :ivar table: whether of a native file more is wanted than what its header and its digest tell.
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
        """What the user says about how a file is to be read, by the names of an agent's options."""
        said = {"values": self.values_for, "unknown": self.unknown, "wins": self.wins}
        facets = {f"spelling.{name}": value for name, value in self.spelling.items()}
        return {**{name: str(value) for name, value in said.items() if value is not None}, **facets}


DEFAULTS = Options()


@dataclass(frozen=True)
class Imported:
    """The content of a foreign file.

    :ivar format: the name of the format.
    :ivar learner: the method whose table it becomes.
    :ivar choice: the choice rule it is played by.
    :ivar entries: as in a native file of that learner; empty for a book.
    :ivar rows: of a book.
    :ivar games: how many games the experience is from, where the file says so.
    :ivar results: how these ended: ``x``, ``o``, ``draw``.
    :ivar repaired: what was wrong and has been put right, in words.
    :ivar rejected: what was left out.
    :ivar notes: what was inferred, in words.
    :ivar plays: how its author's program plays by it, where that is not how the learner does.
    :ivar spelled: the numbers that an export has to spell as the file does (0 for 0.0), by positions.
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
        """How many positions the file says something about."""
        return len(self.entries) or len({row.position for row in self.rows})

    @property
    def moves(self) -> int:
        """About how many moves; of ``td``, how many values there are."""
        entry_moves = learner_of(self.learner, self.choice).entry_moves
        return sum(map(entry_moves, self.entries.values())) or len(
            {(row.position, row.move) for row in self.rows}
        )

    @property
    def remarks(self) -> list[str]:
        """All there is to say to whoever relies on the file: what was inferred, put right, left out."""
        places: dict[str, list[str]] = {}
        for item in self.rejected:
            places.setdefault(item.why, []).append(item.where)
        left_out = []
        for why, found in list(places.items())[:TOLD]:
            more = f" and {len(found) - PLACES:,} more (ttt verify lists them)" if len(found) > PLACES else ""
            left_out.append(f"left out {', '.join(found[:PLACES])}{more}: {why}")
        reasons = len(places) - TOLD
        left_out += [f"and for {reasons:,} more reasons; ttt verify lists them"] * (reasons > 0)
        return [*self.notes, *self.repaired, *left_out]


def why_not(text: str) -> str:
    """Why a board in native text is not a position of the usual game."""
    try:
        Position(text)
    except NotationError as error:
        return error.message
    raise AssertionError(f"{text} is a position")


class Report:
    """The rows of a file that are left out, with the reason; an error at once where the call is strict.

    :ivar rejected: the first of them.
    :ivar count: how many there are.
    """

    def __init__(self, where: str, strict: bool) -> None:
        self.where, self.strict = where, strict
        self.rejected: list[Rejected] = []
        self.count = 0

    def leave_out(self, place: str, why: str) -> None:
        """Leave a row out.

        :raises InvalidFileError: if the call is strict.
        """
        if self.strict:
            raise InvalidFileError(why, where=f"{self.where}, {place}")
        self.count += 1
        if self.count <= MOST_REJECTED:
            self.rejected.append(Rejected(place, why))

    def of(self, rows: int, what: str) -> list[Rejected]:
        """What was left out, of so many rows.

        :param what: what they would have to be from, for the error.
        :raises InvalidFileError: if no row is left.
        """
        if self.count and self.count == rows:
            first = self.rejected[0]
            message = f"none of the {rows:,} rows can be from {what}: {first.why}"
            raise InvalidFileError(message, where=f"{self.where}, {first.where}")
        return truncated(self.rejected, self.count)


def truncated(rejected: list[Rejected], count: int | None = None) -> list[Rejected]:
    """The rejected rows as they are reported: beyond the first thousand, their number."""
    more = (len(rejected) if count is None else count) - MOST_REJECTED
    return rejected[:MOST_REJECTED] + [Rejected("further on", f"{more:,} more rows")] * (more > 0)


def fault_of(error: TttError, where: str) -> Rejected:
    """A fault without the file's name in its place."""
    place = error.where.removeprefix(where).lstrip(":, ")
    why = f"{error.message} ({error.hint})" if error.hint else error.message
    return Rejected(place or "the whole file", why)


def to_state(found: Imported, digest: str, learner: str | None = None, visits: int = 1) -> State:
    """The state of a foreign file's content; its one run is named after ``digest``, in hexadecimal.

    :param learner: whose table it is to become, if not that of the method which fits best.
    :raises UsageError: if it cannot become that.
    """
    name, entries = found.learner, found.entries
    if learner not in (None, name):
        if (name, learner) != ("td", "q"):
            raise UsageError(
                f"what a {found.format} file holds cannot become a table of {learner}",
                where="--learner",
                hint=f"it becomes one of {name}" + " or q" * (name == "td"),
            )
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
    """Values of moves from those of the positions after them: another program's as they are, chances of 0 to
    1 as values of -1 to 1."""
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
