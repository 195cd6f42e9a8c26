"""What a format is: a kind of file that describes itself, how it is recognised, read, checked and written.

Each has a module of its own in this folder with the ``Format`` that it is, as ``FORMAT``; the modules are
listed in ``ttt_cli.store.formats``.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property

from ttt_cli.engine.policy import Policy, PolicyTable
from ttt_cli.engine.position import Position
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import STANDARD, Rules
from ttt_cli.engine.state_space import enumerated
from ttt_cli.errors import UsageError
from ttt_cli.store.formats.imported import Imported, Options, Rejected
from ttt_cli.store.source import Source
from ttt_cli.store.state import State


@dataclass(frozen=True, eq=False)
class Native:
    """What a native file holds.

    :ivar digest: of what was learned: the one the file states, but for learning curves.
    """

    state: State
    digest: str


@dataclass(frozen=True)
class Verification:
    """What reading a file through found.

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
class Player:
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
        """What it plays in every position.

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
            return space.positions
        seen = None if self.state is None else self.state.seen
        if seen is None:
            raise UsageError(
                f"{self.answers.rules.describe()} has too many positions to write them all",
                where=self.name,
                hint="for a trained state, the positions it has seen are written",
            )
        return seen


@dataclass(frozen=True)
class Wanted:
    """What of it is to be written, where the format leaves a choice.

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


Reader = Callable[[Source, Options], Imported | Native]
Writer = Callable[[Player, Wanted], Iterable[bytes]]


def anyone(state: State | None) -> bool:
    """The ``fits`` of a format that any player has."""
    return True


def states_of(learner: str) -> Callable[[State | None], bool]:
    """The ``fits`` of a format that a learner's states for the usual board have."""
    return lambda state: state is not None and state.learner.name == learner and state.rules == STANDARD


@dataclass(frozen=True, eq=False)
class Format:
    """A kind of file.

    :ivar name: as ``--format`` takes it; two formats of one name are two forms of the same.
    :ivar about: what it is, in a line.
    :ivar learner: the method whose table it holds, ``any``, or empty where it holds none.
    :ivar native: whether it holds a state as it is, so that nothing is lost in it.
    :ivar recognises: whether a file is meant to be one, sound or not; None: it is never read.
    :ivar read: its content.
    :ivar policy: its content, where it holds what is played and nothing that goes on learning.
    :ivar check: every fault in it, where that is more than the first one that ``read`` meets.
    :ivar spelled: whether it can be read in several ways, of which a user may say one.
    :ivar in_blocks: whether it is read in blocks, however large it is.
    :ivar rules: the only game that it knows; None: any.
    :ivar endings: how the names of such files end.
    :ivar fits: whether a player with this state, or with none, has this form.
    :ivar write: a player as such a file, in chunks; None: it is never written.
    :ivar logged: whether the program writes such files without being asked for them.
    :ivar options: the options of ``ttt export`` that go with it.
    :ivar binary: whether it is nothing for a terminal.
    :ivar then: a command that makes something of the file, ``FILE`` standing for its name.
    """

    name: str
    about: str
    learner: str = ""
    native: bool = False
    recognises: Callable[[Source, Options], bool] | None = None
    read: Reader | None = None
    policy: Callable[[Source, Options], Policy] | None = None
    check: Callable[[Source], Verification] | None = None
    spelled: bool = False
    in_blocks: bool = False
    rules: Rules | None = None
    endings: tuple[str, ...] = ()
    fits: Callable[[State | None], bool] = anyone
    write: Writer | None = None
    logged: bool = False
    options: tuple[str, ...] = ()
    binary: bool = False
    then: str = ""
