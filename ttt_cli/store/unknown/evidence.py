"""What the data say where the keys of a file leave a choice.

A trained table prefers good moves to bad ones. So under the right reading it chooses better than chance,
under a wrong one (values taken for the other side's, cells counted from the wrong number) it does not. Good
is what wins more often when both sides go on at random: known for every position and independent of any
table. Both measures here are standard scores: about 0, give or take 1, for values that say nothing.
"""

from functools import lru_cache

import numpy as np

from ttt_cli.engine.arrays import Bools, Floats, Int64s
from ttt_cli.engine.policy import best
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import StateSpace


@lru_cache(maxsize=4)
def prospects(rules: Rules) -> Floats:
    """float64[n]: the mean result for X (+1 won, -1 lost) when both sides play at random from here on."""
    space = StateSpace.of(rules)
    means = space.results.astype(np.float64)
    for layer in space.backwards():
        legal = space.legal[layer]
        after = np.where(legal, means[space.successors[layer]], 0.0).sum(axis=1)
        means[layer] += after / np.maximum(legal.sum(axis=1), 1)
    return means


def skill(space: StateSpace, values: Floats) -> float:
    """How much better than chance the moves of the largest value are: the sum of two standard scores.

    The one is for what the moves are worth, the other for winning at once where that is possible: the surest
    sign, since a win for the wrong side is only a block.

    :param values: float64[n, cells] from the mover's side, NaN where unknown (worth 0).
    """
    known = np.flatnonzero(~np.isnan(values).all(axis=1) & ~space.terminal)
    legal = space.legal[known]
    side = space.movers[known][:, None]
    after = space.successors[known]
    chosen = best(np.nan_to_num(values[known]), legal)
    wins = legal & (space.results[after] * side > 0)
    worth = np.where(legal, prospects(space.rules)[after] * side, 0.0)
    return _standard(worth, chosen, legal) + _standard(wins.astype(np.float64), chosen, legal)


def _standard(worth: Floats, chosen: Bools, legal: Bools) -> float:
    """The standard score of the mean worth of the cells chosen, against cells drawn at random.

    :param worth: float64[k, cells], 0 where not legal; chosen, legal: bool[k, cells].
    """
    cells, taken = legal.sum(axis=1), chosen.sum(axis=1)
    mean = worth.sum(axis=1) / np.maximum(cells, 1)
    gain = (worth * chosen).sum(axis=1) / np.maximum(taken, 1) - mean
    spread = (np.where(legal, worth - mean[:, None], 0.0) ** 2).sum(axis=1) / np.maximum(cells, 1)
    # The variance of the mean of `taken` cells, drawn without putting back.
    variance = spread / np.maximum(taken, 1) * (cells - taken) / np.maximum(cells - 1, 1)
    total = float(np.sqrt(variance.sum()))
    return float(gain.sum()) / total if total > 0 else 0.0


def agreement(space: StateSpace, indexes: Int64s, values: Floats) -> float:
    """How well values (float64[k]), taken as X's, follow what the positions are worth: a standard score."""
    worth = prospects(space.rules)[indexes]
    if len(values) < 3 or values.std() == 0 or worth.std() == 0:
        return 0.0
    return float(np.corrcoef(values, worth)[0, 1]) * float(np.sqrt(len(values) - 1))
