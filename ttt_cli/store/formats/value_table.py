"""``value-table``: the values of TD learning, one table for each side over every board of three symbols.

CSV with the header ``index,value_x,value_o``, or NumPy's ``.npz`` with the arrays ``V_x`` and ``V_o`` of
19,683 float64. The index of a board is the sum of digit * 3**cell, 0 empty, 1 X, 2 O; cell 0 counts least.
Boards that no game reaches hold 1 where that side has a full line, else 0 where the other has one or the
board is full, else 0.5.
"""

import io
import re
from functools import lru_cache
from math import isnan
from typing import Any

import numpy as np

from ttt_cli.engine.arrays import Floats, Int64s
from ttt_cli.engine.rules import STANDARD
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.engine.symmetry import classes
from ttt_cli.errors import InvalidFileError
from ttt_cli.store.formats.format import ExportOptions, ExportSource, Format
from ttt_cli.store.formats.imported import Imported, Options
from ttt_cli.store.npy import array_in, is_archive, names
from ttt_cli.store.source import Source
from ttt_cli.store.text import number_in, quoted

NAME = "value-table"
HEADER = "index,value_x,value_o"
BOARDS = 3**STANDARD.cells
ARRAYS = ("V_x", "V_o")

_INDEX = re.compile(r"[0-9]{1,5}")


def _is_header(line: str) -> bool:
    return line.replace(" ", "").lower() == HEADER


def _values_in_lines(source: Source) -> Floats:
    """float64[2, 19683]: the values of a CSV file.

    :raises InvalidFileError: naming the line, or the index that is missing.
    """
    values = np.full((2, BOARDS), np.nan)
    for number, row in source.rows[1:]:
        place, fields = f"{source.where}, line {number}", [field.strip() for field in row]
        if len(fields) != 3 or not _INDEX.fullmatch(fields[0]):
            found = quoted(",".join(row))
            raise InvalidFileError(f"expected an index and two values, found {found}", where=place)
        index = int(fields[0])
        if index >= BOARDS:
            raise InvalidFileError(f"there are indexes 0 to {BOARDS - 1}, not {index}", where=place)
        if not isnan(values[0, index]):
            raise InvalidFileError(f"the index {index} is there twice", where=place)
        for side, field in enumerate(fields[1:]):
            if (value := number_in(field)) is None:
                raise InvalidFileError(f"{quoted(field)} is not a number", where=place)
            values[side, index] = value
    if len(missing := np.flatnonzero(np.isnan(values[0]))):
        more = f", and {len(missing) - 1} more" * (len(missing) > 1)
        raise InvalidFileError(f"the index {missing[0]} is missing{more}", where=source.where)
    return values


def _values_in_arrays(source: Source) -> Floats:
    """float64[2, 19683]: the values of an ``.npz`` archive.

    :raises InvalidFileError: naming the array and what is wrong with it.
    """
    held, found = names(source.data, source.where), []
    for name in ARRAYS:
        place = f"{source.where}, array {name}"
        if name not in held:
            holds = ", ".join(map(quoted, held[:5])) or "nothing"
            hint = f"a value table is an .npz file with the arrays {' and '.join(ARRAYS)}"
            message = f"the array {name} is missing; the archive holds {holds}"
            raise InvalidFileError(message, where=source.where, hint=hint)
        array = array_in(source, name)
        if array.shape != (BOARDS,) or array.dtype.kind != "f" or array.dtype.itemsize != 8:
            shown = f"{array.dtype} of shape {array.shape}"
            raise InvalidFileError(f"expected {BOARDS} float64, found {shown}", where=place)
        for at in np.flatnonzero(~np.isfinite(array))[:1].tolist():
            raise InvalidFileError(f"the value at index {at} is {array[at]}", where=place)
        found.append(array)
    return np.stack(found).astype(np.float64)


@lru_cache(maxsize=1)
def _indexes() -> Int64s:
    """int64[n]: the index of each position of the space."""
    stones = StateSpace.of(STANDARD).stones.astype(np.int64)
    return np.where(stones == 2, 1, np.where(stones == 1, 2, 0)) @ 3 ** np.arange(STANDARD.cells)


@lru_cache(maxsize=1)
def starts() -> Floats:
    """float64[2, 19683], the values of X and of O before any learning, as the article has them."""
    digits = np.arange(BOARDS)[:, None] // 3 ** np.arange(STANDARD.cells) % 3
    x_line, o_line = (
        (digits[:, np.array(STANDARD.lines)] == side).all(axis=2).any(axis=1) for side in (1, 2)
    )
    full = np.all(digits != 0, axis=1)
    sides = (x_line, o_line), (o_line, x_line)
    return np.stack([np.where(own, 1.0, np.where(other | full, 0.0, 0.5)) for own, other in sides])


class ValueTable(Format):
    """The values of TD learning."""

    name = NAME
    about = "CSV, index,value_x,value_o over all 19,683 boards; or .npz: V_x, V_o"
    learner = "td"
    holds = "table"
    written = True
    rules = STANDARD
    endings = (".csv", ".npz")

    def recognises(self, source: Source, options: Options) -> bool:
        """Whether a file is an archive of NumPy's, or its first line the header."""
        return is_archive(source.data) or _is_header(source.first_line)

    def read(self, source: Source, options: Options) -> Imported:
        """The values of a file, CSV or ``.npz``: what differs from the start of learning has been learned.

        :raises InvalidFileError: naming what is missing or wrong.
        """
        values = _values_in_arrays(source) if is_archive(source.data) else _values_in_lines(source)
        learned, texts, indexes = values != starts(), StateSpace.of(STANDARD).texts(), _indexes()
        entries: dict[str, Any] = {}
        for row, side in np.argwhere(learned.T[indexes]).tolist():
            value = float(values[side, indexes[row]])
            entries.setdefault(texts[row], {})["xo"[side]] = [value, options.visits]
        notes = ["values that equal the starting values count as not visited"]
        if strange := int(np.delete(learned.any(axis=0), indexes).sum()):
            notes.append(
                f"{strange:,} boards that no game reaches hold values of their own; they are left out"
            )
        return Imported(NAME, "td", entries=entries, notes=notes)

    def write(self, player: ExportSource, wanted: ExportOptions) -> list[bytes]:
        """The values of a state of TD learning, CSV or ``.npz`` as the file's ending says."""
        assert player.state is not None
        table, positions = player.state.own().table, StateSpace.of(STANDARD)
        rows = table.find(classes(positions).positions if table.symmetric else positions)
        values = starts().copy()
        values[:, _indexes()] = table.rows["value"][rows].T + 0.0  # -0.0 is written 0.0
        if wanted.ending == ".npz":
            file = io.BytesIO()
            np.savez(file, **dict(zip(ARRAYS, values, strict=True)))
            return [file.getvalue()]
        lines = (f"{index},{x!r},{o!r}\n" for index, (x, o) in enumerate(values.T.tolist()))
        return [f"{HEADER}\n{''.join(lines)}".encode()]
