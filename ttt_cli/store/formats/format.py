"""A format is a class: a kind of file, how it is recognised, read, checked and written.

Each has a module of its own in this folder; ``ttt_cli.store.formats`` lists them by name.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Literal

from ttt_cli.engine.policy import Policy, PolicyTable
from ttt_cli.engine.position import Position
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import enumerated
from ttt_cli.environment import command_line
from ttt_cli.errors import InvalidFileError, UsageError
from ttt_cli.learners import learner_class
from ttt_cli.store.formats.imported import DEFAULTS, Imported, Options, Rejected
from ttt_cli.store.source import Source
from ttt_cli.store.state import State


@dataclass(frozen=True, eq=False)
class Native:
    """The content of a native file.

    :ivar digest: of what was learned: the one the file states, but for learning curves.
    """

    state: State
    digest: str


@dataclass(frozen=True)
class Verification:
    """The outcome of reading a file through.

    :ivar format: its name; empty if no format fits.
    :ivar units: what ``positions`` and ``moves`` are of the learner's table, as ``Learner.units``.
    :ivar repaired: what is wrong but can be put right.
    :ivar faults: what is wrong.
    :ivar unfit: whether it cannot be used as it is.
    """

    format: str
    positions: int = 0
    moves: int = 0
    units: tuple[str, str] = ("position", "move")
    repaired: list[str] = field(default_factory=list)
    faults: list[Rejected] = field(default_factory=list)
    unfit: bool = False


@dataclass(frozen=True, eq=False)
class ExportSource:
    """Whose knowledge is written.

    :ivar name: for titles.
    :ivar state: what it has learned, if it plays by a state.
    :ivar answers: what it plays.
    :ivar reached: the positions to write, where others decide on them.
    """

    name: str
    state: State | None
    answers: Policy
    reached: Positions | None = None

    @cached_property
    def policy(self) -> PolicyTable:
        """Its policy in every position.

        :raises UsageError: on a board without a state space.
        """
        space = enumerated(self.answers.rules)
        if space is None:
            raise UsageError(
                f"{self.answers.rules.describe()} has too many positions for this format",
                where=self.name,
                hint="policy-csv and policy-json hold those that a state has seen",
            )
        return self.answers.table(space)

    @cached_property
    def positions(self) -> Positions:
        """The positions to write: those that were decided on, or all of them, or on a board without a state
        space those the state has seen.

        :raises UsageError: if there is none of these.
        """
        if self.reached is not None:
            return self.reached
        space = enumerated(self.answers.rules)
        if space is not None:
            return space
        seen = None if self.state is None else self.state.seen
        if seen is None:
            raise UsageError(
                f"{self.answers.rules.describe()} has too many positions to write them all",
                where=self.name,
                hint="for a trained state, the positions it has seen are written",
            )
        return seen


@dataclass(frozen=True)
class ExportOptions:
    """The part of it to write, where the format leaves a choice.

    :ivar ending: of the file's name.
    :ivar start: the position that a graph begins with; None: all that the player knows.
    :ivar depth: the plies that it goes on for.
    :ivar best: only the moves that the player would play.
    :ivar folded: of positions that a turn or mirror makes equal, one alone.
    """

    ending: str = ""
    start: Position | None = None
    depth: int | None = None
    best: bool = False
    folded: bool = False


class Format:
    """A kind of file: how it is recognised, read, checked and written. A subclass has a module of its own.

    :cvar name: as ``--format`` takes it.
    :cvar about: what it is, in a line.
    :cvar learner: the method whose table it holds, ``any``, or empty where it holds none.
    :cvar holds: what it is read as: a ``table``, which goes on learning, a ``policy``, ``games``, or
        ``measures`` of players; empty where it is never read.
    :cvar written: whether the program writes such files.
    :cvar rules: the only game that it knows; None: any.
    :cvar endings: how the names of such files end.
    :cvar options: the options of ``ttt export`` that go with it.
    :cvar spelled: whether it can be read in several ways, of which a user may name one.
    :cvar in_blocks: whether it is read in blocks, however large it is.
    :cvar binary: whether it is nothing for a terminal.
    :cvar then: a command that makes something of the file, ``FILE`` standing for its name.
    :cvar label: its content in words, where that is not a player.
    """

    name: ClassVar[str]
    about: ClassVar[str]
    learner: ClassVar[str] = ""
    holds: ClassVar[Literal["table", "policy", "games", "measures", ""]] = ""
    written: ClassVar[bool] = False
    rules: ClassVar[Rules | None] = None
    endings: ClassVar[tuple[str, ...]] = ()
    options: ClassVar[tuple[str, ...]] = ()
    spelled: ClassVar[bool] = False
    in_blocks: ClassVar[bool] = False
    binary: ClassVar[bool] = False
    then: ClassVar[str] = ""
    label: ClassVar[str] = ""

    def recognises(self, source: Source, options: Options) -> bool:
        """Whether a file is meant to be one, sound or not."""
        return False

    def read(self, source: Source, options: Options) -> "Native | Imported | Policy":
        """The content of a file.

        :raises InvalidFileError: naming the place and what is wrong there; by default, that it does not hold
            a player.
        """
        hint = f"what it is for: {self.then.replace('FILE', command_line(source.where))}"
        raise InvalidFileError(f"holds {self.label}, not a player", where=source.where, hint=hint)

    def check(self, source: Source) -> Verification:
        """Every fault in a file; by default the first one that ``read`` meets is raised.

        :raises InvalidFileError: if it cannot be used as it is.
        """
        found = self.read(source, DEFAULTS)
        assert isinstance(found, Imported)
        units = learner_class(found.learner).units
        return Verification(found.format, found.positions, found.moves, units, found.repaired, found.rejected)

    def fits(self, state: State | None) -> bool:
        """Whether a player with this state, or with none, has this form: by default whoever plays, or where
        the format is a method's, that method's states for the format's game."""
        if not self.learner:
            return True
        return state is not None and state.learner.name == self.learner and self.rules in (None, state.rules)

    def write(self, player: ExportSource, wanted: ExportOptions) -> Iterable[bytes]:
        """A player as such a file, in chunks.

        :raises UsageError: if it cannot be written so.
        """
        raise NotImplementedError(f"{self.name} files are not written")
