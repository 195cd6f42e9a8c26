"""The base class of formats, and what they read and write."""

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
    """The state in a native file, and the file's digest without learning curves."""

    state: State
    digest: str


@dataclass(frozen=True)
class Verification:
    """The outcome of checking a file.

    :ivar format: the format's name; empty if none fits.
    :ivar units: what ``positions`` and ``moves`` count, as ``Learner.units``.
    :ivar repaired: what is wrong but can be repaired.
    :ivar faults: what is wrong.
    :ivar unfit: whether the file cannot be used.
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
    """A player to export.

    :ivar name: for titles.
    :ivar state: what it has learned, if it plays by a state.
    :ivar answers: its policy.
    :ivar reached: the positions to write; None: ``positions`` decides.
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
            message = f"{self.answers.rules.describe()} has too many positions for this format"
            hint = "policy-csv and policy-json hold those that a state has seen"
            raise UsageError(message, where=self.name, hint=hint)
        return self.answers.table(space)

    @cached_property
    def positions(self) -> Positions:
        """The positions to write: ``reached``, or all, or on a board without a state space those that the
        state has seen.

        :raises UsageError: if there is none of these.
        """
        if self.reached is not None:
            return self.reached
        space = enumerated(self.answers.rules)
        if space is not None:
            return space
        seen = None if self.state is None else self.state.seen
        if seen is None:
            message = f"{self.answers.rules.describe()} has too many positions to write them all"
            hint = "for a trained state, the positions it has seen are written"
            raise UsageError(message, where=self.name, hint=hint)
        return seen


@dataclass(frozen=True)
class ExportOptions:
    """What to write, where the format leaves a choice.

    :ivar ending: of the file's name.
    :ivar start: the position that a graph begins with; None: all that the player knows.
    :ivar depth: the number of plies of a graph.
    :ivar best: only the moves that the player would play.
    :ivar folded: only one of positions that a turn or mirror makes equal.
    """

    ending: str = ""
    start: Position | None = None
    depth: int | None = None
    best: bool = False
    folded: bool = False


class Format:
    """A kind of file: how it is recognised, read, checked and written.

    :cvar name: as ``--format`` takes it.
    :cvar about: a description in one line.
    :cvar learner: the method whose table it holds; ``any``; or empty for no table.
    :cvar holds: what it is read as: a ``table``, which can go on learning, a ``policy``, ``games``, or
        ``measures`` of players; empty if it is only written.
    :cvar written: whether the program writes such files.
    :cvar rules: the only game that it supports; None: any.
    :cvar endings: the endings of such files' names.
    :cvar options: the options of ``ttt export`` that it takes.
    :cvar spelled: whether it can be read in several ways, of which a user may state one.
    :cvar in_blocks: whether it is read in blocks, and so may be of any size.
    :cvar binary: whether it cannot be shown in a terminal.
    :cvar then: a command that uses the file, called ``FILE``.
    :cvar label: its content in words, if that is not a player.
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
        """Whether a file is meant to be in this format, sound or not."""
        return False

    def read(self, source: Source, options: Options) -> "Native | Imported | Policy":
        """Read a file; one that holds no player is refused by default.

        :raises InvalidFileError: naming the place and what is wrong there.
        """
        hint = f"what it is for: {self.then.replace('FILE', command_line(source.where))}"
        raise InvalidFileError(f"holds {self.label}, not a player", where=source.where, hint=hint)

    def check(self, source: Source) -> Verification:
        """Report every fault in a file; by default, what ``read`` reports.

        :raises InvalidFileError: if it cannot be read.
        """
        found = self.read(source, DEFAULTS)
        assert isinstance(found, Imported)
        units = learner_class(found.learner).units
        return Verification(found.format, found.positions, found.moves, units, found.repaired, found.rejected)

    def fits(self, state: State | None) -> bool:
        """Whether a player with this state, or with none, can be written: by default any player, or where the
        format is a method's, that method's states for the format's game."""
        if not self.learner:
            return True
        return state is not None and state.learner.name == self.learner and self.rules in (None, state.rules)

    def write(self, player: ExportSource, wanted: ExportOptions) -> Iterable[bytes]:
        """Write a player, in chunks.

        :raises UsageError: if it has no such form.
        """
        raise NotImplementedError(f"{self.name} files are not written")
