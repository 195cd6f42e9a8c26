"""Learners in plain Python: a dict for a table, a method that learns from a finished game, and one that says
what a move is worth. How such a learner plays, trains, is merged and kept in files follows from that.
"""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import fsum, isfinite
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np

from ttt_cli.engine.arrays import Bools, Floats, Int64s
from ttt_cli.engine.game import Game
from ttt_cli.engine.policy import Policy, best, thresholds, uniform
from ttt_cli.engine.position import Position
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.errors import InvalidFileError, NotationError, TttError, UsageError
from ttt_cli.learners.base import Entry, Learner, Shard, parameter
from ttt_cli.learners.entries import LARGEST, is_count, is_number, refuse, unfit
from ttt_cli.learners.weighted_mean import MergeAccumulator

KEPT_ANSWERS = 1 << 17
"""Answers of fixed sides that are kept."""

MOST_TERMS = 64
"""Numbers that are kept before they are added up."""


class Table(dict[str, Any]):
    """What a plain learner has learned: numbers, or short lists of them, by the text of a position
    (``X...O....``) or of a position and one of its free cells from 1 (``X...O.... 3``).

    :ivar rules: the game.
    """

    def __init__(self, rules: Rules, entries: Iterable[tuple[str, Any]] = ()) -> None:
        super().__init__(entries)
        self.rules = rules


