"""Hints for a person: the value of each move against perfect play, and against the player at the board."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ttt_cli.engine.alpha_beta import Search
from ttt_cli.engine.perfect import UNPROVEN
from ttt_cli.engine.policy import Policy
from ttt_cli.engine.position import Cell, Position
from ttt_cli.engine.positions import Positions
from ttt_cli.evaluation.analysis import analyse
from ttt_cli.evaluation.response import Response, best_response
from ttt_cli.evaluation.walk import OutgrownError

NODES = 2_000
"""Nodes that the proof of each move may take on a large board."""

ALL_NODES = 40_000
"""Nodes that all of them may take together: a person is waiting."""

POSITIONS = 300_000
"""Positions to go through for the best response to a player."""

QUESTIONS = 3_000
"""Positions about which a program is asked for that."""


@dataclass(frozen=True)
class Hint:
    """The values of the moves of ``position`` with perfect play.

    :ivar values: for each free cell +1 the move wins, 0 it draws, -1 it loses; None: not proved.
    :ivar plies: to the end after perfect play on both sides, this move included; empty where distances are
        not known.
    :ivar suggested: what a search would play, where the best moves are not proved.
    """

    position: Position
    values: Mapping[Cell, int | None]
    plies: Mapping[Cell, int]
    suggested: tuple[Cell, ...] = ()

    @property
    def best(self) -> tuple[Cell, ...]:
        """The moves of the highest proved value, of these the quickest wins and the slowest losses; none if a
        move that is not proved might be better."""
        worth = {
            cell: (value, -value * self.plies.get(cell, 0))
            for cell, value in self.values.items()
            if value is not None
        }
        top = max(worth.values(), default=(-1, 0))
        if len(worth) < len(self.values) and top[0] < 1:
            return ()
        return tuple(cell for cell in worth if worth[cell] == top)


def hint(position: Position) -> Hint:
    """The values of an open position's moves, as far as they can be proved at once."""
    here = Positions.batch([position], position.rules)
    found = analyse(here, nodes=min(NODES, ALL_NODES // len(position.legal)))
    values = {cell: int(found.move_values[0, cell]) for cell in position.legal}
    plies = found.move_plies
    known = Hint(
        position,
        {cell: None if value == UNPROVEN else value for cell, value in values.items()},
        {} if plies is None else {cell: int(plies[0, cell]) for cell in position.legal},
    )
    if known.best:
        return known
    suggested = np.flatnonzero(Search(position.rules).probabilities(here)[0])
    return Hint(position, known.values, known.plies, tuple(suggested.tolist()))


def beat(position: Position, policy: Policy) -> Response | None:
    """The most that the side to move can get against a machine; None if too much can still happen."""
    try:
        return best_response(policy, position, budget=QUESTIONS if policy.external else POSITIONS)
    except OutgrownError:
        return None
