"""Commands as line filters: with ``-`` for a position they read positions from stdin, one a line, and write
one line for each as soon as it has come in. So they serve a program that waits for each answer as well as a
file of millions of lines.
"""

from collections.abc import Iterator
from itertools import compress
from typing import TYPE_CHECKING

from ttt_cli.environment import Environment
from ttt_cli.errors import NotationError

if TYPE_CHECKING:
    from ttt_cli.engine.positions import Positions
    from ttt_cli.engine.rules import Rules

CHUNK = 1 << 18
"""Bytes read at a time, at most; what has come in is answered before more is waited for."""

KEPT = 1 << 18
"""How many different lines are remembered for when they come again."""


class Remembered:
    """The different positions that have been read, so that each is looked at once.

    :ivar positions: one for each different line.
    """

    def __init__(self, positions: "Positions") -> None:
        self.positions = positions
        self._rows: dict[str, int | None] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def rows(self, lines: list[str]) -> list[int | None]:
        """Where in ``positions`` each line is; None for what is not a position."""
        from ttt_cli.engine.positions import Positions

        if new := [line for line in dict.fromkeys(lines) if line not in self._rows]:
            found, positions = _parsed(new, self.positions.rules)
            self._rows.update(dict.fromkeys(new))
            self._rows.update((line, row) for row, line in enumerate(found, len(self.positions)))
            self.positions = Positions.concatenate([self.positions, positions])
        return [self._rows[line] for line in lines]


def read_positions(env: Environment, rules: "Rules") -> Iterator[tuple[Remembered, list[int]]]:
    """The positions on stdin, as many at a time as have come in: all that are remembered, and which of them
    came in; blank lines are passed over. What is remembered is now and then begun anew.

    :raises NotationError: at the first line that is not a position, once those before it have been yielded.
    """
    from ttt_cli.engine.positions import Positions

    remembered = Remembered(Positions.of([], rules))
    before = 0  # lines before those in hand
    for lines in _read_lines(env):
        if len(remembered) > KEPT:
            remembered = Remembered(Positions.of([], rules))
        found = remembered.rows(lines)
        rows = [row for row in found if row is not None]
        if len(rows) == len(lines):
            yield remembered, rows
        else:
            bad = next((at for at, line in enumerate(lines) if found[at] is None and line.strip()), None)
            yield remembered, [row for row in found[:bad] if row is not None]
            if bad is not None:
                _complain(lines[bad], rules, before + bad + 1)
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
        if len(rest) > CHUNK:  # never a position, however it goes on
            yield [rest[:100].decode("utf-8", "backslashreplace") + "..."]
            return
    if rest:
        yield [rest.decode("utf-8", "backslashreplace")]


def _parsed(lines: list[str], rules: "Rules") -> "tuple[list[str], Positions]":
    """Those of the lines that are positions, and the positions."""
    from ttt_cli.engine.position import SYMBOLS, Position
    from ttt_cli.engine.positions import Positions

    texts = {}
    for line in lines:
        text = line.strip()
        if len(text) != rules.cells or text.strip(SYMBOLS):
            try:
                text = Position.parse(text, rules).text
            except NotationError:
                continue
        texts[line] = text
    positions = Positions.parse(list(texts.values()), rules)
    sound = positions.reachable
    return list(compress(texts, sound.tolist())), positions[sound]


def _complain(line: str, rules: "Rules", number: int) -> None:
    from ttt_cli.engine.position import Position

    try:
        Position.parse(line if len(line) <= 1000 else f"{line[:100]}...", rules)
    except NotationError as error:
        raise NotationError(error.message, where=f"line {number}", hint=error.hint) from None
