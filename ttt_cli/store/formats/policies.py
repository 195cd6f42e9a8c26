"""``policy-csv``, ``policy-json`` and ``npz``: a player's policy and the values of its moves.

    position,move,probability,value

The CSV has a row for each legal move of each open position, cells from 1; the value is the mover's, in the
player's unit, and empty if the player has none. Where no move has a probability the player resigns. The JSON
object has the same under ``positions``: for each position its moves by cell.

The archive has arrays over ``n`` positions: ``positions`` (text), ``probabilities`` and ``values``
(float64[n, cells], NaN: none), which are read; ``successors`` (int32[n, cells], -1: none of the positions),
``results`` (int8[n]) and ``ended`` (bool[n]).

A file may hold all positions of a board, or only those that its player can face; any other is an error
when it is asked about.
"""

import io
from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, groupby
from math import isnan, nan
from operator import itemgetter
from typing import Any

import numpy as np
import orjson

from ttt_cli.engine.arrays import Floats
from ttt_cli.engine.policy import SUM_TOLERANCE, Policy, are_sound, rescale
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import STANDARD, Rules
from ttt_cli.engine.state_space import enumerated
from ttt_cli.errors import InvalidFileError, TttError, UsageError, notices
from ttt_cli.store.formats.format import ExportSource, FileOptions, Format
from ttt_cli.store.formats.lines import OtherLayoutError, object_chunks, split_object, text_lines
from ttt_cli.store.npy import array_in
from ttt_cli.store.source import Source
from ttt_cli.store.system import LIMIT
from ttt_cli.store.text import load_json, number_in, quoted, to_csv
from ttt_cli.store.typed import rules_of

HEADER = b"position,move,probability,value"
ARRAYS = ("positions", "probabilities", "values")
CELLS = {str(cell + 1): cell for cell in range(64)}  # cells from 0 by their names in files
TOLERANCE = 1e-9  # probabilities with a sum further from 1 have been rounded, and are scaled
MANY = 100_000  # positions that take a second or more to compress
BATCH = 1 << 12  # positions whose moves are objects in memory at a time

Move = tuple[str, str, float, float]
"""A move in a file: position, cell from 1 as written, probability, value (NaN: none)."""


class FilePolicy(Policy):
    """The policy in a file."""

    def __init__(self, where: str, positions: Positions, probabilities: Floats, values: Floats) -> None:
        """:param positions: the positions in the file.
        :param probabilities: float64[k, cells].
        :param values: float64[k, cells], NaN: none.
        :raises InvalidFileError: if a position is not open, repeated, or has no probabilities of its moves.
        """
        self.rules = positions.rules
        self._where = where
        self._probabilities = probabilities
        self._values = values
        self._rows = {text: row for row, text in enumerate(positions.texts())}
        repeated = np.ones(len(positions), np.bool_)
        repeated[list(self._rows.values())] = False
        unsound = ~are_sound(probabilities, positions.legal, SUM_TOLERANCE)
        for wrong, why in (
            (~positions.reachable | positions.terminal, "is not an open position that a game leads to"),
            (unsound, "has numbers that are not probabilities of its free cells with a sum of 1"),
            (repeated, "is listed twice"),
        ):
            if wrong.any():
                text = positions.text(int(wrong.argmax()))
                raise InvalidFileError(why, where=f"{where}, position {text!r}")
        rescale(probabilities, TOLERANCE)
        # A policy without all open positions can be asked only about its own.
        space = enumerated(self.rules)
        self.external = space is None or len(self) < int(np.count_nonzero(~space.terminal))

    def __len__(self) -> int:
        return len(self._rows)

    def probabilities(self, positions: Positions) -> Floats:
        """As ``Policy.probabilities``; raises TttError at an open position that is not in the file."""
        return self._answers(positions, self._probabilities, 0.0)

    def values(self, positions: Positions) -> Floats | None:
        return None if np.isnan(self._values).all() else self._answers(positions, self._values, nan)

    def _answers(self, positions: Positions, numbers: Floats, ended: float) -> Floats:
        """The rows of ``numbers`` for open positions, and ``ended`` for others."""
        answers = np.full((len(positions), self.rules.cells), ended)
        (still_open,) = np.nonzero(~positions.terminal)
        try:
            rows = [self._rows[text] for text in positions[still_open].texts()]
        except KeyError as error:
            hint = "it holds only some positions, such as those that its player has seen"
            raise TttError(f"holds no move for {error.args[0]!r}", where=self._where, hint=hint) from None
        answers[still_open] = numbers[rows]
        return answers


