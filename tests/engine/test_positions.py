"""Batches of positions against single ones."""

from contextlib import suppress

import numpy as np
import pytest

from ttt_cli import Position, Positions, Rules
from ttt_cli.engine.state_space import StateSpace, enumerated
from ttt_cli.errors import NotationError

BOARDS = [Rules(), Rules(5, 6, 4), Rules(8, 8, 5), Rules(misere=True)]


def sample(rules: Rules, games: int = 20) -> list[Position]:
    rng = np.random.default_rng(1)
    found = []
    for _ in range(games):
        position = Position.start(rules)
        found.append(position)
        while not position.terminal:
            position = position.play(int(rng.choice(position.legal)))
            found.append(position)
    return found


@pytest.mark.parametrize("rules", BOARDS, ids=str)
def test_a_batch_agrees_with_its_positions_one_by_one(rules: Rules):
    singles = sample(rules)
    batch = Positions.batch(singles, rules)
    assert batch.texts() == [single.text for single in singles]
    assert batch.plies.tolist() == [single.plies for single in singles]
    assert batch.terminal.tolist() == [single.terminal for single in singles]
    assert batch.results.tolist() == [{"X": 1, "O": -1, None: 0}[single.winner] for single in singles]
    assert [tuple(np.flatnonzero(row)) for row in batch.legal] == [single.legal for single in singles]
    again = Positions.parse(batch.texts(), rules)
    assert (again.x == batch.x).all()
    assert (again.o == batch.o).all()


@pytest.mark.parametrize("rules", [Rules(), Rules(2, 3, 2), Rules(misere=True)], ids=str)
def test_successors_lead_to_the_whole_state_space(rules: Rules):
    digits = np.arange(3**rules.cells)[:, None] // 3 ** np.arange(rules.cells) % 3
    stones = 1 << np.arange(rules.cells, dtype=np.uint64)
    x, o = ((digits == stone) @ stones for stone in (1, 2))
    boards, found = Positions(rules, x, o), set()
    for text in boards.texts():
        with suppress(NotationError):
            found.add(Position(text, rules).text)
    assert found == set(boards[boards.reachable].texts()) == set(StateSpace.of(rules).texts())


@pytest.mark.parametrize("rules", BOARDS, ids=str)
def test_the_order_is_by_plies_then_text(rules: Rules):
    texts = sorted({single.text for single in sample(rules)}, key=lambda text: (-text.count("."), text))
    shuffled = np.random.default_rng(2).permutation(len(texts))
    batch = Positions.parse([texts[at] for at in shuffled], rules)
    assert [batch.text(row) for row in batch.order().tolist()] == texts


@pytest.mark.parametrize("rules", [Rules(4, 4, 4), Rules(8, 8, 5)], ids=str)
def test_on_large_boards(rules: Rules):
    assert enumerated(rules) is None
    layer = Positions.start(rules)
    rng = np.random.default_rng(1)
    for _ in range(4):
        rows, cells = np.nonzero(layer.legal & (rng.random(layer.legal.shape) < 0.2))
        after, places = layer.after(rows, cells)
        texts = [str(layer.position(row).play(int(cell))) for row, cell in zip(rows, cells, strict=True)]
        assert after.texts() == sorted(set(texts))
        assert [after.text(place) for place in places.tolist()] == texts
        layer = after[:50]
