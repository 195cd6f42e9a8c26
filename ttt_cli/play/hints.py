"""Hints for a person: the value of each move against perfect play, and against the player at the board."""

import numpy as np

from ttt_cli.engine.alpha_beta import Search
from ttt_cli.engine.policy import Policy
from ttt_cli.engine.position import Cell, Position
from ttt_cli.engine.positions import Positions
from ttt_cli.evaluation.analysis import Analysis, analyse
from ttt_cli.evaluation.walk import OutgrownError
from ttt_cli.evaluation.worst_case import Response, best_response

NODES = 40_000
"""Nodes that the proofs of all moves may take together on a large board: a person is waiting."""

POSITIONS = 300_000
"""Positions to go through for the best response to a player."""

QUESTIONS = 3_000
"""Positions about which a program is asked for that."""


def hint(position: Position) -> tuple[Analysis, tuple[Cell, ...]]:
    """The values of an open position's moves, as far as they can be proved at once; and what a search would
    play where the best moves are not proved."""
    here = Positions.batch([position], position.rules)
    (found,) = analyse(here, nodes=NODES // len(position.legal))
    suggested = () if found.best else np.flatnonzero(Search(position.rules).probabilities(here)[0]).tolist()
    return found, tuple(suggested)


def beat(position: Position, policy: Policy) -> Response | None:
    """The most that the side to move can get against a machine; None if too much can still happen."""
    try:
        return best_response(policy, position, budget=QUESTIONS if policy.external else POSITIONS)
    except OutgrownError:
        return None
