"""Programs written out again, and whether a file plays as its program does.

A program is a function from a board to the probabilities of its cells, independent of the package.
"""

import io
import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
import pytest

from tests.store.conftest import parse
from tests.store.formats.strangers import after, free, mover, winner
from ttt_cli.engine.rules import STANDARD
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.errors import InvalidFileError
from ttt_cli.store import library
from ttt_cli.store.formats import recognise
from ttt_cli.store.formats.format import FileOptions, Loaded
from ttt_cli.store.source import Source
from ttt_cli.store.state import State

Moves = dict[int, float]
Program = Callable[[str], Moves]
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
    table: dict[tuple[str, int], float], ties: str = "random", sides: str = "XO", unknown: float = 0.0
) -> Program:
    """A program of one side or of both that takes its best move."""

    def program(board: str) -> Moves:
        known = table if mover(board) in sides else {}
        return picked({cell: known.get((board, cell), unknown) for cell in free(board)}, ties)

    return program


def looks_up(
    table: dict[str, float], x: int = 1, o: int = -1, *, unknown: float = 0.0, sees: bool = False
) -> Program:
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


def follows(answers: dict[str, int]) -> Program:
    """A program that makes these moves, and any on other boards."""
    return lambda board: picked(dict.fromkeys([answers[board]] if board in answers else free(board), 1.0))


SYMMETRIES = STANDARD.symmetries
ROTATIONS = [SYMMETRIES[at] for at in (0, 3, 5, 6)]


@cache
def canonical(board: str, order: str = ".XO", rotations: bool = False) -> tuple[str, tuple[int, ...]]:
    """The least image of a board under an order of the symbols; cell ``at`` of it is cell ``image[at]``."""
    ranks = str.maketrans(order, "012")
    images = ROTATIONS if rotations else SYMMETRIES
    found = [("".join(board[cell] for cell in image), image) for image in images]
    return min(found, key=lambda item: item[0].translate(ranks))


def encoded(data: object) -> bytes:
    """The content of a file: bytes or a text as they are, else what JSON makes of it."""
    return data if isinstance(data, bytes) else (data if isinstance(data, str) else json.dumps(data)).encode()


def options_of(*, spelling: Mapping[str, str] = {}, **options: Any) -> FileOptions:
    """What a user states, some of it under the names of an agent's options."""
    stated = {name: options.pop(name) for name in ("values", "unknown", "wins") if name in options}
    stated |= {f"spelling.{name}": value for name, value in spelling.items()}
    return FileOptions(stated=stated, **options)


def read(data: object, where: str = "f.json", **options: Any) -> Loaded:
    source, wanted = Source(where, encoded(data)), options_of(**options)
    found = recognise(source, wanted).load(source, wanted)
    assert isinstance(found, Loaded)
    return found


def entries(found: Loaded) -> dict[str, Any]:
    """What has been read, as a native file holds it."""
    return dict(found.state.learner.to_entries(found.state.table))


def refused(data: object, why: str | None = None, where: str = "f.json", **options: Any) -> InvalidFileError:
    """What is said of a file that is wrong, or leaves something open."""
    with pytest.raises(InvalidFileError, match=why) as caught:
        read(data, where, **options)
    return caught.value


def npy(array: object) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


def npz(**arrays: object) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def plays_as(state: State, program: Program, sides: str = "XO") -> None:
    """Assert that a state plays as a program, in every fifth position."""
    rows = [row for row, text in OPEN[::5] if mover(text) in sides]
    expected = np.zeros((len(rows), 9))
    for number, row in enumerate(rows):
        for cell, share in program(TEXTS[row]).items():
            expected[number, cell] = share
    found = state.policy.table(SPACE).played[rows]
    wrong = np.flatnonzero(~np.isclose(found, expected, rtol=1e-6, atol=1e-12).all(axis=1))
    assert not wrong.size, (TEXTS[rows[wrong[0]]], found[wrong[0]], expected[wrong[0]])


def reads_as(data: object, program: Program, sides: str = "XO", **options: Any) -> Loaded:
    """Assert that a file's content plays as a program."""
    found = read(data, **options)
    plays_as(found.state, program, sides)
    return found


def judged(data: object, program: Program, ties: str | None = None, **options: Any) -> Loaded:
    """Assert that a file plays as a program, and so does the state that it is imported as when it is read."""
    found = read(data, **options)
    state = found.state.with_play(None, ties) if ties else found.state
    again = parse(library.content(state), "again.json")
    plays_as(again, program)
    assert np.array_equal(*(one.policy.table(SPACE).played for one in (again, state)))
    assert state.size == again.size
    return found
