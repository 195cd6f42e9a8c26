"""Commands as line filters: with ``-`` for a position they read positions from stdin, one a line, and write
one line for each as soon as it has come in. So they serve a program that waits for each answer as well as a
file of millions of lines.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from ttt_cli.environment import Environment
from ttt_cli.errors import NotationError

if TYPE_CHECKING:
    from ttt_cli.engine.state_space import StateSpace

T = TypeVar("T", bound=Hashable)

CHUNK = 1 << 18
"""Bytes read at a time, at most; what has come in is answered before more is waited for."""

KEPT = 1 << 18
"""How many positions, and answers, are remembered for when they come again."""


def read_positions(env: Environment, space: "StateSpace") -> Iterator[list[int]]:
    """The indexes of the positions on stdin, as many at a time as have come in; blank lines are passed over.

    :raises NotationError: at the first line that is no position, once those before it have been yielded.
    """
    known: dict[str, int | None] = {}
    before = 0  # lines before those in hand
    for lines in _read_lines(env):
        if len(known) > KEPT:
            known.clear()
        known.update(_located(space, [line for line in dict.fromkeys(lines) if line not in known]))
        found = [known.get(line) for line in lines]
        indexes = [index for index in found if index is not None]
        if len(indexes) == len(lines):
            yield indexes
        else:
            bad = next((at for at, line in enumerate(lines) if found[at] is None and line.strip()), None)
            yield [index for index in found[:bad] if index is not None]
            if bad is not None:
                _complain(lines[bad], space, before + bad + 1)
        before += len(lines)


def _read_lines(env: Environment) -> Iterator[list[str]]:
    """The lines of stdin, as many at a time as have come in."""
    stream = getattr(env.stdin, "buffer", None)
    if stream is None:
        yield env.stdin.read().splitlines()
        return
    rest = b""
    while chunk := stream.read1(CHUNK):
        *lines, rest = (rest + chunk).split(b"\n")
        yield [line.decode("utf-8", "backslashreplace") for line in lines]
    if rest:
        yield [rest.decode("utf-8", "backslashreplace")]


def _located(space: "StateSpace", lines: list[str]) -> Iterator[tuple[str, int]]:
    """Those of the lines that are positions, with their indexes."""
    import numpy as np

    from ttt_cli.engine.position import SYMBOLS, Position

    texts = {}
    for line in lines:
        text = line.strip()
        if len(text) != space.cells or text.strip(SYMBOLS):
            try:
                text = Position.parse(text, space.rules).text
            except NotationError:
                continue
        texts[line] = text
    joined = np.frombuffer("".join(texts.values()).encode(), np.uint8).reshape(-1, space.cells)
    codes = np.zeros(len(joined), np.int64)
    for column in np.searchsorted(np.frombuffer(SYMBOLS.encode(), np.uint8), joined).T:
        codes = 3 * codes + column
    indexes = space.find(codes).tolist()
    return ((line, index) for line, index in zip(texts, indexes, strict=True) if index >= 0)


def _complain(line: str, space: "StateSpace", number: int) -> None:
    from ttt_cli.engine.position import Position

    try:
        Position.parse(line, space.rules)
    except NotationError as error:
        raise NotationError(error.message, where=f"line {number}", hint=error.hint) from None


def remembered(answer: Callable[[list[T]], Iterable[str]]) -> Callable[[Sequence[T]], list[str]]:
    """``answer``, which gives a line for each of some questions, called for those alone that are new."""
    known: dict[T, str] = {}

    def lines(questions: Sequence[T]) -> list[str]:
        if len(known) > KEPT:
            known.clear()
        if new := [question for question in dict.fromkeys(questions) if question not in known]:
            known.update(zip(new, answer(new), strict=True))
        return [known[question] for question in questions]

    return lines
