"""``q-table``: a table of Q-learning, JSON.

    {"121220100": [9 floats], …}

Nine digits, the first cell first, 0 empty, 1 X, 2 O; the values of the moves for the side to move, by cell.
Occupied cells and ended positions hold a filler, which is ignored. Other programs may mean something else by
the same digits, so it is read like any table of unknown origin.
"""

import re

import numpy as np
import orjson

from ttt_cli.engine.rules import STANDARD
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.store.formats.format import ExportSource, FileOptions
from ttt_cli.store.formats.position_keyed import PositionKeyed
from ttt_cli.store.source import Source

_DIGITS = str.maketrans(".XO", "012")


class QTable(PositionKeyed):
    name = "q-table"
    about = "JSON, {'121220100': [9 numbers], …}: 0 empty, 1 X, 2 O"
    learner = "q"
    rules = STANDARD
    endings = (".json",)

    def recognises(self, source: Source, options: FileOptions) -> bool:
        """Whether nine digits have nine numbers each, and the user does not state a reading."""
        table = source.json
        if options.stated or not isinstance(table, dict):
            return False
        rows = all(isinstance(row, list) and len(row) == STANDARD.cells for row in table.values())
        return rows and all(re.fullmatch("[012]{9}", key) for key in table)

    def write(self, player: ExportSource) -> list[bytes]:
        """The values of all open positions."""
        assert player.state is not None
        space = StateSpace.of(STANDARD)
        values = player.state.in_own_units().policy.values(space)
        assert values is not None
        kept = np.where(np.isnan(values), 0.0, values) + 0.0  # -0.0 is written 0.0
        keys = (text.translate(_DIGITS) for text in space[~space.terminal].texts())
        items = sorted(zip(keys, kept[~space.terminal].tolist(), strict=True))
        lines = (b'"%s":%s' % (key.encode(), orjson.dumps(row)) for key, row in items)
        return [b"{\n" + b",\n".join(lines) + b"\n}\n"]
