"""``minimax``: perfect play, in several tempers, and with a limited view.

Among equally good moves it plays any (``ties=random``), the first or the last cell, or sets traps
(``ties=trap``): of the moves that keep the game value, the one after which an opponent who plays at random is
likeliest to lose. No policy that never gives up game value wins more often against such an opponent.
"""

from typing import Literal

import numpy as np

from ttt_cli.engine.policy import PolicyTable, first, last, uniform
from ttt_cli.engine.retrograde import ILLEGAL, look_ahead, move_scores, solve
from ttt_cli.engine.state_space import Bools, Int8s, StateSpace

EQUAL = 1e-12
"""Chances closer than this are equal: they differ by rounding only."""


def policy(
    space: StateSpace,
    *,
    ties: Literal["random", "first", "last", "trap"] = "random",
    speed: bool = True,
    depth: int | None = None,
    opening: Literal["search", "random"] = "search",
) -> PolicyTable:
    """Perfect play, or as far as a search sees.

    :param ties: which of equally good moves; ``trap`` ignores ``speed`` and ``depth``.
    :param speed: prefer the quicker win and the slower loss.
    :param depth: plies to look ahead, the move itself included; None: to the end.
    :param opening: ``random``: a uniformly random move on the empty board.
    """
    scores = solve(space).scores if depth is None or ties == "trap" else look_ahead(space, depth - 1)
    moves = move_scores(space, scores)
    signs = np.where(space.legal, np.sign(moves), ILLEGAL)
    if ties == "trap":
        chosen = _traps(space, _best(signs))
    else:
        chosen = _best(moves if speed else signs)
        if ties == "first":
            chosen = first(chosen)
        elif ties == "last":
            chosen = last(chosen)
    if opening == "random":
        chosen[0] = space.legal[0]
    values = signs.astype(np.float64)
    values[~space.legal] = np.nan
    return PolicyTable(space, uniform(chosen), values)


def _best(moves: Int8s) -> Bools:
    """bool[n, cells]: the moves of the largest score."""
    return np.logical_and(moves != ILLEGAL, moves == moves.max(axis=1, keepdims=True))


def _traps(space: StateSpace, sound: Bools) -> Bools:
    """bool[n, cells]: of the ``sound`` moves those with the best chance of winning against random play when
    going on in the same way."""
    moving = np.zeros(len(space))  # the trapper's chance when it is to move
    waiting = (space.results != 0).astype(np.float64)  # and when the random player is; an ended game is won
    chosen = np.zeros_like(sound)
    for rows in space.backwards():
        after, legal = space.successors[rows], space.legal[rows]
        chances = np.where(sound[rows], waiting[after], -1.0)
        best = chances.max(axis=1)
        chosen[rows] = sound[rows] & (chances >= best[:, None] - EQUAL)
        still_open = ~space.terminal[rows]
        moving[rows] = np.where(still_open, best, 0.0)
        mean = (moving[after] * legal).sum(axis=1) / np.maximum(legal.sum(axis=1), 1)
        waiting[rows] = np.where(still_open, mean, waiting[rows])
    return chosen
