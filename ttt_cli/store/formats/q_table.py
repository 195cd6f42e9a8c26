"""``q-table``: a table of Q-learning, JSON.

    {"121220100": [9 floats], …}

Nine digits, the first cell first, 0 empty, 1 X, 2 O; the values of the moves for the side to move, by cell.
Occupied cells and ended positions hold a filler, which is ignored. Read as a stranger's table of which
everything is known.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import orjson

from ttt_cli.engine.rules import STANDARD
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.errors import InvalidFileError
from ttt_cli.store.foreign.files import Candidate
from ttt_cli.store.foreign.keys import Spelling
from ttt_cli.store.foreign.reading import readings, symmetry_of
from ttt_cli.store.foreign.values import collect
from ttt_cli.store.formats.format import ExportOptions, ExportSource, Format, Loaded, Options
from ttt_cli.store.formats.position_keyed import left_out, read_tables, remarks
from ttt_cli.store.plays import entries_of
from ttt_cli.store.source import Source

_SYMBOLS = str.maketrans("012.XO", ".XO???")
_DIGITS = str.maketrans(".XO", "012")


class QTable(Format):
    """A table of Q-learning."""

    name = "q-table"
    about = "JSON, {'121220100': [9 numbers], …}: 0 empty, 1 X, 2 O"
    learner = "q"
    holds = "table"
    written = True
    rules = STANDARD
    endings = (".json",)

    def recognises(self, source: Source, options: Options) -> bool:
        """Whether nine digits have nine numbers each, the side of digit 1 moves first, as some key shows, no
        key stands for its images, and the user does not state another reading."""
        table = source.json
        if options.stated or not isinstance(table, dict) or not table:
            return False
        if not all(isinstance(values, list) and len(values) == 9 for values in table.values()):
            return False
        spelling = _boards(table)
        if spelling.left_out.any() or not (spelling.space.plies[spelling.indexes] % 2).any():
            return False
        return symmetry_of(spelling.space, spelling.indexes) == "no"

    def read(self, source: Source, options: Options) -> Loaded:
        table = source.json
        values = collect([*table.values()], [*table], STANDARD, source.where)
        reading = next(readings(_boards(table), values, None), None)
        if reading is None:
            message = "holds no number for a move that can be made, so nothing has been learned"
            raise InvalidFileError(message, where=source.where, hint="was it saved before its training?")
        candidate = Candidate([*table], [*table.values()])
        if reading.drawn:
            return read_tables(iter([candidate]), source, options, self)
        known = np.where(reading.by_slot, reading.by_slot, np.nan)  # zeros are as good as missing
        entries = entries_of(known, True, StateSpace.of(STANDARD), options.visits)
        rejected, notes = left_out(reading, candidate), remarks(reading, entries)
        return self.imported(source, options, "q", entries, rejected=rejected, notes=notes)

    def write(self, player: ExportSource, wanted: ExportOptions) -> list[bytes]:
        """The values of all open positions."""
        assert player.state is not None
        space = StateSpace.of(STANDARD)
        values = player.state.own().policy.values(space)
        assert values is not None
        kept = np.where(np.isnan(values), 0.0, values) + 0.0  # -0.0 is written 0.0
        keys = (text.translate(_DIGITS) for text in space[~space.terminal].texts())
        items = sorted(zip(keys, kept[~space.terminal].tolist(), strict=True))
        lines = (b'"%s":%s' % (key.encode(), orjson.dumps(row)) for key, row in items)
        return [b"{\n" + b",\n".join(lines) + b"\n}\n"]


def _boards(table: Mapping[str, Any]) -> Spelling:
    space = StateSpace.of(STANDARD)
    indexes = np.array([space.index_of.get(key.translate(_SYMBOLS), -1) for key in table], np.int64)
    none = np.zeros(len(indexes), np.bool_)
    return Spelling(space, "characters", "0", "1", "2", "", indexes, none, none, ())
