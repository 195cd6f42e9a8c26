"""Two players side by side."""

import numpy as np

from tests import tables
from tests.evaluation.reference import some_policy
from ttt_cli.engine.policy import PolicyTable
from ttt_cli.engine.position import Position
from ttt_cli.engine.retrograde import solve
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.evaluation.difference import compare


def test_a_player_does_not_differ_from_itself() -> None:
    policy = some_policy(StateSpace.of(), 1)
    found = compare(policy, policy)
    assert not len(found.rows) and not found.differs.any()


def test_what_choices_are_worth() -> None:
    space = StateSpace.of()
    perfect = tables.minimax(space)
    rows = perfect.played.copy()
    corner, centre = (space.index(Position(text)) for text in ("X........", "....X...."))
    rows[corner] = 0
    rows[corner, [1, 4]] = 0.25, 0.75  # a loss, a draw
    rows[centre] = 0  # resigns
    rows[0] = np.eye(9)[0]  # one of nine equal moves
    worse = PolicyTable(space, rows)
    found = compare(worse, perfect)
    assert np.flatnonzero(found.differs).tolist() == [0, *sorted((corner, centre))]
    assert found.worth_a[corner] == -0.25 and found.worth_a[centre] == -1
    assert np.allclose(found.worth_b, solve(space).values[~space.terminal])
    assert np.flatnonzero(found.better_b).tolist() == sorted((corner, centre))
    assert not found.better_a.any()
    assert found.rows.tolist() == [centre, corner, 0]  # what costs most comes first
    back = compare(perfect, worse)
    assert np.array_equal(back.better_a, found.better_b)


def test_positions_one_of_them_alone_knows() -> None:
    space = StateSpace.of()
    policy = tables.minimax(space)
    known = np.zeros(len(space), np.bool_)
    known[:5] = True
    a, b = (PolicyTable(space, policy.played, known=those) for those in (known, ~known))
    found = compare(a, b)
    assert np.flatnonzero(found.only_a).tolist() == [0, 1, 2, 3, 4]
    assert np.array_equal(found.only_b, ~known[~space.terminal])
    assert len(found.rows) == 4520
    assert not compare(a, a).rows.tolist()
    assert np.array_equal(compare(a, policy).only_b, ~known[~space.terminal])  # minimax needs no experience
