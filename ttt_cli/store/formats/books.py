"""Files that become a book: ``moves-csv``, the rows of its author's book; ``game-csv``, one game per row."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from ttt_cli.engine.game import Game
from ttt_cli.engine.position import Position
from ttt_cli.engine.rules import STANDARD, Rules
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.engine.symmetry import classes
from ttt_cli.errors import InvalidFileError, NotationError
from ttt_cli.learners.book import possible_stages, stages_of
from ttt_cli.store.foreign.values import namings
from ttt_cli.store.formats.format import ExportSource, FileOptions, ForeignTable, Format, Rejected
from ttt_cli.store.source import Source
from ttt_cli.store.state import State
from ttt_cli.store.text import quoted, to_csv

RowT = TypeVar("RowT")
Meaning = TypeVar("Meaning")
BookRow = tuple[str, int, int, str]
"""A row of a book: position, move (a cell from 1), plies of the game, result (``X``, ``O`` or ``draw``)."""

DRAW = 9  # the stage of a draw
ODD = "no game with this move ends at this stage; the article's choice rule plays by it"
MAX_WORDS = 20  # for results
ENOUGH = 0.5  # the least share of rows that must be games
SAMPLE = 100  # rows on which the ways to read a file are tried

_SYMBOLS = {-1: "X", 1: "O", 0: "."}
_INTS = {symbol: number for number, symbol in _SYMBOLS.items()}
_LINE = re.compile(",".join([r"\s*([+-]?[0-9]{1,3})\s*"] * 11))
_CELL = re.compile(r"[A-Za-z][0-9]|[0-9]")
_NO_MOVE = re.compile(r"(?<!\S)(-1|[?]|nan|None)(?!\S)")
_BETWEEN = re.compile(r"[\s,;:|>()\[\]'\"/-]*")
_RESULTS = {1: "X", -1: "O", 0: "draw"}


def _sift(
    rows: Sequence[tuple[int, RowT]], judge: Callable[[RowT], Meaning | str], where: str
) -> tuple[dict[RowT, Meaning], Iterator[Rejected]]:
    """Separate the distinct sound rows of a file, each with its meaning, from the rejected rows.

    :param rows: with the numbers of their lines.
    :param judge: returns the meaning of a row, or its fault, a string.
    :raises InvalidFileError: if no row is sound.
    """
    judgements = {row: judge(row) for row in dict.fromkeys(row for _, row in rows)}
    sound = {row: meaning for row, meaning in judgements.items() if not isinstance(meaning, str)}
    rejected = (Rejected(f"line {line}", str(judgements[row])) for line, row in rows if row not in sound)
    if rows and not sound:
        first = next(rejected)
        message = f"none of the {len(rows):,} rows can be from a game: {first.why}"
        raise InvalidFileError(message, where=f"{where}, {first.where}")
    return sound, rejected


def _entries(rows: Mapping[BookRow, int]) -> dict[str, list[Any]]:
    """The entries of a book, given how often each row was seen."""
    entries: dict[str, list[Any]] = {}
    for (text, *row), count in rows.items():
        entries.setdefault(text, []).append([*row, "", count])
    return entries


class MovesCsv(Format):
    """The article's experience book, CSV without a header.

    A row has 11 integers: the 9 cells of the board before the move, X -1, O 1, empty 0; the move as a cell 1
    to 9 with the mover's sign (- for X); the stage: plies - 1 of a won game (4, 6, 8: X has won; 5, 7: O
    has), 9 for a draw. The order of the rows has no meaning, and no row is repeated.
    """

    name = "moves-csv"
    about = "CSV without header, 11 integers: 9 cells (X -1, O 1), move, stage"
    learner = "book"
    holds = "table"
    rules = STANDARD
    suffixes = (".csv",)
    options = ("--best",)

    def recognises(self, source: Source, options: FileOptions) -> bool:
        return _LINE.fullmatch(source.first_line) is not None

    def read(self, source: Source, options: FileOptions) -> ForeignTable:
        """Rows that cannot be from a game are left out."""
        lines = [(number, line) for number, row in source.rows if (line := ",".join(row).strip())]
        found, rejected = _sift(lines, _row, source.where)
        rows = dict.fromkeys(found.values(), 1)
        strange = {line for line, row in found.items() if not _can_end(*row)}
        odd = (Rejected(f"line {number}", ODD) for number, line in lines if line in strange)
        notes, repaired = list[str](), list[str]()
        repeated = sum(line in found for _, line in lines) - len(rows)
        if repeated:
            note = f"{repeated:,} repeated {'row was' if repeated == 1 else 'rows were'} dropped"
            if options.strict:  # which refuses repairs, but a book is a set of rows
                notes.append(note)
            else:
                repaired.append(note)
        return ForeignTable(
            "book", _entries(rows), "article", repaired=repaired, rejected=rejected, notes=notes, odd=odd
        )

    def write(self, player: ExportSource) -> Iterable[bytes]:
        assert player.state is not None
        rows = _rows_of(player.state)
        if player.best:
            index_of = StateSpace.of(STANDARD).index_of
            played = player.table.played > 0
            rows = (row for row in rows if played[index_of[row[0]], row[1] - 1])
        return moves_csv(rows)


def _row(line: str) -> BookRow | str:
    """The row of a book in a line, or the fault in it."""
    match = _LINE.fullmatch(line)
    if not match:
        return f"expected 11 integers, found {quoted(line)}"
    *stones, move, stage = map(int, match.groups())
    if strange := [stone for stone in stones if stone not in _SYMBOLS]:
        return f"a cell holds -1 (X), 1 (O) or 0, not {strange[0]}"
    text = "".join(_SYMBOLS[stone] for stone in stones)
    space = StateSpace.of(STANDARD)
    index = space.index_of.get(text)
    if index is None:
        return Position.unchecked(text, STANDARD).fault()
    moves = [-space.movers[index] * (cell + 1) for cell in space.legal[index].nonzero()[0]]
    if move not in moves:
        possible = ", ".join(map(str, moves)) or "none: the game is over"
        return f"the move in {text!r} is {move}; possible are {possible}"
    least = max(STANDARD.line * 2 - 2, int(space.plies[index]))
    if not least <= stage <= DRAW:
        return f"the stage is {stage}; from {text!r} games end at {least} to {DRAW}"
    plies, result = (STANDARD.cells, "draw") if stage == DRAW else (stage + 1, "XO"[stage % 2])
    return text, abs(move), plies, result


def _stage(plies: int, result: str) -> int:
    return DRAW if result == "draw" else plies - 1


def _can_end(text: str, move: int, plies: int, result: str) -> bool:
    """Whether a game with this move can end so."""
    space = StateSpace.of(STANDARD)
    shortest = stages_of(STANDARD)[0]
    after = space.successors[space.index_of[text], move - 1]
    return bool(possible_stages(STANDARD)[after, _stage(plies, result) - shortest])


def moves_csv(rows: Iterable[BookRow]) -> Iterator[bytes]:
    """The file of a book's rows, sorted and without repetitions."""
    lines = set()
    for text, move, plies, result in rows:
        stones = [_INTS[symbol] for symbol in text]
        sign = 1 if sum(stones) < 0 else -1  # more X than O: O is to move
        lines.add((*stones, sign * move, _stage(plies, result)))
    return to_csv(sorted(lines))


