"""Hints for a person: the value of each move against perfect play, and against the player at the board."""

from time import monotonic

import numpy as np

from ttt_cli.engine.alpha_beta import Search
from ttt_cli.engine.arrays import Floats
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

SECONDS = 5.0
"""The longest that it may take: a search answers slowly on a large board."""


def hint(position: Position) -> tuple[Analysis, tuple[Cell, ...]]:
    """The values of an open position's moves, as far as they can be proved at once; and what a search would
    play where the best moves are not proved."""
    here = Positions.batch([position], position.rules)
    (found,) = analyse(here, nodes=NODES // len(position.legal))
    suggested = () if found.best else np.flatnonzero(Search(position.rules).probabilities(here)[0]).tolist()
    return found, tuple(suggested)


def beat(position: Position, policy: Policy) -> Response | None:
    """The most that the side to move can get against a machine; None if that takes too long to find."""
    try:
        return best_response(Hurried(policy), position, budget=QUESTIONS if policy.external else POSITIONS)
    except (OutgrownError, TimeoutError):
        return None


class Hurried(Policy):
    """A policy that stops answering ``SECONDS`` after it was made.

    :raises TimeoutError: by ``probabilities``.
    """

    def __init__(self, policy: Policy) -> None:
        self.policy, self.rules, self.external = policy, policy.rules, policy.external
        self.deadline = monotonic() + SECONDS

    def probabilities(self, positions: Positions) -> Floats:
        pieces = [np.zeros((0, positions.cells))]
        for start in range(0, len(positions), 256):
            if monotonic() > self.deadline:
                raise TimeoutError
            pieces.append(self.policy.probabilities(positions[start : start + 256]))
        return np.concatenate(pieces)
