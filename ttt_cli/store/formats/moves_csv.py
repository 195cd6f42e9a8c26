"""``moves-csv``: the article's experience book, CSV without a header.

A row has 11 integers: the 9 cells of the board before the move, X -1, O 1, empty 0; the move as a cell 1 to 9
with the mover's sign (- for X); the stage: plies - 1 of a won game (4, 6, 8: X has won; 5, 7: O has), 9 for a
draw. The order of the rows has no meaning, and no row is repeated.
"""

import re
from collections.abc import Iterable, Iterator

from ttt_cli.engine.position import Position
from ttt_cli.engine.rules import STANDARD
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.engine.symmetry import classes
from ttt_cli.learners.book import possible_stages, stages_of
from ttt_cli.store.formats.format import (
    ExportSource,
    FileOptions,
    ForeignTable,
    Format,
    Rejected,
    book_entries,
    sift,
)
from ttt_cli.store.source import Source
from ttt_cli.store.state import State
from ttt_cli.store.text import quoted

DRAW = 9  # the stage of a draw
ENDINGS = {stage: (stage + 1, "XO"[stage % 2]) for stage in range(DRAW)} | {DRAW: (STANDARD.cells, "draw")}
"""For each stage the plies of the games that end there, and their result."""
ODD = "no game with this move ends at this stage; the article's choice rule plays by it"
Row = tuple[str, int, int]
"""The position, the move (a cell from 1), the stage."""

_SYMBOLS = {-1: "X", 1: "O", 0: "."}
_INTS = {symbol: number for number, symbol in _SYMBOLS.items()}
_LINE = re.compile(",".join([r"\s*([+-]?[0-9]{1,3})\s*"] * 11))


def _row(line: str) -> Row | str:
    """The row in a line, or the fault in it."""
    match = _LINE.fullmatch(line)
    if not match:
        return f"expected 11 integers, found {quoted(line)}"
    *stones, move, stage = map(int, match.groups())
    if strange := [stone for stone in stones if stone not in _SYMBOLS]:
        return f"a cell holds -1 (X), 1 (O) or 0, not {strange[0]}"
    text, space = "".join(_SYMBOLS[stone] for stone in stones), StateSpace.of(STANDARD)
    if (index := space.index_of.get(text)) is None:
        return Position.reached(text, STANDARD).fault()
    moves = [-space.movers[index] * (cell + 1) for cell in space.legal[index].nonzero()[0]]
    if move not in moves:
        possible = ", ".join(map(str, moves)) or "none: the game is over"
        return f"the move in {text!r} is {move}; possible are {possible}"
    least = max(STANDARD.line * 2 - 2, int(space.plies[index]))
    if not least <= stage <= DRAW:
        return f"the stage is {stage}; from {text!r} games end at {least} to {DRAW}"
    return text, abs(move), stage


def to_bytes(rows: Iterable[Row]) -> bytes:
    """The file of a book's rows, sorted and without repetitions."""
    lines = set()
    for text, move, stage in rows:
        stones = [_INTS[symbol] for symbol in text]
        sign = 1 if sum(stones) < 0 else -1  # more X than O: O is to move
        lines.add((*stones, sign * move, stage))
    return "".join(",".join(map(str, line)) + "\n" for line in sorted(lines)).encode()


def _rows_of(state: State) -> Iterator[Row]:
    """The rows of a book; the rows of a class of positions apply to each position in it."""
    positions, entries = StateSpace.of(STANDARD), dict(state.learner.to_entries(state.table))
    keys, moves = positions.texts(), [list(range(STANDARD.cells))] * len(positions)
    if state.symmetric:
        keys, moves = classes(positions).positions.texts(), classes(positions).moves.tolist()
    for text, key, cells_of_class in zip(positions.texts(), keys, moves, strict=True):
        for move, plies, result, *_ in entries.get(key, ()):
            stage = DRAW if result == "draw" else plies - 1
            equivalent = [cell for cell, own in enumerate(cells_of_class, 1) if own + 1 == move]
            yield from ((text, cell, stage) for cell in equivalent)


class MovesCsv(Format):
    name = "moves-csv"
    about = "CSV without header, 11 integers: 9 cells (X -1, O 1), move, stage"
    learner = "book"
    holds = "table"
    rules = STANDARD
    endings = (".csv",)
    options = ("--best",)

    def recognises(self, source: Source, options: FileOptions) -> bool:
        return _LINE.fullmatch(source.first_line) is not None

    def read(self, source: Source, options: FileOptions) -> ForeignTable:
        """Rows that cannot be from a game are left out."""
        lines = [(number, line) for number, row in source.rows if (line := ",".join(row).strip())]
        found, rejected = sift(lines, _row, source.where)
        rows = dict.fromkeys(found.values())
        space, shortest, strange = StateSpace.of(STANDARD), stages_of(STANDARD)[0], set[str]()
        for line, (text, move, stage) in found.items():
            after = space.successors[space.index_of[text], move - 1]
            if not possible_stages(STANDARD)[after, stage - shortest]:
                strange.add(line)
        odd = (Rejected(f"line {number}", ODD) for number, line in lines if line in strange)
        notes, repaired = list[str](), list[str]()
        repeated = sum(line in found for _, line in lines) - len(rows)
        if repeated:  # no error: a book is a set of rows
            note = f"{repeated:,} repeated {'row was' if repeated == 1 else 'rows were'} dropped"
            (notes if options.strict else repaired).append(note)
        entries = book_entries({(text, move, *ENDINGS[stage]): 1 for text, move, stage in rows})
        return ForeignTable("book", entries, repaired=repaired, rejected=rejected, notes=notes, odd=odd)

    def write(self, player: ExportSource) -> list[bytes]:
        assert player.state is not None
        rows, index_of = _rows_of(player.state), StateSpace.of(STANDARD).index_of
        if player.best:
            played = player.policy.played > 0
            rows = (row for row in rows if played[index_of[row[0]], row[1] - 1])
        return [to_bytes(rows)]