def _rows_of(state: State) -> Iterator[BookRow]:
    """The rows of a book; the rows of a class of positions apply to each position in it."""
    positions = StateSpace.of(STANDARD)
    entries = dict(state.learner.to_entries(state.table))
    keys, moves = positions.texts(), [list(range(STANDARD.cells))] * len(positions)
    if state.symmetric:
        keys, moves = classes(positions).positions.texts(), classes(positions).cells.tolist()
    for text, key, cells_of_class in zip(positions.texts(), keys, moves, strict=True):
        for move, plies, result, *_ in entries.get(key, ()):
            equivalent = [cell for cell, own in enumerate(cells_of_class, 1) if own + 1 == move]
            yield from ((text, cell, plies, result) for cell in equivalent)


class GameCsv(Format):
    """One game per row, with its moves as cells and its result.

    The moves are in one field or in a field each, as 1 to 9, 0 to 8 or A1 to C3; the result is last or first,
    and who moved first may stand before the moves. What the names of cells and the words for results mean is
    found by playing the games: under the right reading they are legal, end with their last move, and end as
    they say. Letters may count rows or columns: a book of the mirrored games plays alike.
    """

    name = "game-csv"
    about = "CSV, one game per row: its moves as 1-9, 0-8 or A1-C3, and its result"
    learner = "book"
    holds = "table"

    def recognises(self, source: Source, options: FileOptions) -> bool:
        rows = [] if source.is_json else [row for _, row in _stripped(source)]
        return _best_layout(rows, options.rules or STANDARD) is not None

    def read(self, source: Source, options: FileOptions) -> ForeignTable:
        rows = _stripped(source)
        rules = options.rules or STANDARD
        layout = _best_layout([row for _, row in rows], rules)
        assert layout is not None  # it is recognised by this
        names = layout.names(rows[0][1])
        plies = [[str(ply) for ply in range(start, start + len(names))] for start in (0, 1)]
        is_header = names in plies or not layout.cells.keys() & names
        if is_header and layout.word(rows[0][1]) not in layout.results:
            del rows[0]
        times = Counter(row for _, row in rows)
        games, rejected = _sift(rows, lambda row: layout.checked_game(row, rules), source.where)
        counted: Counter[BookRow] = Counter()
        results = dict.fromkeys(("x", "o", "draw"), 0)
        for row, game in games.items():
            assert game.result is not None
            result = _RESULTS[game.result]
            results[result.lower()] += times[row]
            for text, cell in zip(game.texts(), game.moves, strict=False):
                counted[text, cell + 1, len(game.moves), result] += times[row]
        notes = [f"read as cells '{layout.naming}'"]
        starter = layout.starter
        if starter is not None and any(row[starter].lower() == "o" for row in games):
            notes.append("O moves first in some games of this file; whoever moves first is X here")
        elif layout.results.get("x") == -1 or layout.results.get("o") == 1:
            notes.append("O moves first in this file; whoever moves first is X here")
        entries = _entries(counted)
        return ForeignTable("book", entries, "default", rules, results, rejected=rejected, notes=notes)


