"""Hints for a person: the value of each move against perfect play, and against the player at the board."""

from dataclasses import dataclass

import numpy as np

from ttt_cli.engine.alpha_beta import Search
from ttt_cli.engine.policy import Policy
from ttt_cli.engine.position import Cell, Position
from ttt_cli.engine.positions import Positions
from ttt_cli.evaluation.analysis import MoveWorth, analyse
from ttt_cli.evaluation.walk import OutgrownError
from ttt_cli.evaluation.worst_case import Response, best_response

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
    """What perfect play says of an open position.

    :ivar moves: what each of its moves is worth, as far as that could be proved.
    :ivar best: the moves of the highest proved value, of these the quickest wins and the slowest losses; none
        if a move that is not proved might be better.
    :ivar suggested: what a search would play, where the best moves are not proved.
    """

    moves: tuple[MoveWorth, ...]
    best: tuple[Cell, ...]
    suggested: tuple[Cell, ...]


def hint(position: Position) -> Hint:
    """The values of an open position's moves, as far as they can be proved at once."""
    here = Positions.batch([position], position.rules)
    (found,) = analyse(here, nodes=min(NODES, ALL_NODES // len(position.legal)))
    known = [move for move in found.moves if move.value is not None]
    worth = {move.cell: (move.value or 0, -(move.value or 0) * (move.plies or 0)) for move in known}
    top = max(worth.values(), default=(-1, 0))
    if len(known) == len(found.moves) or top[0] == 1:
        return Hint(found.moves, tuple(cell for cell in worth if worth[cell] == top), ())
    suggested = np.flatnonzero(Search(position.rules).probabilities(here)[0])
    return Hint(found.moves, (), tuple(suggested.tolist()))


def beat(position: Position, policy: Policy) -> Response | None:
    """The most that the side to move can get against a machine; None if too much can still happen."""
    try:
        return best_response(policy, position, budget=QUESTIONS if policy.external else POSITIONS)
    except OutgrownError:
        return None
