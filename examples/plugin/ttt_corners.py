"""A plug-in for ttt: the player `corners`, the learner `constant-mc` and the format `moves-list`.

pip install ./examples/plugin
ttt evaluate corners random
ttt train constant-mc --games 5000 --opponent corners
ttt export constant-mc --format moves-list -o moves.txt
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ttt_cli import (
    AgentType,
    ExportSource,
    Format,
    Game,
    PlainLearner,
    Policy,
    Position,
    Positions,
    Rules,
    Side,
    Table,
    one_of,
    parameter,
)


class Corners(Policy):
    """Plays any free corner, else any free cell; with ties=first, the first of them."""

    def __init__(self, rules: Rules, *, ties: str = "random") -> None:
        self.rules, self._ties = rules, ties
        self._corners = np.zeros(rules.cells, np.bool_)
        self._corners[[0, rules.cols - 1, rules.cells - rules.cols, rules.cells - 1]] = True

    def probabilities(self, positions: Positions) -> np.ndarray:
        corners = positions.legal & self._corners
        preferred = np.where(corners.any(axis=1, keepdims=True), corners, positions.legal)
        if self._ties == "first":
            preferred &= preferred.cumsum(axis=1) == 1
        shares: np.ndarray = preferred / np.maximum(preferred.sum(axis=1, keepdims=True), 1)
        return shares


@dataclass(frozen=True)
class ConstantStep(PlainLearner):
    """Constant-step Monte Carlo: a value moves part of the way towards each result."""

    name = "constant-mc"
    numbers = "means"  # an entry is [value, visits]

    rate: float = parameter(0.1, "the smallest step", least=0, most=1)

    def learn(self, table: Table, game: Game, sides: str = "xo") -> None:
        """Step sizes depend on the table alone: first the mean, later constant steps."""
        for ply, board in enumerate(game.texts()[1:]):
            maker = Side.to_move(ply)
            if maker.key in sides:
                value, visits = table.get(board, (0.0, 0))
                step = max(self.rate, 1 / (visits + 1))
                table[board] = [value + step * (game.outcome(maker) - value), visits + 1]

    def value(self, table: Table, position: Position, cell: int) -> float | None:
        """Return the value of the board that the move leads to."""
        value: float | None = table.get(position.play(cell).text, (None, 0))[0]
        return value


CORNERS = AgentType("corners", "any corner, else anywhere", Corners, {"ties": one_of("random", "first")})


class MovesList(Format):
    """A line for each open position: the board, and the cells that are played."""

    name = "moves-list"
    about = "a line for each position: the cells played"

    def write(self, player: ExportSource) -> Iterator[bytes]:
        positions = player.positions[~player.positions.terminal]
        played = player.policy.probabilities(positions) > 0
        for text, cells in zip(positions.texts(), played, strict=True):
            yield f"{text} {' '.join(str(cell + 1) for cell in np.flatnonzero(cells))}\n".encode()
