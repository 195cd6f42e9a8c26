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
"""Nodes that the proofs of all moves may take together, on a board without a state space."""

MAX_MOVES = 4_000_000
"""The most moves in the walk of a best response."""

MAX_SECONDS = 5.0
"""Seconds that the opponent may take for all its answers."""

BATCH = 64
"""Positions that the opponent is asked about at once, which may overrun its time."""

PROGRAM_BATCH = 2
"""The same for a program, which is slow; of one position alone there is no other order, see ``Asked``."""


def hint(position: Position) -> tuple[Analysis, tuple[Cell, ...]]:
    """Return the values of an open position's moves, where they can be proved quickly; and the moves that a
    search suggests, if the best moves are not proved."""
    here = Positions.batch([position], position.rules)
    (analysis,) = analyse(here, nodes=HINT_NODES // len(position.legal))
    if analysis.best:
        return analysis, ()
    return analysis, tuple(np.flatnonzero(Search(position.rules).probabilities(here)[0]).tolist())


def beat(position: Position, policy: Policy) -> Response | None:
    """Return the best response of the side to move to a policy; None if it takes too long to find."""
    try:
        return best_response(_Hurried(policy), position, budget=MAX_MOVES // policy.rules.cells)
    except (OutgrownError, TimeoutError):
        return None


class _Hurried(Modified):
    """A policy that answers for ``MAX_SECONDS`` and then raises TimeoutError."""

    def __init__(self, policy: Policy) -> None:
        super().__init__(policy)
        self._deadline = monotonic() + MAX_SECONDS

    def probabilities(self, positions: Positions) -> Floats:
        answers = []
        for part in positions.parts(PROGRAM_BATCH if self.external else BATCH):
            if monotonic() > self._deadline:
                raise TimeoutError
            answers.append(self.player.probabilities(part))
        return np.concatenate(answers)
