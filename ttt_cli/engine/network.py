"""An n-tuple network: the value of a position as a sum of weights, one for each of a number of small sets of
cells.

The stones on a set are its *pattern*, a number in base 3: 0 a free cell, 1 a stone of the side that has just
moved, 2 a stone of the other side. Each pattern has a weight, and patterns may share weights. The sum of the
weights is squashed to x / (1 + |x|), between -1 and 1, for the side that has just moved. Completed lines and
full boards have their values by the rules, whatever the network.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ttt_cli.engine.arrays import Floats, Int32s
from ttt_cli.engine.kernel import Part
from ttt_cli.engine.rules import Rules

MAX_LINE = 10
"""The longest lines that ``line_network`` rates; longer ones would have too many patterns."""

STEEPNESS = 4
"""The factor of a line's weight for one more stone."""

TEMPO = 2
"""The factor of a line's weight for being to move."""


class Network(NamedTuple):
    """A network over ``t`` sets of cells.

    :ivar sets: int32[cells, s], the sets that each cell belongs to, in the first ``counts`` columns.
    :ivar powers: int32[cells, s], what a stone of the side that has just moved adds to their patterns.
    :ivar counts: int32[cells], the number of sets that each cell belongs to.
    :ivar starts: int32[t], where the patterns of each set begin in ``slots``.
    :ivar slots: int32[patterns], the index of each pattern's weight.
    :ivar weights: float64[weights].
    """

    sets: Int32s
    powers: Int32s
    counts: Int32s
    starts: Int32s
    slots: Int32s
    weights: Floats


def network(
    cells: int, sets: Sequence[Sequence[int]], starts: Sequence[int], slots: Int32s, weights: Floats
) -> Network:
    """The network over these sets; the first cell of each is the lowest digit of its pattern."""
    sizes = [sum(cell in members for members in sets) for cell in range(cells)]
    sets_of, powers = np.zeros((2, cells, max(1, *sizes)), np.int32)
    counts = np.zeros(cells, np.int32)
    for index, members in enumerate(sets):
        for place, cell in enumerate(members):
            sets_of[cell, counts[cell]] = index
            powers[cell, counts[cell]] = 3**place
            counts[cell] += 1
    return Network(sets_of, powers, counts, np.array(starts, np.int32), slots, weights)


def line_network(rules: Rules) -> Network:
    """A network that rates the lines on which only one side has stones: more stones count more, and more so
    for the side to move. Weights are whole numbers, so that sums are exact."""
    length = rules.line if rules.line <= MAX_LINE else 0
    sign = -1 if rules.misere else 1
    weights = np.zeros(1 + 2 * length)
    slots = np.zeros(3**length, np.int32)
    for pattern in range(3**length):
        digits = [pattern // 3**place % 3 for place in range(length)]
        own, other = digits.count(1), digits.count(2)
        if own and not other:
            slots[pattern] = own
            weights[own] = sign * STEEPNESS**own
        elif other and not own:
            slots[pattern] = length + other
            weights[length + other] = -sign * TEMPO * STEEPNESS**other
    lines = rules.lines if length else ()
    return network(rules.cells, lines, [0] * len(lines), slots, weights)


@Part
def place(network: Network, patterns: Int32s, side: int, cell: int, stones: int) -> None:
    """Place one stone of a side on a cell, or take it off: -1.

    :param patterns: int32[2, t], the patterns of the sets if X has just moved, and if O has.
    """
    for at in range(network.counts[cell]):
        index = network.sets[cell, at]
        power = stones * network.powers[cell, at]
        patterns[side, index] += power
        patterns[1 - side, index] += 2 * power


@Part
def total(network: Network, patterns: Int32s) -> Any:
    """The sum of the weights of patterns, int32[t]."""
    weight = 0.0
    for index in range(len(patterns)):
        weight += network.weights[network.slots[network.starts[index] + patterns[index]]]
    return weight


@Part
def gain(network: Network, patterns: Int32s, cell: int) -> Any:
    """The change of the sum by a stone on a cell, given int32[t], the patterns of the side that places it."""
    change = 0.0
    for at in range(network.counts[cell]):
        index = network.sets[cell, at]
        slot = network.starts[index] + patterns[index]
        change += network.weights[network.slots[slot + network.powers[cell, at]]]
        change -= network.weights[network.slots[slot]]
    return change


@Part
def squashed(sum_of_weights: float) -> Any:
    return sum_of_weights / (1.0 + abs(sum_of_weights))
