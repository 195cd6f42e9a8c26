"""Learners in plain Python: a dict for the table, a method that learns from a finished game, and another that
values a move. How such a learner plays and trains, and how tables are merged and saved, follows from these.
"""

from abc import abstractmethod
from bisect import bisect
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from itertools import zip_longest
from math import isfinite, nan
from typing import Any, ClassVar, Literal

import numpy as np

from ttt_cli.engine.arrays import Int64s
from ttt_cli.engine.game import Game
from ttt_cli.engine.policy import Answer, Answering, Policy, best_moves, thresholds, uniform
from ttt_cli.engine.position import Position
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.errors import InvalidFileError, TttError, UsageError
from ttt_cli.learners.base import Entry, Learner, Shard, parameter
from ttt_cli.learners.entries import (
    as_counts,
    as_floats,
    columns_of,
    flatten,
    parse_keys,
    read_batches,
    require,
)

KEPT_ANSWERS = 1 << 17
"""The most answers of an opponent that are cached."""


class Table(dict[str, Any]):
    """What a plain learner has learned: numbers, or short lists of numbers, by the text of a position
    (``X...O....``) or of a position and one of its free cells from 1 (``X...O.... 3``). The built-in learners
    keep tables of another kind, ``learners.table.Table``."""

    def __init__(self, rules: Rules, entries: Iterable[tuple[str, Any]] = ()) -> None:
        super().__init__(entries)
        self.rules = rules


