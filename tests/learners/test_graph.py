"""The graph machine: the author's rules against a literal reading of them, the default against the truth."""

import re
from copy import deepcopy
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

from tests.learners.common import policy_of
from ttt_cli import Game, Position, Rules
from ttt_cli.conformance import read_table, trained_table
from ttt_cli.engine.kernel import uncompiled
from ttt_cli.engine.scores import move_scores
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.errors import InvalidFileError, UsageError
from ttt_cli.learners.base import Shard
from ttt_cli.learners.entries import all_faults
from ttt_cli.learners.graph import Graph
from ttt_cli.learners.growth import FIRST
from ttt_cli.learners.table import Table

SPACE = StateSpace.of()
ARTICLE, DEFAULT = Graph.from_params(**Graph.article), Graph()


OTHER = {"X": "O", "O": "X"}


class Author:
    """The author's machine, word for word: nodes by text, scores computed anew whenever one is asked for."""

    def __init__(self, following: dict[str, list[str]]) -> None:
        self.following = following
        self.score = cache(self._score)

    def _score(self, text: str) -> float:
        scores = [self.score(child) for child in self.following.get(text, [])]
        if scores:
            return 0.9 * max(0.0, *scores, key=abs)
        return {"X": 1, "O": -1, None: 0}[Position(text).winner]

    def choices(self, text: str) -> list[int]:
        """The cells, from 0, that the machine picks from: it looks ahead for a node that is won."""
        position, been = Position(text), set()
        node, side = text, position.mover
        while self.following.get(text) and (node, side) not in been:
            been.add((node, side))
            children, score = self.following.get(node, []), self.score
            largest = max((child for child in children if score(child) > -1), key=score, default="")
            smallest = min((child for child in children if score(child) < 1), key=score, default="")
            if side == "X":
                target, rest, won = largest, smallest, largest and score(largest) > 0
            else:
                target, rest, won = smallest, largest, smallest and score(smallest) < 0
            if won:
                wanted = position.mover if len(been) == 1 else OTHER[position.mover]
                for stone in (wanted, OTHER[wanted]):
                    for cell in position.legal:
                        if target[cell] == stone:
                            return [cell]
                break
            node, side = rest or "." * 9, OTHER[side]
        return list(position.legal)


def graph_of(following: dict[str, list[int]]) -> Table:
    """A table from nodes, in the order of first sight, with the cells (from 1) played from them."""
    nodes = enumerate(following.items())
    entries = {text: {"seen": at, "next": cells, "visits": 1} for at, (text, cells) in nodes}
    return read_table(ARTICLE, entries)


def authors(table: Table) -> Author:
    following: dict[str, list[str]] = {text: [] for text in table.positions(known(table)).texts()}
    edges = sorted(np.flatnonzero(table.moves["order"]), key=table.moves["order"].item)
    texts = (table.positions(rows).texts() for rows in (table.owners_of(edges), table.moves["after"][edges]))
    for text, child in zip(*texts, strict=True):
        following[text].append(child)
    return Author(following)


def known(table: Table) -> np.ndarray:
    """The rows of the nodes."""
    return np.flatnonzero(table.rows["seen"] >= 0)


def complete() -> Table:
    """All positions, all moves."""
    cells = ((np.flatnonzero(legal) + 1).tolist() for legal in SPACE.legal)
    return graph_of(dict(zip(SPACE.texts(), cells, strict=True)))


