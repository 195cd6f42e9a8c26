"""Hints for a person: the value of each move against perfect play, and against the actual opponent."""

from time import monotonic

import numpy as np

from ttt_cli.engine.alpha_beta import Search
from ttt_cli.engine.arrays import Floats
from ttt_cli.engine.policy import Modified, Policy
from ttt_cli.engine.position import Cell, Position
from ttt_cli.engine.positions import Positions
from ttt_cli.evaluation.analysis import Analysis, analyse
from ttt_cli.evaluation.walk import OutgrownError
from ttt_cli.evaluation.worst_case import Response, best_response

HINT_NODES = 40_000
"""Nodes that the proofs of all moves may take together, on a large board."""

MAX_MOVES = 4_000_000
"""Moves that a best response may go through."""

MAX_SECONDS = 5.0
"""Seconds that the opponent may take to answer for all of them."""

BATCH = 64
"""Positions in one question to the opponent, which may overrun by that much."""


def hint(position: Position) -> tuple[Analysis, tuple[Cell, ...]]:
    """Return the values of an open position's moves, as far as they can be proved quickly; and the moves of a
    search if the best are not proved."""
    here = Positions.batch([position], position.rules)
    (found,) = analyse(here, nodes=HINT_NODES // len(position.legal))
    suggested = () if found.best else np.flatnonzero(Search(position.rules).probabilities(here)[0]).tolist()
    return found, tuple(suggested)


def beat(position: Position, policy: Policy) -> Response | None:
    """Return the most that the side to move can get against a policy; None if that takes too long to find."""
    try:
        return best_response(_Hurried(policy), position, budget=MAX_MOVES // policy.rules.cells)
    except (OutgrownError, TimeoutError):
        return None


class _Hurried(Modified):
    """A policy that raises TimeoutError instead of answering after ``MAX_SECONDS``."""

    def __init__(self, policy: Policy) -> None:
        super().__init__(policy)
        self._deadline = monotonic() + MAX_SECONDS

    def probabilities(self, positions: Positions) -> Floats:
        found = []
        for part in positions.parts(BATCH):
            if monotonic() > self._deadline:
                raise TimeoutError
            found.append(self.player.probabilities(part))
        return np.concatenate(found)
