"""The interface of learners: how experience changes a table, and which policy a table gives.

A learner is a frozen dataclass of its parameters; ``empty`` makes a table. Each method is one file.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import Field, asdict, dataclass, field, fields
from typing import Any, ClassVar, Generic, Literal, Self, TypeVar

import numpy as np

from ttt_cli.engine.arrays import Floats, Int64s
from ttt_cli.engine.game import Game
from ttt_cli.engine.policy import Policy
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.errors import UsageError, did_you_mean

Entry = tuple[str, Any]
"""A key and a JSON value from the ``entries`` of a state file. Most learners' keys are positions, sorted by
their texts."""


def parameter(
    default: float | int | bool | str | None,
    text: str,
    *,
    least: float | None = None,
    most: float | None = None,
    choices: tuple[str, ...] = (),
) -> Any:
    """A learner's parameter: a dataclass field, and an option of the command line.

    >>> rate = parameter(0.1, "the step size", least=0, most=1)
    >>> rate.default, rate.metadata["help"]
    (0.1, 'the step size')
    """
    metadata = {"help": text, "min": least, "max": most, "choices": choices}
    return field(default=default, metadata=metadata)


T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Shard:
    """Consecutive games of a run, a share of one block.

    :ivar first: the number of the first game in the run; the learner is X in games 0, 2, 4 …
    :ivar games: the number of games.
    :ivar rng: the only source of chance.
    :ivar opponent: the other side's policy; None: self-play.
    :ivar journal: a list to which the games are appended, or None; games learned by a symmetric table may be
        recorded as any of their symmetric images.
    """

    first: int
    games: int
    rng: "np.random.Generator"  # quoted, so that NumPy loads its generators only where games are played
    opponent: Policy | None = None
    journal: list[Game] | None = None

    def sides(self, game: int) -> str:
        """The sides that learn from one of these games, counted from 0: ``x``, ``o`` or ``xo``."""
        if self.opponent is None:
            return "xo"
        return "x" if (self.first + game) % 2 == 0 else "o"


def mean_of(value: Floats, weight: Int64s, other: Floats, others_weight: Int64s) -> Floats:
    """The mean of two values by their weights; where only one has weight, that value as it is."""
    mean = (weight * value + others_weight * other) / np.maximum(weight + others_weight, 1) + 0.0  # no -0.0
    return np.where(others_weight == 0, value, np.where(weight == 0, other, mean))


class Learner(ABC, Generic[T]):
    """A method of learning. Subclasses are frozen dataclasses, with the method's parameters as fields."""

    name: ClassVar[str]
    title: ClassVar[str]
    """The method and its source in a few words; by default the first sentence of the class's docstring."""
    given_as: ClassVar[str] = ""
    """The ``FILE.py:CLASS`` that named the class in this call; empty if nothing did."""
    kernel_version: ClassVar[int] = 1
    """Part of every run's id: raised whenever the arithmetic changes."""
    choices: ClassVar[tuple[str, ...]] = ("default",)
    """The choice rules of ``policy``, among them ``article`` if the method follows an article."""
    default_games: ClassVar[int] = 10_000
    block_games: ClassVar[int] = 1 << 16
    """Games in a block that is not split: tens of milliseconds, so that ``--until`` can look often."""
    shard_games: ClassVar[int] = 1 << 18
    """Games in each shard of a block that is split: well under a second of work, but enough for the cost of
    merging not to matter."""
    article: ClassVar[Mapping[str, Any]] = {}
    """The parameters of the method's author, ``choice`` included; the author's rule has no others."""
    article_games: ClassVar[int] = 0
    article_opponent: ClassVar[str] = "self"
    """The agent that the author trained against."""
    keeps_runs_apart: ClassVar[bool] = False
    """Whether a table knows which run each entry comes from, so that overlapping tables can be merged; then
    ``merge_overlapping`` is overridden."""
    learns_resigned: ClassVar[bool] = False
    """Whether resigned games teach anything."""
    symmetric_only: ClassVar[bool] = False
    """Whether its tables are always over classes of symmetric positions."""
    learns_both_sides: ClassVar[bool] = True
    """Whether a game from play or a record teaches the moves of both sides, whoever made them."""
    without_ties: ClassVar[tuple[str, ...]] = ()
    """The choice rules whose policy is not a uniform choice among the best moves; they take no ``ties``."""
    values_of: ClassVar[Literal["moves", "positions", ""]] = ""
    """Whether its ``Table`` can hold another program's values: ``moves`` if they are values of moves, to the
    mover, ``positions`` if of positions, to X and to O; empty if it cannot."""
    read_with: ClassVar[tuple[str, ...]] = ()
    """The parameters that its table cannot be read without, besides its choice rule."""
    value_scale: ClassVar[tuple[float, float] | None] = (-1.0, 1.0)
    """The policy's values of a sure loss and of a sure win; None if its values do not rate results."""
    suffix: ClassVar[str] = ".json"
    """The suffix of its state files: ``.csv`` for an experience book, whose entries are rows."""
    units: ClassVar[tuple[str, str]] = ("position", "move")
    """What to call an entry of its files, and a member of an entry."""

    choice: str

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        if "title" not in vars(cls):
            text = " ".join((cls.__doc__ or cls.__name__).partition("\n\n")[0].split())
            cls.title = text.partition(". ")[0].rstrip(".")

    @property
    def usual_games(self) -> int:
        """The number of games to train if none is given; under the author's rule, the author's number."""
        return self.article_games if self.choice == "article" else self.default_games

    @property
    def watches(self) -> bool:
        """Whether it learns by watching games in which its opponent plays both sides."""
        return False

    @abstractmethod
    def empty(self, rules: Rules, symmetric: bool = False) -> T:
        """The table of a player that has learned nothing.

        :param symmetric: whether it is over classes of symmetric positions.
        :raises UsageError: if there is no such table for these rules.
        """

    def trained_with(self, parameters: Sequence[Mapping[str, Any]]) -> Self:
        """The learner that reads a file's table, given the parameters of each run that trained it: with every
        parameter in ``read_with`` on which all runs that state it agree."""
        agreed = {}
        for name in self.read_with:
            values = [run[name] for run in parameters if name in run]
            if values and values.count(values[0]) == len(values):
                agreed[name] = values[0]
        return self.from_params(**{**self.parameters(), "choice": self.choice, **agreed})

    @abstractmethod
    def train(self, table: T, shard: Shard) -> Int64s:
        """Play the games of the shard and learn, changing ``table``.

        :returns: int64[3], games won by O, drawn, won by X.
        """

    @abstractmethod
    def learn(self, table: T, game: Game, sides: str = "xo") -> None:
        """Learn from the moves of these sides in a finished game, changing ``table``.

        The arithmetic is that of ``train``: replaying the games of a shard gives the same bytes.
        """

    @abstractmethod
    def policy(self, table: T) -> Policy:
        """The policy that the table gives; not to be used once the table has changed."""

    @abstractmethod
    def merge(self, base: T, parts: Sequence[T]) -> T:
        """A new table: ``base`` and what each part has learned beyond it. The order makes no difference."""

    def merge_overlapping(self, base: T, parts: Sequence[T], run: str) -> T:
        """``merge`` for parts that may share experience, which counts once for each part that has it. All
        experience of the new table belongs to one run, ``run``."""
        return self.merge(base, parts)

    def changes(self, base: T, part: T) -> T:
        """What ``merge`` needs of a part that began as a copy of ``base``."""
        return part

    @abstractmethod
    def to_entries(self, table: T) -> Iterator[Entry]:
        """The entries of the table's file, in the order of their keys."""

    @abstractmethod
    def from_entries(self, rules: Rules, symmetric: bool, entries: Iterable[Entry]) -> T:
        """The table of a file's entries, in any order, each key once.

        :raises InvalidFileError: naming the entry and what is wrong with it.
        """

    def derive(self, table: T) -> None:
        """Compute the columns that follow from others, in a table learned under another choice rule."""

    def in_own_units(self, table: T, *, shared: bool) -> T:
        """A table of another program's values, turned into values that this learner can go on from; if
        ``shared``, a value for one side also counts, negated, for the other."""
        return table

    def check(self, table: T) -> None:
        """Check that a table holds nothing that learning cannot lead to.

        :raises InvalidFileError: naming an entry that does.
        """

    def size(self, table: T) -> tuple[int, int]:
        """The numbers of entries of the table's file, and of moves, or other ``units``, in them."""
        members = [len(entry) for _, entry in self.to_entries(table)]
        return len(members), sum(members)

    def seen(self, table: T) -> Positions | None:
        """The positions that something has been learned about; None if that is not known."""
        return None

    def position_scores(self, table: T, positions: Positions) -> Floats | None:
        """float64[k]: how good each position is for X, from -1 to 1, NaN if unknown; None if the learner does
        not score positions."""
        return None

    def tag_run(self, table: T, run: str) -> None:
        """Record, in a table that keeps runs apart, that everything untagged was learned in this run."""

    def parameters(self) -> dict[str, Any]:
        """The parameters by name, without ``choice``."""
        return {name: value for name, value in asdict(self).items() if name != "choice"}  # type: ignore[call-overload]

    def with_params(self, **parameters: Any) -> Self:
        """The learner with other values of some parameters. Under the article rule a parameter is constant
        during training, so its ``…_end`` follows it.

        :raises UsageError: as ``from_params``, and naming a parameter that the article rule does not have.
        """
        current = self.parameters()
        if self.choice == "article":
            for name in sorted(parameters.keys() & current.keys() - self.article.keys()):
                if parameters[name] != current[name]:
                    hint = f"it has {', '.join(sorted(self.article.keys() - {'choice'}))}"
                    raise UsageError(f"{self.name}: the article's rule has no {name}", hint=hint)
            ends = {f"{name}_end": value for name, value in parameters.items() if f"{name}_end" in current}
            parameters = ends | parameters
        return type(self).from_params(**{**current, "choice": self.choice, **parameters})

    @classmethod
    def from_params(cls, **parameters: Any) -> Self:
        """The learner with these parameters, and defaults for the others.

        :raises UsageError: naming a parameter that does not exist or is out of range.
        """
        declared = {item.name: item for item in fields(cls)}  # type: ignore[arg-type]
        for name, value in parameters.items():
            if name not in declared:
                hint = did_you_mean(name, declared) or f"it has {', '.join(cls().parameters())}"
                raise UsageError(f"{cls.name} has no parameter {name!r}", hint=hint)
            _check(cls.name, value, declared[name])
        return cls(**parameters)


def _check(learner: str, value: Any, declared: "Field[Any]") -> None:
    least, most, choices = (declared.metadata.get(key) for key in ("min", "max", "choices"))
    kind = type(declared.default)
    if declared.default is None:
        if value is None:
            return
        kind = type(value) if isinstance(value, float | int | str) else str
    if kind is int and "float" in str(declared.type):
        kind = float
    fits = type(value) in ((int, float) if kind is float else (kind,))
    fits = fits and (not choices or value in choices)
    if fits and kind in (int, float):  # all comparisons are false for NaN
        fits = abs(value) < 2**63 and (least is None or value >= least) and (most is None or value <= most)
    if not fits:
        wanted = {float: "a number", int: "a whole number", bool: "true or false"}.get(kind, "a string")
        wanted += f" from {least:g}" if least is not None else ""
        wanted += f" to {most:g}" if most is not None else ""
        wanted = f"one of {', '.join(choices)}" if choices else wanted
        raise UsageError(f"{learner}: {declared.name} must be {wanted}, not {value!r}")
