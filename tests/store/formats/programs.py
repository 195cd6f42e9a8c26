"""Programs written out again, and whether a file plays as its program does.

A program is a function from a board to the probabilities of its cells, independent of the package.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from tests.store.formats.strangers import after, free, mover, winner
from ttt_cli.engine.rules import STANDARD
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.store import library
from ttt_cli.store.formats.imported import Imported, Options
from ttt_cli.store.state import State

Moves = dict[int, float]
SPACE = StateSpace.of(STANDARD)
OPEN = [text for text in SPACE.texts if free(text)]


def picked(worth: dict[int, float], ties: str = "random") -> Moves:
    """The probabilities with which a program plays that takes the largest value."""
    best = [cell for cell in sorted(worth) if worth[cell] == max(worth.values())]
    best = {"random": best, "first": best[:1], "last": best[-1:]}[ties]
    return {cell: 1 / len(best) for cell in best}


def rates(play: Callable[[str], Moves], side: str) -> tuple[float, float, float]:
    """How often a program wins, draws and loses against one that plays anywhere, by full expectation."""

    @cache
    def ends(board: str) -> tuple[float, float, float]:
        if won := winner(board):
            return (1, 0, 0) if won == side else (0, 0, 1)
        if "." not in board:
            return 0, 1, 0
        own = mover(board) == side
        moves = play(board) if own else dict.fromkeys(free(board), 1 / len(free(board)))
        found = [(share, ends(after(board, cell))) for cell, share in moves.items()]
        win, draw, loss = (sum(share * end[at] for share, end in found) for at in range(3))
        return win, draw, loss

    return ends("." * 9)


def plays_as(state: State, program: Callable[[str], Moves], sides: str = "XO") -> None:
    """Assert that a state plays as a program, position by position and in sum."""
    policy = state.policy.table(SPACE)

    def of_state(board: str) -> Moves:
        row = policy.probabilities[SPACE.texts.index(board)]
        return {cell: float(row[cell]) for cell in np.flatnonzero(row).tolist()}

    for text in OPEN:
        if mover(text) in sides:
            assert of_state(text) == pytest.approx(program(text)), text
    for side in sides:
        assert rates(of_state, side) == pytest.approx(rates(program, side))


def judged(
    data: str | bytes, program: Callable[[str], Moves], tmp_path, sides: str = "XO", **options
) -> Imported:
    """Assert that a file, and the state that it is imported as, play as a program."""
    path: Path = tmp_path / "file.json"
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    loaded = library.load(path, options=Options(**options))
    plays_as(loaded.state, program, sides)
    imported = library.import_file(path, Options(**options))
    again = library.parse(library.content(imported.state), "again.json")
    assert np.array_equal(
        again.policy.table(SPACE).probabilities, loaded.state.policy.table(SPACE).probabilities
    )
    assert loaded.imported is not None
    assert (loaded.imported.positions, loaded.imported.moves) == again.entries
    return loaded.imported
