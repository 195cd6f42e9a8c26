"""Game records: the log ``games.jsonl`` of a store has a line for each finished game.

A game is logged before any state learns it, and a state's runs list the games that it has learned, so a crash
in between neither loses a game nor teaches it twice.
"""

import re
import secrets
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from numbers import Integral
from pathlib import Path
from typing import Any, Literal

import orjson

from ttt_cli.documents import CellFromOne, ResultKey, fields_of, optional
from ttt_cli.engine.game import Game
from ttt_cli.engine.rules import STANDARD, Rules
from ttt_cli.errors import InvalidFileError, NotationError, TttError, expect, notices
from ttt_cli.store.files import append_line, try_writing
from ttt_cli.store.locks import lock, lock_path
from ttt_cli.store.source import Source
from ttt_cli.store.state import State
from ttt_cli.store.text import load_json
from ttt_cli.store.typed import rules_of, validate

LOG = "games.jsonl"
LONGEST_LINE = 2**20  # bytes

_ID = re.compile(rb'\{"id":"([^"]*)"')


@dataclass(frozen=True)
class GameRecord:
    """One finished game and who played it: a line of a log.

    :ivar moves: the cells, numbered from 1.
    :ivar teaches: the states that should learn it, each by its path relative to the log's folder.
    :ivar end: ``resigned`` if the side to move resigned in an open position.
    """

    DOCUMENT = ("id", "rules", "moves", "result", "x", "o", "teaches", "end")

    moves: tuple[CellFromOne, ...]
    result: ResultKey
    x: str
    o: str
    rules: Rules = STANDARD
    teaches: tuple[str, ...] = ()
    end: Literal["resigned"] | None = optional()
    id: str = field(default_factory=lambda: secrets.token_hex(8))

    def __post_init__(self) -> None:
        """:raises UsageError: for a field of another type."""
        expect(Rules, self.rules)
        expect(str, self.id, self.x, self.o, *self.teaches)
        expect(Iterable, self.moves)
        moves = tuple(self.moves)
        expect(Integral, *moves)
        object.__setattr__(self, "moves", tuple(map(int, moves)))

    @property
    def resigned(self) -> bool:
        return self.end is not None

    def to_line(self) -> bytes:
        """The record as a line of JSON, without its end."""
        return orjson.dumps(fields_of(self))

    def game(self) -> Game:
        """Play the moves.

        :raises NotationError: if they cannot be played, or do not end the game with this result.
        """
        game = Game.of(self.rules, [cell - 1 for cell in self.moves], resigned=self.resigned)
        result = game.result.key if game.result is not None else ""
        if result != self.result:
            raise NotationError(f'"result" is {self.result!r}, but the moves give {result!r}')
        return game

    @classmethod
    def from_json(cls, found: Any, where: str) -> "GameRecord":
        """Read a record from its JSON object.

        :raises InvalidFileError: naming the key or the move that is wrong.
        """
        found = {"teaches": [], **found} if isinstance(found, dict) else found
        validate(found, cls, where)
        rules = rules_of(found["rules"], f'{where}: "rules"')
        lists = {name: tuple(found[name]) for name in ("moves", "teaches")}
        try:
            record = cls(**{**found, **lists, "rules": rules})
            record.game()
        except TttError as error:
            raise InvalidFileError(error.message, where=where, hint=error.hint) from None
        return record


def try_log(store: Path) -> None:
    """Raise TttError if a game that is about to begin cannot be recorded."""
    try:
        try_writing(store / LOG)
        if lock_path(store / LOG).parent.exists():
            lock(store / LOG, wait=10.0).close()
    except TttError as error:
        error.cli_hint = f"{error.hint}; --store DIR names another folder".removeprefix("; ")
        raise
    _refuse_other_file(store / LOG)


def record_game(store: Path, record: GameRecord) -> None:
    """Append a finished game to the store's log; on return it is safely on disk."""
    _refuse_other_file(store / LOG)
    append_line(store / LOG, record.to_line())


def _refuse_other_file(log: Path) -> None:
    # Whoever made the store may have made its log a link to anything.
    if log.is_symlink() and log.exists() and log.stat().st_size and not holds_games(log):
        raise InvalidFileError("is a link to a file that is not a log of games", where=str(log))


def holds_games(path: Path) -> bool:
    """Whether a file is a log of games, sound or damaged."""
    return path.is_file() and begins_a_log(Source(path).start.lstrip())


def begins_a_log(text: bytes) -> bool:
    """Whether the beginning of a file is that of a log of games, sound or damaged; a document of ``ttt
    review`` is not one."""
    is_record = text.startswith(b"{") and b'"moves"' in text and b'"result"' in text
    return is_record and not text.startswith(b'{"schema":"ttt-review"')


def each_record(
    path: Path, wanted: Callable[[bytes], bool] | None = None
) -> Iterator[tuple[int, "GameRecord | InvalidFileError"]]:
    """Yield the number and the game record, or the error, of each wanted line of a file. An incomplete last
    line of a log is skipped, since another process may be writing it."""
    for number, line in enumerate(Source(path, quiet=wanted is not None).lines(), 1):
        if line.strip() and (wanted is None or wanted(line)):
            where = f"{path}: line {number}"
            try:
                found = load_json(line.strip(), str(path), line=number, limit=LONGEST_LINE)
                yield number, GameRecord.from_json(found, where)
            except InvalidFileError as error:
                if f"line {number}" not in error.where:  # it names the file, and its hint is about that
                    error.where, error.hint = where, ""
                if line.endswith(b"\n") or path.name != LOG:
                    yield number, error


@dataclass
class SoundGames:
    """The sound game records in a file, read by iterating.

    :ivar wanted: whether to read a line; None: read all.
    :ivar left_out: the number of unsound lines so far.
    :ivar fault: the error of the first of them; raised in the end if all lines are wanted and none is sound.
    """

    path: Path
    wanted: Callable[[bytes], bool] | None = None
    left_out: int = 0
    fault: InvalidFileError | None = None

    def __iter__(self) -> Iterator[GameRecord]:
        sound = self.wanted is not None
        for _, record in each_record(self.path, self.wanted):
            if isinstance(record, GameRecord):
                sound = True
                yield record
            else:
                self.left_out += 1
                self.fault = self.fault or record
        if not sound:
            if self.fault and holds_games(self.path):
                raise self.fault
            hint = "expected one game per line, as in games.jsonl"
            if self.fault and b'"moves"' in Source(self.path).start:
                hint += f"; {self.fault}"
            raise InvalidFileError("holds no games", where=str(self.path), hint=hint)


def waiting_games(store: Path, name: str, state: State) -> Iterator[GameRecord]:
    """The games of the store's log that a state should learn and has not learned; a notice counts the lines
    that cannot be read.

    :param name: the name of the state in the log, as ``library.taught_name`` gives it.
    """
    log = store / LOG
    if not log.exists():
        return
    learned = state.learned_games
    quoted_name = orjson.dumps(name)

    def wanted(line: bytes) -> bool:
        # A log grows for years: most lines are recognised by their bytes, if nothing in them is escaped.
        found = _ID.match(line)
        is_learned = found and found[1].decode(errors="replace") in learned
        return b"\\" in line or (quoted_name in line and not is_learned)

    games = SoundGames(log, wanted)
    yield from (game for game in games if name in game.teaches and game.id not in learned)
    if games.fault:
        notices.warning("lines left out that cannot be read: %d; the first: %s", games.left_out, games.fault)
