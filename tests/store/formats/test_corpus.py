"""The files in ``corpus``, written by hand from descriptions: what each means, and how it is played."""

from pathlib import Path

from tests.store.formats.programs import entries, read, refused
from ttt_cli.store.library import load

CORPUS = Path(__file__).parent / "corpus"


def test_numbers_are_kept_as_they_stand_and_scaled_where_training_goes_on():
    state = load(CORPUS / "printed_tuples.json").state
    entries = dict(state.learner.to_entries(state.table))
    assert (entries["X...O...."], entries["XXO.O.O.X"]) == ({"x": [0.0, 1]}, {"x": [-1.0, 1]})
    own = dict(state.learner.to_entries(state.own().table))
    assert own["X...O...."] == {"x": [0.5, 1], "o": [0.5, 1]}
    assert own["XXO.O.O.X"] == {"x": [0.0, 1], "o": [1.0, 1]}


def test_readings_that_fit_equally_well_are_named_with_what_decides():
    """All of cells 1 to 8, counted from 0 as from 1, are free here, and the stones are no usual ones."""
    data = {".........": {"5": 0.1, "6": 0.2}, "#.......@": {"4": 0.3, "2": 0.1}}
    error = refused(data, "how are the cells counted: from 0.*cells=0.*cells=1")
    assert "f.json:spelling.first=#,spelling.cells=0" in error.hint
    said = refused(data, spelling={"first": "#"}, unknown=0.5)  # what was said is in what is to be pasted
    assert "f.json:unknown=0.5,spelling.first=#,spelling.cells=0" in said.hint
    found = read(data, spelling={"first": "#", "cells": "1"})
    assert entries(found)["X.......O"] == {"4": [0.3, 1], "2": [0.1, 1]}


def test_the_columns_of_moves_may_be_called_like_cells():
    lines = (CORPUS / "games_from_zero.csv").read_text().split()
    header = ",".join(f"m{ply}" for ply in range(1, 10))
    for nothing in ("", "?", "-1"):
        padded = [
            ",".join([*moves, *[nothing] * (9 - len(moves)), end])
            for *moves, end in (line.split(",") for line in lines)
        ]
        found = read("\n".join([f"{header},result", *padded]))
        assert (found.format, found.state.games, found.rejected) == ("game-csv", len(lines), [])
