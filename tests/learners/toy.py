"""A learner in one file whose table is not keyed by positions: how often each cell was part of a win."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ttt_cli.engine.arrays import Floats, Int64s
from ttt_cli.engine.game import Game
from ttt_cli.engine.policy import Policy, best, drawn, thresholds, uniform
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.side import Side
from ttt_cli.errors import InvalidFileError
from ttt_cli.learners.base import Entry, Learner, Shard, parameter


@dataclass(eq=False)
class Wins:
    """``won``: int64[cells]."""

    rules: Rules
    won: Int64s


class Favourites(Policy):
    """Plays the free cell with most wins."""

    def __init__(self, table: Wins) -> None:
        self.rules, self._won = table.rules, table.won.astype(np.float64)

    def probabilities(self, positions: Positions) -> Floats:
        return uniform(best(np.broadcast_to(self._won, positions.legal.shape), positions.legal))


@dataclass(frozen=True)
class Toy(Learner[Wins]):
    """Counts wins by cell."""

    name: ClassVar[str] = "toy"
    title: ClassVar[str] = "wins by cell"
    kernel_version: ClassVar[int] = 1
    choices: ClassVar[tuple[str, ...]] = ("default",)
    default_games: ClassVar[int] = 100
    article: ClassVar[dict[str, Any]] = {}
    article_games: ClassVar[int] = 0

    choice: str = parameter("default", "the only one", choices=choices)

    @property
    def value_scale(self) -> None:
        return None

    def empty(self, rules: Rules, symmetric: bool = False) -> Wins:
        return Wins(rules, np.zeros(rules.cells, np.int64))

    def train(self, table: Wins, shard: Shard) -> Int64s:
        results = np.zeros(3, np.int64)
        for _ in range(shard.games):
            game = Game(table.rules)
            while not game.is_over:
                row = uniform(Positions.batch([game.position], table.rules).legal)
                cell = int(drawn(thresholds(row), shard.rng.random(1))[0])
                game.push(cell)
            self.learn(table, game)
            assert game.result is not None
            results[game.result + 1] += 1
        return results

    def learn(self, table: Wins, game: Game, sides: str = "xo") -> None:
        for ply, cell in enumerate(game.moves):
            table.won[cell] += game.result is not None and game.result.winner == Side.to_move(ply)

    def policy(self, table: Wins) -> Policy:
        return Favourites(table)

    def seen(self, table: Wins) -> None:
        return None

    def merge(self, base: Wins, parts: Sequence[Wins]) -> Wins:
        return Wins(base.rules, base.won + sum(part.won - base.won for part in parts))

    def to_entries(self, table: Wins) -> Iterator[Entry]:
        cells = {f"cell {cell:02}": {"won": won} for cell, won in enumerate(table.won.tolist(), 1) if won}
        yield from cells.items()

    def from_entries(self, rules: Rules, symmetric: bool, entries: Iterable[Entry]) -> Wins:
        table = self.empty(rules)
        for key, entry in entries:
            if not key.startswith("cell ") or not 1 <= int(key[5:]) <= rules.cells:
                raise InvalidFileError("is no cell", where=f'"entries": {key!r}')
            table.won[int(key[5:]) - 1] = entry["won"]
        return table
