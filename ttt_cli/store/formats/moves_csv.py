"""``moves-csv``: the experience book of the article, CSV without a header.

A row holds 11 integers: the 9 cells of the board before the move, with X = -1, O = 1 and 0 where it is free;
the move as the cell 1 to 9 with the mover's sign (- for X); the stage: plies - 1 of a won game (4, 6, 8: X
has won; 5, 7: O has), 9 for a draw. The order of the rows carries no meaning, and no row is there twice.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from operator import attrgetter
from typing import Any

import numpy as np

from ttt_cli.engine.arrays import Int64s
from ttt_cli.engine.rules import STANDARD
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.errors import InvalidFileError
from ttt_cli.store.formats.format import ExportOptions, ExportSource, Format
from ttt_cli.store.formats.imported import (
    MOST_REJECTED,
    Imported,
    Options,
    Rejected,
    Row,
    book,
    refuse,
    truncated,
    why_not,
)
from ttt_cli.store.formats.unfolding import full_entries
from ttt_cli.store.source import Source
from ttt_cli.store.text import BOM, decode, quoted

NAME = "moves-csv"
DRAW = 9
MOST_LINES = 400_000
"""There are 16,167 moves, each with six stages at most, and few ways to write a row."""

IN_ORDER = attrgetter("position", "move", "plies", "result")
_SYMBOLS = {-1: "X", 1: "O", 0: "."}
_INTS = {symbol: number for number, symbol in _SYMBOLS.items()}
_LINE = re.compile(",".join([r"\s*([+-]?[0-9]{1,3})\s*"] * 11))


def _text(line: bytes, lines: list[bytes], where: str, before: int) -> str:
    """A line as text; ``before``: the lines of the file before ``lines``.

    :raises InvalidFileError: naming the line if it is none.
    """
    if line.isascii() and b"\0" not in line:
        return line.decode()
    return decode(line, where, line=before + 1 + lines.index(line))


@lru_cache(maxsize=1 << 17)  # the same rows come in file after file
def _row(line: str) -> Row:
    """The row of a line.

    :raises InvalidFileError: with what is wrong.
    """
    match = _LINE.fullmatch(line)
    if not match:
        raise InvalidFileError(f"expected 11 integers, found {quoted(line)}")
    *stones, move, stage = map(int, match.groups())
    try:
        text = "".join(map(_SYMBOLS.__getitem__, stones))
    except KeyError as error:
        raise InvalidFileError(f"a cell holds -1 (X), 1 (O) or 0, not {error.args[0]}") from None
    space, index_of, _ = _stages()
    index = index_of.get(text, -1)
    if index < 0:
        raise InvalidFileError(why_not(text))
    if space.terminal[index]:
        raise InvalidFileError(f"nobody moves in {text!r}: the game is over")
    sign, mover = (-1, "X") if sum(stones) == 0 else (1, "O")
    if not 1 <= abs(move) <= STANDARD.cells:
        raise InvalidFileError(f"a move is a cell from 1 to 9, not {move}")
    if move * sign < 0:
        raise InvalidFileError(f"{mover} is to move, but the move is {move} ({'XO'[move > 0]}'s sign)")
    cell = abs(move)
    if text[cell - 1] != ".":
        raise InvalidFileError(f"cell {cell} is taken by {text[cell - 1]}")
    if not STANDARD.line * 2 - 2 <= stage <= DRAW:
        raise InvalidFileError(f"a stage is from 4 to 9, not {stage}")
    if stage < (stones_down := STANDARD.cells - text.count(".")):
        raise InvalidFileError(f"stage {stage} is over with {stones_down} stones on the board")
    if stage == DRAW:
        return Row(text, cell, STANDARD.cells, "draw")
    return Row(text, cell, stage + 1, "XO"[stage % 2])


def is_possible(row: Row) -> bool:
    """Whether a game through a row's move can end as the row says."""
    space, index_of, stages = _stages()
    stage = DRAW if row.result == "draw" else row.plies - 1
    return bool(stages[space.successors[index_of[row.position], row.move - 1]] >> stage & 1)


@lru_cache(maxsize=1)
def _stages() -> tuple[StateSpace, dict[str, int], Int64s]:
    """The usual space, the index of each text, and the stages at which games through each position can end,
    as a set of bits (int64[n])."""
    space = StateSpace.of(STANDARD)
    stage = np.where(space.results != 0, space.plies.astype(np.int64) - 1, DRAW)
    stages = np.where(space.terminal, 1 << stage, 0)
    for layer in space.backwards():
        after = space.successors[layer]
        stages[layer] |= np.bitwise_or.reduce(np.where(after >= 0, stages[after], 0), axis=1)
    return space, space.index_of, stages