@dataclass(frozen=True)
class PlainLearner(Learner[Table]):
    """A learner in plain Python: a subclass has a ``name``, ``learn`` and ``value``. If it is a frozen
    dataclass, its fields, declared with ``parameter``, are options of ``ttt train``.

    >>> from ttt_cli import PlainLearner, Side, train
    >>> class MonteCarlo(PlainLearner):
    ...     "A board is worth the mean result of its games to the side that made it."
    ...
    ...     name = "mc"
    ...
    ...     def learn(self, table, game, sides="xo"):
    ...         for ply, board in enumerate(game.texts()[1:]):
    ...             maker = Side.to_move(ply)
    ...             if maker.key in sides:
    ...                 visits, balance = table.get(board, (0, 0))
    ...                 table[board] = [visits + 1, balance + game.outcome(maker)]
    ...
    ...     def value(self, table, position, cell):
    ...         visits, balance = table.get(position.play(cell).text, (0, 0))
    ...         return balance / visits if visits else None
    >>> train(MonteCarlo, games=100, seed=1).policy.rules
    Rules(rows=3, cols=3, line=3, misere=False)

    Raise its ``kernel_version`` when it learns in another way or has other parameters: runs and studies are
    recognised by it. ``python -m ttt_cli.conformance FILE.py:CLASS`` checks a learner.
    """

    choices = ("default",)
    block_games = 1 << 10
    shard_games = 1 << 12
    numbers: ClassVar[Literal["sums", "means"]] = "sums"
    """What entries hold and how tables are merged. ``sums``: a number or a list of numbers, which add up.
    ``means``: ``[value, visits]``, merged by the mean weighted by visits."""

    choice: str = parameter("default", "the only one", choices=choices)
    epsilon: float = parameter(0.1, "probability of a random move in training", least=0, most=1)

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        if cls.numbers not in ("sums", "means"):
            raise UsageError(f"numbers is {cls.numbers!r}, not 'sums' or 'means'", where=cls.__name__)

    @abstractmethod
    def learn(self, table: Table, game: Game, sides: str = "xo") -> None:
        """Learn from the moves of these sides in a finished game, changing ``table``.

        ``game.texts()`` are the boards from the empty one on, ``game.moves`` the cells from 0, and
        ``game.outcome(side)`` is 1, 0 or -1. Only table and game may make a difference.
        """

    @abstractmethod
    def value(self, table: Table, position: Position, cell: int) -> float | None:
        """The value of playing a cell (from 0) for the side to move, from -1, a sure loss, to 1; None if
        unknown, which counts as 0. Must not change the table."""

    def explore(self, table: Table, position: Position, rng: "np.random.Generator") -> int:
        """The cell that training plays: any with probability ``epsilon``, else one of the best."""
        cells = position.legal
        if rng.random() >= self.epsilon:
            values = [self._finite(table, position, cell) or 0.0 for cell in cells]
            most = max(values)
            cells = tuple(cell for cell, value in zip(cells, values, strict=True) if value == most)
        return cells[int(rng.random() * len(cells))]

    def _finite(self, table: Table, position: Position, cell: int) -> float | None:
        value = self.value(table, position, cell)
        if value is None:
            return None
        try:
            if isfinite(value):
                return value
        except (TypeError, OverflowError):
            pass  # not a number, or an int too large for a float: reported like infinity and NaN
        what = f"its value of cell {cell + 1} in {position.text!r} is {str(value)[:50]}"
        raise TttError(what, where=self.name, hint="a number from -1 to 1, or None if unknown")

    def empty(self, rules: Rules, symmetric: bool = False) -> Table:
        if symmetric:
            raise UsageError(f"{self.name} keeps no table of classes of positions", where="symmetry")
        return Table(rules)

    def train(self, table: Table, shard: Shard) -> Int64s:
        rules = table.rules
        results = np.zeros(3, np.int64)

        @lru_cache(KEPT_ANSWERS)
        def opponents_answer(text: str) -> list[float]:
            assert shard.opponent is not None
            played = shard.opponent.probabilities(Positions.unchecked([text], rules))
            answer: list[float] = thresholds(played)[0].tolist()
            return answer

        for number in range(shard.games):
            game = Game(rules)
            while not game.is_over:
                if shard.opponent is None or game.to_move == (shard.first + number) % 2:
                    cell = self.explore(table, game.position, shard.rng)
                else:
                    cell = bisect(opponents_answer(game.text), shard.rng.random())
                    if cell == rules.cells:
                        game.resign()
                        break
                try:
                    game.push(cell)
                except UsageError as error:
                    raise TttError(f"its explore chose {cell!r}: {error.message}", where=self.name) from None
            assert game.result is not None
            results[game.result + 1] += 1
            if self.learns_resigned or not game.resigned:
                self.learn(table, game, shard.sides(number))
            if shard.journal is not None:
                shard.journal.append(game)
        return results

    @property
    def read_with(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(self.parameters())  # ``value`` may depend on any of them

    def policy(self, table: Table) -> Policy:
        return Answering(table.rules, partial(self._answer, table))

    def _answer(self, table: Table, positions: Positions) -> Answer:
        """Any of the best moves."""
        legal = positions.legal
        values = np.full(legal.shape, np.nan)
        for row, text in enumerate(positions.texts()):
            position = Position.unchecked(text, table.rules)
            for cell in np.flatnonzero(legal[row]).tolist():
                value = self._finite(table, position, cell)
                values[row, cell] = nan if value is None else value
        played = uniform(best_moves(np.nan_to_num(values, nan=0.0), legal))
        return played, values, np.any(~np.isnan(values), axis=1)

    def seen(self, table: Table) -> Positions:
        return Positions.unchecked(list({key.partition(" ")[0]: None for key in table}), table.rules)

    def merge(self, base: Table, parts: Sequence[Table]) -> Table:
        """Merge the entries as ``numbers`` says.

        :raises TttError: if an entry is not a finite number or a list of them.
        """
        try:
            merge_entries = _means if self.numbers == "means" else _sums
            entries = merge_entries(base, parts)
        except (ArithmeticError, AttributeError, TypeError, ValueError) as error:
            raise TttError(f"cannot be merged: {error}", where=self.name) from None
        return Table(base.rules, sorted(entries.items()))

    def to_entries(self, table: Table) -> Iterator[Entry]:
        """The entries in the order of their keys.

        :raises TttError: if a file with them could not be read.
        """
        plain = {key: _plain(entry) for key, entry in table.items()}
        try:
            self.from_entries(table.rules, False, plain.items())
        except InvalidFileError as error:
            raise TttError(f"no file can hold its table: {error}", where=self.name) from None
        yield from sorted(plain.items())

    def from_entries(self, rules: Rules, symmetric: bool, entries: Iterable[Entry]) -> Table:
        table = self.empty(rules, symmetric)

        def read(keys: list[Any], values: list[Any]) -> None:
            require({*map(type, keys)} == {str})
            texts = [key.partition(" ")[0] for key in keys]
            parse_keys(texts, rules)
            for key, text in zip(keys, texts, strict=True):
                free = {str(cell) for cell, symbol in enumerate(text, 1) if symbol == "."}
                if key != text and key[len(text) + 1 :] not in free:
                    raise InvalidFileError("is neither a position nor one and a free cell, counted from 1")
            listed = [entry if isinstance(entry, list) else [entry] for entry in values]
            require(all(listed))
            numbers = flatten(listed)
            as_floats(numbers)
            require(all(abs(number) < 2**63 for number in numbers if isinstance(number, int)))
            if self.numbers == "means":
                as_counts(columns_of(listed, 2)[1])
            table.update(zip(keys, values, strict=True))

        expected = "[value, visits]" if self.numbers == "means" else "a number, or a list of numbers"
        read_batches(entries, read, expected)
        return table

    def size(self, table: Table) -> tuple[int, int]:
        return len({key.partition(" ")[0] for key in table}), len(table)


def _plain(entry: Any) -> Any:
    """An entry as JSON holds it: Python's lists and numbers instead of NumPy's, and no -0.0."""
    if isinstance(entry, np.generic | np.ndarray):
        entry = entry.tolist()
    if isinstance(entry, list | tuple):
        return list(map(_plain, entry))
    return entry + 0.0 if isinstance(entry, float) else entry


def _exact(number: Any) -> Any:
    """The number in a type whose sums are exact."""
    return number if isinstance(number, int) else Fraction(*number.as_integer_ratio())


def _means(base: Table, parts: Sequence[Table]) -> dict[str, list[Any]]:
    """The means of what the parts have learned since the base, weighted by visits. A value that only one part
    has learned stays as it is."""
    merged = {key: [float(value), visits] for key, (value, visits) in base.items()}
    for part in parts:
        for key, (value, visits) in part.items():
            mean, counted = merged.get(key, (0.0, 0))
            before = base.get(key, (0.0, 0))[1]
            if visits > before:
                others, added = counted - before, visits - before  # by earlier parts, and by this one
                mean = (others * mean + added * value) / (others + added) if others else float(value)
                merged[key] = [mean, counted + added]
    return merged


def _sums(base: Table, parts: Sequence[Table]) -> dict[str, Any]:
    """The base's entries plus what each part has added; whole numbers where all terms are."""
    sums = dict[str, list[Any]]()
    lists = set[str]()
    terms = [(base, 1 - len(parts)), *((part, 1) for part in parts)]
    for table, sign in terms:
        for key, item in table.items():
            entry = _plain(item)
            if isinstance(entry, list):
                lists.add(key)
            numbers = entry if isinstance(entry, list) else [entry]
            pairs = zip_longest(sums.get(key, ()), numbers, fillvalue=0)
            sums[key] = [total + sign * _exact(number) for total, number in pairs]
    for totals in sums.values():
        totals[:] = [float(total) if isinstance(total, Fraction) else total for total in totals]
    return {key: totals if key in lists else totals[0] for key, totals in sums.items()}
