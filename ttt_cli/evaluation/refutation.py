"""A quick search for a game that a policy can lose, on any board, without a whole walk.

A beam search tries all moves of the opponent and all that the policy can make, and keeps the positions of
each ply in which the opponent's lines are longest. The beam is narrow at first, then wider. Finding nothing
proves nothing.
"""

import numpy as np

from ttt_cli.engine.arrays import Floats
from ttt_cli.engine.policy import Policy
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.side import Side

BEAM_WIDTHS = (16, 256, 2048)
"""Positions kept in each ply, in successive attempts."""


def losing_line(policy: Policy, side: Side) -> tuple[int, ...] | None:
    """The cells (from 1) of a game that ``policy`` can lose as ``side``; None if the search finds
    none. If the policy resigns, the line ends on an open board."""
    lines = (_search(policy, side, width) for width in BEAM_WIDTHS)
    return next((line for line in lines if line is not None), None)


def _search(policy: Policy, side: Side, width: int) -> tuple[int, ...] | None:
    positions = Positions.start(policy.rules)
    lines = np.zeros((1, 0), np.int64)  # a line to each position
    while len(positions):
        if lines.shape[1] % 2 == side:
            played = policy.probabilities(positions) > 0
            resigned = np.flatnonzero(~played.any(axis=1))
            if resigned.size:
                return tuple(lines[resigned[0]].tolist())
        else:
            played = positions.legal
        cells, rows = np.nonzero(played.T)
        after, places = positions.after(rows, cells)
        _, moves = np.unique(places, return_index=True)  # the first move to each position
        lost = np.flatnonzero(after.results * side.sign < 0)
        kept = lost[:1] if lost.size else np.flatnonzero(~after.terminal)
        if len(kept) > width:
            score = _threat(after[kept], side.other)
            kept = np.sort(kept[np.argsort(-score, kind="stable")[:width]])
        lines = np.column_stack([lines[rows[moves[kept]]], cells[moves[kept]] + 1])
        if lost.size:
            return tuple(lines[0].tolist())
        positions = after[kept]
    return None


def _threat(positions: Positions, side: Side) -> Floats:
    """float64[k]: how long the open lines of ``side`` are; open lines of the other side count against it."""
    mine, theirs = (positions.x, positions.o) if side == Side.X else (positions.o, positions.x)
    score = np.zeros(len(positions))
    for line in positions.rules.line_masks:
        mask = np.uint64(line)
        own, other = np.bitwise_count(mine & mask), np.bitwise_count(theirs & mask)
        score += np.where(other == 0, 8.0**own, 0.0) - np.where(own == 0, 2.0**other, 0.0)
    return -score if positions.rules.misere else score
