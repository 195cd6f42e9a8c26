"""``q-table``: a table of Q-learning, JSON.

    {"121220100": [9 floats], …}

Nine digits, the first cell first, 0 empty, 1 X, 2 O; the values of the moves for the side to move, by cell.
Taken cells hold a filler, and so do ended positions; a reader ignores them.
"""

from collections import Counter
from typing import Any

import numpy as np
import orjson

from ttt_cli.engine.rules import STANDARD
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.errors import InvalidFileError
from ttt_cli.store.foreign.reading import symmetry_of
from ttt_cli.store.formats.format import ExportOptions, ExportSource, Format
from ttt_cli.store.formats.imported import Imported, Options
from ttt_cli.store.source import Source
from ttt_cli.store.text import quoted

NAME = "q-table"

_SYMBOLS = str.maketrans("012.XO", ".XO???")
_DIGITS = str.maketrans(".XO", "012")


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
        space = StateSpace.of(STANDARD)
        indexes = [space.index_of.get(key.translate(_SYMBOLS), -1) for key in found]
        if -1 in indexes:
            return False
        rows = np.array(indexes, np.int64)
        return symmetry_of(space, rows) == "no"

    def read(self, source: Source, options: Options) -> Imported:
        """The table of a file.

        :raises InvalidFileError: naming the key whose value is not a number.
        """
        space, entries, zeros = StateSpace.of(STANDARD), dict[str, Any](), 0
        fillers: Counter[str] = Counter()
        for key, values in source.json.items():
            text = key.translate(_SYMBOLS)
            if space.terminal[space.index_of[text]]:
                continue
            entry = {}
            for cell, (value, stone) in enumerate(zip(values, text, strict=True), 1):
                if stone != ".":
                    fillers[str(value)] += 1
                elif type(value) not in (int, float):
                    place = f"{source.where}, key {quoted(key)}"
                    raise InvalidFileError(f"the value of cell {cell} is not a number", where=place)
                elif value:
                    entry[str(cell)] = [float(value), options.visits]
                else:
                    zeros += 1
            if entry:
                entries[text] = entry
        notes = [f"zeros, the values before any learning, count as not visited: {zeros:,}"] * (zeros > 0)
        if left_out := fillers.total() - max(fillers.values(), default=0):
            notes.append(f"{left_out:,} numbers at occupied cells are left out")
        return Imported(NAME, "q", entries=entries, notes=notes)

    def write(self, player: ExportSource, wanted: ExportOptions) -> list[bytes]:
        """The table of a state of Q-learning, all open positions."""
        assert player.state is not None
        space = StateSpace.of(STANDARD)
        values = player.state.own().policy.values(space)
        assert values is not None
        kept = np.where(np.isnan(values), 0.0, values) + 0.0  # -0.0 is written 0.0
        items = sorted(
            (space.text(index).translate(_DIGITS), kept[index].tolist())
            for index in np.flatnonzero(~space.terminal).tolist()
        )
        lines = (b'"%s":%s' % (key.encode(), orjson.dumps(row)) for key, row in items)
        return [b"{\n" + b",\n".join(lines) + b"\n}\n"]
