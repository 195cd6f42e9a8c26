"""Reading the entries of a state file: the position each is about, and how its faults are told."""

from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

import numpy as np

from ttt_cli.engine.position import SYMBOLS, Position
from ttt_cli.engine.positions import Bools, Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.symmetry import classes
from ttt_cli.errors import InvalidFileError, NotationError
from ttt_cli.learners.index import Index


def unfit(text: str, fault: str, *, hint: str = "") -> InvalidFileError:
    """The error that names the entry of a position."""
    return InvalidFileError(fault, where=f'"entries": {text[:80]!r}', hint=hint)


def indexed(
    rules: Rules, symmetric: bool, entries: Iterable[tuple[str, Any]]
) -> tuple[Index, Iterator[tuple[int, str, Any]]]:
    """An index with the positions of a file's entries, and the entries, each with its row.

    :raises InvalidFileError: naming the first text that is not a position of the board.
    """
    texts, found = [], []
    for text, entry in entries:
        texts.append(text)
        found.append(entry)
    for text in texts:
        if len(text) != rules.cells or text.strip(SYMBOLS):
            refuse(rules, text)
    positions = Positions.parse(texts, rules) if texts else Positions.start(rules)[:0]
    reachable = can_be_reached(positions)
    if symmetric and texts:
        own = classes(positions).positions
        reachable &= (own.x == positions.x) & (own.o == positions.o)
    if not reachable.all():
        refuse(rules, texts[int(np.argmin(reachable))])
    index = Index.over(positions, symmetric)
    return index, zip(index.find(positions).tolist(), texts, found, strict=True)


def refuse(rules: Rules, text: str) -> NoReturn:
    """Say why a text cannot be the key of an entry."""
    if len(text) != rules.cells:
        raise unfit(text, f"expected a position of {rules.cells} cells, found {len(text)}")
    try:
        Position(text, rules)
    except NotationError as error:
        raise unfit(text, str(error)) from None
    raise unfit(text, "a symmetric table holds the smallest text of each class, and this is not it")


def can_be_reached(positions: Positions) -> Bools:
    """bool[k]: the boards that a game can lead to: the sides have moved in turn, only the last to move has
    any line, and its last stone has made them all."""
    x_stones, o_stones = np.bitwise_count(positions.x), np.bitwise_count(positions.o)
    x_last = x_stones > o_stones
    fits = (x_stones == o_stones) | (x_stones == o_stones + 1)
    last = np.where(x_last, positions.x, positions.o)
    other = np.where(x_last, positions.o, positions.x)
    common = np.full(len(positions), 2**64 - 1, np.uint64)  # the cells that are in all lines
    for line in positions.rules.line_masks:
        mask = np.uint64(line)
        fits &= other & mask != mask
        common = np.where(last & mask == mask, common & mask, common)
    found: Bools = fits & (common != 0)
    return found


MOST = 2**53
"""The largest count in a file: what no program reaches, and a float still holds. A thousand files of such
counts can be merged before 63 bits overflow."""

LARGEST = 1e150
"""The largest value in a file, so that no weighted mean overflows."""


def is_count(value: Any) -> bool:
    """Whether a value from a file can count something."""
    return type(value) is int and 0 <= value <= MOST


def is_number(value: Any) -> bool:
    """Whether a value from a file is a number to reckon with: finite, and not absurdly large."""
    return type(value) in (int, float) and abs(value) <= LARGEST
