"""``npy``: a table of positions in a file of NumPy's, ``.npy`` or ``.npz``, read without unpickling.

Either an array of objects, such as a dict, is in it, which is a pickle; or an array of numbers with a row for
each board of three symbols, in one axis (the board a number in base 3) or in an axis for each cell.
"""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from ttt_cli.engine.rules import STANDARD, Rules
from ttt_cli.errors import InvalidFileError
from ttt_cli.store.formats.format import Format
from ttt_cli.store.formats.imported import Imported, Options
from ttt_cli.store.formats.pickled import read_table
from ttt_cli.store.formats.value_table import ARRAYS
from ttt_cli.store.pickles.npy import MAGIC, is_archive, load_npy, load_npz, names
from ttt_cli.store.source import Source

NAME = "npy"


def _rows(array: "np.ndarray[Any, np.dtype[Any]]", where: str, rules: Rules) -> Any:
    """The rows of an array, by their boards in digits where each cell has an axis; two tables if there are
    twice as many.

    :raises InvalidFileError: if it has no row for each board.
    """
    boards = 3**rules.cells
    if array.shape[:2] == (2, boards):
        return {name: _rows(rows, where, rules) for name, rows in zip("ab", array, strict=True)}
    by_cell = array.shape[: rules.cells] == (3,) * rules.cells
    shape = array.shape[rules.cells :] if by_cell else array.shape[1:]
    if not (by_cell or array.shape[:1] == (boards,)) or shape not in ((), (rules.cells,)):
        raise InvalidFileError(
            f"holds an array of shape {array.shape}",
            where=where,
            hint=f"a table is an object, or has {boards:,} rows, each a number or {rules.cells}",
        )
    rows = array.reshape(boards, *shape).tolist()
    return dict(zip(map("".join, product("012", repeat=rules.cells)), rows, strict=True)) if by_cell else rows


class Npy(Format):
    """Tables in NumPy's files."""

    name = NAME
    about = "NumPy's .npy or .npz: a pickled dict, or an array with a row for each board"
    holds = "table"
    endings = (".npy", ".npz")
    spelled = True

    def recognises(self, source: Source, options: Options) -> bool:
        """Whether a file is NumPy's; an archive with an array of a value table is one of these."""
        if source.start.startswith(MAGIC):
            return True
        return is_archive(source.data) and not set(ARRAYS) & set(names(source.data, source.where))

    def read(self, source: Source, options: Options) -> Imported:
        """The table of a file.

        :raises InvalidFileError: if it is damaged, holds what is no plain data, or no table is in it.
        """
        load = load_npz if is_archive(source.data) else load_npy
        found = load(source.data, source.where)
        if isinstance(found.value, np.ndarray):
            found = replace(found, value=_rows(found.value, source.where, options.rules or STANDARD))
        return replace(read_table(found, source.where, options), format=NAME)
