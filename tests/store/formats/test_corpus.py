"""The files in ``corpus``, written by hand from descriptions: what each means, and how it is played."""

from pathlib import Path

import pytest

from tests.store.formats.reading import read
from ttt_cli.engine.position import Position
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.errors import InvalidFileError
from ttt_cli.store.formats.imported import Imported, Options
from ttt_cli.store.library import load

CORPUS = Path(__file__).parent / "corpus"


def imported(name: str, **options) -> Imported:
    return read((CORPUS / name).read_bytes(), name, Options(**options))


def plays(name: str, position: str, choice: str = "most") -> set[int]:
    """The cells, from 1, that the agent in the file plays; the largest value, where it could draw beads."""
    policy = load(CORPUS / name).state.choosing(choice).policy.table(StateSpace.of())
    row = policy.support[policy.space.index(Position.parse(position))]
    return {cell + 1 for cell in range(9) if row[cell]}


@pytest.mark.parametrize(
    ("name", "position", "cells"),
    [
        ("matchboxes_first.json", "./.", {5}),  # the fullest box of beads
        ("matchboxes_first.json", "O...X....", {9}),
        ("matchboxes_first.json", "XOXO..XO.", {5}),
        ("matchboxes_second.json", "X........", {5}),
        ("matchboxes_second.json", "O.X.X....", {7}),
        ("matchboxes_second.json", "X.OXO...X", {1, 2, 3, 4, 5, 6, 7, 8, 9} - {1, 3, 4, 5, 9}),  # not in it
        ("nested_lists_with_turn.json", "X.O.X....", {9}),
        ("nested_lists_with_turn.json", "X.O.X...O", {6}),
        ("nested_lists_with_turn.json", ".........", {5}),
        ("second_player_only.json", "XXOXO....", {7}),
        ("second_player_only.json", "XX..O....", {3}),
        ("numpy_arrays.json", "XO..X...O", {4}),
        ("numpy_arrays.json", "XX..O....", {3}),
        ("board_and_cell.json", "OO.XX....", {6}),
        ("board_and_cell.json", "X.O.X...O", {6}),
        ("policy_for_numbers.json", "XX.OX..OO", {3}),
        ("policy_for_numbers.json", "XO..X...O", {4}),
        ("policy_for_numbers.json", ".O..X....", {7}),
    ],
)
def test_a_table_of_moves_plays_as_its_author_would(name, position, cells):
    assert plays(name, position.replace("./.", "." * 9)) == cells


def test_what_a_position_is_worth_to_x_follows_from_the_chance_that_x_wins():
    entries = imported("ternary.csv").entries
    assert entries["XXX.OO..."] == {"x": [1.0, 1]}
    assert entries["X...O...."] == {"x": [0.71, 1]}


def test_numbers_are_kept_as_they_stand_and_scaled_where_training_goes_on():
    state = load(CORPUS / "printed_tuples.json").state
    entries = dict(state.learner.to_entries(state.table))
    assert (entries["X...O...."], entries["XXO.O.O.X"]) == ({"x": [0.0, 1]}, {"x": [-1.0, 1]})
    own = dict(state.learner.to_entries(state.own().table))
    assert own["X...O...."] == {"x": [0.5, 1], "o": [0.5, 1]}
    assert own["XXO.O.O.X"] == {"x": [0.0, 1], "o": [1.0, 1]}


@pytest.mark.parametrize("name", ["matchboxes_first.json", "matchboxes_second.json"])
def test_beads_are_drawn_as_their_author_draws_them(name):
    state = load(CORPUS / name).state
    assert state.plays is not None and state.plays.choice == "draw"
    policy = state.policy.table(StateSpace.of())
    text = "X........" if "second" in name else "." * 9
    beads = dict.fromkeys(range(9), 0.0) | {
        int(cell) - 1: count for cell, (count, _) in imported(name).entries[text].items()
    }
    shares = policy.played[policy.space.index(Position(text))].tolist()
    assert shares == pytest.approx([beads[cell] / sum(beads.values()) for cell in range(9)])


def test_the_side_that_moves_first_becomes_x():
    entries = imported("o_begins.json").entries
    assert entries["O...X...."]["x"][0] == pytest.approx(0.2)  # for O, who moved first
    assert "first 'O'" in imported("o_begins.json").notes[0]


def test_visits_are_what_the_user_says():
    found = imported("matchboxes_first.json", visits=7)
    assert {pair[1] for entry in found.entries.values() for pair in entry.values()} == {7}


def test_what_a_file_does_not_know_is_played_at_random():
    policy = load(CORPUS / "printed_tuples.json").state.policy.table(StateSpace.of())
    index = policy.space.index(Position.parse("XOXOXO..."))  # X could win at once
    assert policy.played[index].tolist() == [0, 0, 0, 0, 0, 0, 1 / 3, 1 / 3, 1 / 3]


def test_whose_good_the_values_measure_is_asked_for_where_they_do_not_tell():
    data = b'{"X........": 0.3, "....X....": 0.4, "X...O....": 0.35, "XX..O....": 0.1, "....X..O.": 0.2}'
    with pytest.raises(InvalidFileError, match=r"whose win .* X's \(values=x\)"):
        read(data, "f.json")
    for_x = read(data, "f.json", Options(values_for="x")).entries["X........"]["x"][0]
    for_mover = read(data, "f.json", Options(values_for="mover")).entries["X........"]["o"][0]
    assert (for_x, for_mover) == (0.3, 0.3)


def test_keys_that_break_every_spelling_are_named():
    data = b'{"X........": 0.3, "XO.......": 0.4, "XOX......": 0.5, "XXXX.....": 0.9}'
    with pytest.raises(InvalidFileError, match=r"1 of 4 are none .*'XXXX\.\.\.\.\.'"):
        read(data, "f.json")
    found = read(data, "f.json", Options(spelling={"first": "X"}, values_for="x"))
    assert found.positions == 3
    assert [item.where for item in found.rejected] == ["key 'XXXX.....'"]
    with pytest.raises(InvalidFileError):
        read(data, "f.json", Options(spelling={"first": "X"}, values_for="x", strict=True))


def test_readings_that_fit_equally_well_are_named_with_what_decides():
    """All of cells 1 to 8, counted from 0 as from 1, are free here, and the stones are no usual ones."""
    data = b'{".........": {"5": 0.1, "6": 0.2}, "#.......@": {"4": 0.3, "2": 0.1}}'
    with pytest.raises(InvalidFileError, match="how are the cells counted: from 0") as caught:
        read(data, "f.json")
    assert "cells=0" in str(caught.value) and "cells=1" in str(caught.value)
    assert "f.json:spelling.first=#,spelling.cells=0" in caught.value.hint
    found = read(data, "f.json", Options(spelling={"first": "#", "cells": "1"}))
    assert found.entries["X.......O"] == {"4": [0.3, 1], "2": [0.1, 1]}
