"""``q-table``: a table of Q-learning, JSON.

    {"121220100": [9 floats], …}

Nine digits, the first cell first, 0 empty, 1 X, 2 O; the values of the moves for the side to move, by cell.
Taken cells hold a filler, and so do ended positions; a reader ignores them. It is read as a stranger's table
of which everything is known.
"""

import numpy as np
import orjson

from ttt_cli.engine.rules import STANDARD
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.store.foreign.keys import Boards
from ttt_cli.store.foreign.reading import symmetry_of
from ttt_cli.store.foreign.readings import readings
from ttt_cli.store.foreign.values import collect
from ttt_cli.store.formats.format import ExportOptions, ExportSource, Format
from ttt_cli.store.formats.imported import Imported, Options
from ttt_cli.store.formats.position_keyed import remarks
from ttt_cli.store.source import Source

NAME = "q-table"

_SYMBOLS = str.maketrans("012.XO", ".XO???")
_DIGITS = str.maketrans(".XO", "012")


def _boards(source: Source) -> Boards:
    space = StateSpace.of(STANDARD)
    indexes = np.array([space.index_of.get(key.translate(_SYMBOLS), -1) for key in source.json], np.int64)
    none = np.zeros(len(indexes), np.bool_)
    return Boards(space, "characters", "0", "1", "2", "", indexes, none, none, ())


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
        found = source.json
        if options.readings or not isinstance(found, dict) or not found:
            return False
        if not all(isinstance(values, list) and len(values) == 9 for values in found.values()):
            return False
        boards = _boards(source)
        return not boards.left_out.any() and symmetry_of(boards.space, boards.indexes) == "no"

    def read(self, source: Source, options: Options) -> Imported:
        """The table of a file.

        :raises InvalidFileError: naming the key whose value is not a list of numbers.
        """
        found, boards = source.json, _boards(source)
        values = collect([*found.values()], [*found], STANDARD, source.where)
        reading = next(readings(boards, values, None), None)
        entries = reading.entries(options.visits, zeros=False) if reading else {}
        notes = remarks(reading, [*found], entries) if reading else ()
        return Imported(NAME, "q", entries=entries, notes=[*notes])

    def write(self, player: ExportSource, wanted: ExportOptions) -> list[bytes]:
        """The table of a state of Q-learning, all open positions."""
        assert player.state is not None
        space = StateSpace.of(STANDARD)
        values = player.state.own().policy.values(space)
        assert values is not None
        kept = np.where(np.isnan(values), 0.0, values) + 0.0  # -0.0 is written 0.0
        keys = (text.translate(_DIGITS) for text in space[~space.terminal].texts())
        items = sorted(zip(keys, kept[~space.terminal].tolist(), strict=True))
        lines = (b'"%s":%s' % (key.encode(), orjson.dumps(row)) for key, row in items)
        return [b"{\n" + b",\n".join(lines) + b"\n}\n"]
