"""The solver against the state space, against plain search, and against what is known of k in a row."""

import random

import numpy as np
import pytest

from tests.conftest import COMPILED
from tests.engine.test_positions import sample
from ttt_cli import Game, Position, Positions, Rules
from ttt_cli.engine.perfect import solved, values_of
from ttt_cli.engine.proof_search import UNPROVEN
from ttt_cli.engine.scores import move_scores, solve
from ttt_cli.engine.solver import Solver
from ttt_cli.engine.state_space import StateSpace

SPACES = [
    Rules(),
    Rules(misere=True),
    Rules(3, 4, 3),
    Rules(3, 4, 4, misere=True),
    Rules(1, 1, 1),
    Rules(3, 3, 1, misere=True),
    Rules(3, 3, 2),
    Rules(1, 9, 3),
    Rules(2, 5, 3, misere=True),
]

KNOWN = [
    # rows, columns, line; value; nodes that are enough
    (3, 3, 3, 0, 150),
    (4, 4, 3, 1, 50),
    (4, 4, 4, 0, 10),
    (4, 5, 4, 0, 500),
    (5, 5, 4, 0, 5_000),
    (6, 6, 4, 1, 3_000),
    (6, 6, 5, 0, 300),
    (8, 8, 4, 1, 5_000),
    (1, 64, 64, 0, 10),
    *(
        pytest.param(*known, marks=pytest.mark.long)
        for known in ((4, 7, 4, 0, 100_000), (7, 7, 5, 0, 100_000), (6, 8, 5, 0, 1_000_000))
    ),
]
"""The first player's result under perfect play (Uiterwijk and van den Herik, The advantage of the initiative,
2000; 7x7: Ko et al., 2020), and bounds that keep the trees from growing unnoticed."""


def start(*numbers: int) -> Position:
    return Position.start(Rules(*numbers))


def random_position(rules: Rules, free: int, seed: int) -> Position:
    """A position with so many free cells that nobody has won yet."""
    chance = random.Random(seed)
    while True:
        game = Game(rules)
        while not game.is_over and len(game.legal_moves) > free:
            game.push(chance.choice(game.legal_moves))
        if not game.is_over:
            return game.position


@pytest.mark.parametrize("rules", SPACES, ids=str)
def test_every_position_has_its_value_in_the_state_space(rules: Rules):
    space = StateSpace.of(rules)
    rows = np.arange(0, len(space), 1 + len(space) // (20_000 if COMPILED else 100))
    assert np.array_equal(Solver(rules).values(space[rows])[0], np.sign(solve(space)[rows]))


@pytest.mark.parametrize(
    ("rules", "free"),
    [
        (Rules(4, 4, 4), 9),
        (Rules(5, 5, 4), 10),
        (Rules(8, 8, 5), 8),
        (Rules(2, 12, 3), 9),
        (Rules(4, 4, 3, misere=True), 9),
        (Rules(6, 6, 4, misere=True), 8),
    ],
    ids=str,
)
def test_late_positions_have_the_value_of_a_full_search(rules: Rules, free: int):
    positions = [random_position(rules, free, seed) for seed in range(1, 21 if COMPILED else 6)]
    batch = Positions.batch(positions, rules)
    expected = np.sign(move_scores(batch, free).max(axis=1))
    assert np.array_equal(Solver(rules).values(batch)[0], expected)


@pytest.mark.compiled
@pytest.mark.parametrize(("rows", "cols", "line", "value", "nodes"), KNOWN)
def test_known_values_are_proven_with_few_nodes(rows: int, cols: int, line: int, value: int, nodes: int):
    position = start(rows, cols, line)
    proof = Solver(position.rules).solve(position, nodes=nodes)
    assert proof.value == value
    assert 0 < proof.nodes <= nodes


@pytest.mark.parametrize("rules", [Rules(), Rules(misere=True), Rules(3, 4, 4)], ids=str)
def test_lines_of_small_boards_keep_the_value(rules: Rules):
    """Every move keeps the value, and the game ends with it, a loss as late as possible."""
    space, solver = StateSpace.of(rules), Solver(rules)
    values = np.sign(solve(space))
    for seed in range(1, 13 if COMPILED else 4):
        position = random_position(rules, 4 + seed % 6, seed)
        proof = solver.solve(position)
        value, score = proof.value, abs(int(solve(space)[space.index_of[position.text]]))
        for cell in proof.line:
            position, value = position.play(cell), -value
            assert values[space.index_of[position.text]] == value
        assert position.terminal and (score == 0 or position.text.count(".") == score - 1)


@pytest.mark.compiled
def test_a_limit_of_time_is_kept():
    position = start(8, 8, 5)
    Solver(position.rules).solve(position, nodes=1)  # compiles
    proof = Solver(position.rules).solve(position, seconds=0.1)
    assert proof.value is None
    assert 0.1 <= proof.seconds < 2


@pytest.mark.compiled
def test_findings_before_a_limit_are_kept():
    position = start(5, 5, 4)
    solver, calls = Solver(position.rules), 0
    while solver.solve(position, nodes=200).value is None:
        calls += 1
        assert calls < 100
    assert calls > 1
    assert solver.solve(position, nodes=200).value == 0


@pytest.mark.compiled
def test_a_batch_marks_what_it_could_not_prove():
    rules = Rules(4, 5, 4)
    batch = Positions.batch([random_position(rules, 15, seed) for seed in range(1, 61)], rules)
    truth = Solver(rules).values(batch)[0]
    found = Solver(rules).values(batch, nodes=3)[0]
    assert set(truth.tolist()) == {-1, 0, 1}
    assert 0 < (found == UNPROVEN).sum() < len(batch)
    assert np.array_equal(found[found != UNPROVEN], truth[found != UNPROVEN])


@pytest.mark.compiled
@pytest.mark.parametrize("rules", [Rules(), Rules(4, 4, 4), Rules(5, 5, 4)], ids=str)
def test_a_proved_position_is_worth_its_best_move(rules: Rules):
    positions = Positions.batch(sample(rules, 2), rules)
    positions = positions[~positions.terminal]
    values, moves = values_of(positions), solved(positions)[1]
    assert (moves[~positions.legal] == UNPROVEN).all()
    proved = (values != UNPROVEN) & ~((moves == UNPROVEN) & positions.legal).any(axis=1)
    assert proved.mean() > 0.9
    assert (np.where(positions.legal, moves, -1).max(axis=1) == values)[proved].all()


@pytest.mark.compiled
def test_what_is_proved_does_not_depend_on_other_positions():
    positions = Positions.batch(sample(Rules(6, 6, 4), 1)[::3], Rules(6, 6, 4))
    alone = [solved(positions[[row]], nodes=300)[1][0] for row in range(len(positions))]
    assert np.array_equal(solved(positions, nodes=300)[1], alone)
    assert len({*np.concatenate(alone).tolist()}) == 4  # some are proved
    first = solved(Positions.start(Rules(6, 6, 4)))[1].reshape(6, 6)  # equivalent moves share their proofs
    assert np.array_equal(first, first.T) and UNPROVEN not in first
    winning = Positions.parse([".............X..O" + "." * 32], Rules(7, 7, 4))
    assert values_of(winning)[0] == UNPROVEN and solved(winning)[0][0] == 1  # by one of its moves
