"""Alpha-beta search, against working backwards and against plain recursion."""

import numpy as np
import pytest

from tests.conftest import COMPILED
from tests.engine import test_positions
from ttt_cli import Positions, Rules
from ttt_cli.engine.alpha_beta import Search
from ttt_cli.engine.arrays import Floats
from ttt_cli.engine.network import Network, line_network, place, squashed, total
from ttt_cli.engine.scores import ILLEGAL, move_scores
from ttt_cli.engine.state_space import StateSpace

BOARDS = [Rules(), Rules(3, 4, 3), Rules(1, 5, 3), Rules(misere=True)]


def sample(rules: Rules) -> Positions:
    """The positions of random games."""
    return Positions.batch(test_positions.sample(rules), rules)


def opinion(net: Network, rules: Rules, moved: int, other: int) -> float:
    """A network's value of a board for the side that has just moved."""
    patterns = np.zeros((2, len(net.starts)), np.int32)
    for cell in range(rules.cells):
        if moved >> cell & 1:
            place(net, patterns, 0, cell, 1)
        elif other >> cell & 1:
            place(net, patterns, 1, cell, 1)
    return float(squashed(total(net, patterns[0])))


def score(net: Network, rules: Rules, mine: int, theirs: int, left: int) -> float:
    """The score of a board for the side to move, with the stones ``mine``, by plain recursion."""
    cells, taken = rules.cells, mine | theirs
    free = [cell for cell in range(cells) if not taken >> cell & 1]
    lines, number = rules.line_masks, len(free)

    def completing(stones: int) -> list[int]:
        return [cell for cell in free if any((stones | 1 << cell) & line == line for line in lines)]

    own, other = completing(mine), completing(theirs)
    forced = False
    if rules.misere:
        free = [cell for cell in free if cell not in own]
        if not free:
            return -number
    elif own:
        return number
    elif len(other) > 1:
        return -(number - 1)
    elif other:
        free, forced = other, True
    if number == 1:
        return 0.0
    if left == 1 and not forced:
        return max(opinion(net, rules, mine | 1 << cell, theirs) for cell in free)
    return max(-score(net, rules, theirs, mine | 1 << cell, left - (not forced)) for cell in free)


def plain_scores(net: Network, positions: Positions, depth: int) -> Floats:
    """The scores of moves that ``Search`` must find."""
    rules = positions.rules
    scores = np.full((len(positions), rules.cells), -np.inf)
    for row, cell in zip(*np.nonzero(positions.legal), strict=True):
        position = positions.position(row).play(int(cell))
        moved, other = (position.x, position.o) if position.plies % 2 else (position.o, position.x)
        number = rules.cells - position.plies + 1
        if position.winner:
            scores[row, cell] = -number if rules.misere else number
        elif number == 1:
            scores[row, cell] = 0.0
        elif depth > 1:
            scores[row, cell] = -score(net, rules, other, moved, depth - 1)
        elif not rules.misere and any(
            (other | 1 << reply) & line == line for line in rules.line_masks for reply in position.legal
        ):
            scores[row, cell] = -(number - 1)
        else:
            scores[row, cell] = opinion(net, rules, moved, other)
    return scores


def finds(search: Search, positions: Positions, expected: Floats) -> None:
    """The exact search finds these scores, and the quick one chooses as it does."""
    assert np.array_equal(search.scores(positions, exact=True), expected)
    quick, best = search.scores(positions), expected.max(axis=1, keepdims=True)
    assert np.array_equal(quick == best, expected == best)
    assert (quick <= best).all()


@pytest.mark.parametrize("rules", BOARDS, ids=str)
def test_a_full_search_agrees_with_backward_induction(rules: Rules):
    space = StateSpace.of(rules)
    step = 1 + len(space) // (1000 if COMPILED else 8)
    rows = np.arange(step - 1, len(space), step)  # not the empty board, which takes seconds uncompiled
    expected = move_scores(space[rows]).astype(np.float64)
    expected[expected == ILLEGAL] = -np.inf
    finds(Search(rules, depth=99), space[rows], expected)


@pytest.mark.parametrize("rules", [Rules(4, 4, 4), Rules(3, 4, 3, misere=True)], ids=str)
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_pruning_overlooks_nothing(rules: Rules, depth: int):
    positions = sample(rules)[:: 4**depth]
    expected = plain_scores(line_network(rules), positions, depth)
    finds(Search(rules, depth=depth), positions, expected)


@pytest.mark.compiled
def test_a_limit_of_nodes_leaves_the_deepest_search_that_was_finished():
    positions = sample(Rules(4, 4, 4))[::3]
    by_depth = [Search(positions.rules, depth=depth).scores(positions) for depth in range(1, 7)]
    reached = set()
    for nodes in (1, 30, 300, 3000):
        found = Search(positions.rules, depth=6, nodes=nodes).scores(positions)
        for row in np.flatnonzero(~positions.terminal):
            depths = [at for at, whole in enumerate(by_depth) if np.array_equal(whole[row], found[row])]
            assert depths
            reached.add(depths[0])
    assert reached == set(range(6))
