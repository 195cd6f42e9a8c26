"""The laws of merging, for every learner and any tree of merges.

A forest of states grows by merging any of them, those that contain one another included. A model that knows
only the runs in each state says which merges are refused, and what comes of the others: the same experience
as all its runs merged at once.
"""

from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tests.store.conftest import loaded, trained
from tests.tables import empty_state
from ttt_cli.engine.rules import Rules
from ttt_cli.errors import InvalidFileError
from ttt_cli.learners import LEARNERS
from ttt_cli.store import library
from ttt_cli.store.formats.format import Loaded
from ttt_cli.store.merge import merge
from ttt_cli.store.state import State

RUNS = 4
FOREST = settings(max_examples=settings.default.max_examples // 3)
"""Each example merges up to four times, and writes and reads what comes of it."""

BOARDS = (Rules(2, 3, 3), Rules(2, 2, 2), Rules(2, 4, 3))


@cache
def run(learner: str, board: Rules, seed: int) -> Loaded:
    return loaded(trained(learner, 20 + 15 * seed, seed, rules=board), str(seed))


def same(state: State, expected: State) -> None:
    """The same experience: to the byte for integer tables, to 1e-12 for values, to 1e-9 for weights."""
    assert state.runs == expected.runs
    if state.learner.name in ("q", "td"):
        name = "moves" if state.learner.name == "q" else "rows"
        found, wanted = getattr(state.table, name), getattr(expected.table, name)
        assert np.array_equal(found["visits"], wanted["visits"])
        assert np.abs(found["value"] - wanted["value"]).max() <= 1e-12
    elif state.learner.name == "ntuple":
        assert np.array_equal(state.table.visits, expected.table.visits)
        for name in ("weights", "sums", "sizes"):
            found, wanted = getattr(state.table, name), getattr(expected.table, name)
            assert np.allclose(found, wanted, rtol=1e-9, atol=1e-9)
    else:
        assert library.content(state) == library.content(expected)


def can_merge(parts: Sequence[frozenset[int]]) -> bool:
    """Whether the inputs that no other contains share no run."""
    kept: list[frozenset[int]] = []
    for part in sorted(set(parts), key=len, reverse=True):
        if not any(part <= other for other in kept):
            if any(part & other for other in kept):
                return False
            kept.append(part)
    return True


@pytest.mark.parametrize("learner", LEARNERS)
@FOREST
@given(data=st.data())
def test_any_tree_of_merges_gives_the_same_experience(learner: str, data: st.DataObject):
    board = data.draw(st.sampled_from(BOARDS), "board")
    forest = [(frozenset({seed}), run(learner, board, seed)) for seed in range(1, RUNS + 1)]
    for step in range(data.draw(st.integers(1, 4), "merges")):
        places = st.lists(st.integers(0, len(forest) - 1), min_size=1, max_size=4)
        chosen = [forest[place] for place in data.draw(places, "inputs")]
        parts = [runs for runs, _ in chosen]
        together = frozenset().union(*parts)
        if not (can_merge(parts) or learner == "book"):  # which keeps its runs apart
            with pytest.raises(InvalidFileError) as refused:
                merge([item for _, item in chosen])
            twice = [seed for seed in together if sum(seed in part for part in parts) > 1]
            shared = [run(learner, board, seed).state.runs[0]["id"] for seed in twice]
            assert any(name in refused.value.message for name in shared)
            continue
        merged = merge([item for _, item in chosen])
        at_once = merge([run(learner, board, seed) for seed in sorted(together)])
        same(merged.state, at_once.state)
        whole = [item.digest for runs, item in chosen if runs == together]
        if whole:  # one input contains the others: it comes back as it was
            assert library.digest(merged.state) in whole
        forest.append((together, loaded(merged.state, f"merged {step}")))


@pytest.mark.parametrize("learner", LEARNERS)
@FOREST
@given(data=st.data())
def test_order_and_empty_states_never_change_a_byte(learner: str, data: st.DataObject):
    board = data.draw(st.sampled_from(BOARDS), "board")
    inputs = [run(learner, board, seed) for seed in data.draw(st.sets(st.integers(1, RUNS), min_size=2))]
    expected = library.content(merge(inputs).state)
    nothing = loaded(empty_state(learner, board))
    repeated = [nothing, *inputs, *data.draw(st.lists(st.sampled_from(inputs), max_size=2))]
    assert library.content(merge(data.draw(st.permutations(repeated))).state) == expected
