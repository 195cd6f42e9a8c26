"""Reading the entries of a state file: the position each is about, and how its faults are told."""

from collections.abc import Collection, Iterable
from typing import Any

import numpy as np

from ttt_cli.engine.position import SYMBOLS, Position
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import Int64s, StateSpace
from ttt_cli.errors import InvalidFileError, NotationError

_DIGITS = str.maketrans(SYMBOLS, "012")


def unfit(text: str, fault: str, *, hint: str = "") -> InvalidFileError:
    """The error that names the entry of a position."""
    return InvalidFileError(fault, where=f'"entries": {text[:80]!r}', hint=hint)


def check_spelling(rules: Rules, texts: Iterable[str]) -> None:
    """Look whether texts can be positions of this board at all, before its space is made, which may be large.

    :raises InvalidFileError: naming the first that cannot.
    """
    for text in texts:
        if len(text) != rules.cells:
            raise unfit(text, f"expected a position of {rules.cells} cells, found {len(text)}")


def indexes(space: StateSpace, texts: Collection[str]) -> Int64s:
    """int64[k]: the index of the position that each text spells.

    :raises InvalidFileError: naming the first text that is no position of ``space``.
    """
    codes = [
        int(text.translate(_DIGITS), 3) if len(text) == space.cells and not text.strip(SYMBOLS) else -1
        for text in texts
    ]
    found = space.find(np.array(codes, np.int64))
    for text, index in zip(texts, found.tolist(), strict=True):
        if index < 0:
            check_spelling(space.rules, [text])
            try:
                Position(text, space.rules)
            except NotationError as error:
                raise unfit(text, str(error)) from None
            raise unfit(text, "a symmetric table holds the smallest text of each class, and this is not it")
    return found


def spelled(
    rules: Rules, symmetric: bool, entries: Iterable[tuple[str, Any]]
) -> tuple[StateSpace, dict[str, Any]]:
    """The space that entries are over, and the entries by text, which can be positions of the board."""
    given = dict(entries)
    check_spelling(rules, given)
    return StateSpace.of(rules, symmetric), given


def is_count(value: Any) -> bool:
    """Whether a value from a file can count something: a whole number from 0 that fits 63 bits."""
    return type(value) is int and 0 <= value < 2**63


def is_number(value: Any) -> bool:
    """Whether a value from a file is a finite number."""
    return type(value) in (int, float) and abs(value) < float("inf")
