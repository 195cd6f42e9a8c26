"""Game records: the log ``games.jsonl`` of a store, one finished game a line, and reading it.

A game is written here before any state learns it, and a state's ``play`` records list the games that it has
learned, so a crash in between neither loses a game nor teaches it twice.
"""

import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from ttt_cli.engine.game import Game
from ttt_cli.engine.rules import Rules
from ttt_cli.errors import InvalidFileError, TttError, UsageError
from ttt_cli.store.files import append_line
from ttt_cli.store.reading import read_lines
from ttt_cli.store.state import State
from ttt_cli.store.strict_json import load_json

LOG = "games.jsonl"

_START = b'{"id":"'
_KEYS = {"id", "rules", "moves", "result", "x", "o"}
_OPTIONAL = {"teaches", "end"}


@dataclass(frozen=True)
class GameRecord:
    """One finished game and who played it.

    :ivar moves: the cells, numbered from 0.
    :ivar result: ``x``, ``o`` or ``draw``.
    :ivar teaches: the states that are to learn it, by name.
    :ivar resigned: whether the side to move gave up in an open position.
    """

    moves: tuple[int, ...]
    result: str
    x: str
    o: str
    rules: Rules = field(default_factory=Rules)
    teaches: tuple[str, ...] = ()
    resigned: bool = False
    id: str = field(default_factory=lambda: secrets.token_hex(8))

    def fields(self) -> dict[str, Any]:
        """The record as JSON has it."""
        rules = {"rows": self.rules.rows, "cols": self.rules.cols, "line": self.rules.line}
        fields: dict[str, Any] = {
            "id": self.id,
            "rules": rules,
            "moves": [cell + 1 for cell in self.moves],
            "result": self.result,
            "x": self.x,
            "o": self.o,
            "teaches": list(self.teaches),
        }
        if self.resigned:
            fields["end"] = "resigned"
        return fields

    def to_line(self) -> bytes:
        """The record as a line of JSON, without the line end."""
        return orjson.dumps(self.fields())

    def game(self) -> Game:
        """The game.

        :raises NotationError: if the moves cannot be played or do not end the game.
        """
        return Game.of(self.rules, self.moves, resigned=self.resigned)

    @classmethod
    def from_json(cls, found: Any, where: str) -> "GameRecord":
        """A record from its JSON object.

        :raises InvalidFileError: naming the key that is wrong, or the move.
        """
        if not isinstance(found, dict):
            raise InvalidFileError("expected a game record, an object", where=where)
        for key in sorted(_KEYS - found.keys()):
            raise InvalidFileError(f'"{key}" is missing', where=where)
        for key in sorted(found.keys() - _KEYS - _OPTIONAL):
            raise InvalidFileError(f"unknown key {key!r}", where=where)
        for key in ("id", "x", "o", "result"):
            if not isinstance(found[key], str):
                raise InvalidFileError(f'"{key}" must be text', where=where)
        teaches, moves = found.get("teaches", []), found["moves"]
        if not isinstance(teaches, list) or not all(isinstance(name, str) for name in teaches):
            raise InvalidFileError('"teaches" must be a list of names', where=where)
        if not isinstance(moves, list) or not all(type(cell) is int for cell in moves):
            raise InvalidFileError('"moves" must be a list of cells', where=where)
        if found.get("end", "resigned") != "resigned":
            raise InvalidFileError('"end" can only be "resigned"', where=where)
        rules = found["rules"]
        if not isinstance(rules, dict) or rules.keys() != {"rows", "cols", "line"}:
            raise InvalidFileError('"rules" must hold rows, cols and line', where=where)
        try:
            record = cls(
                tuple(cell - 1 for cell in moves),
                found["result"],
                found["x"],
                found["o"],
                Rules(**rules),
                tuple(teaches),
                "end" in found,
                found["id"],
            )
            game = record.game()
        except TttError as error:
            raise InvalidFileError(error.message, where=where, hint=error.hint) from None
        result = game.result.key if game.result is not None else ""
        if result != record.result:
            raise InvalidFileError(
                f'"result" is {record.result!r}, but the moves give {result!r}', where=where
            )
        return record


def record_game(store: Path, record: GameRecord) -> None:
    """Write a finished game to the store's log; on return it is safely on disk."""
    append_line(store / LOG, record.to_line(), parents=True)


def read_games(path: Path, wanted: Callable[[bytes], bool] = lambda line: True) -> Iterator[GameRecord]:
    """The game records of a file in JSON Lines; a torn last line of a log being written is left out.

    :param wanted: which lines to look at.
    :raises InvalidFileError: naming the line.
    """
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip() or not wanted(line):
            continue
        where = f"{path}: line {number}"
        try:
            found = load_json(line, str(path), line=number)
        except InvalidFileError:
            if path.name == LOG and not line.endswith(b"\n"):
                return
            raise
        yield GameRecord.from_json(found, where)


def pick_game(path: Path, wanted: str | None = None) -> tuple[int, GameRecord]:
    """A game of a log and its number, from 1: the one with this number or id, else the last one.

    :raises InvalidFileError: if the log holds no games.
    :raises UsageError: if it does not hold the one that is wanted.
    """
    number, last = 0, None
    for number, last in enumerate(read_games(path), 1):
        if wanted is not None and wanted in (str(number), last.id):
            return number, last
    if last is None:
        raise InvalidFileError("holds no games", where=str(path), hint="ttt play records finished games")
    if wanted is not None:
        raise no_game(path, wanted, number)
    return number, last


def no_game(path: Path, wanted: str, games: int) -> UsageError:
    """The error that a log does not hold the wanted game."""
    return UsageError(f"no game {wanted!r} among the {games:,} of {path}", where="--game")


def record_against_people(path: Path, name: str) -> tuple[int, int, int] | None:
    """How the games in a log ended that the agent called ``name`` played against people: won, drawn and lost
    by it; None if there are none."""
    if not path.exists():
        return None
    quoted, counts = orjson.dumps(name), [0, 0, 0]
    for game in read_games(path, lambda line: b'"human"' in line and (quoted in line or b"\\" in line)):
        for key, own, other in (("x", game.x, game.o), ("o", game.o, game.x)):
            if own == name and other == "human":
                counts[1 if game.result == "draw" else 0 if game.result == key else 2] += 1
    return (counts[0], counts[1], counts[2]) if any(counts) else None


def waiting_games(store: Path, name: str, state: State) -> list[GameRecord]:
    """The games of the store's log that the state called ``name`` is to learn and has not."""
    if not (store / LOG).exists():
        return []
    learnt = learnt_games(state)
    ids, quoted = {game.encode() for game in learnt}, orjson.dumps(name)

    def wanted(line: bytes) -> bool:
        """A log grows for years: most lines are told by their bytes, if nothing in them is escaped."""
        if b"\\" in line:
            return True
        return quoted in line and not (
            line.startswith(_START) and line[len(_START) : line.find(b'"', len(_START))] in ids
        )

    games = read_games(store / LOG, wanted)
    return [game for game in games if name in game.teaches and game.id not in learnt]


def learnt_games(state: State) -> set[str]:
    """The ids of the recorded games that a state has learned."""
    return {game for run in state.runs if run.kind == "play" for game in run.details.get("game_ids", ())}