def _rows(player: ExportSource) -> Iterator[tuple[str, int, float, float | None]]:
    """Position, cell from 1, probability and value (None: none) of each legal move that is to be written."""
    for positions in player.positions.parts(BATCH):
        texts = positions.texts()
        indexes, cells = np.nonzero(positions.legal)
        played = player.policy.probabilities(positions)
        values = player.policy.values(positions)
        opinions = np.full(played.shape, nan) if values is None else values + 0.0  # -0.0 is written 0.0
        columns = (indexes, cells, played[indexes, cells], opinions[indexes, cells])
        for index, cell, probability, value in zip(*(column.tolist() for column in columns), strict=True):
            yield texts[index], cell + 1, probability, None if isnan(value) else value


def _policy_of(where: str, rules: Rules | None, moves: Iterable[Move]) -> FilePolicy:
    """The policy that consists of the moves in a file."""
    number_of: dict[str, int] = {}  # by position
    rows, cells, probabilities, values = array("q"), array("b"), array("d"), array("d")
    for text, written_cell, probability, value in moves:
        rules = rules or _game_of(where, len(text))
        cell = CELLS.get(written_cell, rules.cells)
        if cell >= rules.cells:
            what = f"{written_cell[:20]!r} is not a cell from 1 to {rules.cells}"
            raise InvalidFileError(what, where=f"{where}, position {text[:80]!r}")
        rows.append(number_of.setdefault(text, len(number_of)))
        cells.append(cell)
        probabilities.append(probability)
        values.append(value)
    positions = _positions(where, rules or STANDARD, list(number_of))
    played, opinions = np.zeros(positions.legal.shape), np.full(positions.legal.shape, nan)
    places = (np.asarray(rows), np.asarray(cells))
    times = np.zeros(played.shape, np.int64)
    np.add.at(times, places, 1)
    repeated = np.argwhere(times > 1)
    if len(repeated):
        row, cell = repeated[0].tolist()
        place = f"{where}, position {positions.text(row)!r}"
        raise InvalidFileError(f"has move {cell + 1} twice", where=place)
    played[places], opinions[places] = probabilities, values
    return FilePolicy(where, positions, played, opinions)


def _positions(where: str, rules: Rules, texts: Sequence[str]) -> Positions:
    if not texts:
        raise InvalidFileError("holds no positions", where=where)
    for text in texts:
        if len(text) != rules.cells or text.strip("XO."):
            raise InvalidFileError(f"{text[:80]!r} is not a position of {rules.describe()}", where=where)
    return Positions.unchecked(texts, rules)


def _game_of(where: str, cells: int) -> Rules:
    if cells != STANDARD.cells:
        unnamed = f"does not say which game its {cells}-cell boards belong to"
        hint, cli_hint = "name it: rules=Rules(ROWS, COLS, LINE)", "name it: --board ROWSxCOLS --line N"
        raise UsageError(unnamed, where=where, hint=hint, cli_hint=cli_hint)
    return STANDARD


def _refuse_misere(player: ExportSource, form: Format) -> None:
    """Raise UsageError for a player of a misère game, whose boards are those of the usual game."""
    rules = player.policy.rules
    if rules.misere:
        message = f"{form.name} does not say that the game is {rules.describe()}"
        raise UsageError(message, where=player.name, hint="policy-json does")


class PolicyCsv(Format):
    name = "policy-csv"
    about = "CSV: the probability and value of each move of any player"
    holds = "policy"
    suffixes = (".csv",)
    limit = LIMIT

    def recognises(self, source: Source, options: FileOptions) -> bool:
        return source.start.startswith(HEADER)

    def read(self, source: Source, options: FileOptions) -> FilePolicy:
        return _policy_of(source.where, options.rules, self._moves(source))

    def _moves(self, source: Source) -> Iterator[Move]:
        lines = text_lines(source.blocks(), source.where)
        next(lines)  # the header
        for number, line in lines:
            row = line.split(",", 4)
            if len(row) == 4:
                chance = number_in(row[2])
                value = number_in(row[3]) if row[3] else nan
                if chance is None or value is None:
                    what = f"{quoted(row[2] if chance is None else row[3])} is not a number"
                    raise InvalidFileError(what, where=f"{source.where}, line {number}")
                yield row[0], row[1], chance, value
            elif line:
                what = f"expected 4 fields, found {line.count(',') + 1}"
                raise InvalidFileError(what, where=f"{source.where}, line {number}")

    def write(self, player: ExportSource) -> Iterator[bytes]:
        _refuse_misere(player, self)
        return to_csv(chain([HEADER.decode().split(",")], _rows(player)))


