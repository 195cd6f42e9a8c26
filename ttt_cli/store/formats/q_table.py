"""``q-table``: a table of Q-learning, JSON.

    {"121220100": [9 floats], …}

Nine digits, the first cell first, 0 empty, 1 X, 2 O; the values of the moves for the side to move, by cell.
Taken cells hold a filler, and so do ended positions; a reader ignores them.
"""

import re
from collections import Counter
from typing import Any

import numpy as np
import orjson

from ttt_cli.engine.arrays import Floats
from ttt_cli.engine.rules import STANDARD
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.errors import InvalidFileError
from ttt_cli.store.formats.format import ExportOptions, ExportSource, Format
from ttt_cli.store.formats.imported import Imported, Options
from ttt_cli.store.formats.unfolding import full_entries
from ttt_cli.store.source import Source
from ttt_cli.store.text import quoted
from ttt_cli.store.unknown.spelling import KeyReading, Spelling
from ttt_cli.store.unknown.symmetry import groups, is_canonical

NAME = "q-table"

_KEY = re.compile(r"[012]{9}")
_SYMBOLS = str.maketrans("012", ".XO")
_DIGITS = str.maketrans(".XO", "012")


def values_of(entries: dict[str, Any]) -> Floats:
    """float64[n, 9] over the usual space: the values of a q learner's entries."""
    space = StateSpace.of(STANDARD)
    index_of = space.index_of
    values = np.zeros((len(space), STANDARD.cells))
    for text, entry in entries.items():
        for cell, (value, _) in entry.items():
            values[index_of[text], int(cell) - 1] = value
    return values


def to_bytes(values: Floats) -> bytes:
    """A table of values (float64[n, 9] over the usual space) for all open positions."""
    space = StateSpace.of(STANDARD)
    kept = np.where(space.legal, values, 0.0) + 0.0  # -0.0 is written 0.0
    items = sorted(
        (space.texts[index].translate(_DIGITS), kept[index].tolist())
        for index in np.flatnonzero(~space.terminal)
    )
    lines = (b'"%s":%s' % (key.encode(), orjson.dumps(row)) for key, row in items)
    return b"{\n" + b",\n".join(lines) + b"\n}\n"


def _turned(entry: Any, moves: list[int]) -> Any:
    """An entry of values by cell (from 1, as text)."""
    return {str(cell + 1): entry[str(move + 1)] for cell, move in enumerate(moves) if str(move + 1) in entry}


class QTable(Format):
    """A table of Q-learning."""

    name = NAME
    about = "JSON, {'121220100': [9 numbers], …}: 0 empty, 1 X, 2 O"
    learner = "q"
    holds = "table"
    written = True
    rules = STANDARD
    endings = (".json",)

    def recognises(self, source: Source, options: Options) -> bool:
        """Whether a file is such a table, nine digits, nine numbers, X the digit that moves first, each key
        for itself alone, and nobody says that it is to be read in another way."""
        if options.readings:
            return False
        found = source.json
        if not isinstance(found, dict) or not found:
            return False
        space = StateSpace.of(STANDARD)
        index_of = space.index_of
        fits = all(
            _KEY.fullmatch(key)
            and isinstance(values, list)
            and len(values) == 9
            and key.translate(_SYMBOLS) in index_of
            for key, values in found.items()
        )
        if not fits:
            return False
        indexes = np.array([index_of[key.translate(_SYMBOLS)] for key in found], np.int64)
        keys = KeyReading(Spelling("characters", "0", "1", "2"), indexes)
        return not any(is_canonical(keys, space, group) for group in groups(STANDARD).values())

    def read(self, source: Source, options: Options) -> Imported:
        """The table of a file.

        :raises InvalidFileError: naming the key and what is wrong with it.
        """
        found, where = source.json, source.where
        space = StateSpace.of(STANDARD)
        index_of = space.index_of
        entries: dict[str, Any] = {}
        zeros = 0
        taken: list[Any] = []
        for key, values in found.items():
            place = f"{where}, key {quoted(key)}"
            if not _KEY.fullmatch(key) or key.translate(_SYMBOLS) not in index_of:
                raise InvalidFileError("not a position in nine digits, 0 empty, 1 X, 2 O", where=place)
            if not isinstance(values, list) or len(values) != 9:
                raise InvalidFileError("expected nine numbers, one a cell", where=place)
            text = key.translate(_SYMBOLS)
            entry = {}
            if not space.terminal[index_of[text]]:
                taken += [value for value, stone in zip(values, text, strict=True) if stone != "."]
            for cell in np.flatnonzero(space.legal[index_of[text]]).tolist():
                if type(values[cell]) not in (int, float):
                    raise InvalidFileError(f"the value of cell {cell + 1} is not a number", where=place)
                zeros += values[cell] == 0
                if values[cell] != 0:
                    entry[str(cell + 1)] = [float(values[cell]), options.visits]
            if entry:
                entries[text] = entry
        notes = [f"zeros, the values before any learning, count as not visited: {zeros:,}"] * (zeros > 0)
        if left_out := len(taken) - sum(count for _, count in Counter(map(str, taken)).most_common(1)):
            notes.append(f"{left_out:,} numbers at occupied cells are left out")
        moves = sum(map(len, entries.values()))
        return Imported(NAME, "q", entries=entries, notes=notes, positions=len(entries), moves=moves)

    def write(self, player: ExportSource, wanted: ExportOptions) -> list[bytes]:
        """The table of a state of Q-learning."""
        assert player.state is not None
        return [to_bytes(values_of(full_entries(player.state, _turned)))]
