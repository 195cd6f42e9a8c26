"""What every learner is: how experience changes a table, and which policy the table gives.

A learner is a frozen dataclass of its parameters; a table is a value of its own, made by ``empty``. The
file of each method holds all of it, from the idea to the merge.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, field, fields
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np

from ttt_cli.engine.arrays import Floats, Int8s, Int64s
from ttt_cli.engine.game import Game
from ttt_cli.engine.policy import Policy
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.errors import UsageError

Entry = tuple[str, Any]
"""One of the ``entries`` of a native state file: its key and what JSON can hold. Most learners' keys are
positions, in the order of their texts."""


def parameter(
    default: float | int | bool | str,
    text: str,
    *,
    least: float | None = None,
    most: float | None = None,
    choices: tuple[str, ...] = (),
) -> Any:
    """A learner's parameter: a dataclass field that the command line makes an option of.

    >>> rate = parameter(0.1, "the step size", least=0, most=1)
    >>> rate.default, rate.metadata["help"]
    (0.1, 'the step size')

    :param least: the smallest value, ``most`` the largest; ``choices``: the only ones.
    """
    metadata = {"help": text, "min": least, "max": most, "choices": choices}
    return field(default=default, metadata=metadata)


T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Shard:
    """The games of one shard of one block, played and learned from in one go.

    :ivar first: the number in the run of the first game; in game 0, 2, 4 … the learner is X.
    :ivar games: how many.
    :ivar rng: where all chance comes from.
    :ivar opponent: the other side's behaviour; None: the learner plays itself.
    :ivar behaviour: the learner's own behaviour where it is fixed; None: what its table says, exploring.
    :ivar journal: if given, the moves of every game are appended here: int8[games, cells], -1 after the end.
    """

    first: int
    games: int
    rng: "np.random.Generator"  # quoted, so that NumPy loads its generators only where games are played
    opponent: Policy | None = None
    behaviour: Policy | None = None
    journal: list[Int8s] | None = None

    def sides(self, game: int) -> str:
        """The sides to learn from in the ``game``-th game of the shard."""
        if self.opponent is None:
            return "xo"
        return "x" if (self.first + game) % 2 == 0 else "o"

    @property
    def taught(self) -> int:
        """The same for kernels: 3 both sides learn, 0 whoever is the learner in a game."""
        return 3 if self.opponent is None else 0


def taught(sides: str) -> int:
    """The sides to learn from as kernels read them: 1 X, 2 O, 3 both."""
    return ("x" in sides) + 2 * ("o" in sides)


class Learner(ABC, Generic[T]):
    """A method of learning. Subclasses are frozen dataclasses: the fields are the method's parameters."""

    name: ClassVar[str]
    title: ClassVar[str]
    """The method and its source in a few words; by default the first sentence of the class's docstring."""
    typed: ClassVar[str] = ""
    """How it was named, if by ``FILE.py:CLASS``."""
    kernel_version: ClassVar[int] = 1
    """Raised whenever the arithmetic changes: part of every run's id."""
    choices: ClassVar[tuple[str, ...]] = ("default",)
    """The choice rules ``policy`` knows: ``article`` is among them where an article describes the method."""
    default_games: ClassVar[int] = 10_000
    block_games: ClassVar[int] = 1 << 16
    """Games in a block of one shard: some ten milliseconds' work, so that ``--until`` can look closely."""
    shard_games: ClassVar[int] = 1 << 18
    """Games in each of several shards: enough to make joining them cheap, well under a second's work."""
    article: ClassVar[Mapping[str, Any]] = {}
    """The parameters of the method's author, ``choice`` included."""
    article_games: ClassVar[int] = 0
    article_opponent: ClassVar[str] = "self"
    article_behaviour: ClassVar[str | None] = None
    """The agents of the author's training: the opponent, and the learner's own side where it is fixed."""
    keeps_runs_apart: ClassVar[bool] = False
    """Whether tables that share a part of their experience can be merged: the table knows each run apart."""
    learns_resigned: ClassVar[bool] = False
    """Whether a game that ended by resigning teaches anything."""
    symmetric_only: ClassVar[bool] = False
    """Whether its table is always over the classes of positions."""
    explores_in_play: ClassVar[bool] = False
    """Whether its author lets it explore against people too."""
    suffix: ClassVar[str] = ".json"
    """How the file of its state ends: ``.csv`` for entries that are rows of an experience book."""
    units: ClassVar[tuple[str, str]] = ("position", "move")
    """What an entry of its file is of, and what it holds."""
    entries_stand_alone: ClassVar[bool] = True
    """Whether a part of a file's entries is a file's worth of entries, so that each can be checked alone."""

    choice: str

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        if "title" not in vars(cls):
            text = " ".join((cls.__doc__ or cls.__name__).partition("\n\n")[0].split())
            cls.title = text.partition(". ")[0].rstrip(".")

    @property
    def learns_both_sides(self) -> bool:
        """Whether a game from play or from a record teaches the moves of both sides, whoever made them."""
        return True

    @property
    def has_ties(self) -> bool:
        """Whether its policy plays several moves where they look equally good to it, and only then."""
        return True

    @property
    def value_scale(self) -> tuple[float, float] | None:
        """What the values of its policy give for a sure loss and a sure win; None: they do not say how good a
        position is."""
        return -1.0, 1.0

    @abstractmethod
    def empty(self, rules: Rules, symmetric: bool = False) -> T:
        """The table of a player that has seen nothing.

        :param symmetric: whether it is to hold the classes of positions up to symmetry.
        :raises UsageError: if there is no such table for these rules.
        """

    def trained_with(self, parameters: Sequence[Mapping[str, Any]]) -> Self:
        """The learner that reads the table of a file, given the parameters of the runs that trained it."""
        return self

    @abstractmethod
    def train(self, table: T, shard: Shard) -> Int64s:
        """Play the games of the shard and learn, changing ``table``.

        :returns: int64[3], games won by O, drawn, won by X: a game of result r counts at r + 1.
        """

    @abstractmethod
    def learn(self, table: T, game: Game, sides: str = "xo") -> None:
        """Learn from one finished game, from the moves of these sides, changing ``table``.

        The same arithmetic as ``train``: replaying the games of a shard gives the same bytes.
        """

    @abstractmethod
    def policy(self, table: T) -> Policy:
        """What the table's owner plays, in every position of the board."""

    @abstractmethod
    def merge(self, base: T, parts: Sequence[T]) -> T:
        """One table with the experience that each part has beyond ``base``; the inputs stay as they are.

        The order of the parts does not matter.
        """

    def changes(self, base: T, part: T) -> T:
        """A part that began as a copy of ``base``, or of it only what it changed: enough for ``merge``."""
        return part

    @abstractmethod
    def to_entries(self, table: T) -> Iterator[Entry]:
        """What the table holds, for a file: one entry after the other, in the order of their keys."""

    @abstractmethod
    def from_entries(self, rules: Rules, symmetric: bool, entries: Iterable[Entry]) -> T:
        """The table of a file's entries, in any order, each key once.

        :raises InvalidFileError: naming the entry and what is wrong with it.
        """

    def check(self, table: T) -> None:
        """Make sure that learning can lead to what a table holds.

        :raises InvalidFileError: naming an entry that it cannot lead to.
        """

    def entry_visits(self, entry: Any) -> int | None:
        """A count in a sound entry that further games can only raise; None where there is none."""
        return None

    def entry_moves(self, entry: Any) -> int:
        """How many moves, or other ``units``, a sound entry is about."""
        return len(entry)

    def seen(self, table: T) -> Positions | None:
        """The positions it has learned something about, in order; None where that is not known."""
        return None

    def position_scores(self, table: T, positions: Positions) -> Floats | None:
        """float64[k], how good the learner itself finds positions for X, NaN where it cannot tell; None for
        learners that value moves."""
        return None

    def tag_run(self, table: T, run: str) -> None:
        """Note in ``table`` that all it has learned since the last such call came from this run.

        Only a table that knows the run of everything it holds does anything here.
        """

    def parameters(self) -> dict[str, Any]:
        """The parameters by name, without the choice rule."""
        return {name: value for name, value in asdict(self).items() if name != "choice"}  # type: ignore[call-overload]

    @classmethod
    def from_params(cls, **parameters: Any) -> Self:
        """A learner with these parameters, the others by default.

        :raises UsageError: naming a parameter that does not exist or is out of range.
        """
        known = {item.name: item for item in fields(cls)}  # type: ignore[arg-type]
        for name, value in parameters.items():
            if name not in known:
                raise UsageError(f"{cls.name} has no parameter {name!r}", hint=f"it has {', '.join(known)}")
            _check(cls.name, name, value, known[name].default, known[name].metadata)
        return cls(**parameters)


def _check(learner: str, name: str, value: Any, default: Any, limits: Mapping[str, Any]) -> None:
    expected = float if isinstance(default, float) else type(default)
    fits = type(value) in ((int, float) if expected is float else (expected,)) or default is MISSING
    least, most, choices = limits.get("min"), limits.get("max"), limits.get("choices")
    if fits and choices and value not in choices:
        raise UsageError(f"{learner}: {name} is one of {', '.join(choices)}, not {value!r}")
    # A comparison with NaN is false, so NaN is refused wherever there is a limit.
    if not fits or (least is not None and not value >= least) or (most is not None and not value <= most):
        span = f" from {least:g}" if least is not None else ""
        span += f" to {most:g}" if most is not None else ""
        raise UsageError(f"{learner}: {name} must be a {expected.__name__}{span}, not {value!r}")