@dataclass(frozen=True)
class PlainLearner(Learner[Table]):
    """A learner in plain Python: a subclass has a ``name``, ``learn`` and ``value``. If it is a frozen
    dataclass, its fields, made by ``parameter``, are options of ``ttt train``.

    >>> from ttt_cli import PlainLearner, Side, train
    >>> class MonteCarlo(PlainLearner):
    ...     "A move is worth the mean result of the games in which it was made."
    ...
    ...     name = "mc"
    ...
    ...     def learn(self, table, game, sides="xo"):
    ...         for ply, board in enumerate(game.texts()[1:]):
    ...             maker = Side.to_move(ply)
    ...             if maker.key in sides:
    ...                 visits, balance = table.get(board, (0, 0))
    ...                 table[board] = [visits + 1, balance + game.result.outcome(maker)]
    ...
    ...     def value(self, table, position, cell):
    ...         visits, balance = table.get(position.play(cell).text, (0, 0))
    ...         return balance / visits if visits else None
    >>> train(MonteCarlo, games=100, seed=1).policy.rules
    Rules(rows=3, cols=3, line=3, misere=False)

    ``python -m ttt_cli.conformance FILE.py:CLASS`` checks one.
    """

    choices: ClassVar[tuple[str, ...]] = ("default",)
    block_games: ClassVar[int] = 1 << 10
    shard_games: ClassVar[int] = 1 << 12
    numbers: ClassVar[Literal["sums", "means"]] = "sums"
    """What entries hold, which says how tables are merged. ``sums``: a number or a list of them, counts and
    totals, which add up. ``means``: ``[value, visits]``, merged by the mean weighted by visits."""

    choice: str = parameter("default", "the only one", choices=choices)
    epsilon: float = parameter(0.1, "how often training plays any move", least=0, most=1)

    @abstractmethod
    def learn(self, table: Table, game: Game, sides: str = "xo") -> None:
        """Learn from one finished game, from the moves of these sides, changing ``table``.

        ``game.texts()`` are the boards gone through, ``game.moves`` the cells from 0, ``game.result`` says
        each side's ``outcome(side)``, 1, 0 or -1. Nothing but table and game may make a difference.
        """

    @abstractmethod
    def value(self, table: Table, position: Position, cell: int) -> float | None:
        """What playing a cell (from 0) is worth to the side to move, from -1, a sure loss, to 1; None where
        nothing is known, which counts as 0. Changes nothing."""

    def explore(self, table: Table, position: Position, rng: "np.random.Generator") -> int:
        """The cell that training plays: with probability ``epsilon`` any, else one of the best."""
        cells = position.legal
        if rng.random() >= self.epsilon:
            values = [self._worth(table, position, cell) or 0.0 for cell in cells]
            most = max(values)
            cells = tuple(cell for cell, value in zip(cells, values, strict=True) if value == most)
        return cells[int(rng.random() * len(cells))]

    def empty(self, rules: Rules, symmetric: bool = False) -> Table:
        """As ``Learner.empty``."""
        if symmetric:
            raise UsageError(f"{self.name} keeps no table of classes of positions", where="--symmetry")
        return Table(rules)

    def train(self, table: Table, shard: Shard) -> Int64s:
        """As ``Learner.train``."""
        results, fixed = np.zeros(3, np.int64), _FixedSides(shard)
        for number in range(shard.games):
            game = Game(table.rules)
            while not game.is_over:
                policy = fixed.policy(shard.first + number, game)
                if policy is None:
                    self._explore(table, game, shard.rng)
                elif (cell := fixed.choose(policy, game.position, shard.rng)) is None:
                    game.resign()
                else:
                    game.push(cell)
            assert game.result is not None
            results[game.result + 1] += 1
            if self.learns_resigned or not game.resigned:
                self.learn(table, game, shard.sides(number))
            if shard.journal is not None:
                row = np.full((1, table.rules.cells), -1, np.int8)
                row[0, : len(game.moves)] = game.moves
                shard.journal.append(row)
        return results

    def _explore(self, table: Table, game: Game, rng: "np.random.Generator") -> None:
        """Play what ``explore`` says.

        :raises TttError: if it is no free cell.
        """
        cell = self.explore(table, game.position, rng)
        try:
            game.push(cell)
        except (NotationError, TypeError):
            raise TttError(
                f"explore plays {cell!r} in {game.text!r}", where=self.name, hint="one of position.legal"
            ) from None

    def _worth(self, table: Table, position: Position, cell: int) -> float | None:
        """What ``value`` says.

        :raises TttError: if it is no number.
        """
        value = self.value(table, position, cell)
        if value is None or (isinstance(value, Real) and abs(value) <= LARGEST):
            return value
        raise TttError(
            f"value of cell {cell} in {position.text!r} is {value!r}",
            where=self.name,
            hint="a finite number, or None where nothing is known",
        )

    def policy(self, table: Table) -> Policy:
        """Any of the moves that are worth most."""
        return _Greedy(self, table)

    def seen(self, table: Table) -> Positions:
        """The positions of the entries."""
        texts = sorted({key.partition(" ")[0] for key in table}, key=lambda text: (-text.count("."), text))
        return Positions.parse(texts, table.rules) if texts else Positions.start(table.rules)[:0]

    def merge(self, base: Table, parts: Sequence[Table]) -> Table:
        """By what ``numbers`` are: sums, or weighted means."""
        return _mean(base, parts) if self.numbers == "means" else _added(base, parts)

    def to_entries(self, table: Table) -> Iterator[Entry]:
        """As they are, in the order of their keys.

        :raises TttError: if a file with them could not be read.
        """
        plain = {key: _plain(entry) for key, entry in table.items()}
        try:
            for key, entry in plain.items():
                self._check(key, entry)
            _check_keys(list(plain), table.rules)
        except InvalidFileError as error:
            raise TttError(f"cannot be saved: {error}", where=self.name) from None
        yield from sorted(plain.items())

    def from_entries(self, rules: Rules, symmetric: bool, entries: Iterable[Entry]) -> Table:
        """As ``Learner.from_entries``."""
        table = self.empty(rules, symmetric)
        for key, entry in entries:
            self._check(key, entry)
            table[key] = entry
        _check_keys(list(table), rules)
        return table

    def _check(self, key: str, entry: Any) -> None:
        if not isinstance(key, str):
            raise unfit(repr(key), "expected the text of a position")
        listed = entry if isinstance(entry, list) else [entry]
        if not listed or not all(map(is_number, listed)):
            raise unfit(key, "expected a number, or a list of numbers")
        if self.numbers == "means" and not (len(listed) == 2 and is_count(listed[1])):
            raise unfit(key, "expected [value, visits]")

    def entry_visits(self, entry: Any) -> int | None:
        """Of ``means``, the visits."""
        return entry[1] if self.numbers == "means" else None

    def entry_moves(self, entry: Any) -> int:
        """Each entry counts as one."""
        return 1


def _plain(entry: Any) -> Any:
    """An entry as a file has it: lists, and numbers of Python's own."""
    if isinstance(entry, np.generic | np.ndarray):
        return entry.tolist()
    return list(map(_plain, entry)) if isinstance(entry, list | tuple) else entry


def _check_keys(keys: Sequence[str], rules: Rules) -> None:
    """Refuse what is no position, or no free cell of one."""
    texts = [key.partition(" ")[0] for key in keys]
    for key, text in zip(keys, texts, strict=True):
        cell = key[len(text) + 1 :]
        if len(text) != rules.cells or text.strip(".OX"):
            refuse(rules, key)
        if key != text and not (cell.isdecimal() and 1 <= int(cell) <= rules.cells):
            raise unfit(key, f"expected a cell from 1 to {rules.cells} after the position")
        if key != text and text[int(cell) - 1] != ".":
            raise unfit(key, f"cell {cell} is taken")
    if texts:
        reachable = Positions.parse(texts, rules).reachable
        if not reachable.all():
            refuse(rules, keys[int(np.argmin(reachable))])


def _means(table: Table, keys: Sequence[str]) -> tuple[Floats, Int64s]:
    """float64[k] values, int64[k] visits."""
    found = [table.get(key, (0.0, 0)) for key in keys]
    return np.array([one[0] for one in found], float), np.array([one[1] for one in found], np.int64)


