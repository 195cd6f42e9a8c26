"""What positions are worth when both sides play perfectly: by working backwards over the state space where
the board has one."""

import numpy as np

from ttt_cli.engine.positions import Positions
from ttt_cli.engine.retrograde import solve
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import Int8s, enumerated

UNPROVEN = np.int8(2)
"""The value of a position, or of a move, that has not been proved."""


def game_bounds(rules: Rules) -> tuple[int, int]:
    """The game is worth at least and at most so much to X: +1 a win, 0 a draw, -1 a loss."""
    if (space := enumerated(rules)) is not None:
        value = int(solve(space).values[0])
        return value, value
    # A second player who could win would have his strategy stolen: an extra stone never harms.
    return (-1 if rules.misere else 0), 1


def values_of(positions: Positions) -> Int8s:
    """int8[k]: +1 the mover wins, 0 a draw, -1 it loses (on a terminal board, the side that would be next);
    ``UNPROVEN`` where that is not known."""
    space = enumerated(positions.rules)
    if space is None:
        return np.full(len(positions), UNPROVEN, np.int8)
    return solve(space).values[space.rows(positions)]


def move_values_of(positions: Positions) -> Int8s:
    """int8[k, cells]: what each move is worth to the mover; ``UNPROVEN`` where that is not known, and where
    there is no move."""
    found = np.full((len(positions), positions.rules.cells), UNPROVEN, np.int8)
    rows, cells = np.nonzero(positions.legal)
    after = values_of(positions.play(rows, cells))
    found[rows, cells] = np.where(after == UNPROVEN, UNPROVEN, -after)
    return found
