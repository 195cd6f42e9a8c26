"""The laws of merging, for every learner and any tree of merges.

A forest of states grows by merging any of them, those that contain one another included. A model that knows
only the runs in each state says which merges are refused, and what comes of the others: the same experience
as all its runs merged at once.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.store.conftest import continued
from ttt_cli.engine.rules import Rules
from ttt_cli.errors import InvalidFileError
from ttt_cli.learners import LEARNERS
from ttt_cli.learners.ntuple import NTupleTable
from ttt_cli.store import library
from ttt_cli.store.formats.native import Digest
from ttt_cli.store.library import Loaded
from ttt_cli.store.merge import merge
from ttt_cli.store.state import State, learner_of

RUNS = 5
FOREST = settings(max_examples=settings.default.max_examples * 2 // 5)
"""Each example merges up to six times, and writes and reads what comes of it."""

BOARDS = (Rules(2, 3, 3), Rules(2, 2, 2), Rules())


@cache
def run(learner: str, board: Rules, seed: int) -> Loaded:
    start = State.empty(learner_of(learner, "default"), board)
    return loaded(continued(start, 20 + 15 * seed, seed), str(seed))


@cache
def at_once(learner: str, board: Rules, runs: frozenset[int]) -> State:
    return merge([run(learner, board, seed) for seed in sorted(runs)]).state


def loaded(state: State, name: str) -> Loaded:
    """A state as it comes back from its file."""
    content = library.content(state)
    return Loaded(library.parse(content, name), Path(name), "ttt-state", str(Digest([content])))


def same(state: State, expected: State) -> None:
    """The same experience: to the byte for integer tables, to 1e-12 for values, to 1e-9 for weights."""
    assert state.runs == expected.runs
    if state.learner.name in ("q", "td"):
        name = "moves" if state.learner.name == "q" else "rows"
        found, wanted = getattr(state.table, name), getattr(expected.table, name)
        assert np.array_equal(found["visits"], wanted["visits"])
        assert np.abs(found["value"] - wanted["value"]).max() <= 1e-12
    elif state.learner.name == "ntuple":
        close_networks(state.table, expected.table)
    else:
        assert library.content(state) == library.content(expected)


def close_networks(table: NTupleTable, expected: NTupleTable) -> None:
    """Whose weights differ by rounding only."""
    assert np.array_equal(table.visits, expected.visits)
    for name in ("weights", "sums", "sizes"):
        assert np.allclose(getattr(table, name), getattr(expected, name), rtol=1e-9, atol=1e-9)


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
    for step in range(data.draw(st.integers(1, 6), "merges")):
        places = st.lists(st.integers(0, len(forest) - 1), min_size=1, max_size=4)
        chosen = [forest[place] for place in data.draw(places, "inputs")]
        parts = [runs for runs, _ in chosen]
        together = frozenset().union(*parts)
        keeps_runs_apart = learner == "book"
        if not (can_merge(parts) or keeps_runs_apart):
            with pytest.raises(InvalidFileError) as refused:
                merge([item for _, item in chosen])
            shared = [
                run(learner, board, seed).state.runs[0].id for seed in together if overlaps(seed, parts)
            ]
            assert any(name in refused.value.message for name in shared)
            continue
        merged = merge([item for _, item in chosen])
        same(merged.state, at_once(learner, board, together) if len(together) > 1 else chosen[0][1].state)
        whole = [item.digest for runs, item in chosen if runs == together]
        if whole:  # one input contains the others: it comes back as it was
            assert library.digest(merged.state) in whole
        forest.append((together, loaded(merged.state, f"merged {step}")))


def overlaps(seed: int, parts: Sequence[frozenset[int]]) -> bool:
    """Whether more than one of the inputs holds the run."""
    return sum(seed in part for part in parts) > 1


@pytest.mark.parametrize("learner", LEARNERS)
@FOREST
@given(data=st.data())
def test_the_order_never_changes_a_byte(learner: str, data: st.DataObject):
    board = data.draw(st.sampled_from(BOARDS), "board")
    inputs = [run(learner, board, seed) for seed in data.draw(st.sets(st.integers(1, RUNS), min_size=2))]
    expected = library.content(merge(inputs).state)
    repeated = inputs + data.draw(st.lists(st.sampled_from(inputs), max_size=2))
    assert library.content(merge(data.draw(st.permutations(repeated))).state) == expected