def _mean(base: Table, parts: Sequence[Table]) -> Table:
    """The weighted means of what the parts have learned since the base."""
    numbers, joining = {key: number for number, key in enumerate(base)}, MergeAccumulator()
    for part in parts:
        places = [numbers.setdefault(key, len(numbers)) for key in part]
        values, visits = _means(part, list(part))
        joining.add(np.array(places, np.int64), values, visits - _means(base, list(part))[1])
    values, visits = _means(base, list(numbers))
    joining.write_means(values, visits)
    entries = map(list, zip(values.tolist(), visits.tolist(), strict=True))
    return Table(base.rules, sorted(zip(numbers, entries, strict=True)))


def _added(base: Table, parts: Sequence[Table]) -> Table:
    """The entries of the base and what each part has added to them; exact, so that no order matters."""
    sums: dict[str, list[_Sum]] = {}
    lists: set[str] = set()

    def add(table: Table, sign: int) -> None:
        for key, entry in table.items():
            numbers = entry if isinstance(entry, list | tuple) else (entry,)
            if numbers is entry:
                lists.add(key)
            columns = sums.setdefault(key, [])
            columns.extend(_Sum() for _ in range(len(columns), len(numbers)))
            for column, number in zip(columns, numbers, strict=False):
                column.add(sign * number)

    for number, part in enumerate(parts):
        add(part, 1)
        if number:  # it is in each of them
            add(base, -1)
    found = ((key, [column.total for column in sums[key]]) for key in sorted(sums))
    return Table(base.rules, ((key, numbers if key in lists else numbers[0]) for key, numbers in found))


class _Sum:
    """A sum of numbers that has lost nothing."""

    __slots__ = "_floats", "_whole"

    def __init__(self) -> None:
        self._whole: int = 0
        self._floats: list[float] = []

    def add(self, number: float) -> None:
        """Add a number."""
        if isinstance(number, int):
            self._whole += number
            return
        self._floats.append(number)
        if len(self._floats) > MOST_TERMS:
            self._floats = _exact(self._floats)

    @property
    def total(self) -> float | int:
        """Their sum, rounded once; whole if all of them are."""
        if not self._floats:
            return self._whole
        rest, floats = self._whole, self._floats
        while rest:
            floats = [*floats, float(rest)]
            rest -= int(floats[-1])
        return fsum(floats) + 0.0


def _exact(terms: list[float]) -> list[float]:
    """A few numbers with exactly the same sum."""
    few = [fsum(terms)]
    if not isfinite(few[0]):
        return few
    while rest := fsum([*terms, *(-number for number in few)]):
        few.append(rest)
    return few


class _Greedy(Policy):
    """Plays any of the moves that are worth most."""

    def __init__(self, learner: PlainLearner, table: Table) -> None:
        self.rules, self._learner, self._table = table.rules, learner, table
        self._last: tuple[Positions, Floats] | None = None

    def probabilities(self, positions: Positions) -> Floats:
        return uniform(best(np.nan_to_num(self.values(positions), nan=0.0), positions.legal))

    def values(self, positions: Positions) -> Floats:
        if self._last is None or self._last[0] is not positions:
            self._last = positions, self._valued(positions)
        return self._last[1].copy()

    def known(self, positions: Positions) -> Bools:
        known: Bools = (~np.isnan(self.values(positions))).sum(axis=1) > 0
        return known

    def _valued(self, positions: Positions) -> Floats:
        values, ask = np.full((len(positions), self.rules.cells), np.nan), self._learner._worth
        legal = positions.legal
        for row, text in enumerate(positions.texts()):
            position = Position.reached(text, self.rules)
            for cell in np.flatnonzero(legal[row]).tolist():
                if (value := ask(self._table, position, cell)) is not None:
                    values[row, cell] = value
        return values


class _FixedSides:
    """The sides of a shard whose behaviour is fixed: each asked once for a position."""

    def __init__(self, shard: Shard) -> None:
        self._shard = shard
        self._known: dict[tuple[Policy, str], list[float]] = {}

    def policy(self, number: int, game: Game) -> Policy | None:
        """Who moves in a game of the run; None: the learner, by its table."""
        own = self._shard.opponent is None or game.to_move == number % 2
        return self._shard.behaviour if own else self._shard.opponent

    def choose(self, policy: Policy, position: Position, rng: "np.random.Generator") -> int | None:
        """The cell that it plays; None: it resigns."""
        key = policy, position.text
        if key not in self._known:
            if len(self._known) >= KEPT_ANSWERS:
                self._known.clear()
            asked = Positions.batch([position], position.rules)
            self._known[key] = thresholds(policy.probabilities(asked))[0].tolist()
        number = rng.random()
        return next((cell for cell, most in enumerate(self._known[key]) if most > number), None)