def to_bytes(rows: Iterable[Row]) -> bytes:
    """A book's rows, sorted, each once."""
    lines = set()
    for row in rows:
        stones = [_INTS[symbol] for symbol in row.position]
        move = row.move if sum(stones) < 0 else -row.move  # more X than O: O is to move
        lines.add((*stones, move, DRAW if row.result == "draw" else row.plies - 1))
    return "".join(",".join(map(str, line)) + "\n" for line in sorted(lines)).encode()


def _turned(rows: Any, moves: list[int]) -> Any:
    """An entry of a book: rows that begin with the cell, from 1."""
    return [[cell + 1, *row[1:]] for cell, move in enumerate(moves) for row in rows if row[0] == move + 1]


class MovesCsv(Format):
    """An experience book."""

    name = NAME
    about = "CSV without header, 11 integers: 9 cells (X -1, O 1), move, stage"
    learner = "book"
    holds = "table"
    written = True
    rules = STANDARD
    endings = (".csv",)
    options = ("--best",)
    in_blocks = True

    def recognises(self, source: Source, options: Options) -> bool:
        """Whether a file's first line looks like a row, right or wrong."""
        return _LINE.fullmatch(source.first_line) is not None

    def read(self, source: Source, options: Options) -> Imported:
        """The book of an experience file; rows that cannot be from a game are left out, with their lines.

        Only the different rows are held, each checked once.

        :raises InvalidFileError: where no row can be from a game; under ``options.strict`` where one cannot.
        """
        rows: dict[bytes, Row] = {}
        blank: set[bytes] = set()
        wrong: dict[bytes, str] = {}
        rejected: list[Rejected] = []
        number = total = left_out = 0
        where = source.where
        for block in source.blocks():
            lines = block.removeprefix(BOM if number == 0 else b"").split(b"\n")
            different = set(lines)
            for line in different.difference(rows, wrong, blank):
                if not line.strip():
                    blank.add(line)
                    continue
                text = _text(line, lines, where, number)
                try:
                    row = _row(text.strip())
                    if options.strict and not is_possible(row):
                        stage = DRAW if row.result == "draw" else row.plies - 1
                        raise InvalidFileError(f"no game through this move ends at stage {stage}")
                    rows[line] = row
                except InvalidFileError as error:
                    wrong[line] = error.message
            if len(rows) + len(wrong) > MOST_LINES:
                raise InvalidFileError(
                    f"has more than {MOST_LINES:,} different rows, more than any book", where=where
                )
            total += len(lines) - sum(map(lines.count, blank & different))
            if not different.isdisjoint(wrong):
                for at, line in enumerate(lines, number + 1):
                    if line in wrong:
                        left_out += 1
                        if len(rejected) < MOST_REJECTED:
                            rejected.append(Rejected(f"line {at}", wrong[line]))
            number += len(lines) - 1
        kept = set(rows.values())
        odd = sum(not is_possible(row) for row in kept)
        notes = []
        if odd:
            were = "row says that a game ends" if odd == 1 else "rows say that games end"
            notes.append(f"{odd:,} {were} as none can; the author's choice plays by such rows")
        refuse(rejected, total, options.strict, "a game", where, count=left_out)
        repaired = []
        if twice := total - left_out - len(kept):
            repaired.append(f"{twice:,} {'row was' if twice == 1 else 'rows were'} there before and dropped")
        left = truncated(rejected, left_out)
        return book(NAME, sorted(kept, key=IN_ORDER), repaired=repaired, rejected=left, notes=notes)

    def write(self, player: ExportSource, wanted: ExportOptions) -> list[bytes]:
        """The rows of a book's state; if ``wanted.best``, those of the moves that it would play."""
        state, space = player.state, StateSpace.of(STANDARD)
        assert state is not None
        played = dict(zip(space.texts, player.policy.support, strict=True)) if wanted.best else {}
        rows = (
            Row(text, move, plies, result)
            for text, rows in full_entries(state, _turned).items()
            for move, plies, result, *_ in rows
            if not wanted.best or played[text][move - 1]
        )
        return [to_bytes(rows)]
