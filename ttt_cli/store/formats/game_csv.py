"""Records of games, CSV: a game a row, its moves as cells and its result. They become a book.

The moves stand in one field or in a field each, as 1 to 9, 0 to 8 or A1 to C3. What the fields and the words
for the results mean is found by playing the games: under the right reading they are legal, end with their
last move, and end as they say. Letters may count the rows or the columns: a book of the mirrored games plays
alike.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ttt_cli.engine.game import Game
from ttt_cli.engine.rules import STANDARD
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.errors import InvalidFileError, NotationError
from ttt_cli.store.formats.format import Format
from ttt_cli.store.formats.imported import Imported, Options, Rejected, Row, book, refuse, truncated
from ttt_cli.store.source import Source
from ttt_cli.store.text import quoted
from ttt_cli.store.unknown.cell_values import namings

NAME = "game-csv"
MOST_WORDS = 20
"""The most different words for results that make sense."""
ENOUGH = 0.5
"""The least share of rows that have to be games in a file of games."""
SAMPLE = 100
"""Rows on which the ways to read a file are tried."""

_CELL = re.compile(r"[A-Za-z][0-9]|[0-9]")
_BETWEEN = re.compile(r"[\s,;:|>()\[\]'\"/-]*")
_RESULTS = {1: "X", -1: "O", 0: "draw"}


@dataclass(frozen=True)
class _Layout:
    """Where the moves and the result stand in a row.

    :ivar moves: the first field with moves; the only one, if not ``spread``.
    :ivar result: the field with the result, from the left or (negative) from the right.
    """

    moves: int
    spread: bool
    result: int

    def names(self, row: Sequence[str]) -> list[str] | None:
        """The cells of a row's moves, as written."""
        if not self.spread:
            text = row[self.moves] if self.moves < len(row) else ""
            return _CELL.findall(text) if not _BETWEEN.sub("", _CELL.sub("", text)) else None
        fields = [field for field in row[self.moves : self.result if self.result < 0 else None] if field]
        return fields if all(_CELL.fullmatch(field) for field in fields) else None

    def word(self, row: Sequence[str]) -> str:
        """The result of a row, as written."""
        return row[self.result].lower() if -len(row) <= self.result < len(row) else ""


@dataclass(frozen=True)
class _Meaning:
    """How rows are to be read: the layout, the cell of each name, the result that each word stands for."""

    layout: _Layout
    words: str
    cells: dict[str, int]
    results: dict[str, int]

    def play(self, row: Sequence[str], space: StateSpace) -> Game:
        """The game of a row.

        :raises NotationError: with what is wrong with it.
        """
        names = self.layout.names(row)
        if names is None or not all(name in self.cells for name in names):
            raise NotationError(f"no cells in {quoted(' '.join(row))}")
        return Game.of(space.rules, [self.cells[name] for name in names])


def _learnt(meaning: _Meaning, row: Sequence[str], space: StateSpace) -> list[Row] | str:
    """What a book learns from a row, or why it does not."""
    try:
        game = meaning.play(row, space)
    except NotationError as error:
        return error.message
    word = meaning.layout.word(row)
    assert game.result is not None
    if meaning.results.get(word) != game.result:
        return f"the result is {quoted(word)}, but {_RESULTS[game.result]} is how the game ends"
    plies, result = len(game.moves), _RESULTS[game.result]
    return [Row(text, cell + 1, plies, result) for text, cell in zip(game.texts(), game.moves, strict=False)]


def _meaning_of(source: Source, options: Options) -> _Meaning | None:
    space = StateSpace.of(options.rules or STANDARD)
    return _meaning([row for _, row in _stripped(source)], space, options)


def _stripped(source: Source) -> list[tuple[int, list[str]]]:
    return [(number, [field.strip() for field in row]) for number, row in source.rows]