def _stripped(source: Source) -> list[tuple[int, tuple[str, ...]]]:
    """The rows of a CSV file, without blanks around their fields, and their line numbers."""
    return [(number, tuple(item.strip() for item in row)) for number, row in source.rows]


@dataclass(frozen=True)
class _Layout:
    """A way to read rows as games.

    :ivar moves: the fields with moves; ``result``: the field with the result; ``starter``: the field with who
        moves first, if there is one.
    :ivar naming: how cells are named, in words; ``cells``: the cell of each name.
    :ivar results: the result that each word stands for.
    """

    moves: slice
    result: int
    starter: int | None = None
    naming: str = ""
    cells: Mapping[str, int] = field(default_factory=dict)
    results: Mapping[str, int] = field(default_factory=dict)

    def names(self, row: Sequence[str]) -> list[str]:
        """The names of the cells in a row; none if the fields hold anything else."""
        text = _NO_MOVE.sub("", " ".join(row[self.moves]))
        return [] if _BETWEEN.sub("", _CELL.sub("", text)) else _CELL.findall(text)

    def word(self, row: Sequence[str]) -> str:
        """The word for the result of a row, ``x`` being whoever moved first if a field says who that was."""
        word = row[self.result].lower()
        if self.starter is None:
            return word
        starter = row[self.starter].lower()
        if word not in ("x", "o") or starter not in ("x", "o"):
            return word
        return "x" if word == starter else "o"

    def game(self, row: Sequence[str], rules: Rules) -> Game | str:
        """The game of a row, whatever its result is called, or the fault in it."""
        names = self.names(row)
        if not names or not all(name in self.cells for name in names):
            return "the moves are not cells"
        try:
            return Game.of(rules, [self.cells[name] for name in names])
        except NotationError as error:
            return error.message

    def checked_game(self, row: Sequence[str], rules: Rules) -> Game | str:
        """The game of a row, or the fault in it."""
        game = self.game(row, rules)
        word = self.word(row)
        if isinstance(game, Game) and game.result is not None and self.results.get(word) != game.result:
            return f"the result is {quoted(word)}, but {_RESULTS[game.result]} is how the game ends"
        return game

    def with_results(self, rows: Iterable[Sequence[str]], rules: Rules) -> "_Layout":
        """The layout with the result that each word of some rows most often stands for."""
        seen: dict[str, Counter[int]] = {}
        for row in rows:
            game = self.game(row, rules)
            if isinstance(game, Game) and game.result is not None:
                seen.setdefault(self.word(row), Counter())[game.result] += 1
        results = {word: counts.most_common(1)[0][0] for word, counts in seen.items()}
        if "x" in results and results["x"] == results.get("o"):
            del results[min("xo", key=lambda word: seen[word].total())]
        return replace(self, results={} if len(results) > MAX_WORDS or "" in results else results)

    def with_rare_results(self, rows: Sequence[Sequence[str]], rules: Rules) -> "_Layout":
        """The layout with words that the sample lacks, for results that its words do not stand for."""
        rare = {self.word(row): row for row in rows if self.names(row)}
        found = self.with_results((row for word, row in rare.items() if word not in self.results), rules)
        more = {word: result for word, result in found.results.items() if result not in self.results.values()}
        return replace(self, results={**self.results, **more})


LAYOUTS = [_Layout(slice(start, -1), -1) for start in range(3)]
LAYOUTS += [_Layout(slice(1, -1), -1, starter=0), _Layout(slice(1, None), 0)]
"""The result last, perhaps after a number or a date of the game, or who moves first; or the result first."""


def _best_layout(rows: Sequence[Sequence[str]], rules: Rules) -> _Layout | None:
    """The layout in which the most rows are games, if they are enough."""
    sample = rows[:: max(1, len(rows) // SAMPLE)]
    shortest = min(2 * rules.line - 1, rules.cells)  # in moves
    best, most = None, 0
    for fields in LAYOUTS:
        games = [names for row in sample if len(names := fields.names(row)) >= shortest]
        for first in (0, 1):  # a header may look like cells: m1, m2, …
            written = sorted({name for names in games[first:] for name in names})
            for naming, cells in namings(written, rules):
                cell_of = dict(zip(written, cells.tolist(), strict=True))
                layout = replace(fields, naming=naming, cells=cell_of).with_results(sample, rules)
                many = sum(isinstance(layout.checked_game(row, rules), Game) for row in sample)
                if many > most:
                    best, most = layout, many
    is_enough = most >= ENOUGH * (len(sample) - 1)
    return best.with_rare_results(rows, rules) if best and is_enough else None