@settings(max_examples=5, deadline=None)
@given(st.integers(1, 60), st.integers(0, 2**32 - 1))
@example(0, 0)
def test_the_choice_is_the_authors_on_any_graph(games: int, seed: int):
    table = trained_table(ARTICLE, games, seed) if games else complete()
    support, author = policy_of(ARTICLE, table).played > 0, authors(table)
    nodes = known(table) - FIRST
    unknown = np.setdiff1d(np.arange(len(SPACE)), nodes)
    assert np.array_equal(support[unknown], SPACE.legal[unknown])
    for node in nodes[:: 1 + len(nodes) // 500].tolist():
        assert np.flatnonzero(support[node]).tolist() == author.choices(SPACE.text(node))


def test_training_plays_the_authors_machine():
    """X in the 1st, 3rd, 5th … game, and the graph of all games before at every choice."""
    journal: list[Game] = []
    table = trained_table(ARTICLE, 40, journal=journal)
    following: dict[str, list[str]] = {"." * 9: []}
    for number, game in enumerate(journal):
        author, texts = Author(deepcopy(following)), game.texts()
        for ply, cell in enumerate(game.moves):
            assert ply % 2 != number % 2 or cell in author.choices(texts[ply]), (number, ply)
        for before, child in pairwise(texts):
            following.setdefault(child, [])
            if child not in following[before]:
                following[before].append(child)
    assert authors(table).following == following


def test_the_authors_machine_does_not_go_with_symmetry():
    with pytest.raises(UsageError, match="symmetry"):
        ARTICLE.empty(Rules(), symmetric=True)


def test_an_untried_move_is_better_than_a_known_loss():
    lost = {"." * 9: [], "X..OO...X": [2], "XX.OO...X": [6], "XX.OOO..X": []}
    row = policy_of(DEFAULT, graph_of(lost)).played[SPACE.index_of["X..OO...X"]]
    assert np.flatnonzero(row).tolist() == [2, 5, 6, 7]


def test_a_near_win_beats_a_far_one_and_a_far_loss_a_near_one():
    policy = policy_of(DEFAULT, complete())
    quick = move_scores(SPACE)
    best = (quick == quick.max(axis=1, keepdims=True)) & SPACE.legal
    support = policy.played > 0
    assert not (support & ~best).any()
    for image in SPACE.rules.symmetries:  # of moves that promise the same all are played
        turned = SPACE.find(SPACE.stones @ SPACE.powers[list(image)])
        assert np.array_equal(support[turned][:, list(image)], support)


def test_a_merged_graph_of_a_large_board_is_scored_as_if_read():
    rules = Rules(4, 4, 4)
    tables = [DEFAULT.empty(rules) for _ in range(2)]
    for seed, table in enumerate(tables):
        DEFAULT.train(table, Shard(0, 40, np.random.default_rng(seed)))
    found = DEFAULT.merge(DEFAULT.empty(rules), tables)
    read = DEFAULT.from_entries(rules, False, DEFAULT.to_entries(found))
    nodes = DEFAULT.seen(found)
    scores = (table.rows["score"][table.find(nodes)] for table in (found, read))
    assert np.array_equal(*scores)


ROOT = {"seen": 0, "next": [], "visits": 1}


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"." * 9: {**ROOT, "next": [1, 1]}}, "different free cells"),
        ({"." * 9: {**ROOT, "next": [1]}}, "the position after it has no entry"),
        ({"." * 9: ROOT, "XXXOO....": {**ROOT, "seen": 1, "next": [6]}}, "different free cells"),
        ({"." * 9: {**ROOT, "seen": 1}}, "from 0 on"),
        ({"X........": ROOT}, "the empty board first"),
    ],
)
def test_entries_that_make_no_graph_are_refused(entries: dict, message: str):
    with pytest.raises(InvalidFileError, match=re.escape(message)) as caught:
        read_table(ARTICLE, entries)
    assert caught.value.where.startswith('"entries"')


def test_all_moves_to_positions_without_an_entry_are_reported():
    with all_faults() as faults:
        read_table(ARTICLE, {"." * 9: {**ROOT, "next": [9, 1]}})
    assert [fault.message[:14] for fault in faults] == ['"next" holds 1', '"next" holds 9']


@pytest.mark.parametrize("learner", [ARTICLE, DEFAULT], ids=["article", "default"])
def test_the_last_of_64_moves_is_backed_up(learner: Graph):
    """Uncompiled, since compiled code does not check the bounds of arrays."""
    rules = Rules(8, 8, 8)
    table = learner.empty(rules)
    with uncompiled():
        learner.learn(table, Game.of(rules, np.random.default_rng(1).permutation(64)))
        afresh = deepcopy(table)
    assert np.count_nonzero(table.rows["visits"]) == 65
    learner.derive(afresh)
    assert np.array_equal(table.rows["score"], afresh.rows["score"])
