"""Programs written out again, and whether a file plays as its program does.

A program is a function from a board to the probabilities of its cells, independent of the package.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from tests.store.formats.reading import read
from tests.store.formats.strangers import after, free, mover, winner
from ttt_cli.engine.rules import STANDARD
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.store import library
from ttt_cli.store.formats.imported import Imported, Options, to_state
from ttt_cli.store.state import State

Moves = dict[int, float]
SPACE = StateSpace.of(STANDARD)
TEXTS = SPACE.texts()
OPEN = [(row, text) for row, text in enumerate(TEXTS) if free(text)]


def picked(worth: dict[int, float], ties: str = "random") -> Moves:
    """The probabilities with which a program plays that takes the largest value."""
    most = max(worth.values())
    best = [cell for cell in sorted(worth) if worth[cell] == most]
    best = {"random": best, "first": best[:1], "last": best[-1:]}[ties]
    return {cell: 1 / len(best) for cell in best}


def goes_by(
    table: dict[tuple[str, int], float], ties: str = "random", sides: str = "XO"
) -> Callable[[str], Moves]:
    """A program of one side or of both that takes its best move, those it does not know being worth 0."""

    def program(board: str) -> Moves:
        known = table if mover(board) in sides else {}
        return picked({cell: known.get((board, cell), 0.0) for cell in free(board)}, ties)

    return program


def looks_up(
    table: dict[str, float], x: int = 1, o: int = -1, *, unknown: float = 0.0, sees: bool = False
) -> Callable[[str], Moves]:
    """A program that goes to the position of the largest value, for X times ``x`` and for O times ``o``.

    :param sees: whether it sees the wins that its table does not hold.
    """

    def program(board: str) -> Moves:
        sign = x if mover(board) == "X" else o
        then = {cell: after(board, cell) for cell in free(board)}
        worth = {cell: sign * table.get(text, unknown) for cell, text in then.items()}
        if sees:
            worth |= {cell: 100.0 for cell, text in then.items() if text not in table and winner(text)}
        return picked(worth)

    return program


def plays_as(state: State, program: Callable[[str], Moves], sides: str = "XO") -> None:
    """Assert that a state plays as a program, in every third position."""
    rows = [row for row, text in OPEN[::3] if mover(text) in sides]
    expected = np.zeros((len(rows), 9))
    for number, row in enumerate(rows):
        for cell, share in program(TEXTS[row]).items():
            expected[number, cell] = share
    found = state.policy.table(SPACE).played[rows]
    wrong = np.flatnonzero(~np.isclose(found, expected, rtol=1e-6, atol=1e-12).all(axis=1))
    assert not wrong.size, (TEXTS[rows[wrong[0]]], found[wrong[0]], expected[wrong[0]])


def reads_as(data: str | bytes, program: Callable[[str], Moves], sides: str = "XO", **options) -> Imported:
    """Assert that a file's content plays as a program."""
    found = read(data.encode() if isinstance(data, str) else data, "f.json", Options(**options))
    plays_as(to_state(found, "0" * 64), program, sides)
    return found


def judged(
    data: str | bytes, program: Callable[[str], Moves], tmp_path, sides: str = "XO", **options
) -> Imported:
    """Assert that a file plays as a program, and so does the state that it is imported as when it is read."""
    path: Path = tmp_path / "file.json"
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    loaded = library.import_file(path, Options(**options))
    plays_as(loaded.state, program, sides)
    again = library.parse(library.content(loaded.state), "again.json")
    plays = (state.policy.table(SPACE).played for state in (again, loaded.state))
    assert np.array_equal(*plays)
    assert loaded.imported is not None
    assert (loaded.imported.positions, loaded.imported.moves) == again.entries
    return loaded.imported