def _meaning(rows: Sequence[Sequence[str]], space: StateSpace, options: Options) -> _Meaning | None:
    """The reading under which the most rows are games, if they are enough."""
    sample = rows[:: max(1, len(rows) // SAMPLE)]
    shortest = int(space.plies[space.terminal].min())
    found: list[tuple[int, _Meaning]] = []
    for layout in _layouts(sample):
        games = [names for row in sample if len(names := layout.names(row) or ()) >= shortest]
        if len(games) < ENOUGH * (len(sample) - 1):
            continue
        for words, cells in namings({name for names in games for name in names}, space.rules):
            if options.spelling.get("cells", words) != words:
                continue
            meaning = _with_results(_Meaning(layout, words, cells, {}), sample, space)
            played = sum(isinstance(_learnt(meaning, row, space), list) for row in sample)
            found.append((played, meaning))
    if not found:
        return None
    played, meaning = max(found, key=lambda item: item[0])
    return meaning if played >= max(1, ENOUGH * (len(sample) - 1)) else None


def _layouts(sample: Sequence[Sequence[str]]) -> Iterator[_Layout]:
    width = max(map(len, sample), default=0)
    if width > 64:
        return
    for result in (-1, 0, *range(1, width - 1)):
        for moves in range(min(width, 4)):
            if moves != result % width:
                yield _Layout(moves, False, result)
            if moves <= 2 and result in (-1, *range(moves)):
                yield _Layout(moves, True, result)


def _with_results(meaning: _Meaning, sample: Sequence[Sequence[str]], space: StateSpace) -> _Meaning:
    """With the result that each word most often stands for."""
    seen: dict[str, Counter[int]] = {}
    for row in sample:
        try:
            game = meaning.play(row, space)
        except NotationError:
            continue
        assert game.result is not None
        seen.setdefault(meaning.layout.word(row), Counter())[game.result] += 1
    results = {word: counts.most_common(1)[0][0] for word, counts in seen.items()}
    if "x" in results and results["x"] == results.get("o"):
        del results[min("xo", key=lambda word: seen[word].total())]
    if len(results) > MOST_WORDS or "" in results:
        results = {}
    return _Meaning(meaning.layout, meaning.words, meaning.cells, results)


class GameCsv(Format):
    """Games, one a row."""

    name = NAME
    about = "CSV, a game a row: its moves as 1-9, 0-8 or A1-C3, and its result"
    learner = "book"
    holds = "table"

    def recognises(self, source: Source, options: Options) -> bool:
        """Whether the rows of a file are games, most of them."""
        return not source.is_json and _meaning_of(source, options) is not None

    def read(self, source: Source, options: Options) -> Imported:
        """The book of a file of games; games that cannot be, or end otherwise than they say, are left out.

        :raises InvalidFileError: if the rows are no games; under ``options.strict`` if one is not.
        """
        meaning, where = _meaning_of(source, options), source.where
        if meaning is None:
            raise InvalidFileError(
                "the rows are not finished games", where=where, hint="expected moves and a result in each"
            )
        rules = options.rules or STANDARD
        space, rows = StateSpace.of(rules), _stripped(source)
        if (
            rows
            and meaning.layout.word(rows[0][1]) not in meaning.results
            and meaning.layout.names(rows[0][1]) in ([], None)
        ):
            rows = rows[1:]  # a header
        times = Counter(tuple(row) for _, row in rows)
        learnt = {row: _learnt(meaning, row, space) for row in times}
        counted: Counter[Row] = Counter()
        results = dict.fromkeys(("x", "o", "draw"), 0)
        for row, found in learnt.items():
            if not isinstance(found, str):
                results[found[0].result.lower()] += times[row]
                for item in found:
                    counted[item] += times[row]
        rejected = [
            Rejected(f"line {number}", why)
            for number, row in rows
            if isinstance(why := learnt[tuple(row)], str)
        ]
        refuse(rejected, len(rows), options.strict, "a finished game", where)
        kept = sorted(
            Row(row.position, row.move, row.plies, row.result, count) for row, count in counted.items()
        )
        notes = [f"cells: {meaning.words}"]
        if meaning.results.get("x") == -1 or meaning.results.get("o") == 1:
            notes.append("O moves first in this file; whoever moves first is X here")
        return book(
            NAME,
            kept,
            choice="default",
            rules=rules,
            games=len(rows) - len(rejected),
            results=results,
            rejected=truncated(rejected),
            notes=notes,
        )
