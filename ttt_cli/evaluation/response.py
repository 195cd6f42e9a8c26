"""How to beat a player: the best response to a policy, from any position.

The policy's moves are chance, the other side's are free. Going backwards through everything that can still
happen, take the mean over the former and the best over the latter.
"""

from dataclasses import dataclass

import numpy as np

from ttt_cli.engine.arrays import Floats
from ttt_cli.engine.policy import Policy
from ttt_cli.engine.position import Cell, Position
from ttt_cli.engine.side import Side
from ttt_cli.evaluation.walk import BUDGET, Layer, Walk
from ttt_cli.evaluation.worst_case import EQUAL, backward


@dataclass(frozen=True, eq=False)
class Response:
    """The most that a side can get out of a position against a known policy.

    :ivar win: float64[cells], the highest probability of winning after each move; NaN where none can be made.
    :ivar save: float64[cells], likewise of not losing.
    """

    win: Floats
    save: Floats

    @property
    def best(self) -> tuple[Cell, ...]:
        """The moves to play: those most likely to win; where no win can be had, those most likely to save a
        draw. Whoever always plays one of them attains the figure that stands there."""
        wanted = self.win if np.nanmax(self.win) > 0 else self.save
        return tuple(np.flatnonzero(wanted >= np.nanmax(wanted) * (1 - EQUAL)).tolist())


def best_response(policy: Policy, position: Position, *, budget: int = BUDGET) -> Response:
    """The best that the side to move can get against ``policy``, which plays the other side.

    :raises OutgrownError: if more than ``budget`` positions can still be reached.
    """
    side = Side.to_move(position.plies).other
    walk = Walk.alone(policy, side, start=position, budget=budget)
    win = save = np.zeros(0)
    for layer in reversed(walk.layers[1:]):
        results = layer.positions.results * side.other.sign
        win = backward(layer, (results > 0).astype(np.float64), win)
        save = backward(layer, ((results >= 0) & layer.positions.terminal).astype(np.float64), save)
    first = walk.layers[0]
    return Response(_by_cell(first, win), _by_cell(first, save))


def _by_cell(layer: Layer, following: Floats) -> Floats:
    found = np.full(layer.positions.rules.cells, np.nan)
    found[layer.cells] = following[layer.targets]
    found[found > 1 - EQUAL] = 1.0  # a certainty, but for rounding
    return found
