"""What every learner is: how experience changes a table, and which policy the table gives.

A learner is a frozen dataclass of its parameters; a table is a value of its own, made by ``empty``. The
file of each method holds all of it, from the idea to the merge.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, field, fields, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, Self, TypeVar

import numpy as np

from ttt_cli.engine.arrays import Bools, Floats, Int8s, Int64s, Uint32s
from ttt_cli.engine.bits import ONE, popcount
from ttt_cli.engine.game import Game
from ttt_cli.engine.kernel import Part
from ttt_cli.engine.policy import Policy, thresholds
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.engine.symmetry import classes
from ttt_cli.errors import UsageError
from ttt_cli.learners.index import FIRST, Board, Index, Links, is_line
from ttt_cli.learners.random_numbers import seed_from, uniform

if TYPE_CHECKING:
    from ttt_cli.learners.table import Table

CHUNK = 4096
"""Games a kernel plays per call, given a uniform number for each ply: enough to make the call itself cheap,
few enough for the caches."""

RARE = 64
"""What has come up less often is explored by the move made least often; what is well known, by any move."""

KEPT_ANSWERS = 1 << 17
"""Answers of a fixed side that are kept, on a board without a state space."""

SCOUTED = 64
"""Games that are first looked through for what a fixed side will be asked; then twice as many, or half, by
how much else was asked."""

ONE_NUMBER = 16
"""The most cells for which the 53 bits of one uniform number last a whole game: 16! takes 44 of them."""

BELOW_ONE = 1.0 - 2.0**-50
"""Scales what a decision leaves of a uniform number, which rounding might otherwise raise to 1."""

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

    def chunks(self, index: Index, results: Int64s, *, one_number: bool = False) -> "Iterator[Chunk]":
        """The games in chunks, each to be played by one call of a kernel::

            for chunk in shard.chunks(table.index, results):
                chunk.played += kernel(*arguments, *chunk.games)

        If a kernel has not played all games of a chunk, it has asked a fixed side for an answer: it is given
        the same chunk again, and goes on with the moves that stand in the first of the games that are left.

        :param results: int64[3], games won by O, drawn, won by X, to be counted: one of result r at r + 1.
        :param one_number: whether one uniform number serves a whole game where the learner chooses all moves.
        """
        cells = index.rules.cells
        alone = self.opponent is None and self.behaviour is None
        draws = 1 if one_number and alone and cells <= ONE_NUMBER else cells
        make = FixedSides if index.space is None else _known_sides
        sides = make(index, self.opponent, self.behaviour)
        for chunk in self.batches(cells, sides.answers, results, draws):
            if sides.asked:
                yield from _scouted(chunk, sides, index)
            else:
                yield chunk

    def batches(
        self, cells: int, answers: Any, results: Int64s, draws: int | None = None
    ) -> "Iterator[Chunk]":
        """The games in chunks, each with its uniform numbers, and written down in the journal afterwards.

        :param draws: uniform numbers for each game; None: one for each ply.
        """
        draws = draws or cells
        size = max(1, min(CHUNK * cells // draws, self.games))
        all_moves, numbers = np.empty((size, cells), np.int8), np.empty((size, draws))
        seed = seed_from(self.rng)
        for start in range(0, self.games, size):
            count = min(size, self.games - start)
            moves, uniforms = all_moves[:count], numbers[:count]
            moves.fill(-1)
            uniform(uniforms.reshape(-1), seed, start * draws)
            yield Chunk(self.first + start, moves, uniforms, answers, results)
            if self.journal is not None:
                self.journal.append(moves.copy())


def _scouted(chunk: "Chunk", sides: "FixedSides", index: Index) -> "Iterator[Chunk]":
    """A chunk in parts. Each is first played for nothing, as often as there is something to ask the fixed
    sides, ply after ply in all of its games at once; so that they need not be asked one by one.

    Only what the part itself teaches is not foreseen: then a kernel asks in the middle of it.
    """
    ahead = SCOUTED
    while chunk.left > 0:
        chunk.end = min(chunk.played + ahead, len(chunk.moves))
        sides.answers.scouting[0] = True
        for _ in range(index.rules.cells):
            yield chunk.copy()
            if not sides.answer(index):
                break
        sides.answers.scouting[0] = False
        surprises = -1
        while surprises < 0 or sides.answer(index):
            surprises += 1
            yield chunk
        ahead = 2 * ahead if surprises <= ahead // 2 else max(ahead // 2, 1)


def taught(sides: str) -> int:
    """The sides to learn from as kernels read them: 1 X, 2 O, 3 both."""
    return ("x" in sides) + 2 * ("o" in sides)


class Answers(NamedTuple):
    """What fixed sides do, as kernels read it: the opponent first, then the learner's own side. Row ``r`` is
    looked up at ``r % k``.

    :ivar fixed: bool[2], which sides are fixed.
    :ivar thresholds: float64[2, k, cells], as ``engine.policy`` has them, but of the legal moves alone, one
        after the other; what is behind them is meaningless.
    :ivar owners: uint32[2, k], the row that each answer is for; 0 for none.
    :ivar asked: uint32[2, CHUNK], the rows that the kernel wants to know about.
    :ivar waiting: int64[2], how many those are.
    :ivar scouting: bool[1], whether the kernel is to learn nothing, and to leave games that it has to ask in.
    :ivar simple: bool[2], which sides the kernel answers for itself, by their policies' ``Formula``.
    :ivar formulas: bool[2, 3].
    """

    fixed: Bools
    thresholds: Floats
    owners: Uint32s
    asked: Uint32s
    waiting: Int64s
    scouting: Bools
    simple: Bools
    formulas: Bools

    @classmethod
    def room(cls, size: int, cells: int) -> "Answers":
        """Room for ``size`` answers, a power of two."""
        return cls(
            np.zeros(2, np.bool_),
            np.zeros((2, size, cells)),
            np.zeros((2, size), np.uint32),
            np.zeros((2, CHUNK), np.uint32),
            np.zeros(2, np.int64),
            np.zeros(1, np.bool_),
            np.zeros(2, np.bool_),
            np.zeros((2, 3), np.bool_),
        )


NO_ANSWERS = Answers.room(1, 1)
"""Where no side is fixed."""


@dataclass(eq=False)
class Chunk:
    """Games that a kernel plays, or follows, in one go.

    :ivar number: the number in the run of the first game.
    :ivar moves: int8[k, cells], -1 where none has been made yet; the kernel writes them.
    :ivar uniforms: float64[k, draws], a uniform number for each ply, or one for a whole game; float64[0, 1]
        for a finished game, which is followed.
    :ivar answers: the fixed sides', as the kernel reads them.
    :ivar results: int64[3], which the kernel counts into.
    :ivar played: how many games the kernel says that it has played.
    :ivar end: where it is to stop; None: at the end.
    """

    number: int
    moves: Int8s
    uniforms: Floats
    answers: Any
    results: Int64s
    played: int = 0
    end: int | None = None

    @classmethod
    def of(cls, moves: Int8s, cells: int) -> "Chunk":
        """One finished game on a board of this many cells."""
        row = np.full((1, cells), -1, np.int8)
        row[0, : len(moves)] = moves
        return cls(0, row, np.zeros((0, 1)), NO_ANSWERS, np.zeros(3, np.int64))

    @property
    def left(self) -> int:
        """How many games are still to be played."""
        return len(self.moves) - self.played

    @property
    def games(self) -> tuple[Int8s, Floats, int, Any, Int64s]:
        """The games that are left: the last arguments of every kernel."""
        here = slice(self.played, self.end)
        number = self.number + self.played
        return self.moves[here], self.uniforms[here], number, self.answers, self.results

    def copy(self) -> "Chunk":
        """The same games, to be played for nothing."""
        return replace(self, moves=self.moves.copy(), results=np.zeros_like(self.results))


@Part
def can_answer(
    answers: Answers, side: int, slot: np.uint32, row: np.uint32, links: Links, board: Board
) -> bool:
    """Put a fixed side's answer for a row into its slot, by the side's formula; without one, ask."""
    if not answers.simple[side]:
        if answers.waiting[side] < answers.asked.shape[1]:
            answers.asked[side, answers.waiting[side]] = row
            answers.waiting[side] += 1
        return False
    formula, thresholds = answers.formulas[side], answers.thresholds[side, slot]
    x, o = links.boards[row, 0], links.boards[row, 1]
    first, number = int(links.first[row]), int(links.number[row])
    x_moves, cells_of, lines = popcount(x | o) % 2 == 0, links.cells, board.lines
    cells, wins, blocks, centre = board.images.shape[1], 0, 0, 0
    for at in range(first, first + number):
        cell = int(cells_of[at])
        stone = ONE << np.uint64(cell)
        if formula[0]:
            wins += int(is_line(lines, (x if x_moves else o) | stone, cell))
            blocks += int(is_line(lines, (o if x_moves else x) | stone, cell))
        if formula[1] and cell == cells // 2:
            centre = 1
    kind, equal = 0, number
    if wins > 0:
        kind, equal = 3, wins
    elif blocks > 0:
        kind, equal = 2, blocks
    elif centre > 0:
        kind, equal = 1, centre
    if kind > 1 and formula[2]:
        equal = 1
    total, left = 0.0, equal
    for place in range(number):
        cell = int(cells_of[first + place])
        stone = ONE << np.uint64(cell)
        if kind == 3:
            fits = is_line(lines, (x if x_moves else o) | stone, cell)
        elif kind == 2:
            fits = is_line(lines, (o if x_moves else x) | stone, cell)
        else:
            fits = kind == 0 or cell == cells // 2
        if fits and left > 0:
            total += 1.0 / equal
            left -= 1
            if left == 0:
                total = 2.0
        thresholds[place] = total
    answers.owners[side, slot] = row
    return True


class FixedSides:
    """The policies of fixed sides, asked by a kernel: on a state space for everything at once, else once for
    each position met.

    Answers are kept for as long as their place is not needed for another; to forget one changes nothing.
    """

    def __init__(self, index: Index, opponent: Policy | None, behaviour: Policy | None) -> None:
        self._policies = opponent, behaviour
        self._complete = index.space is not None
        size = 1 if self._policies == (None, None) else KEPT_ANSWERS
        if size > 1 and index.space is not None:
            size = 1 << index.rows.bit_length()
        self.answers = Answers.room(size, index.rules.cells)
        for side, policy in enumerate(self._policies):
            self.answers.fixed[side] = policy is not None
            if policy is not None and policy.formula is not None and not index.symmetric:
                self.answers.simple[side], self.answers.formulas[side] = True, policy.formula
            if policy is not None and index.space is not None:
                self._answer(index, side, np.arange(FIRST, index.rows))

    @property
    def asked(self) -> bool:
        """Whether kernels do not know all answers, and have to ask."""
        return not np.array_equal(self.answers.fixed, self.answers.simple) and not self._complete

    def answer(self, index: Index) -> bool:
        """Answer what the kernel has asked; whether it has asked anything."""
        waiting = np.flatnonzero(self.answers.waiting)
        for side in waiting.tolist():
            rows = np.unique(self.answers.asked[side, : self.answers.waiting[side]]).astype(np.int64)
            self._answer(index, side, rows)
        self.answers.waiting[:] = 0
        return len(waiting) > 0

    def _answer(self, index: Index, side: int, rows: Int64s) -> None:
        policy = self._policies[side]
        assert policy is not None
        positions, places = index.positions(rows), rows % self.answers.owners.shape[1]
        probabilities = policy.probabilities(positions)
        if index.symmetric:
            probabilities = classes(positions).project(probabilities)
        order = np.argsort(~index.legal(positions), axis=1, kind="stable")  # the legal moves first
        self.answers.thresholds[side, places] = np.take_along_axis(thresholds(probabilities), order, axis=1)
        self.answers.owners[side, places] = rows


@lru_cache(maxsize=4)
def _known_sides(index: Index, opponent: Policy | None, behaviour: Policy | None) -> FixedSides:
    """Of a complete index, answered once."""
    return FixedSides(index, opponent, behaviour)


class Learned(Policy):
    """What a table's owner plays: its rows, looked up for the positions, or classes, that are asked for.

    :param answer: gives for the rows of positions, those positions and their moves (bool[k, cells]):
        probabilities, values (float64[k, cells], NaN where there is none) and bool[k], what is known.
    """

    def __init__(self, index: "Index | Table", answer: "Answer") -> None:
        self.rules, self._index, self._answer = index.rules, index, answer
        self._last: tuple[Positions, tuple[Floats, Floats, Bools]] | None = None

    def probabilities(self, positions: Positions) -> Floats:
        return self._answers(positions)[0]

    def values(self, positions: Positions) -> Floats:
        return self._answers(positions)[1]

    def known(self, positions: Positions) -> Bools:
        return np.concatenate([self._answers(part)[2] for part in positions.parts()])

    def _answers(self, positions: Positions) -> tuple[Floats, Floats, Bools]:
        if self._last is None or self._last[0] is not positions:
            self._last = positions, self._looked_up(positions)
        return self._last[1]

    def _looked_up(self, positions: Positions) -> tuple[Floats, Floats, Bools]:
        if not self._index.symmetric:
            return self._answer(self._index.find(positions), positions, positions.legal)
        found = classes(positions)
        rows = self._index.find(found.positions)
        probabilities, values, known = self._answer(rows, found.positions, found.legal)
        shared = found.lift_probabilities(probabilities, positions.legal)
        return shared, np.where(positions.legal, found.lift(values), np.nan), known


Answer = Callable[[Int64s, Positions, Bools], tuple[Floats, Floats, Bools]]


class Learner(ABC, Generic[T]):
    """A method of learning. Subclasses are frozen dataclasses: the fields are the method's parameters."""

    name: ClassVar[str]
    title: ClassVar[str]
    """The method and its source in a few words; by default the first sentence of the class's docstring."""
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
        policy = self.policy(table)
        space = StateSpace.of(policy.rules)
        known = policy.known(space.positions)
        return None if known is None else space.positions[known]

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
