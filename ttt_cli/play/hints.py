"""What is known of the moves of a position: what a machine thinks of each, and what perfect play says."""

from dataclasses import dataclass, replace
from math import isnan

import numpy as np

from ttt_cli.engine.alpha_beta import Search
from ttt_cli.engine.perfect import UNPROVEN
from ttt_cli.engine.policy import Policy
from ttt_cli.engine.position import Cell, Position
from ttt_cli.engine.positions import Positions
from ttt_cli.evaluation.analysis import analyse

NODES = 2_000
"""Nodes that the proof of each move may take on a large board."""

ALL_NODES = 40_000
"""Nodes that all of them may take together: a person is waiting."""


@dataclass(frozen=True)
class MoveHint:
    """What is known of one move.

    :ivar opinion: what the machine thinks it is worth, in its own unit; None where it does not know.
    :ivar probability: how likely the machine plays it; None without a machine.
    :ivar value: +1 the move wins, 0 it draws, -1 it loses; None where that is not known.
    :ivar plies: to the end after perfect play on both sides, this move included; None where distances are
        not known.
    """

    cell: Cell
    opinion: float | None = None
    probability: float | None = None
    value: int | None = None
    plies: int | None = None


@dataclass(frozen=True)
class Hint:
    """What is known of the moves of ``position``.

    :ivar has_opinions: whether the machine asked has values of its own.
    :ivar is_new: whether the machine asked has learned nothing about the position yet.
    :ivar proven: whether the value of any move is known.
    :ivar suggested: what a search would play, where the best moves are not proved.
    """

    position: Position
    moves: tuple[MoveHint, ...]
    has_opinions: bool
    is_new: bool
    proven: bool
    suggested: tuple[Cell, ...] = ()

    @property
    def best(self) -> tuple[MoveHint, ...]:
        """The moves of the highest proved value, of these the quickest wins and the slowest losses; none if a
        move that is not proved might be better."""

        def worth(move: MoveHint) -> tuple[int, int]:
            assert move.value is not None
            return move.value, -move.value * (move.plies or 0)

        known = [move for move in self.moves if move.value is not None]
        top = max(map(worth, known), default=(-1, 0))
        if len(known) < len(self.moves) and top[0] < 1:
            return ()
        return tuple(move for move in known if worth(move) == top)


def hint(position: Position, policy: Policy | None) -> Hint:
    """What is known of an open position's moves.

    :param policy: of the machine to ask.
    """
    rules, cells = position.rules, position.legal
    here = Positions.of([position], rules)
    opinions: list[float | None] = [None] * rules.cells
    probabilities: list[float | None] = [None] * rules.cells
    has_opinions = is_new = False
    if policy is not None and not policy.external:
        probabilities = policy.probabilities(here)[0].tolist()
        own, seen = policy.values(here), policy.known(here)
        is_new = seen is not None and not seen[0]
        if own is not None:
            has_opinions = True
            opinions = [None if isnan(value) else value for value in own[0].tolist()]
    found = analyse(here, nodes=min(NODES, ALL_NODES // len(cells)))
    values = [None if value == UNPROVEN else int(value) for value in found.move_values[0]]
    plies = [None] * rules.cells if found.move_plies is None else found.move_plies[0].tolist()
    moves = tuple(
        MoveHint(cell, opinions[cell], probabilities[cell], values[cell], plies[cell]) for cell in cells
    )
    known = Hint(position, moves, has_opinions, is_new, proven=any(move.value is not None for move in moves))
    if known.best:
        return known
    suggested = np.flatnonzero(Search(rules).probabilities(here)[0])
    return replace(known, suggested=tuple(suggested.tolist()))
