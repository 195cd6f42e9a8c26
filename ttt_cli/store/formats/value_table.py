"""``value-table``: the values of TD learning, one table for each side over every board of three symbols.

CSV with the header ``index,value_x,value_o``, or NumPy's ``.npz`` with the arrays ``V_x`` and ``V_o`` of
19,683 float64. The index of a board is the sum of digit * 3**cell, 0 empty, 1 X, 2 O; cell 0 counts least.
Boards that no game reaches hold 1 where that side has a full line, else 0 where the other has one or the
board is full, else 0.5.
"""

import io
import math
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from ttt_cli.engine.arrays import Floats, Int64s
from ttt_cli.engine.rules import STANDARD
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.errors import InvalidFileError
from ttt_cli.store.csv_text import lines, number_in
from ttt_cli.store.formats.format import ExportOptions, ExportSource, Format
from ttt_cli.store.formats.imported import Imported, Options
from ttt_cli.store.formats.npz import array_in
from ttt_cli.store.formats.unfolding import full_entries
from ttt_cli.store.pickles.npy import is_archive, names
from ttt_cli.store.source import Source
from ttt_cli.store.text import quoted

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
    where = source.where
    rows = lines(source.data, where)
    if not _is_header(next(rows, (1, ""))[1]):
        raise InvalidFileError(f"expected the header {HEADER}", where=f"{where}, line 1")
    for number, line in rows:
        place = f"{where}, line {number}"
        fields = [field.strip() for field in line.split(",")]
        if len(fields) != 3 or not _INDEX.fullmatch(fields[0]):
            raise InvalidFileError(f"expected an index and two values, found {quoted(line)}", where=place)
        index = int(fields[0])
        if index >= BOARDS:
            raise InvalidFileError(f"there are indexes 0 to {BOARDS - 1}, not {index}", where=place)
        if not math.isnan(values[0, index]):
            raise InvalidFileError(f"the index {index} is there twice", where=place)
        for side, field in enumerate(fields[1:]):
            if (value := number_in(field)) is None:
                raise InvalidFileError(f"{quoted(field)} is not a number", where=place)
            values[side, index] = value
    missing = np.flatnonzero(np.isnan(values[0]))
    if len(missing):
        raise InvalidFileError(
            f"the index {missing[0]} is missing" + f", and {len(missing) - 1} more" * (len(missing) > 1),
            where=where,
        )
    return values


def _values_in_arrays(source: Source) -> Floats:
    """float64[2, 19683]: the values of an ``.npz`` archive.

    :raises InvalidFileError: naming the array and what is wrong with it.
    """
    held = names(source.data, source.where)
    found = []
    for name in ARRAYS:
        if name not in held:
            holds = ", ".join(map(quoted, held[:5])) or "nothing"
            raise InvalidFileError(
                f"the array {name} is missing; the archive holds {holds}",
                where=source.where,
                hint=f"a value table is an .npz file with the arrays {' and '.join(ARRAYS)}",
            )
        array, place = array_in(source, name), f"{source.where}, array {name}"
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
        np.any([np.all(digits[:, list(line)] == side, axis=1) for line in STANDARD.lines], axis=0)
        for side in (1, 2)
    )
    full = np.all(digits != 0, axis=1)
    return np.stack(
        [
            np.where(own, 1.0, np.where(other | full, 0.0, 0.5))
            for own, other in ((x_line, o_line), (o_line, x_line))
        ]
    )


def values_of(entries: dict[str, Any], start: Callable[[str, int], float] | None = None) -> Floats:
    """float64[2, 19683], the values of X and of O of a td learner's entries.

    :param start: the value of a position that is not in the entries, by its text and side (0 X, 1 O); without
        it the article's.
    """
    values = starts().copy()
    space = StateSpace.of(STANDARD)
    for text, index in zip(space.texts, _indexes(), strict=True):
        entry = entries.get(text, {})
        for side, name in enumerate("xo"):
            if name in entry:
                values[side, index] = entry[name][0]
            elif start is not None:
                values[side, index] = start(text, side)
    return values + 0.0  # -0.0 is written 0.0


def write_csv(values: Floats) -> bytes:
    """A table of values as CSV, every index, ascending."""
    rows = (f"{index},{x!r},{o!r}\n" for index, (x, o) in enumerate(values.T.tolist()))
    return f"{HEADER}\n{''.join(rows)}".encode()


def write_npz(values: Floats) -> bytes:
    """A table of values as ``.npz``."""
    file = io.BytesIO()
    np.savez(file, V_x=values[0], V_o=values[1])
    return file.getvalue()


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
        space = StateSpace.of(STANDARD)
        indexes, start = _indexes(), starts()
        entries: dict[str, Any] = {}
        for text, index in zip(space.texts, indexes.tolist(), strict=True):
            for side, name in enumerate("xo"):
                value = float(values[side, index])
                if value != start[side, index]:
                    entries.setdefault(text, {})[name] = [value, options.visits]
        unreachable = np.ones(BOARDS, np.bool_)
        unreachable[indexes] = False
        strange = int(np.count_nonzero((values != start)[:, unreachable].any(axis=0)))
        notes = ["values that equal the starting values count as not visited"]
        if strange:
            notes.append(
                f"{strange:,} boards that no game reaches hold values of their own; they are left out"
            )
        moves = sum(map(len, entries.values()))
        return Imported(NAME, "td", entries=entries, notes=notes, positions=len(entries), moves=moves)

    def write(self, player: ExportSource, wanted: ExportOptions) -> list[bytes]:
        """The values of a state of TD learning, CSV or ``.npz`` as the file's ending says."""
        state = player.state
        assert state is not None
        space, empty = StateSpace.of(STANDARD), state.learner.empty(STANDARD)
        starts = empty.rows["value"][empty.find(space.positions)]
        values = values_of(
            full_entries(state, lambda entry, moves: entry),
            lambda text, side: float(starts[space.index_of[text], side]),
        )
        return [(write_npz if wanted.ending == ".npz" else write_csv)(values)]
