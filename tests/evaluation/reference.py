"""The same truths as the evaluation, by plain recursion over positions: slow, short, with exact fractions."""

from collections.abc import Callable
from fractions import Fraction
from functools import cache

import numpy as np

from ttt_cli.engine.policy import PolicyTable
from ttt_cli.engine.position import Position
from ttt_cli.engine.state_space import StateSpace


def some_policy(space: StateSpace, seed: int, *, resigning: float = 0.0) -> PolicyTable:
    """A policy of no sense: some moves, with odd probabilities; it resigns in some positions if asked."""
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 4, space.legal.shape) * space.legal
    weights = np.where(weights.any(axis=1, keepdims=True), weights, space.legal)
    weights[rng.random(len(space)) < resigning] = 0
    return PolicyTable(space, weights / np.maximum(weights.sum(axis=1, keepdims=True), 1))


def moves(policy: PolicyTable, position: Position) -> dict[int, Fraction]:
    """The policy's moves in a position with their probabilities, made to sum to 1 exactly."""
    row = policy.played[policy.space.index_of[position.text]]
    found = {
        cell: Fraction(float(row[cell])).limit_denominator(99) for cell in position.legal if row[cell] > 0
    }
    return {cell: share / sum(found.values()) for cell, share in found.items()}


def forced(policy: PolicyTable, side: str, worth: Callable[[int], int]) -> Fraction:
    """The largest expected ``worth`` of the result (+1: the opponent wins) that any opponent of the policy,
    which plays ``side``, can have."""
    sign = -1 if side == "X" else 1

    @cache
    def after(position: Position) -> Fraction:
        if position.terminal:
            return Fraction(worth(sign * {"X": 1, "O": -1, None: 0}[position.winner]))
        if position.mover != side:
            return max(after(position.play(cell)) for cell in position.legal)
        played = moves(policy, position)
        if not played:
            return Fraction(worth(1))
        return sum((share * after(position.play(cell)) for cell, share in played.items()), Fraction(0))

    return after(Position.start(policy.space.rules))
