"""Two players side by side."""

import numpy as np

from tests import tables
from ttt_cli.engine.policy import PolicyTable
from ttt_cli.engine.scores import solve
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.evaluation.difference import compare


def test_the_worth_of_each_choice() -> None:
    space = StateSpace.of()
    perfect = tables.minimax(space)
    corner, centre = (space.index_of[text] for text in ("X........", "....X...."))
    worse = tables.changed(perfect, "X........", {2: 0.25, 5: 0.75})  # a loss, a draw
    worse = tables.changed(worse, "....X....", {})  # resigns
    worse = tables.changed(worse, ".........", {1: 1})  # one of nine equal moves
    found = compare(worse, perfect, space[~space.terminal])
    assert np.flatnonzero(found.differs).tolist() == [0, *sorted((corner, centre))]
    assert found.worth[0][corner] == -0.25 and found.worth[0][centre] == -1
    assert (found.worth[1, found.order] == np.sign(solve(space))[~space.terminal][found.order]).all()
    assert (found.different, found.a_better, found.b_better) == (3, 0, 2)
    assert found.order.tolist() == [centre, corner, 0]  # what costs most comes first
    assert [(row.a, row.a_shares, row.a_worth) for row in found.rows[:2]] == [
        ([], [], -1),
        ([1, 4], [0.25, 0.75], -0.25),
    ]
    back = compare(perfect, worse, space[~space.terminal])
    assert (back.a_better, back.b_better) == (2, 0)


def test_the_costliest_differences_come_first() -> None:
    space = StateSpace.of()
    third = np.arange(len(space)) % 3
    a = PolicyTable(space, tables.heuristic(space).played, known=third > 0)
    b = PolicyTable(space, tables.minimax(space).played, known=third < 2)
    found = compare(a, b, space[~space.terminal])
    stakes = -np.round(np.abs(found.worth[0] - found.worth[1]), 12)
    keys = [(stakes[place], not found.differs[place], place) for place in found.order.tolist()]
    assert keys == sorted(keys)
    assert 0 < found.differs.sum() < len(keys)


def test_positions_known_to_one_player_alone_are_counted() -> None:
    space = StateSpace.of()
    policy = tables.minimax(space)
    known = np.arange(len(space)) < 5
    a, b = (PolicyTable(space, policy.played, known=those) for those in (known, ~known))
    found = compare(a, b, space[~space.terminal])
    assert (found.a_only, found.b_only, len(found.order)) == (5, 4515, 4520)
    assert [row.known for row in found.listed(np.arange(6))] == [*"aaaaa", "b"]
    assert not len(compare(a, a, space[~space.terminal]).order)
    assert compare(a, policy, space[~space.terminal]).b_only == 4515  # minimax needs no experience
