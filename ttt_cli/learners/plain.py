"""Learners in plain Python: a dict for a table, a method that learns from a finished game, and one that says
what a move is worth. How such a learner plays, trains, is merged and kept in files follows from that.
"""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import zip_longest
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
from ttt_cli.learners.entries import LARGEST, chained, counts, named, numbers, positions_of, require, unfit

KEPT_ANSWERS = 1 << 17
"""Answers of fixed sides that are kept."""


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
        results, rules = np.zeros(3, np.int64), table.rules

        @lru_cache(KEPT_ANSWERS)
        def answer(policy: Policy, text: str) -> list[float]:
            listed: list[float] = thresholds(policy.probabilities(Positions.parse([text], rules)))[0].tolist()
            return listed

        for number in range(shard.games):
            game = Game(rules)
            while not game.is_over:
                own = shard.opponent is None or game.to_move == (shard.first + number) % 2
                policy, text = shard.behaviour if own else shard.opponent, game.position.text
                if policy is None:
                    cell = self.explore(table, game.position, shard.rng)
                else:
                    drawn = shard.rng.random()
                    cell = next((cell for cell, most in enumerate(answer(policy, text)) if most > drawn), -1)
                if policy is not None and cell < 0:
                    game.resign()
                    continue
                try:
                    game.push(cell)
                except (NotationError, TypeError):
                    hint = "one of position.legal"
                    raise TttError(
                        f"explore plays {cell!r} in {text!r}", where=self.name, hint=hint
                    ) from None
            assert game.result is not None
            results[game.result + 1] += 1
            if self.learns_resigned or not game.resigned:
                self.learn(table, game, shard.sides(number))
            if shard.journal is not None:
                shard.journal.append(np.full((1, rules.cells), -1, np.int8))
                shard.journal[-1][0, : len(game.moves)] = game.moves
        return results

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
        texts = sorted({key.partition(" ")[0] for key in table})
        positions = Positions.parse(texts, table.rules) if texts else Positions.start(table.rules)[:0]
        return positions[positions.order()]

    def merge(self, base: Table, parts: Sequence[Table]) -> Table:
        """By what ``numbers`` are: sums, or weighted means.

        :raises TttError: if a table holds what is no finite number.
        """
        try:
            found = (_means if self.numbers == "means" else _sums)(base, parts)
        except (ArithmeticError, AttributeError, TypeError, ValueError) as error:
            raise TttError(f"cannot be merged: {error}", where=self.name) from None
        return Table(base.rules, sorted(found.items()))

    def to_entries(self, table: Table) -> Iterator[Entry]:
        """As they are, in the order of their keys.

        :raises TttError: if a file with them could not be read.
        """
        plain = {key: _plain(entry) for key, entry in table.items()}
        try:
            found = self.from_entries(table.rules, False, plain.items())
        except InvalidFileError as error:
            raise TttError(f"cannot be saved: {error}", where=self.name) from None
        yield from sorted(found.items())

    def from_entries(self, rules: Rules, symmetric: bool, entries: Iterable[Entry]) -> Table:
        """As ``Learner.from_entries``."""
        table = self.empty(rules, symmetric)
        table.update(entries)
        keys, found = list(table), list(table.values())

        def read(some: slice) -> None:
            fault = "expected a number, or a list of numbers"
            listed = [entry if isinstance(entry, list) else [entry] for entry in found[some]]
            require(all(listed), fault)
            numbers(chained(listed), fault)
            if self.numbers == "means":
                require({*map(len, listed)} == {2}, "expected [value, visits]")
                counts([visits for _, visits in listed], "expected [value, visits]")

        if keys:
            named(list(map(str, keys)), found, read)
            _check_keys(keys, rules)
        return table

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


def _check_keys(keys: Sequence[Any], rules: Rules) -> None:
    """Refuse what is no position, or no free cell of one."""
    for key in keys:
        if not isinstance(key, str):
            raise unfit(repr(key), "expected the text of a position")
    texts = [key.partition(" ")[0] for key in keys]
    positions_of(texts, rules)
    for key, text in zip(keys, texts, strict=True):
        free = [str(cell) for cell, symbol in enumerate(text, 1) if symbol == "."]
        if key != text and key[len(text) + 1 :] not in free:
            raise unfit(key, f"expected one of the free cells {', '.join(free)} after the position")


def _exact(number: Any) -> Any:
    """A number that sums exactly, whatever the order."""
    return number if isinstance(number, int) else Fraction(*number.as_integer_ratio())


def _means(base: Table, parts: Sequence[Table]) -> dict[str, list[Any]]:
    """The means of what the parts have learned since the base, weighted by visits; what only one part has
    learned stays as it is."""
    merged = {key: [float(value), visits] for key, (value, visits) in base.items()}
    learned: dict[str, tuple[int, int, Any, float]] = {}
    for part in parts:
        for key, (value, visits) in part.items():
            merged.setdefault(key, [0.0, 0])
            if (weight := visits - base.get(key, (0, 0))[1]) > 0:
                count, weights, total, _ = learned.get(key, (0, 0, 0, 0.0))
                total += _exact(weight * float(value))
                learned[key] = count + 1, weights + weight, total, float(value)
    for key, (count, weight, total, value) in learned.items():
        merged[key] = [value if count == 1 else float(total) / weight, merged[key][1] + weight]
    return merged


def _sums(base: Table, parts: Sequence[Table]) -> dict[str, Any]:
    """The entries of the base and what each part has added to them; whole numbers where all of them are."""
    sums, lists = dict[str, list[Any]](), set[str]()
    for table, sign in ((base, 1), *(item for part in parts for item in ((part, 1), (base, -1)))):
        for key, given in table.items():
            entry = _plain(given)
            numbers = entry if isinstance(entry, list) else [entry]
            if numbers is entry:
                lists.add(key)
            pairs = zip_longest(sums.get(key, ()), numbers, fillvalue=0)
            sums[key] = [total + sign * _exact(number) for total, number in pairs]
    for totals in sums.values():
        totals[:] = [float(total) if isinstance(total, Fraction) else total for total in totals]
    return {key: totals if key in lists else totals[0] for key, totals in sums.items()}


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
