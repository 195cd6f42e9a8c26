"""``game-csv``: games, one a row, with their moves as cells and their results. They become a book.

The moves are in one field or in a field each, as 1 to 9, 0 to 8 or A1 to C3; the result is last or first, and
who moved first may stand before the moves. What the names of cells and the words for results mean is found by
playing the games: under the right reading they are legal, end with their last move, and end as they say.
Letters may count rows or columns: a book of the mirrored games plays alike.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ttt_cli.engine.game import Game
from ttt_cli.engine.rules import STANDARD, Rules
from ttt_cli.errors import NotationError
from ttt_cli.store.foreign.values import namings
from ttt_cli.store.formats.format import BookRow, FileOptions, ForeignTable, Format, book_entries, sift
from ttt_cli.store.source import Source
from ttt_cli.store.text import quoted

MAX_WORDS = 20  # for results
ENOUGH = 0.5  # the least share of rows that must be games
SAMPLE = 100  # rows on which the ways to read a file are tried

_CELL = re.compile(r"[A-Za-z][0-9]|[0-9]")
_NO_MOVE = re.compile(r"(?<!\S)(-1|[?]|nan|None)(?!\S)")
_BETWEEN = re.compile(r"[\s,;:|>()\[\]'\"/-]*")
_RESULTS = {1: "X", -1: "O", 0: "draw"}


@dataclass(frozen=True)
class _Layout:
    """A way to take rows for games.

    :ivar moves: the fields with moves; result: the field with the result; starter: that with who moves first.
    :ivar words: the naming of cells, in words; cells: the cell of each name.
    :ivar results: the result that each word stands for; None: not known yet.
    """

    moves: slice
    result: int
    starter: int | None = None
    words: str = ""
    cells: Mapping[str, int] = field(default_factory=dict)
    results: Mapping[str, int] | None = None

    def names(self, row: Sequence[str]) -> list[str]:
        """The names of the cells in a row; none if the fields hold anything else."""
        text = _NO_MOVE.sub("", " ".join(row[self.moves]))
        return [] if _BETWEEN.sub("", _CELL.sub("", text)) else _CELL.findall(text)

    def word(self, row: Sequence[str]) -> str:
        """The word for the result of a row, ``x`` being whoever moved first if a field says who that was."""
        word = row[self.result].lower()
        if self.starter is not None and {word, starter := row[self.starter].lower()} <= {"x", "o"}:
            return "x" if word == starter else "o"
        return word

    def game(self, row: Sequence[str], rules: Rules) -> Game | str:
        """The game of a row, or the fault in it."""
        names, word = self.names(row), self.word(row)
        if not names or not all(name in self.cells for name in names):
            return "the moves are not cells"
        try:
            game = Game.of(rules, [self.cells[name] for name in names])
        except NotationError as error:
            return error.message
        assert game.result is not None
        if self.results is not None and self.results.get(word) != game.result:
            return f"the result is {quoted(word)}, but {_RESULTS[game.result]} is how the game ends"
        return game

    def with_results(self, sample: Sequence[Sequence[str]], rules: Rules) -> "_Layout":
        """The reading with the result that each word most often stands for."""
        seen: dict[str, Counter[int]] = {}
        for row in sample:
            if isinstance(game := self.game(row, rules), Game) and game.result is not None:
                seen.setdefault(self.word(row), Counter())[game.result] += 1
        results = {word: counts.most_common(1)[0][0] for word, counts in seen.items()}
        if "x" in results and results["x"] == results.get("o"):
            del results[min("xo", key=lambda word: seen[word].total())]
        return replace(self, results={} if len(results) > MAX_WORDS or "" in results else results)

    def with_rare_results(self, rows: Sequence[Sequence[str]], rules: Rules) -> "_Layout":
        """The reading with words that the sample lacks, for results that its words do not stand for."""
        known = self.results or {}
        rare = {self.word(row): row for row in rows if self.names(row)}
        unseen = [row for word, row in rare.items() if word not in known]
        found = replace(self, results=None).with_results(unseen, rules).results or {}
        more = {word: result for word, result in found.items() if result not in known.values()}
        return replace(self, results={**known, **more})


LAYOUTS = [_Layout(slice(start, -1), -1) for start in range(3)]
LAYOUTS += [_Layout(slice(1, -1), -1, starter=0), _Layout(slice(1, None), 0)]
"""The result last, perhaps after a number or a date of the game, or who moves first; or the result first."""


def _layout(rows: Sequence[Sequence[str]], rules: Rules) -> _Layout | None:
    """The reading under which the most rows are games, if they are enough."""
    sample, shortest = rows[:: max(1, len(rows) // SAMPLE)], min(2 * rules.line - 1, rules.cells)
    enough, best, most = ENOUGH * (len(sample) - 1), None, 0
    for layout in LAYOUTS:
        games = [names for row in sample if len(names := layout.names(row)) >= shortest]
        for first in (0, 1):  # a header may look like cells: m1, m2, …
            written = sorted({name for names in games[first:] for name in names})
            for words, named in namings(written, rules):
                cells = dict(zip(written, named.tolist(), strict=True))
                reading = replace(layout, words=words, cells=cells).with_results(sample, rules)
                played = sum(isinstance(reading.game(row, rules), Game) for row in sample)
                if played > most:
                    best, most = reading, played
    return best.with_rare_results(rows, rules) if best and most >= enough else None


class GameCsv(Format):
    """Games, one a row."""

    name = "game-csv"
    about = "CSV, a game a row: its moves as 1-9, 0-8 or A1-C3, and its result"
    learner = "book"
    holds = "table"

    def recognises(self, source: Source, options: FileOptions) -> bool:
        rows = [] if source.is_json else [[item.strip() for item in row] for _, row in source.rows]
        return _layout(rows, options.rules or STANDARD) is not None

    def read(self, source: Source, options: FileOptions) -> ForeignTable:
        rows = [(number, tuple(item.strip() for item in row)) for number, row in source.rows]
        rules = options.rules or STANDARD
        reading = _layout([row for _, row in rows], rules)
        assert reading is not None and reading.results is not None  # it is recognised by this
        names = reading.names(rows[0][1])
        numbers = [[str(ply) for ply in range(start, start + len(names))] for start in (0, 1)]
        is_header = names in numbers or not reading.cells.keys() & names
        if is_header and reading.word(rows[0][1]) not in reading.results:
            del rows[0]
        times = Counter(row for _, row in rows)
        games, rejected = sift(rows, lambda row: reading.game(row, rules), source.where)
        counted: Counter[BookRow] = Counter()
        results = dict.fromkeys(("x", "o", "draw"), 0)
        for row, game in games.items():
            assert game.result is not None
            result = _RESULTS[game.result]
            results[result.lower()] += times[row]
            for text, cell in zip(game.texts(), game.moves, strict=False):
                counted[text, cell + 1, len(game.moves), result] += times[row]
        notes = [f"read as cells '{reading.words}'"]
        starter = reading.starter
        if starter is not None and any(row[starter].lower() == "o" for row in games):
            notes.append("O moves first in some games of this file; whoever moves first is X here")
        elif reading.results.get("x") == -1 or reading.results.get("o") == 1:
            notes.append("O moves first in this file; whoever moves first is X here")
        entries = book_entries(counted)
        return ForeignTable("book", entries, "default", rules, results, rejected=rejected, notes=notes)
