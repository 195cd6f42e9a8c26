"""The values of positions when both sides play perfectly: by working backwards over the state space where
the board has one, else by proof. What is not proved within the limits is not known; nothing is guessed."""

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ttt_cli.engine.arrays import Int8s
from ttt_cli.engine.position import Position
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.retrograde import solve
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import enumerated

if TYPE_CHECKING:
    from ttt_cli.engine.solver import Solver

UNPROVEN = np.int8(2)
"""The value of a position, or of a move, that has not been proved."""

GAME_NODES = 200_000
"""Nodes that the proof of a game's own value may take: some seconds."""

NODES = 20_000
"""Nodes that the proof of a position's value may take."""


@lru_cache(maxsize=2)
def solver(rules: Rules) -> "Solver":
    """The solver of these rules, which keeps what it has proved."""
    from ttt_cli.engine.solver import Solver

    return Solver(rules)


@lru_cache(maxsize=8)
def game_value(rules: Rules) -> int | None:
    """The value of the game for X: +1 a win, 0 a draw, -1 a loss; None where it could not be proved."""
    if (space := enumerated(rules)) is not None:
        return int(solve(space).values[0])
    return solver(rules).solve(Position.start(rules), nodes=GAME_NODES).value


def game_bounds(rules: Rules) -> tuple[int, int]:
    """The bounds of the game's value for X that hold without a proof."""
    # A second player who could win would have his strategy stolen: an extra stone never harms.
    return (-1 if rules.misere else 0), 1


def values_of(positions: Positions, *, nodes: int = NODES) -> Int8s:
    """int8[k]: +1 the mover wins, 0 a draw, -1 it loses (on a terminal board, the side that would be next);
    ``UNPROVEN`` where that takes more than ``nodes`` nodes."""
    space = enumerated(positions.rules)
    if space is not None:
        return solve(space).values[space.rows(positions)]
    return solver(positions.rules).values(positions, nodes=nodes)


def move_values_of(positions: Positions, *, nodes: int = NODES) -> Int8s:
    """int8[k, cells]: what each move is worth to the mover; ``UNPROVEN`` where that is not known, and where
    there is no move."""
    found = np.full((len(positions), positions.rules.cells), UNPROVEN, np.int8)
    rows, cells = np.nonzero(positions.legal)
    values = values_of(positions.play(rows, cells), nodes=nodes)
    found[rows, cells] = np.where(values == UNPROVEN, UNPROVEN, -values)
    return found
