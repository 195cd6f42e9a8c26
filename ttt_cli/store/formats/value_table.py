"""``value-table``: the values of TD learning, a table for each side over every board of three symbols.

CSV with the header ``index,value_x,value_o``, or NumPy's ``.npz`` with the arrays ``V_x`` and ``V_o`` of
19,683 float64. The index of a board is the sum of digit * 3**cell, 0 empty, 1 X, 2 O, cell 0 counting least.
The value of a board that no game reaches is 1 if that side has a line, else 0 if the other has one or the
board is full, else 0.5.
"""

import io
from collections.abc import Iterable

import numpy as np

from ttt_cli.engine.arrays import Floats, Int64s
from ttt_cli.engine.rules import STANDARD
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.errors import InvalidFileError
from ttt_cli.store.formats.format import ExportSource, FileOptions, ForeignTable, Format, Rejected, entries_of
from ttt_cli.store.npy import array_in
from ttt_cli.store.source import Source
from ttt_cli.store.text import number_in, quoted, to_csv

HEADER = "index,value_x,value_o"
BOARDS = 3**STANDARD.cells
ARRAYS = ("V_x", "V_o")


def _values_in_lines(source: Source) -> Floats:
    values = np.empty((2, BOARDS))
    missing = {*range(BOARDS)}
    for line, row in source.rows[1:]:
        numbers = [number for field in row if (number := number_in(field.strip())) is not None]
        if len(row) != 3 or len(numbers) != 3 or numbers[0] not in missing:
            message = f"expected an index of 0 to {BOARDS - 1}, each once, and two numbers"
            place = f"{source.where}, line {line}"
            raise InvalidFileError(f"{message}, found {quoted(','.join(row))}", where=place)
        index = int(numbers[0])
        missing.remove(index)
        values[:, index] = numbers[1:]
    if missing:
        more = f", and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise InvalidFileError(f"the index {min(missing)} is missing{more}", where=source.where)
    return values


def _values_in_arrays(source: Source) -> Floats:
    values = []
    members = [*source.arrays]
    for name in ARRAYS:
        array = array_in(source, name) if name in members else np.zeros(0)
        if array.shape != (BOARDS,) or array.dtype.kind != "f" or not np.isfinite(array).all():
            found = f"{array.dtype} of shape {array.shape}" if name in members else f"only {members[:5]}"
            message = f"expected {BOARDS} numbers, all finite; found {found}"
            raise InvalidFileError(message, where=f"{source.where}, array {name}")
        values.append(array.astype(np.float64))
    return np.stack(values)


def _indexes() -> Int64s:
    """int64[n], the index in the file of each position of the state space."""
    digits = np.array([0, 2, 1])  # of a free cell, O and X
    return digits[StateSpace.of(STANDARD).stones] @ 3 ** np.arange(STANDARD.cells)


def starts() -> Floats:
    """float64[2, 19683], the values of X and of O before any learning."""
    digits = np.arange(BOARDS)[:, None] // 3 ** np.arange(STANDARD.cells) % 3
    lines = digits[:, np.array(STANDARD.lines)]
    x, o = ((lines == side).all(axis=2).any(axis=1) for side in (1, 2))
    full = np.all(digits != 0, axis=1)
    return np.stack([np.where(own, 1.0, np.where(other | full, 0.0, 0.5)) for own, other in ((x, o), (o, x))])


class ValueTable(Format):
    name = "value-table"
    about = "CSV, index,value_x,value_o over all 19,683 boards; or .npz: V_x, V_o"
    learner = "td"
    holds = "table"
    rules = STANDARD
    suffixes = (".csv", ".npz")

    def recognises(self, source: Source, options: FileOptions) -> bool:
        return bool(source.arrays) or source.first_line.replace(" ", "").lower() == HEADER

    def read(self, source: Source, options: FileOptions) -> ForeignTable:
        values = _values_in_arrays(source) if source.arrays else _values_in_lines(source)
        learned = values != starts()
        indexes = _indexes()
        learned_values = np.where(learned, values, np.nan).T[indexes]
        entries = entries_of(learned_values, False, StateSpace.of(STANDARD), options.visits)
        notes = ["values that equal the starting values count as not visited"]
        unreachable = np.setdiff1d(np.flatnonzero(learned.any(axis=0)), indexes).tolist()
        rejected = [Rejected(f"index {index}", "no game reaches this board") for index in unreachable]
        return ForeignTable("td", entries, "article", rejected=rejected, notes=notes)

    def write(self, player: ExportSource) -> Iterable[bytes]:
        assert player.state is not None
        table = player.state.in_own_units().table
        rows = table.rows_of(StateSpace.of(STANDARD))
        values = starts()
        values[:, _indexes()] = table.rows["value"][rows].T + 0.0  # -0.0 is written 0.0
        if player.suffix == ".npz":
            file = io.BytesIO()
            np.savez(file, **dict(zip(ARRAYS, values, strict=True)))
            return [file.getvalue()]
        return to_csv([HEADER.split(","), *zip(range(BOARDS), *values.tolist(), strict=True)])