class PolicyJson(Format):
    name = "policy-json"
    about = "the same as one JSON object"
    holds = "policy"
    suffixes = (".json",)
    limit = LIMIT

    def recognises(self, source: Source, options: FileOptions) -> bool:
        return source.is_json and source.says(b"schema", b"ttt-policy")

    def read(self, source: Source, options: FileOptions) -> FilePolicy:
        where = source.where
        try:
            head, entries = split_object(source.blocks(), "positions", where, partial(load_json, where=where))
            return self._parsed(head, entries, where)
        except OtherLayoutError:
            return self._parsed(load_json(source.data, where), None, where)

    def _parsed(self, head: Any, entries: Iterable[tuple[str, Any]] | None, where: str) -> FilePolicy:
        try:
            rules = rules_of(head["rules"], f"{where}, rules")
            entries = head["positions"].items() if entries is None else entries
        except (KeyError, TypeError, AttributeError) as error:
            raise InvalidFileError(f"has no valid rules and positions: {error}", where=where) from None
        if head.get("version", 1) != 1:
            raise InvalidFileError(f"is of version {head['version']!r}, not 1", where=where)
        return _policy_of(where, rules, self._moves(entries, where))

    def _moves(self, entries: Iterable[tuple[str, Any]], where: str) -> Iterator[Move]:
        for text, moves in entries:
            try:
                for cell, move in moves.items():
                    chance, value = move["probability"], move["value"]
                    value = nan if value is None else value
                    if not {type(chance), type(value)} <= {int, float}:
                        raise TypeError
                    yield text, cell, chance, value
            except (KeyError, TypeError, AttributeError):
                what = 'expected {"CELL": {"probability": NUMBER, "value": NUMBER or null}, …}'
                raise InvalidFileError(what, where=f"{where}, position {text[:80]!r}") from None

    def write(self, player: ExportSource) -> Iterator[bytes]:
        """One position per line."""
        head = {"schema": "ttt-policy", "version": 1, "rules": player.policy.rules.fields()}
        entries = (
            (text, {str(cell): {"probability": p, "value": value} for _, cell, p, value in moves})
            for text, moves in groupby(_rows(player), itemgetter(0))
        )
        return object_chunks(orjson.dumps(head)[:-1] + b',"positions":{\n', entries)


class Npz(Format):
    name = "npz"
    about = "the same as arrays for NumPy"
    holds = "policy"
    suffixes = (".npz",)
    limit = LIMIT

    def recognises(self, source: Source, options: FileOptions) -> bool:
        return {*ARRAYS} <= source.arrays.keys()

    def read(self, source: Source, options: FileOptions) -> FilePolicy:
        where = source.where
        texts, *numbers = (array_in(source, name) for name in ARRAYS)
        if texts.ndim != 1 or texts.dtype.kind != "U" or not len(texts):
            raise InvalidFileError("expected texts", where=f"{where}, array positions")
        shape = len(texts), len(str(texts[0]))
        for name, found in zip(ARRAYS[1:], numbers, strict=True):
            if found.shape != shape or found.dtype != np.float64:
                what = f"expected float64 of shape {shape}, found {found.dtype} of {found.shape}"
                raise InvalidFileError(what, where=f"{where}, array {name}")
        rules = options.rules or _game_of(where, shape[1])
        positions = _positions(f"{where}, array positions", rules, texts.tolist())
        still_open = np.flatnonzero(~positions.terminal)
        if not len(still_open):
            raise InvalidFileError("holds only positions in which the game is over", where=where)
        return FilePolicy(where, positions[still_open], *(found[still_open] for found in numbers))

    def write(self, player: ExportSource) -> list[bytes]:
        _refuse_misere(player, self)
        positions = player.positions
        if len(positions) > MANY:
            notices.info("compressing %s positions", f"{len(positions):,}")
        values = player.policy.values(positions)
        probabilities = player.policy.probabilities(positions)
        texts = positions.texts()
        numbers = {text: number for number, text in enumerate(texts)}
        successors = np.full(positions.legal.shape, -1, np.int32)
        for start, part in zip(range(0, len(positions), BATCH), positions.parts(BATCH), strict=True):
            at, cells = np.nonzero(part.legal)
            after = [numbers.get(text, -1) for text in part.play(at, cells).texts()]
            successors[start + at, cells] = after
        stream = io.BytesIO()
        np.savez_compressed(
            stream,
            positions=np.array(texts, dtype=f"U{positions.rules.cells}"),
            probabilities=probabilities,
            values=np.full(probabilities.shape, np.nan) if values is None else values + 0.0,
            successors=successors,
            results=positions.results,
            ended=positions.terminal,
        )
        return [stream.getvalue()]
