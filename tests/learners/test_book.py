"""The experience book: rows, the author's choice with its quirks, the default's, and the runs of rows."""

import tracemalloc
from typing import Any

import numpy as np
import pytest

from tests import tables
from tests.learners.common import game, policy_of, trained
from ttt_cli import Game, Rules
from ttt_cli.conformance import content, empty_table, read_table, shard, trained_table
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.errors import InvalidFileError
from ttt_cli.evaluation.matchup import both_sides
from ttt_cli.evaluation.verdict import is_unbeatable
from ttt_cli.learners import learner_of
from ttt_cli.learners.book import BookTable

SPACE = StateSpace.of()
ARTICLE, DEFAULT = learner_of("book", "article"), learner_of("book", "default")

X_IN_FIVE = (1, 4, 2, 5, 3)
DRAWN = (1, 5, 9, 2, 8, 7, 3, 6, 4)


def book(learner: Any, *games: tuple[int, ...], rules: Rules = SPACE.rules) -> BookTable:
    """A book of games given as cells from 1."""
    table = empty_table(learner, rules)
    for cells in games:
        learner.learn(table, Game.of(rules, [cell - 1 for cell in cells]))
    return table


def chosen(learner: Any, table: BookTable, text: str) -> set[int]:
    """The cells, from 1, that may be played."""
    policy = policy_of(learner, table)
    return set((np.flatnonzero(policy.played[policy.space.index_of[text]]) + 1).tolist())


def test_the_author_leaves_out_the_first_move_and_keeps_a_set():
    table = book(ARTICLE, X_IN_FIVE)
    before = dict(ARTICLE.to_entries(table))
    assert list(before) == ["X........", "X..O.....", "XX.O.....", "XX.OO...."]
    ARTICLE.learn(table, game(*X_IN_FIVE))
    assert dict(ARTICLE.to_entries(table)) == before


def test_a_win_with_the_last_stone_is_not_a_draw():
    table = book(DEFAULT, (1, 2, 3, 4, 5, 7, 6, 8, 9))
    assert next(DEFAULT.to_entries(table)) == (".........", [[1, 9, "X", "", 1]])


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("XX.OO....", [[1, 5, "X", "", 1]]),  # the cell is taken
        ("XX.OO....", [[3, 3, "X", "", 1]]),  # four stones are on the board
        (".........", [[1, 5, "X", "", 0]]),
        (".........", [[1, 5, "X", "a", 1], [1, 5, "X", "a", 2]]),
    ],
)
def test_a_row_that_no_game_makes_is_refused(text: str, rows: list[list[Any]]):
    with pytest.raises(InvalidFileError, match=r"expected different rows .* of games that can be, found"):
        read_table(DEFAULT, {text: rows})


def test_the_author_takes_the_shortest_game_whoever_won_it():
    # O to move after 1: replying 4 led to X's win in five plies, replying 5 to O's own in six.
    table = book(ARTICLE, X_IN_FIVE, (1, 5, 2, 3, 9, 7))
    assert chosen(ARTICLE, table, "X........") == {4}
    assert chosen(DEFAULT, table, "X........") == {5}


def test_the_author_never_looks_at_draws():
    table = book(ARTICLE, DRAWN)
    assert chosen(ARTICLE, table, "X........") == {5}, "the centre, for want of other rows"
    assert chosen(ARTICLE, table, "X...O....") == {2, 3, 4, 6, 7, 8, 9}


def test_without_rows_o_takes_the_centre_and_x_any_cell():
    table = empty_table(ARTICLE)
    assert chosen(ARTICLE, table, "X........") == {5}
    assert chosen(ARTICLE, table, "....X....") == {1, 2, 3, 4, 6, 7, 8, 9}
    assert chosen(ARTICLE, table, "XO.......") == {3, 4, 5, 6, 7, 8, 9}


def test_the_default_weighs_results_and_doubts_few_sightings():
    x_wins, o_wins = [1, 5, "X", "", 1], [3, 6, "O", "", 1]
    table = read_table(DEFAULT, {".........": [x_wins, o_wins, [2, 9, "draw", "", 5]]})
    assert policy_of(DEFAULT, table).worth[0, :3].tolist() == [0.75, 0.5, 0.25]
    assert chosen(DEFAULT, table, ".........") == {1}
    better = [x_wins, [2, 9, "X", "", 9], [2, 9, "draw", "", 1]]
    assert chosen(DEFAULT, read_table(DEFAULT, {".........": better}), ".........") == {2}


def test_stages_mean_the_other_winner_in_the_misere_game():
    table = book(DEFAULT, X_IN_FIVE, rules=Rules(misere=True))
    assert dict(DEFAULT.to_entries(table))["XX.OO...."] == [[3, 5, "O", "", 1]]
    assert 3 not in chosen(DEFAULT, table, "XX.OO....")


def test_rows_know_their_run_and_keep_it_through_a_file():
    table = trained_table(DEFAULT, 50, 1)
    DEFAULT.tag_run(table, "a")
    DEFAULT.train(table, shard(DEFAULT, 50, 2))
    counts, before = table.sightings(), table.sightings().copy()
    DEFAULT.tag_run(table, "b")
    assert np.array_equal(counts, before), "another thread may be reading them"
    read = read_table(DEFAULT, dict(DEFAULT.to_entries(table)))
    assert content(DEFAULT, read) == content(DEFAULT, table)
    first_moves = dict(DEFAULT.to_entries(read))["........."]
    assert [sum(count for *_, run, count in first_moves if run == name) for name in "ab"] == [50, 50]


def test_a_book_is_read_and_merged_without_building_its_counts():
    rules = Rules(4, 4, 4)
    books = [list(DEFAULT.to_entries(trained_table(DEFAULT, 300, seed, rules=rules))) for seed in (1, 2)]
    tracemalloc.start()
    merged = DEFAULT.merge(DEFAULT.empty(rules), [DEFAULT.from_entries(rules, False, one) for one in books])
    assert tracemalloc.get_traced_memory()[1] < 200 * len(merged.moves)
    tracemalloc.stop()


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.long) for seed in (2, 3))])
def test_the_default_is_strong(seed: int):
    policy = trained("book", seed).policy
    as_x, as_o = both_sides(policy, tables.uniform(SPACE))
    assert as_x.win >= 0.97 and as_o.win >= 0.85
    assert is_unbeatable(policy)
